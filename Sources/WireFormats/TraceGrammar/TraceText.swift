public import SessionTrace

/// The words by which a trace says more than packets can: marks and proxy events, as the payload of UDP datagrams and as
/// packet comments. The file around them is plain pcapng.
public enum TraceText {
    /// What a mark's text starts with, before its JSON object.
    public static let markPrefix = "handoff-mark/1 "
    /// What a proxy event's text starts with, before its JSON object.
    public static let eventPrefix = "handoff-event/1 "
    /// `shb_userappl` of recordings of our own starts with this.
    public static let applicationPrefix = "handoff/"
    /// Most bytes of the JSON object of a mark or event: what an option of a block, or a datagram, can hold.
    public static let objectLimit = 65_000

    static let markWord = "handoff-mark/"
    static let eventWord = "handoff-event/"
    static let objectLimits = JSONLimits(bytes: objectLimit, depth: 16, values: 4_096)

    /// The text of a mark: prefix and object. Its `at` is the span's start; `until` is written when the span has length.
    public static func text(of mark: Mark) -> String {
        var members: [JSONMember] = []
        func add(_ name: String, _ text: String?) {
            if let text { members.append(JSONMember(name: name, value: .string(text))) }
        }
        add("kind", mark.kind.rawValue)
        add("target", mark.target?.rawValue)
        add("id", mark.id)
        add("at", mark.span.earliest.rfc3339)
        add("until", mark.span.latest > mark.span.earliest ? mark.span.latest.rfc3339 : nil)
        add("phase", mark.phase?.rawValue)
        if mark.count != 1 { members.append(JSONMember(name: "count", value: .number(String(mark.count)))) }
        add("by", mark.by == .script ? nil : mark.by.rawValue)
        add("clock", mark.clock)
        add("device", mark.device)
        add("name", mark.name)
        if !mark.attributes.isEmpty {
            members.append(JSONMember(name: "attrs", value: object(mark.attributes)))
        }
        return markPrefix + JSONValue.object(members).description
    }

    /// The text of a proxy event: prefix and object, attributes in the order of their names.
    public static func text(of event: ProxyEvent) -> String {
        var members = [
            JSONMember(name: "kind", value: .string(event.kind.rawValue)),
            JSONMember(name: "at", value: .string(event.at.rfc3339)),
        ]
        members += object(event.attributes).members ?? []
        return eventPrefix + JSONValue.object(members).description
    }

    private static func object(_ attributes: [String: String]) -> JSONValue {
        .object(
            attributes.sorted { $0.key < $1.key }.map { JSONMember(name: $0.key, value: .string($0.value)) })
    }

    /// Attributes of an object: texts as they are, everything else as its JSON text.
    static func attributes(_ members: [JSONMember]) -> [String: String] {
        var attributes: [String: String] = [:]
        for member in members { attributes[member.name] = member.value.stringValue ?? member.value.description }
        return attributes
    }
}

/// What became of a text that claims to be a mark or an event.
public enum TraceTextReading: Hashable, Sendable {
    /// A mark.
    case mark(ReadMark)
    /// A word of the proxy.
    case event(ProxyEvent)
    /// It starts like one and can't be read; the reason holds no more than the place and the fault.
    case unreadable(String)
}

extension TraceText {
    /// Reads a packet comment; nil if it is an ordinary one.
    public static func read(comment: String, on packet: PacketReference) -> TraceTextReading? {
        if comment.hasPrefix(markWord) {
            return readMark(Array(comment.utf8), source: .comment, packet: packet)
        }
        guard comment.hasPrefix(eventWord) else { return nil }
        guard comment.hasPrefix(eventPrefix) else { return .unreadable("a proxy event of another version than 1") }
        do throws(JSONError) {
            let value = try JSONValue.parse(Array(comment.utf8.dropFirst(eventPrefix.utf8.count)), limits: objectLimits)
            guard let members = value.members, let kind = value["kind"]?.stringValue else {
                return .unreadable("a proxy event without a kind")
            }
            if value.hasDuplicateNames { return .unreadable("a proxy event with a member given twice") }
            var at = packet.time
            if let text = value["at"] {
                guard let instant = text.stringValue.flatMap(Instant.init(rfc3339:)) else {
                    return .unreadable("a proxy event whose at is no RFC 3339 time with a zone")
                }
                at = instant
            }
            let others = members.filter { $0.name != "kind" && $0.name != "at" }
            return .event(
                ProxyEvent(kind: .init(rawValue: kind), at: at, packet: packet, attributes: attributes(others)))
        } catch {
            return .unreadable("a proxy event that is not JSON: \(error)")
        }
    }

    /// Reads the payload of a UDP datagram; nil if it is none of ours. Costs one comparison for other datagrams.
    public static func read(datagram payload: UnsafeRawBufferPointer, at packet: PacketReference) -> TraceTextReading? {
        guard payload.count >= markWord.utf8.count, payload.prefix(markWord.utf8.count).elementsEqual(markWord.utf8)
        else { return nil }
        return readMark(Array(payload), source: .datagram, packet: packet)
    }

    private static func readMark(_ text: [UInt8], source: Mark.Source, packet: PacketReference) -> TraceTextReading {
        guard text.starts(with: markPrefix.utf8) else { return .unreadable("a mark of another version than 1") }
        do throws(MarkError) {
            return .mark(
                try MarkReader.read(Array(text.dropFirst(markPrefix.utf8.count)), source: source, packet: packet))
        } catch {
            return .unreadable("a mark that can't be read: \(error.line):\(error.column): \(error.reason)")
        }
    }
}
