internal import SessionTrace

/// What stands in the app's messages, both ways, though it must not: found when the message came, since no body is kept.
struct ContentLog: Sendable {
    /// Answers to the app that were looked into.
    private(set) var answers = 0
    /// Requests of the app that were looked into.
    private(set) var questions = 0
    /// Handoff URLs and tokens in answers, by what brought them.
    var leaks: [ExchangeID: AnswerLeak] = [:]
    var messageLeaks: [AnswerLeak] = []
    private(set) var findings: [ContentFinding] = []
    private var places: [ContentFinding.Place: Int] = [:]
    /// Messages of which part could not be looked into.
    private(set) var gaps: [ContentGap] = []
    private var knownGaps: Set<ContentGap.Place> = []
    var cookies = CookieBook()
    var knownIdentifiers = KnownIdentifiers()
    /// Where the app was sent on from an address, for images.
    var redirects: [WebAddress: WebAddress] = [:]

    /// Bytes of a request's content that are searched: as many as are kept of a body.
    static let requestLimit = 8 << 20
    /// Gaps, and redirects, kept.
    static let gapLimit = 500
    static let redirectLimit = 1_000

    mutating func countAnswer() { answers += 1 }
    mutating func countQuestion() { questions += 1 }

    /// Keeps a finding once a place, with the first and the last moment it was seen; false when there is no room.
    mutating func keep(_ finding: ContentFinding, limit: Int) -> Bool {
        if let known = places[finding.key] {
            findings[known].record = finding.record
            findings[known].last = max(findings[known].last, finding.last)
            findings[known].count += 1
            findings[known].tellsOfHandoff = findings[known].tellsOfHandoff || finding.tellsOfHandoff
            return true
        }
        guard findings.count < limit else { return false }
        places[finding.key] = findings.count
        findings.append(finding)
        return true
    }

    mutating func keep(_ gap: ContentGap) -> Bool {
        guard knownGaps.insert(gap.key).inserted else { return true }
        guard gaps.count < Self.gapLimit else { return false }
        gaps.append(gap)
        return true
    }
}

/// A handoff URL or token in something that the app received.
struct AnswerLeak: Hashable, Sendable {
    /// The request that it answers, or that opened the WebSocket; nil when it was not seen.
    var record: RequestRecord?
    var host: HostName?
    var actor: ActorReading
    var hits: [LeakHit]
    var evidence: Evidence
    var isMessage: Bool
    var isPushed: Bool
}

/// Something that must not stand in a message of the app's.
struct ContentFinding: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        /// A name that must not stand in an answer, and what says so.
        case key(ForbiddenKeys.Reason)
        /// A state that says hidden: `visibility`.
        case hiddenState(String)
        /// An id of the policy's list of hidden items, by its place in the list.
        case hiddenID(Int)
        /// A URL of a Chia host that serves its assets, or one of Chia's with a signature (its parameters).
        case assetURL(HostName, sign: String?)
        case secret(SecretSearch.Hit.Kind)
        /// A header field by which a request to Chia proves itself, or Chia's webhooks do.
        case credential(String)
        case webhookSignature(String)
        /// The SDK's name.
        case sdk(String)
        /// A request for the raw catalog: the policy's template.
        case catalogCall(String)
    }

    /// What makes two findings one.
    struct Place: Hashable, Sendable {
        var kind: Kind
        var host: HostName?
        var method: String
        var pathTemplate: String
        var template: String
        var actor: Actor
        var isInRequest: Bool
    }

    var kind: Kind
    /// The latest message that holds it.
    var record: RequestRecord
    var isInRequest: Bool
    /// Where in the message, for people, and for fingerprints.
    var shown: String
    var template: String
    var first: Instant
    var last: Instant
    var count = 1
    /// Whether the message also names the item or session of a handoff, or Chia.
    var tellsOfHandoff = false

    var key: Place {
        Place(
            kind: kind, host: record.host, method: record.method, pathTemplate: record.pathTemplate,
            template: template, actor: record.actor.actor, isInRequest: isInRequest)
    }

    /// The evidence that names it.
    func evidence(_ label: String) -> Evidence { record.evidence(label, place: shown) }
}

/// A request or an answer of which part could not be looked into.
struct ContentGap: Hashable, Sendable {
    struct Place: Hashable, Sendable {
        var host: HostName?
        var pathTemplate: String
        var reason: BlindSpot.Reason
        var isInRequest: Bool
    }

    var record: RequestRecord
    var reason: BlindSpot.Reason
    var isInRequest = false
    var key: Place {
        Place(host: record.host, pathTemplate: record.pathTemplate, reason: reason, isInRequest: isInRequest)
    }
}
