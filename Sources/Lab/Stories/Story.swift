/// Sessions as data: what happens on the device and at the servers, step by step, and what each rule must say of it.

/// One step of a story.
public struct StoryStep: Hashable, Sendable {
    /// `FILE:LINE`.
    public var place: String
    /// The name by which a story made from this one finds the step; empty: none.
    public var label: String
    /// The label of the step that it was put behind by `after`; empty: none.
    public var anchor = ""
    /// What is done.
    public var verb: String
    /// Its bare words.
    public var words: [String]
    /// Its named values, in order.
    public var options: [Option]

    /// A named value.
    public struct Option: Hashable, Sendable {
        /// Before the `=`.
        public var name: String
        /// After it.
        public var value: String
    }

    /// The last value of that name.
    public func option(_ name: String) -> String? { options.last { $0.name == name }?.value }

    /// All values of that name.
    public func all(_ name: String) -> [String] { options.filter { $0.name == name }.map(\.value) }

    /// Whether the bare word is there.
    public func has(_ word: String) -> Bool { words.contains(word) }
}

/// What a rule must say of a story.
public struct Expectation: Hashable, Sendable {
    /// The rule; `rest` for all that the story does not name.
    public var rule: String
    /// `pass`, `fail`, `inconclusive` or `not-applicable`.
    public var verdict: String
    /// The reason code of an inconclusive one; empty: any.
    public var reason: String
    /// What makes the story a trap for the rule; empty: it is none.
    public var trap: String
    /// Transports that it holds for, as `via=passive`; empty: all.
    public var conditions: [StoryStep.Option]
    /// `FILE:LINE`.
    public var place: String

    /// The verdicts there are.
    public static let verdicts = ["pass", "fail", "inconclusive", "not-applicable"]

    /// Whether it holds for a transport.
    public func holds(for transport: LabTransport) -> Bool {
        conditions.allSatisfy { transport.value(of: $0.name) == $0.value }
    }
}

/// A session as it is to be played.
public struct Story: Hashable, Sendable {
    /// Its name, which is the name of its folder too.
    public var name: String
    /// What it shows, in a sentence.
    public var about: String
    /// The steps, in order.
    public var steps: [StoryStep]
    /// What differs from the policy of the corpus: a dotted key and its value in YAML.
    public var policy: [StoryStep.Option]
    /// What the rules must say; the last one that holds counts.
    public var expectations: [Expectation]
    /// How it is captured: `keys=none`, `snaplen=100`, `cut=80`.
    public var capture: [StoryStep.Option]
    /// Whose header fields a sender's requests have instead of its own.
    public var cast: [StoryStep.Option]
    /// Which transports it is made for, as `via=passive`; several of one name are alternatives.
    public var only: [StoryStep.Option]
    /// Over how many transports it is played, when there are as many.
    public var transports: Int
    /// Whether its recordings belong to the small part that is kept with the sources.
    public var isKept: Bool

    /// The value of a capture option.
    public func captureOption(_ name: String) -> String? { capture.last { $0.name == name }?.value }

    /// What a rule must say when the story goes over a transport; nil: nobody has said.
    public func expectation(of rule: String, over transport: LabTransport) -> Expectation? {
        let rest = rule.hasPrefix("HC-") ? "rest-HC" : "rest"
        return expectations.last { ($0.rule == rule || $0.rule == rest) && $0.holds(for: transport) }
    }

    /// Whether it may go over a transport.
    public func allows(_ transport: LabTransport) -> Bool {
        let names = Set(only.map(\.name))
        return names.allSatisfy { name in
            only.contains { $0.name == name && $0.value == transport.value(of: name) }
        }
    }
}

/// How a session goes over the network.
public struct LabTransport: Hashable, Sendable {
    /// How the device reaches its hosts, and who records.
    public enum Path: String, Hashable, Sendable, CaseIterable {
        /// Through the recording proxy by CONNECT.
        case connect
        /// Through the recording proxy by SOCKS5.
        case socks
        /// Straight, beside a capture, with the device's TLS secrets.
        case passive
    }

    /// Which software the app's requests are made by.
    public enum Stack: String, Hashable, Sendable, CaseIterable {
        /// The lab's own HTTP over OpenSSL.
        case lab
        /// curl, a process a request.
        case curl
    }

    /// How it reaches its hosts.
    public var via: Path
    /// `1` or `2`.
    public var http: Int
    /// `12` or `13`.
    public var tls: Int
    /// `4` or `6`.
    public var ip: Int
    /// What makes the app's requests.
    public var stack: Stack

    /// `passive-h2-tls13-ip6`, the name of a recording.
    public var name: String {
        "\(via.rawValue)-h\(http)-tls\(tls)-ip\(ip)" + (stack == .lab ? "" : "-\(stack.rawValue)")
    }

    /// One of its parts by name.
    public func value(of part: String) -> String? {
        switch part {
        case "via": via.rawValue
        case "recorder": via == .passive ? "capture" : "proxy"
        case "http": String(http)
        case "tls": String(tls)
        case "ip": String(ip)
        case "stack": stack.rawValue
        default: nil
        }
    }

    /// The parts that a story may ask for.
    static let parts = ["via", "recorder", "http", "tls", "ip", "stack"]

    /// The transport of that name.
    public init?(_ name: String) {
        guard let found = Self.all.first(where: { $0.name == name }) else { return nil }
        self = found
    }

    init(_ via: Path, http: Int, tls: Int, ip: Int, _ stack: Stack) {
        self.via = via
        self.http = http
        self.tls = tls
        self.ip = ip
        self.stack = stack
    }

    /// All transports, in an order in which neighbours differ in most parts, so that the first few of any run cover each
    /// part's values.
    public static let all: [LabTransport] = {
        var rest: [LabTransport] = []
        for via in Path.allCases {
            for http in [1, 2] {
                for tls in [12, 13] {
                    for ip in [4, 6] {
                        for stack in Stack.allCases {
                            rest.append(LabTransport(via, http: http, tls: tls, ip: ip, stack))
                        }
                    }
                }
            }
        }
        var ordered: [LabTransport] = []
        while let next = rest.indices.max(by: { score(rest[$0], ordered) < score(rest[$1], ordered) }) {
            ordered.append(rest.remove(at: next))
        }
        return ordered
    }()

    private static func score(_ candidate: LabTransport, _ chosen: [LabTransport]) -> Int {
        chosen.suffix(4).reversed().enumerated().reduce(0) { score, entry in
            score + parts.count { candidate.value(of: $0) != entry.element.value(of: $0) } * (4 - entry.offset)
        }
    }
}
