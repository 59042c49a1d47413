internal import SessionTrace

/// `outcomes:` and `timing:` of `handoff.yml`: numbers within which rules still judge what the contract demands.
extension PolicyReader {
    /// What an answer's status means where no policy can change it, by CONTRACT "The tap sequence" and RULES 0.3; nil for
    /// the rejections of which the contract does not say whether they are definitive.
    static func fixedOutcome(of status: Int) -> String? {
        switch status {
        case 429, 500...599: "an uncertain end by the contract, after which the key stays"
        case 401, 407: "a challenge, which ends nothing"
        case 417, 421: "answered by the same request again, which is the same attempt"
        default: nil
        }
    }

    /// Statuses that leave open, by what they say (RFC 9110, RFC 4918, RFC 8470), whether the operation may go on.
    static let openStatuses: Set<Int> = [408, 409, 423, 424, 425]

    mutating func readOutcomes(_ node: YAMLNode, into either: inout Set<Int>) {
        var read = either
        mapping(
            node, at: "outcomes",
            [
                (
                    "either",
                    { reader, node in
                        guard !node.isNull else { return }
                        read = []
                        for (item, text) in reader.texts(node, "either") {
                            if let status = reader.movableStatus(item, text) { read.insert(status) }
                        }
                    }
                )
            ])
        either = read
    }

    private mutating func movableStatus(_ node: YAMLNode, _ text: String) -> Int? {
        guard let status = Int(text), (400...599).contains(status) else {
            fault(node, "\"either\" must hold statuses from 400 to 499, not \"\(text)\"")
            return nil
        }
        if let fixed = Self.fixedOutcome(of: status) {
            fault(node, "\"either\" can't hold \(status): it is \(fixed)")
            return nil
        }
        if !Self.openStatuses.contains(status) {
            remark(
                node,
                "\"either\" holds \(status), a definitive rejection unless the backend means something else by it: HR-15 and HR-16 then ask nothing of what follows it"
            )
        }
        return status
    }

    mutating func readTiming(_ node: YAMLNode, into timing: inout Policy.Timing) {
        var read = timing
        /// A length of time. One that `looks` for something looks at nothing when it is zero.
        func member(
            _ name: String, _ path: WritableKeyPath<Policy.Timing, Nanoseconds>, looks: Bool = true,
            atMost: (String, why: String)? = nil
        ) -> Member {
            (
                name,
                { reader, node in
                    guard let duration = reader.duration(node, name) else { return }
                    if looks, duration.count == 0 {
                        return reader.fault(
                            node, "\"\(name)\" can't be 0: nothing would be looked at; leave it out for its default")
                    }
                    if let (text, why) = atMost, let most = Nanoseconds(text), duration > most {
                        return reader.fault(node, "\"\(name)\" can be \(text) at most: \(why)")
                    }
                    read[keyPath: path] = duration
                }
            )
        }
        mapping(
            node, at: "timing",
            [
                member("double-tap", \.doubleTap), member("tap-to-request", \.tapToRequest),
                member(
                    "url-lifetime", \.urlLifetime,
                    atMost: ("15m", why: "the contract gives a handoff URL no longer")),
                member("clock-error", \.clockError, looks: false), member("observe-after", \.observeAfter),
                member("hand-mark", \.handMark), member("retry-horizon", \.retryHorizon),
                member("url-margin", \.urlMargin, looks: false),
                member("refresh", \.refresh, atMost: ("5m", why: "HR-42 asks for a projection on coming back")),
                member("after-return", \.afterReturn), member("away", \.away), member("foreign-link", \.foreignLink),
                member("quiet-start", \.quietStart),
                member(
                    "projection-max-age", \.projectionMaxAge, looks: false,
                    atMost: ("24h", why: "HR-06 asks for a fresh projection")),
            ])
        timing = read
    }
}
