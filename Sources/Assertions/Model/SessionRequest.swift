internal import SessionTrace

/// One request message that is, or may be, a session request (an *attempt* before collapsing).
struct SessionRequest: Hashable, Sendable {
    var record: RequestRecord
    /// Whether method and path are the policy's.
    var matchesTemplate: Bool
    /// The values at the configured key place, as sent.
    var keys: [String]
    /// Whether part of its head could not be read.
    var hasUnknownFields: Bool
    /// Whether it carries a credential at a place that the policy names (HR-19).
    var hasCredential: Bool
    /// Whether `Expect` was sent.
    var hasExpect: Bool
    var contentType: String?
    /// Content bytes after content decoding, at most `ModelLimits.attemptBody`.
    var body: [UInt8]
    /// Content bytes as sent.
    var rawBody: [UInt8]
    /// Whether all content bytes are here.
    var bodyIsWhole: Bool
    /// Content bytes lost in holes of the capture.
    var missing: Int
    /// Content bytes that were on the wire.
    var bodyLength: Int
    var contentEncoding: String
    var catalogID: String?
    var disclosureVersion: String?
    /// Header values that may differ between attempts, for information.
    var looseFields: [String: String]
    var answer: SessionAnswer
    /// Whether the response body was whole.
    var responseIsWhole: Bool
    /// Whether the response was delivered to the device; nil when nothing was said.
    var delivery: Delivery?
    /// When the device closed its side of the connection; nil when it did not.
    var clientFinished: Instant?
    /// Whether it says what a session request says (it is affirmed), whatever its path is and was answered.
    var saysItIsOne = false

    /// Fields that may change between attempts of one operation.
    static let loose = ["date", "traceparent", "tracestate", "authorization", "user-agent", "cookie", "x-request-id"]

    /// The keys as sent, without the quotes of structured-field strings; lines that something on the way joined are
    /// parted again.
    var bareKeys: [String] {
        keys.flatMap { $0.split(separator: ",") }.map { part in
            let text = part.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
            return text.count >= 2 && text.hasPrefix("\"") && text.hasSuffix("\"")
                ? String(text.dropFirst().dropLast()) : String(text)
        }
    }

    /// The one key, a UUID in lower case (RFC 9562 §4); nil without exactly one. The same one said twice is one.
    var key: String? {
        let distinct = Set(bareKeys.map { UUIDText.isUUID($0) ? $0.lowercased() : $0 })
        return distinct.count == 1 ? distinct.first : nil
    }

    /// Whether the key was sent as a structured-field string.
    var keyIsQuoted: Bool { keys.first?.hasPrefix("\"") ?? false }

    /// When the device gave the request up: it closed its side of the connection before an answer came, and none reached
    /// it. (TCP and TLS let a client close its side and go on reading; no HTTP client of a phone does so, RFC 9112 §9.6.)
    var givenUp: Instant? {
        guard delivery != .yes, let finished = clientFinished, finished >= record.started.time,
            record.status == 0 || finished < record.ended.time
        else { return nil }
        return finished
    }

    /// Whether the answer proves that it was a session request.
    var hasSessionShape: Bool { answer.url != nil }

    /// Same key and same content, so far as both were captured.
    func isResend(of other: SessionRequest) -> Bool {
        bareKeys == other.bareKeys && !keys.isEmpty && (body == other.body || !bodyIsWhole || !other.bodyIsWhole)
    }
}

/// What became of an attempt (RULES 0.3).
enum AttemptOutcome: Hashable, Sendable {
    /// A handoff URL came back.
    case success
    /// No complete response, 429 or a server error.
    case uncertain
    /// 408, 409, 425: keeping and discarding the key both conform.
    case either
    /// 401, 407.
    case authChallenge
    /// Any other 4xx.
    case definitive
    /// A redirect that was not followed in sight.
    case redirect
    /// 2xx without a handoff URL: nothing that the contract names.
    case unnamed
    /// Its end is hidden by a hole or by the end of the trace.
    case notSeen

    /// For sentences.
    var word: String {
        switch self {
        case .success: "success"
        case .uncertain: "uncertain end"
        case .either: "end that allows both"
        case .authChallenge: "authentication challenge"
        case .definitive: "definitive rejection"
        case .redirect: "redirect"
        case .unnamed: "success without a handoff URL"
        case .notSeen: "end not seen"
        }
    }
}
