public import SessionTrace

/// One fault to inject, as `--fault` says it: which exchanges, what happens to them, how often.
///
/// ```
/// METHOD TARGET: ACTION [OPTION…] [once | times=N | always]
/// ```
/// | part | is |
/// |---|---|
/// | METHOD | a method; left out or `*`: any |
/// | TARGET | a path template, `/handoff-session` or `/catalog/{id}/handoff`; with a host before it (`api.example.com/…`, `*.example.com/…`, `https://api.example.com:8443/…`) only there |
/// | ACTION | a status from 200 to 599, `drop-before-request`, `drop-after-request`, `reset`, `delay=TIME`, `truncate-response[=BYTES]` |
/// | OPTION | `retry-after=SECONDS` (with a status), `delay=TIME` (before whatever the device hears) |
///
/// TIME is a number with `ms`, `s` or `m`. Without a count a fault acts always. A query is no part of the path.
public struct FaultRule: Hashable, Sendable, CustomStringConvertible {
    /// What happens to the exchange.
    public enum Action: Hashable, Sendable {
        /// The proxy answers with this status (200 to 599) and an empty body; the origin never gets the request.
        case answer(status: Int)
        /// The connection ends in order once the request's head has been read; the origin never gets the request.
        case dropBeforeRequest
        /// The origin gets the request and answers; the device hears nothing of it and its connection ends in order.
        case dropAfterRequest
        /// As `dropBeforeRequest`, with a reset.
        case reset
        /// The exchange takes its course; the answer waits (`delay`).
        case delay
        /// The answer ends early: after so many bytes of its body; nil: after half of the announced length, or after one
        /// byte when none is announced. Of an answer without a body, the head lacks its end.
        case truncateResponse(afterBytes: Int?)
    }

    /// The method in upper case; nil for any.
    public var method: String?
    /// The hosts; nil: every host that may have a fault (`FaultTable.init`).
    public var host: HostNamePattern?
    /// The port; nil: any.
    public var port: UInt16?
    /// The path, without query.
    public var path: PathTemplate
    /// What happens.
    public var action: Action
    /// Seconds that an answer's `Retry-After` says.
    public var retryAfterSeconds: Int?
    /// How long what the device hears is held back; 0 to 600 s.
    public var delay: Duration?
    /// How many exchanges it acts on; nil: all.
    public var times: Int?

    /// The longest delay.
    public static let delayLimit = Duration.seconds(600)

    /// Makes a rule.
    public init(
        method: String?, host: HostNamePattern? = nil, port: UInt16? = nil, path: PathTemplate, action: Action,
        retryAfterSeconds: Int? = nil, delay: Duration? = nil, times: Int? = nil
    ) {
        self.method = method
        self.host = host
        self.port = port
        self.path = path
        self.action = action
        self.retryAfterSeconds = retryAfterSeconds
        self.delay = delay
        self.times = times
    }

    /// Whether it can concern a connection to this host, were the host one that may have a fault.
    func concerns(host: HostName, port: UInt16) -> Bool {
        (self.port == nil || self.port == port) && (self.host?.matches(host) ?? true)
    }

    /// Whether a request has its method and path.
    func matches(method: String, path: String) -> Bool {
        (self.method == nil || self.method == method) && self.path.matches(path)
    }

    /// Which requests it means: `POST /handoff-session`.
    public var target: String {
        var text = method.map { "\($0) " } ?? ""
        if let host { text += host.description.contains(":") ? "[\(host)]" : host.description }
        if let port { text += host == nil ? "*:\(port)" : ":\(port)" }
        return text + path.text
    }

    /// What it does: `429 retry-after=5`, `drop-after-request`, `delay=2s`.
    public var effect: String {
        var words: [String] = []
        switch action {
        case .answer(let status): words.append(String(status))
        case .dropBeforeRequest: words.append("drop-before-request")
        case .dropAfterRequest: words.append("drop-after-request")
        case .reset: words.append("reset")
        case .delay: break
        case .truncateResponse(let count): words.append("truncate-response" + (count.map { "=\($0)" } ?? ""))
        }
        if let retryAfterSeconds { words.append("retry-after=\(retryAfterSeconds)") }
        if let delay { words.append("delay=\(Self.text(delay))") }
        return words.joined(separator: " ")
    }

    /// The rule as it is written, in one form.
    public var description: String {
        let count =
            switch times {
            case nil: "always"
            case 1: "once"
            case let times?: "times=\(times)"
            }
        return "\(target): \(effect) \(count)"
    }

    private static func text(_ delay: Duration) -> String {
        let milliseconds = delay.components.seconds * 1_000 + delay.components.attoseconds / 1_000_000_000_000_000
        return milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000)s" : "\(milliseconds)ms"
    }
}

/// Why a text is no fault rule.
public struct FaultRuleError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text that was read.
    public var text: String
    /// Where: characters from the start of `text`, counted from 1.
    public var column: Int
    /// What is wrong there, in plain words.
    public var problem: String
    /// The known word that was probably meant.
    public var nearest: String?

    /// One sentence with place, fault and nearest word.
    public var description: String {
        "fault '\(text)', column \(column): \(problem)" + (nearest.map { " (did you mean \($0)?)" } ?? "")
    }
}
