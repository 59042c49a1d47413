/// A value that must not be found where it does not belong, and how it is called in reports.
public struct Needle: Hashable, Sendable {
    /// What the value is.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The URL of a session response; its parts and its token are searched with it.
        case handoffURL = "handoff-url"
        /// A `phs_…` token whose URL is not known.
        case token
        /// The neutral URL, which services for links must not be given (HR-51).
        case neutralURL = "neutral-url"
        /// A catalog id.
        case catalogID = "catalog-id"
        /// A disclosure version.
        case disclosureVersion = "disclosure-version"
        /// An idempotency key.
        case idempotencyKey = "idempotency-key"
        /// A field of the session response that names the session.
        case sessionIdentifier = "session-identifier"
        /// A crafted value whose way is followed (RULES HR-63).
        case canary
        /// A cookie of Chia's (HR-53).
        case cookie
        /// A configured secret (HR-55).
        case secret
    }

    /// The finder's own number for it, unique within one scanner (learning another value under the number adds it).
    public var number: Int
    /// What it is.
    public var kind: Kind
    /// How reports call it: `U#1`.
    public var label: String
    /// The value.
    public var value: Secret

    /// Makes a needle.
    public init(number: Int, kind: Kind, label: String, value: Secret) {
        self.number = number
        self.kind = kind
        self.label = label
        self.value = value
    }

    /// Makes a needle of text.
    public init(number: Int, kind: Kind, label: String, value: String) {
        self.init(number: number, kind: kind, label: label, value: Secret(value))
    }
}

/// The part of a needle that was found.
public enum NeedleForm: String, Hashable, Sendable, Comparable {
    /// The URL as it is.
    case url
    /// The URL without its scheme.
    case withoutScheme = "without-scheme"
    /// Host and path, up to the query.
    case hostAndPath = "host-and-path"
    /// Path and query without the host.
    case path
    /// The token `phs_…`.
    case token
    /// The token without `phs_`.
    case tokenBody = "token-body"
    /// The value as it is, for needles that are no URL and no token.
    case value

    /// From the most telling to the least.
    public static func < (lhs: NeedleForm, rhs: NeedleForm) -> Bool { lhs.rank < rhs.rank }

    private var rank: Int {
        switch self {
        case .url: 0
        case .withoutScheme: 1
        case .hostAndPath: 2
        case .path: 3
        case .value: 4
        case .token: 5
        case .tokenBody: 6
        }
    }
}
