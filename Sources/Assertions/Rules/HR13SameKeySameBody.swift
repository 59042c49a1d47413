internal import SessionTrace

/// **HR-13 same-key-same-body.** All attempts with one key are the same request, byte for byte.
///
/// The contract (CONTRACT.md, "The tap sequence" 3) keeps the exact body after an uncertain end. Method, authority, path,
/// query, content type and content bytes are compared, after transfer and content codings are undone; a different
/// compression of the same content is information. A truncated upload is compared as far as it goes, and the repeat must
/// be whole. Date, trace ids, credentials and User-Agent may change, and are listed.
///
/// Inconclusive: a body with a hole, or cut by a limit; unread session traffic.
enum SameKeySameBody: Rule {
    static let description = RuleDescription(
        id: "HR-13", name: "same-key-same-body", severity: .error,
        sentence: "A retry with the same key repeats the exact request: same address, same content bytes.",
        heading: "The tap sequence", matrix: ["M-11"],
        inconclusiveWhen:
            "the content of an attempt is not whole in the trace, or session traffic stayed unread or went around the proxy"
    )

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence =
            session.attempts.isEmpty ? "no session request" : "no attempt was repeated with its key"
        var compared = 0
        var bytes: [Int] = []
        for operation in session.operations where operation.attempts.count > 1 {
            let first = operation.attempts[0]
            judgement.looked(at: first.evidence())
            let whole = operation.attempts.first { $0.first.bodyIsWhole }
            for attempt in operation.attempts.dropFirst() {
                judgement.looked(at: attempt.evidence("retry"))
                compare(first, attempt, session, &judgement)
                // What a broken upload shows is equal in bodies that differ later on.
                if let whole, whole.number != first.number, whole.number < attempt.number {
                    compare(whole, attempt, session, &judgement)
                }
                compared += 1
                bytes.append(attempt.first.body.count)
            }
        }
        judgement.passSentence =
            "\(compared) \(compared == 1 ? "retry" : "retries") with the same key: same address, same \(bytes.first ?? 0) content bytes"
        if session.attempts.isEmpty {
            session.doubtMissingAttempts(&judgement)
        } else if judgement.isExercised || session.attempts.contains(where: { $0.outcome == .uncertain })
            || !session.unsentSessions().isEmpty
        {
            // A retry may be in what was not read.
            session.doubtSessionTraffic(&judgement)
        }
        doubtKeyless(session, &judgement)
        session.doubtPolicy(&judgement)
        session.doubtSessionBypass(&judgement)
        session.assumePartner(&judgement)
    }

    private static func compare(_ first: Attempt, _ retry: Attempt, _ session: Session, _ judgement: inout Judgement) {
        let before = first.first
        let after = retry.first
        var differences = compareHeads(before, after, session)
        if before.bodyIsWhole, after.bodyIsWhole {
            differences += compareBodies(before, after, session)
        } else {
            differences += comparePrefixes(first, retry, &judgement)
        }
        for difference in differences {
            judgement.violation(
                difference.kind, "attempts \(first.number) and \(retry.number) have one key, but \(difference.why)",
                place: [after.record.pathTemplate, difference.place],
                evidence: [first.evidence(), retry.evidence("retry", place: difference.place)])
        }
        inform(before, after, first, retry, &judgement)
    }

    private typealias Difference = (kind: String, why: String, place: String)

    private static func compareHeads(
        _ before: SessionRequest, _ after: SessionRequest, _ session: Session
    ) -> [Difference] {
        var differences: [Difference] = []
        if before.record.method != after.record.method {
            differences.append(
                ("method-differs", "the method is \(before.record.method), then \(after.record.method)", "method"))
        }
        if let old = before.record.address, let new = after.record.address, old != new {
            let part =
                old.host != new.host || old.port != new.port ? "authority" : old.path != new.path ? "path" : "query"
            differences.append(
                (
                    "address-differs",
                    "the \(part) differs: \(before.record.subject), then \(after.record.subject)", part
                ))
        }
        if before.contentType != after.contentType {
            func shown(_ value: String?) -> String {
                value.map { session.redactor.fieldValue($0, of: "content-type") } ?? "absent"
            }
            differences.append(
                (
                    "content-type-differs",
                    "the content type is \(shown(before.contentType)), then \(shown(after.contentType))",
                    "header:content-type"
                ))
        }
        return differences
    }

    private static func compareBodies(
        _ before: SessionRequest, _ after: SessionRequest, _ session: Session
    ) -> [Difference] {
        guard before.body != after.body else { return [] }
        let places = BodyDifference.find(before.body, after.body, session.redactor)
        let at = places.isEmpty ? "" : " at \(places.joined(separator: ", "))"
        let place = places.first.map { "body:\($0.prefix { $0 != " " })" } ?? "body"
        return [
            ("body-differs", "the bodies of \(before.body.count) and \(after.body.count) bytes differ\(at)", place)
        ]
    }

    /// The first upload may have broken off; the repeat has to be whole.
    private static func comparePrefixes(
        _ first: Attempt, _ retry: Attempt, _ judgement: inout Judgement
    ) -> [Difference] {
        let before = first.first
        let after = retry.first
        let isPlain = before.contentEncoding.isEmpty && after.contentEncoding.isEmpty
        let common = min(before.body.count, after.body.count)
        if isPlain, before.missing == 0, after.missing == 0, before.body.prefix(common) != after.body.prefix(common) {
            return [("body-differs", "the bodies differ within the \(common) bytes that both attempts show", "body")]
        }
        if isPlain, before.missing == 0, !before.bodyIsWhole, after.bodyIsWhole, before.record.end != .notSeen {
            judgement.information(
                "prefix-match",
                "attempt \(first.number) broke off after \(before.body.count) content bytes, which attempt \(retry.number) repeats",
                evidence: [first.evidence(), retry.evidence("retry")])
            return []
        }
        judgement.doubt(
            "body-not-whole",
            "the content of attempts \(first.number) and \(retry.number) is not whole in the trace "
                + "(\(before.body.count) of \(before.bodyLength) and \(after.body.count) of \(after.bodyLength) bytes)",
            remedy: Session.remedy(.tcpHole))
        return []
    }

    private static func inform(
        _ before: SessionRequest, _ after: SessionRequest, _ first: Attempt, _ retry: Attempt,
        _ judgement: inout Judgement
    ) {
        if before.body == after.body, before.contentEncoding != after.contentEncoding || before.rawBody != after.rawBody
        {
            judgement.information(
                "encoding-differs",
                "attempts \(first.number) and \(retry.number) have equal content in different codings",
                evidence: [first.evidence(), retry.evidence("retry")])
        }
        let changed = SessionRequest.loose.filter { before.looseFields[$0] != after.looseFields[$0] }
        if !changed.isEmpty {
            judgement.information(
                "header-differs", "header fields that may change did: \(changed.joined(separator: ", "))",
                place: changed, evidence: [first.evidence(), retry.evidence("retry")])
        }
    }

    /// Attempts without a key after an uncertain end can't be matched to what they repeat.
    private static func doubtKeyless(_ session: Session, _ judgement: inout Judgement) {
        for (previous, attempt) in zip(session.attempts, session.attempts.dropFirst())
        where previous.outcome == .uncertain && (previous.key == nil || attempt.key == nil) {
            judgement.doubt(
                "no-key",
                "attempt \(attempt.number) follows an uncertain end, but without a key it can't be told what it repeats",
                remedy:
                    "see HR-11; or name the key's place in \(session.policyLine):  requests: {session: {key: header NAME}}"
            )
        }
    }
}

/// Where two bodies differ.
enum BodyDifference {
    /// Differences that are named.
    static let limit = 5

    /// JSON pointers with hashed values when both are JSON objects; otherwise the first byte that differs.
    static func find(_ before: [UInt8], _ after: [UInt8], _ redactor: Redactor) -> [String] {
        if let old = try? JSONValue.parse(before), let new = try? JSONValue.parse(after) {
            var found: [String] = []
            compare(old, new, at: "", redactor, &found)
            if found.isEmpty { return ["the order, spacing or escaping of members"] }
            return found
        }
        let common = zip(before, after).prefix { $0 == $1 }.count
        return ["byte \(common)"]
    }

    private static func compare(
        _ old: JSONValue, _ new: JSONValue, at pointer: String, _ redactor: Redactor, _ found: inout [String]
    ) {
        guard old != new, found.count < limit else { return }
        if let oldMembers = old.members, let newMembers = new.members {
            let names =
                oldMembers.map(\.name)
                + newMembers.map(\.name).filter { name in !oldMembers.contains { $0.name == name } }
            for name in names {
                let place = "\(pointer)/\(redactor.name(name))"
                switch (old[name], new[name]) {
                case (let left?, let right?): compare(left, right, at: place, redactor, &found)
                case (nil, _?) where found.count < limit: found.append("\(place) (added)")
                case (_?, nil) where found.count < limit: found.append("\(place) (removed)")
                default: continue
                }
            }
            return
        }
        func digest(_ value: JSONValue) -> String { "‹\(redactor.digest(value.description).prefix(8))›" }
        found.append("\(pointer.isEmpty ? "/" : pointer) (\(digest(old)), then \(digest(new)))")
    }
}
