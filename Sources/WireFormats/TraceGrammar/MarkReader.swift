public import SessionTrace

/// A mark as it was read.
public struct ReadMark: Hashable, Sendable {
    /// The mark.
    public var mark: Mark
    /// What in it was not understood.
    public var warnings: [String]
    /// The whole object as JSON text with its members in the order of their names, to tell repeats by.
    public var content: String
}

/// Reads the JSON object of one mark (DESIGN "Marks"). Strict about what would change a verdict: types, times, and
/// members given twice are errors; words that a later version may know are kept, with a warning.
///
/// How the time is taken depends on how the mark came (RULES section 4, section 9 "time"):
///
/// | came as | `at` | span | on the trace's clock |
/// |---|---|---|---|
/// | datagram | no | the packet's time | yes: the clock that stamped the packets stamped the mark |
/// | datagram | yes | from `at` to arrival; arrival alone if `at` is later | yes, unless it names another `clock` |
/// | comment | no | the packet's time | yes |
/// | comment | yes | `at` | yes, unless it names another `clock` |
/// | side file | must be | `at` | no: the reader of the file has to allow for the clocks' difference |
///
/// `until` replaces the end of the span. A datagram's `at` is the sender's clock. It can't be later than the arrival if
/// the clocks agree, so a later one only proves that they do not, and is not used. An earlier one makes the span longer.
/// On the capturing host that span is right, with no error. From another host it is as good as that host's clock: a fast
/// one can state an `at` behind the true tap and still before the arrival, a slow one a span that begins too early. Such
/// a sender should leave `at` out, so that arrival decides, or name its `clock`, which gives up the error of 0.
public enum MarkReader {
    private static let memberNames: Set<String> = [
        "kind", "target", "id", "at", "until", "phase", "count", "by", "clock", "device", "name", "attrs",
    ]
    /// Most taps that one mark can stand for.
    private static let countLimit = 1_000

    /// Reads an object.
    ///
    /// - Parameters:
    ///   - text: the object alone, without `handoff-mark/1 `.
    ///   - packet: the packet that carried it; nil for side files, whose marks must have `at`.
    public static func read(
        _ text: [UInt8], source: Mark.Source, packet: PacketReference?
    ) throws(MarkError) -> ReadMark {
        var object = try MarkObject(text)
        guard let kindText = try object.string("kind") else { throw object.fault(at: nil, "a mark without kind") }
        let kind = Mark.Kind(rawValue: kindText)
        if case .other = kind { object.warnings.append("kind '\(kindText)' is not known") }
        var target: Mark.Target?
        if let word = try object.string("target") {
            target = Mark.Target(rawValue: word) ?? .other
            if Mark.Target(rawValue: word) == nil {
                object.warnings.append("target '\(word)' is not known; taken for 'other'")
            }
        }
        let clock = try object.string("clock")
        let time = try self.time(&object, source: source, packet: packet, clock: clock)
        let phase = try object.word("phase", Mark.Phase.init(rawValue:), "pre or post")
        let by = try object.word("by", Mark.Maker.init(rawValue:), "script or person")
        let count = try object.count("count", limit: countLimit)
        for name in object.names where !memberNames.contains(name) {
            object.warnings.append("member '\(name)' is not known")
        }
        let mark = Mark(
            id: try object.identifier("id"), kind: kind, target: target, span: time.span,
            isOnTraceClock: time.isOnTraceClock, phase: phase, count: count, by: by ?? .script, source: source,
            clock: clock, device: try object.string("device"), name: try object.string("name"),
            attributes: try object.attributes("attrs"), packet: packet)
        return ReadMark(mark: mark, warnings: object.warnings, content: object.content)
    }

    private static func time(
        _ object: inout MarkObject, source: Mark.Source, packet: PacketReference?, clock: String?
    ) throws(MarkError) -> (span: TimeSpan, isOnTraceClock: Bool) {
        let at = try object.instant("at")
        let until = try object.instant("until")
        if let at, let until, until < at { throw object.fault(at: "until", "until is before at") }
        guard let packet else {
            guard let at else { throw object.fault(at: nil, "a mark in a side file needs at") }
            return (TimeSpan(at, until ?? at), false)
        }
        guard let at else {
            // A mark's own end may lie before its arrival only by another clock's word; arrival decides then.
            return (TimeSpan(packet.time, max(until ?? packet.time, packet.time)), until == nil || clock == nil)
        }
        guard source == .datagram else { return (TimeSpan(at, until ?? at), clock == nil) }
        if at > packet.time {
            object.warnings.append("at is later than the mark's arrival; the arrival is used")
        }
        let earliest = min(at, packet.time)
        return (TimeSpan(earliest, max(until ?? packet.time, earliest)), clock == nil)
    }
}

/// The members of a mark's object, taken by name and type.
struct MarkObject {
    var warnings: [String] = []
    private let text: [UInt8]
    private let members: [JSONMember]

    init(_ text: [UInt8]) throws(MarkError) {
        self.text = text
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue.parse(text, limits: TraceText.objectLimits)
        } catch {
            throw MarkError(line: error.line, column: error.column, reason: error.reason)
        }
        guard case .object(let members) = value else {
            throw MarkError(line: 1, column: 1, reason: "a mark is an object, not \(value.kindWords)")
        }
        self.members = members
        var seen: Set<String> = []
        for member in members where !seen.insert(member.name).inserted {
            throw fault(at: member.name, "'\(member.name)' is given twice")
        }
    }

    /// The object's text with the members in the order of their names.
    var content: String { JSONValue.object(members.sorted { $0.name < $1.name }).description }

    var names: [String] { members.map(\.name) }

    /// A fault at the last member called `name`, or at the object's start.
    func fault(at name: String?, _ reason: String) -> MarkError {
        let offset = members.last { $0.name == name }?.offset ?? 0
        var line = 1
        var column = 1
        for byte in text.prefix(offset) {
            if byte == 0x0A {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
        return MarkError(line: line, column: column, reason: reason)
    }

    private func value(_ name: String) -> JSONValue? {
        guard let value = members.last(where: { $0.name == name })?.value, value != .null else { return nil }
        return value
    }

    func string(_ name: String) throws(MarkError) -> String? {
        guard let value = value(name) else { return nil }
        guard let text = value.stringValue else {
            throw fault(at: name, "\(name) is \(value.kindWords), not a string")
        }
        return text
    }

    /// A string, or a number taken by its text.
    func identifier(_ name: String) throws(MarkError) -> String? {
        if case .number(let digits) = value(name) { return digits }
        return try string(name)
    }

    func word<Word>(_ name: String, _ make: (String) -> Word?, _ allowed: String) throws(MarkError) -> Word? {
        guard let text = try string(name) else { return nil }
        guard let word = make(text) else { throw fault(at: name, "\(name) is neither \(allowed)") }
        return word
    }

    func instant(_ name: String) throws(MarkError) -> Instant? {
        guard let text = try string(name) else { return nil }
        guard let instant = Instant(rfc3339: text) else {
            throw fault(at: name, "\(name) is no RFC 3339 time with a zone (2026-11-29T12:00:00.123456Z)")
        }
        return instant
    }

    func count(_ name: String, limit: Int) throws(MarkError) -> Int {
        guard let value = value(name) else { return 1 }
        guard let count = value.integerValue, (1...limit).contains(count) else {
            throw fault(at: name, "\(name) is no whole number from 1 to \(limit)")
        }
        return count
    }

    func attributes(_ name: String) throws(MarkError) -> [String: String] {
        guard let value = value(name) else { return [:] }
        guard let members = value.members else {
            throw fault(at: name, "\(name) is \(value.kindWords), not an object")
        }
        return TraceText.attributes(members)
    }
}

extension JSONValue {
    /// What kind of value it is, with its article: `an array`, `null`.
    fileprivate var kindWords: String {
        switch self {
        case .null: kindName
        case .array, .object: "an \(kindName)"
        case .bool, .number, .string: "a \(kindName)"
        }
    }
}
