internal import SessionTrace

/// **HR-12 key-unique-and-random.** Every operation has a key of its own, drawn at random.
///
/// The contract (CONTRACT.md, "The tap sequence" 3) asks for a random UUIDv4 an operation. Within one trace: no key comes
/// again in a later epoch once its own had ended with success or a definitive rejection, and no key stands over two bodies
/// in different epochs. Two bodies under one key *within* an epoch are HR-13's matter. Two devices with one key are a
/// warning, and so are five keys or more that have 60 of their 122 free bits in common: a seeded or constant generator.
///
/// Inconclusive: whether the answer that ended an epoch reached the device is unknown; a body is not whole; unread
/// session traffic. Traps: a retry after an uncertain end keeps its key by right; a test build that pins its generator
/// needs an exception with an end.
enum KeyUniqueAndRandom: Rule {
    static let description = RuleDescription(
        id: "HR-12", name: "key-unique-and-random", severity: .error,
        sentence: "No idempotency key is used for two operations, and keys look random.",
        heading: "The tap sequence",
        inconclusiveWhen:
            "it can't be told whether a success had reached the device, a body is not whole, or session traffic stayed unread or went around the proxy",
        options: ["requests: {session: {key}}", "requests: {session: {abandon-on}}"],
        example:
            "The user shares an item, comes back later and shares another one; the app sends the key of the first share "
            + "again. The verdict names both attempts and that the epoch between had ended with success.")

    /// Keys from which their common bits tell something.
    static let sampleSize = 5
    /// Free bits in common from which on keys are not random.
    static let suspiciousBits = 60

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        let epochs = session.epochs()
        var epochOf: [Int: Int] = [:]
        for (index, epoch) in epochs.enumerated() {
            for place in epoch.attempts { epochOf[place] = index }
        }
        judgement.idleSentence =
            session.attempts.isEmpty ? "no session request" : "one operation, with no other to compare its key with"
        if epochs.count > 1 {
            for operation in session.operations { judgement.looked(at: operation.attempts[0].evidence()) }
        }
        for operation in session.operations {
            for (index, attempt) in operation.attempts.enumerated() {
                let former = operation.attempts[..<index].last { epochOf[$0.number - 1] != epochOf[attempt.number - 1] }
                guard let former, let epoch = epochOf[former.number - 1] else { continue }
                judge(attempt, after: former, of: epochs[epoch], session, &judgement)
            }
        }
        let bits = judgeBits(session, &judgement)
        judgement.passSentence =
            "\(counted(session.operations.count, "key")) in \(counted(epochs.count, "epoch")), none in two"
            + (bits.map { "; \($0) of 122 free bits are common to all" } ?? "")
        if session.attempts.isEmpty {
            session.doubtMissingAttempts(&judgement)
        } else if judgement.isExercised {
            session.doubtSessionTraffic(&judgement)
        }
        session.doubtPolicy(&judgement)
        session.doubtSessionBypass(&judgement)
        session.assumePartner(&judgement)
    }

    private static func judge(
        _ attempt: Attempt, after former: Attempt, of epoch: Epoch, _ session: Session, _ judgement: inout Judgement
    ) {
        let numbers = "attempts \(former.number) and \(attempt.number) have one key"
        let isOneDevice = former.isSameDevice(as: attempt)
        func violation(_ kind: String, _ why: String) {
            judgement.violation(
                kind, severity: isOneDevice ? .error : .warning,
                "\(numbers), though \(why)\(isOneDevice ? "" : ", on two devices")",
                place: [attempt.first.record.pathTemplate],
                evidence: [former.evidence(), attempt.evidence("key again")])
        }
        let isWhole = former.first.bodyIsWhole && attempt.first.bodyIsWhole
        let isOther = isWhole && former.first.body != attempt.first.body
        switch epoch.end {
        case .success where !isOther && isDeliveryUnknown(of: epoch, session):
            session.doubtDelivery("\(numbers), and the epoch before ended with success", &judgement)
        case .success, .rejection:
            violation("key-in-two-epochs", "the epoch of the first \(epoch.end?.words ?? "")")
        case .abandonment, nil:
            if isOther {
                violation("key-with-two-bodies", "they are two operations with bodies that differ")
            } else if !isWhole {
                judgement.doubt(
                    "body-not-whole", "\(numbers) and belong to two operations, but a body is not whole in the trace",
                    remedy: Session.remedy(.tcpHole))
            }
        }
    }

    private static func isDeliveryUnknown(of epoch: Epoch, _ session: Session) -> Bool {
        epoch.attempts.lazy.map { session.attempts[$0] }.first { $0.outcome == .success }?.delivered == nil
    }

    /// How many free bits all keys have in common; nil with too few of them.
    private static func judgeBits(_ session: Session, _ judgement: inout Judgement) -> Int? {
        let keys = session.operations.filter { UUIDText.check($0.key) == .version4 }
        guard keys.count >= sampleSize, let common = KeyBits.common(keys.map(\.key)) else { return nil }
        if common >= suspiciousBits {
            judgement.violation(
                "keys-not-random", severity: .warning,
                "\(keys.count) keys have \(common) of 122 free bits in common, where about \(122 >> (keys.count - 1)) are by chance",
                evidence: keys.map { $0.attempts[0].evidence() })
        }
        return common
    }
}

/// The bits of keys that a version 4 UUID leaves free.
enum KeyBits {
    /// Bits that version and variant fix.
    private static let fixed = 6

    /// How many free bits are equal in all of `keys`; nil when one is no UUID, or there is none.
    static func common(_ keys: [String]) -> Int? {
        let numbers = keys.map(number)
        guard let first = numbers.first ?? nil else { return nil }
        var different: (UInt64, UInt64) = (0, 0)
        for number in numbers {
            guard let number else { return nil }
            different.0 |= number.0 ^ first.0
            different.1 |= number.1 ^ first.1
        }
        return 128 - fixed - different.0.nonzeroBitCount - different.1.nonzeroBitCount
    }

    static func number(_ key: String) -> (UInt64, UInt64)? {
        let digits = key.filter { $0 != "-" }
        guard digits.utf8.count == 32, let high = UInt64(digits.prefix(16), radix: 16),
            let low = UInt64(digits.suffix(16), radix: 16)
        else { return nil }
        return (high, low)
    }
}
