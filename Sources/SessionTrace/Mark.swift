/// A statement by the test about what was done on the device and when.
public struct Mark: Hashable, Sendable {
    /// What happened. Kinds that are not known are kept as `other`.
    public enum Kind: Hashable, Sendable {
        case scenario, launch, render, jitShown, tap, background, foreground, restore, opened, `return`, linkOpened
        case reload, kill, browserClean, netOff, netOn, withdraw, note, end
        /// A kind that this version does not know.
        case other(String)
    }

    /// What was tapped.
    public enum Target: String, Hashable, Sendable, CaseIterable {
        case cta, share, neutral, policy, `return`, other
    }

    /// How the mark reached the trace.
    public enum Source: String, Hashable, Sendable {
        /// A UDP datagram in the capture itself.
        case datagram
        /// A packet comment.
        case comment
        /// A JSON Lines file beside the trace.
        case sideFile = "side-file"
        /// The proxy's control API, in-band URL or terminal.
        case control
    }

    /// Who made it.
    public enum Maker: String, Hashable, Sendable {
        case script, person
    }

    /// Its name; marks with equal id and content are one mark.
    public var id: String?
    /// What happened.
    public var kind: Kind
    /// What was tapped.
    public var target: Target?
    /// When it happened, on the reference clock; `at` and `until`, widened by what is known of the clock.
    public var span: TimeSpan
    /// True when the mark came through the clock that stamped the packets, so that order decides and ε is 0.
    public var isOnTraceClock: Bool
    /// Half of an interval that two marks with one id make: `pre` or `post`.
    public var phase: Phase?
    /// How many times it happened (a double tap may be one mark with 2).
    public var count: Int
    /// Who made it.
    public var by: Maker
    /// How it came.
    public var source: Source
    /// Name of the clock that `at` is on, if the mark names one.
    public var clock: String?
    /// The device, if named.
    public var device: String?
    /// A name for people.
    public var name: String?
    /// Further attributes: scenario labels, the withdrawn id, crafted return values.
    public var attributes: [String: String]
    /// The packet that carried it, or that it is a comment of.
    public var packet: PacketReference?

    /// Which half of an interval.
    public enum Phase: String, Hashable, Sendable {
        case pre, post
    }

    /// Makes a mark.
    public init(
        id: String? = nil, kind: Kind, target: Target? = nil, span: TimeSpan, isOnTraceClock: Bool,
        phase: Phase? = nil, count: Int = 1, by: Maker = .script, source: Source, clock: String? = nil,
        device: String? = nil, name: String? = nil, attributes: [String: String] = [:], packet: PacketReference? = nil
    ) {
        self.id = id
        self.kind = kind
        self.target = target
        self.span = span
        self.isOnTraceClock = isOnTraceClock
        self.phase = phase
        self.count = count
        self.by = by
        self.source = source
        self.clock = clock
        self.device = device
        self.name = name
        self.attributes = attributes
        self.packet = packet
    }
}

extension Mark.Kind: RawRepresentable {
    /// The kind written in a mark's `kind` member; an unknown word becomes `other`.
    public init(rawValue: String) {
        switch rawValue {
        case "scenario": self = .scenario
        case "launch": self = .launch
        case "render": self = .render
        case "jit-shown": self = .jitShown
        case "tap": self = .tap
        case "background": self = .background
        case "foreground": self = .foreground
        case "restore": self = .restore
        case "opened": self = .opened
        case "return": self = .return
        case "link-opened": self = .linkOpened
        case "reload": self = .reload
        case "kill": self = .kill
        case "browser-clean": self = .browserClean
        case "net-off": self = .netOff
        case "net-on": self = .netOn
        case "withdraw": self = .withdraw
        case "note": self = .note
        case "end": self = .end
        default: self = .other(rawValue)
        }
    }

    /// The word that a mark's `kind` member holds.
    ///
    /// Equality of a raw-representable type goes through its raw value, so this must not compare kinds itself.
    public var rawValue: String {
        switch self {
        case .scenario: "scenario"
        case .launch: "launch"
        case .render: "render"
        case .jitShown: "jit-shown"
        case .tap: "tap"
        case .background: "background"
        case .foreground: "foreground"
        case .restore: "restore"
        case .opened: "opened"
        case .return: "return"
        case .linkOpened: "link-opened"
        case .reload: "reload"
        case .kill: "kill"
        case .browserClean: "browser-clean"
        case .netOff: "net-off"
        case .netOn: "net-on"
        case .withdraw: "withdraw"
        case .note: "note"
        case .end: "end"
        case .other(let word): word
        }
    }
}
