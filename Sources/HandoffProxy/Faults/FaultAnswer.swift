internal import SessionTrace

/// The answer that a fault gives in the origin's place: a plain response with an empty body.
struct FaultAnswer {
    /// The response.
    let bytes: [UInt8]
    /// Whether the connection ends after it.
    let closes: Bool
    /// How long it waits.
    let delay: Duration?
    /// Whether it comes when the request's head is read, not its content: the client waits for 100 (Continue), which is
    /// not ours to give. It may then send the content or not, so the connection can't go on (RFC 9110 §10.1.1).
    let isDueAtHead: Bool

    init(rule: FaultRule, to head: RequestHead, at now: Instant) {
        var status = 500
        if case .answer(let given) = rule.action { status = given }
        let hasContent = head.framing != .none && head.framing != .length(0)
        isDueAtHead = hasContent && head.has("expect", token: "100-continue")
        closes = isDueAtHead || head.isHTTP10 || head.has("connection", token: "close")
        delay = rule.delay
        var text = "HTTP/1.1 \(status) \(ReasonPhrase.of(status))\r\nDate: \(HTTPDate.text(now))\r\n"
        // RFC 9110 §8.6: 204 has no Content-Length.
        if status != 204 { text += "Content-Length: 0\r\n" }
        if let seconds = rule.retryAfterSeconds { text += "Retry-After: \(seconds)\r\n" }
        if closes { text += "Connection: close\r\n" }
        bytes = Array((text + "\r\n").utf8)
    }
}
