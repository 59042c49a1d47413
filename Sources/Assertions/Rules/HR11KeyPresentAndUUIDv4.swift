internal import SessionTrace

/// **HR-11 key-present-and-uuidv4.** Every session request carries exactly one idempotency key, a random UUID.
///
/// The contract (CONTRACT.md, "The tap sequence" 3) asks for a persisted random UUIDv4. The value at the policy's key
/// place must be RFC 9562 text with version 4 and the RFC's variant, in either case, bare or in the quotes of a
/// structured-field string (draft-ietf-httpapi-idempotency-key-header §2.1), but in one form throughout an operation:
/// quotes and letter case stay, since a server may compare the text.
/// Nil and Max, other versions, braces and `urn:uuid:` are violations.
///
/// Inconclusive: the head of a request could not be read in full; unread session traffic.
enum KeyPresentAndUUIDv4: Rule {
    static let description = RuleDescription(
        id: "HR-11", name: "key-present-and-uuidv4", severity: .error,
        sentence: "Every session request carries exactly one idempotency key, and it is a random UUIDv4.",
        heading: "The tap sequence", matrix: ["M-11"],
        inconclusiveWhen:
            "a request's head was not read in full, or session traffic stayed unread or went around the proxy")

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no session request"
        let place = place(session.policy.requests.key)
        for attempt in session.attempts {
            for message in attempt.messages { judge(message, attempt, place, &judgement) }
        }
        for operation in session.operations {
            let forms = operation.attempts.flatMap(\.messages).map(\.keyIsQuoted)
            if let changed = operation.attempts.first(where: { $0.messages.contains { $0.keyIsQuoted != forms[0] } }) {
                judgement.violation(
                    "key-form-changed",
                    "attempt \(changed.number) sends the key \(forms[0] ? "without" : "with") quotes, attempt \(operation.attempts[0].number) \(forms[0] ? "with" : "without")",
                    place: [place],
                    evidence: [operation.attempts[0].evidence(place: place), changed.evidence(place: place)])
            }
            let texts = operation.attempts.flatMap(\.messages).map(\.bareKeys)
            if let changed = operation.attempts.first(where: {
                $0.messages.contains { $0.bareKeys.count == 1 && texts[0].count == 1 && $0.bareKeys != texts[0] }
            }) {
                judgement.violation(
                    "key-form-changed",
                    "attempt \(changed.number) sends the key of attempt \(operation.attempts[0].number) in other letters (upper or lower case)",
                    place: [place],
                    evidence: [operation.attempts[0].evidence(place: place), changed.evidence(place: place)])
            }
        }
        let keys = session.operations.count
        judgement.passSentence =
            "\(session.attempts.count) session \(session.attempts.count == 1 ? "request" : "requests") with \(keys) distinct \(keys == 1 ? "key" : "keys"), "
            + "each a UUIDv4 in \(place)"
        if session.attempts.isEmpty {
            session.doubtMissingAttempts(&judgement)
        } else {
            session.doubtSessionTraffic(&judgement)
        }
        session.doubtPolicy(&judgement)
        session.doubtSessionBypass(&judgement)
        session.assumePartner(&judgement)
    }

    private static func place(_ place: Policy.KeyPlace) -> String {
        switch place {
        case .header(let name): "header:\(name.lowercased())"
        case .body(let pointer): "body:\(pointer)"
        }
    }

    private static func judge(
        _ message: SessionRequest, _ attempt: Attempt, _ place: String, _ judgement: inout Judgement
    ) {
        judgement.looked(at: message.record.evidence("session request", place: place))
        func violation(_ kind: String, _ why: String) {
            judgement.violation(
                kind, "attempt \(attempt.number): \(why)", place: [place, message.record.pathTemplate],
                evidence: [message.record.evidence("session request", place: place)])
        }
        if message.keys.isEmpty {
            if message.hasUnknownFields || (place.hasPrefix("body") && !message.bodyIsWhole) {
                judgement.doubt(
                    BlindSpot.Reason.headerTableUnknown.rawValue,
                    "attempt \(attempt.number) shows no key, but its \(message.hasUnknownFields ? "head" : "body") could not be read in full",
                    remedy: Session.remedy(.headerTableUnknown))
            } else {
                violation("no-key", "no idempotency key in \(place)")
            }
            return
        }
        let count = message.bareKeys.count
        guard count == 1, let key = message.bareKeys.first else {
            let how = message.key == nil ? "" : ", all the same"
            return violation("several-keys", "\(count) idempotency keys in \(place)\(how)")
        }
        switch UUIDText.check(key) {
        case .version4: return
        case .notUUID(let why): violation("not-uuid", "the key in \(place) is no UUID: \(why)")
        case .otherVersion(let version):
            violation("not-version-4", "the key in \(place) is a UUID of version \(version), not 4")
        case .otherVariant: violation("not-rfc-variant", "the key in \(place) is a UUID, but not of RFC 9562's variant")
        case .constant(let name): violation("constant-uuid", "the key in \(place) is the \(name) UUID")
        }
    }
}

/// The text form of a UUID (RFC 9562 §4).
enum UUIDText {
    enum Form: Hashable {
        case version4
        case otherVersion(Int)
        case otherVariant
        /// Nil or Max (§5.9, §5.10).
        case constant(String)
        case notUUID(String)
    }

    static func isUUID(_ text: String) -> Bool {
        if case .notUUID = check(text) { return false }
        return true
    }

    static func check(_ text: String) -> Form {
        let bytes = Array(text.utf8)
        if text.lowercased().hasPrefix("urn:uuid:") { return .notUUID("it begins with urn:uuid:") }
        if text.hasPrefix("{") { return .notUUID("it is in braces") }
        guard bytes.count == 36 else { return .notUUID("it has \(bytes.count) characters, not 36") }
        var digits: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            if [8, 13, 18, 23].contains(index) {
                guard byte == 0x2D else { return .notUUID("a hyphen is missing") }
            } else if let digit = Hex.value(byte) {
                digits.append(digit)
            } else {
                return .notUUID("it holds a character that is no hex digit")
            }
        }
        if digits.allSatisfy({ $0 == 0 }) { return .constant("nil") }
        if digits.allSatisfy({ $0 == 15 }) { return .constant("max") }
        guard digits[16] >> 2 == 2 else { return .otherVariant }
        return digits[12] == 4 ? .version4 : .otherVersion(Int(digits[12]))
    }
}
