internal import SessionTrace

/// A projection response: the decisions that the partner's backend sent, and what else of it rules ask about.
struct Projection: Hashable, Sendable {
    /// One decision of the closed union, as far as rules need it.
    struct Decision: Hashable, Sendable {
        /// `neutral_only` or `share_or_neutral`; whatever stands there in one that is found by its place, empty for none.
        var mode: String
        /// The item, when the answer or the path names it.
        var item: String?
        var neutralURL: String?
        var disclosureVersion: String?
        var policyURLs: [String]
        /// Where it stands in the answer.
        var place = JSONPlace.root
        /// In what it differs from the union.
        var offences: [DecisionOffence] = []
        /// Members and texts of a session action that stand in it though it allows only the neutral way.
        var sessionActions: [JSONPlace] = []

        /// Whether an app can act on it: an app that lets further members pass still knows what was decided.
        var isSupported: Bool { !offences.contains { $0.kind.isUnsupported } }
        /// Whether it offers sharing, in a way that can be acted on.
        var offersSharing: Bool { mode == DecisionSchema.shareOrNeutral && isSupported }
    }

    /// What came back.
    enum Answer: Hashable, Sendable {
        /// A JSON text, read whole.
        case read
        /// 304: the app's copy is current.
        case notModified
        /// 3xx: the answer is somewhere else.
        case redirected
        /// 4xx, 5xx.
        case failed(Int)
        /// No answer, or one that broke off.
        case unanswered
        /// A whole answer that is no JSON; why.
        case malformed(String)
        /// Part of the answer is not in the trace; the reason's code.
        case notWhole(BlindSpot.Reason)
    }

    var record: RequestRecord
    /// Whether method and path are the policy's.
    var matchesTemplate: Bool
    /// The item that the path names.
    var item: String?
    var decisions: [Decision]
    var answer = Answer.read
    /// Whether its content is all here and could be read, so that a decision which is not in it was not sent.
    var isReadable = false
    /// What it says of its age and use.
    var caching = ResponseCaching.none
    /// URLs where none may stand, or of a kind that may stand nowhere.
    var oddURLs: [ProjectionURL] = []
    /// URLs looked at.
    var urlCount = 0
    /// Members that come twice in one object.
    var duplicates: [JSONPlace] = []
    /// What says that the evidence behind a decision is not to be relied on.
    var evidenceMarks: [EvidenceMark] = []
    /// Images of items.
    var images: [ProjectionImage] = []
    /// Things of which more were there than are kept.
    var isCropped = false

    /// Bytes of a response that are decoded and searched.
    static let limit = 2 << 20
    /// What its JSON may hold.
    static let jsonLimits = JSONLimits(bytes: limit, depth: 64, values: 200_000)
    /// Decisions kept of one response.
    static let decisionLimit = 200
    /// Odd URLs, duplicates and evidence marks kept of one response, each.
    static let detailLimit = 20

    /// What in it is a URL that begins with `http://`, in words.
    var plainURLs: [String] {
        var found: [String] = []
        if decisions.contains(where: { $0.neutralURL.map(Self.isPlain) ?? false }) { found.append("the neutral URL") }
        if decisions.contains(where: { $0.policyURLs.contains(where: Self.isPlain) }) { found.append("a policy URL") }
        if images.contains(where: { $0.address.scheme == "http" }) { found.append("the URL of an image") }
        return found
    }

    private static func isPlain(_ url: String) -> Bool { url.prefix(7).lowercased() == "http://" }

    /// Whether a current answer came back whole.
    var isComplete: Bool { record.end == .complete && (record.status == 304 || (200..<300).contains(record.status)) }

    /// Whether the app itself asked for it; what a page in the browser fetches is not the app's.
    var isOfApp: Bool { record.actor.actor != .browser && record.actor.actor != .os }

    /// The decisions that concern an item; all of them, while either names none.
    func decisions(for item: String?) -> [Decision] {
        decisions.filter { $0.item == nil || item == nil || $0.item == item }
    }
}

/// A URL in a projection that may not stand there.
struct ProjectionURL: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        /// At a place where no URL belongs.
        case unlisted
        /// On a Chia host that only servers may call.
        case serverHost(HostRole)
        /// With a signature in its query: its parameters.
        case signed(String)
    }

    var kind: Kind
    var place: JSONPlace
    var host: HostName?
    var isOnChia: Bool
}

/// The image of an item, as a projection names it.
struct ProjectionImage: Hashable, Sendable {
    var address: WebAddress
    var place: JSONPlace
    /// Words of the item's title, in lower case, that would tell what it is for.
    var titleWords: Set<String>
}

/// A word by which a backend says that the evidence behind a decision is not current.
struct EvidenceMark: Hashable, Sendable {
    /// `stale`, `missing`, `unsupported` …
    var word: String
    /// Where; nil for a header field.
    var place: JSONPlace?
    /// The item that it concerns; nil for all.
    var item: String?
}
