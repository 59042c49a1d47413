public import SessionTrace
internal import WireFormats

/// Where a recorded mark went.
public struct RecordedMark: Hashable, Sendable {
    /// The mark's place among all marks of the recording, from 1.
    public var sequence: Int
    /// The recordings that hold it; empty when recording has stopped.
    public var files: [String]

    /// Makes a record.
    public init(sequence: Int, files: [String]) {
        self.sequence = sequence
        self.files = files
    }
}

/// What the sender of a mark is told.
public struct MarkAcknowledgement: Hashable, Sendable {
    /// The mark as it was taken.
    public var mark: Mark
    /// When it arrived, by the clock that stamps the recording.
    public var arrival: Instant
    /// Where it went.
    public var recorded: RecordedMark
    /// Whether the same mark, by id and content, had come before; it is counted once.
    public var isRepeat: Bool
    /// What in it was not understood.
    public var warnings: [String]

    /// The acknowledgement as JSON: `{"sequence":12,"at":"…","arrived":"…","kind":"tap",…}`.
    public var json: JSONValue {
        var members = [
            JSONMember(name: "sequence", value: .number(String(recorded.sequence))),
            JSONMember(name: "at", value: .string(mark.span.earliest.rfc3339)),
            JSONMember(name: "arrived", value: .string(arrival.rfc3339)),
            JSONMember(name: "kind", value: .string(mark.kind.rawValue)),
        ]
        if let target = mark.target { members.append(JSONMember(name: "target", value: .string(target.rawValue))) }
        if mark.count != 1 { members.append(JSONMember(name: "count", value: .number(String(mark.count)))) }
        if let id = mark.id { members.append(JSONMember(name: "id", value: .string(id))) }
        members.append(JSONMember(name: "by", value: .string(mark.by.rawValue)))
        members.append(JSONMember(name: "repeat", value: .bool(isRepeat)))
        members.append(JSONMember(name: "files", value: .array(recorded.files.map(JSONValue.string))))
        if !warnings.isEmpty {
            members.append(JSONMember(name: "warnings", value: .array(warnings.map(JSONValue.string))))
        }
        return .object(members)
    }
}

/// Why a mark was not taken.
struct MarkRefusal: Error, Hashable, Sendable {
    /// The HTTP status that says so.
    var status: Int
    /// One sentence.
    var sentence: String
}

/// Takes marks however they come, once each: text in, a mark to record out, and the acknowledgement to send.
///
/// A mark that comes without an id gets one, so that it can be taken back; equal id and content is one mark, which is
/// acknowledged again with the sequence number of the first time.
struct MarkIntake {
    /// Most marks taken in one run. A sender in a loop must not fill the recording.
    static let markLimit = 100_000
    /// Bytes of marks remembered to tell repeats by; beyond that the oldest are forgotten.
    static let memoryLimit = 4 << 20
    /// Bytes that a remembered mark counts for beside its text.
    private static let entryOverhead = 512

    /// Where a mark came from.
    struct Origin: Hashable, Sendable {
        /// Who sent it.
        var from: Endpoint
        /// Where it arrived.
        var to: Endpoint
        /// When its first byte arrived.
        var arrival: Instant
    }

    /// A mark, what in it was not understood, and the text that tells repeats.
    struct MarkReading: Hashable {
        var mark: Mark
        var warnings: [String]
        var content: String
    }

    /// What came of a mark's text.
    enum Reading: Hashable {
        /// It is new: record it, then call `recorded`.
        case new(MarkReading)
        /// It came before.
        case repeated(MarkAcknowledgement)
    }

    private let idPrefix: String
    private let markLimit: Int
    private let memoryLimit: Int
    private var counter = 0
    private(set) var count = 0
    private var known: [String: [String: MarkAcknowledgement]] = [:]
    private var order: [(id: String, content: String)] = []
    private var remembered = 0
    /// The latest mark by a person, on which `take back` acts.
    private(set) var latestByPerson: Mark?

    /// An intake; `idPrefix` is the run's own, so that ids given here meet no id of another run.
    init(idPrefix: String, markLimit: Int = MarkIntake.markLimit, memoryLimit: Int = MarkIntake.memoryLimit) {
        self.idPrefix = idPrefix
        self.markLimit = markLimit
        self.memoryLimit = memoryLimit
    }

    /// Reads a mark's object. Its time is taken as that of a datagram which arrived at `origin.arrival`.
    mutating func read(
        _ object: [UInt8], origin: Origin, source: Mark.Source = .control
    ) throws(MarkRefusal) -> Reading {
        let packet = PacketReference(number: 0, time: origin.arrival)
        var reading: MarkReading
        do throws(MarkError) {
            let read = try MarkReader.read(object, source: .datagram, packet: packet)
            reading = MarkReading(mark: read.mark, warnings: read.warnings, content: read.content)
        } catch {
            throw MarkRefusal(status: 400, sentence: "\(error.line):\(error.column): \(error.reason)")
        }
        reading.mark.source = source
        reading.mark.packet = nil
        if reading.mark.kind == .withdraw, reading.mark.attributes["id"] == nil {
            guard let id = latestByPerson?.id else {
                throw MarkRefusal(status: 409, sentence: "no mark by a person to take back; name one with attrs.id")
            }
            reading.mark.attributes["id"] = id
        }
        if let before = reading.mark.id.flatMap({ known[$0] }) {
            if var acknowledgement = before[reading.content] {
                acknowledgement.isRepeat = true
                return .repeated(acknowledgement)
            }
            reading.warnings.append("the id was used before with other content")
        }
        guard count < markLimit else {
            throw MarkRefusal(status: 429, sentence: "more than \(markLimit) marks in one run")
        }
        if reading.mark.id == nil {
            counter += 1
            reading.mark.id = "\(idPrefix)-\(counter)"
        }
        return .new(reading)
    }

    /// Remembers a mark that was recorded.
    mutating func recorded(
        _ reading: MarkReading, as place: RecordedMark, origin: Origin
    ) -> MarkAcknowledgement {
        count += 1
        let acknowledgement = MarkAcknowledgement(
            mark: reading.mark, arrival: origin.arrival, recorded: place, isRepeat: false, warnings: reading.warnings)
        if let id = reading.mark.id {
            known[id, default: [:]][reading.content] = acknowledgement
            order.append((id, reading.content))
            remembered += Self.cost(reading.content)
        }
        while remembered > memoryLimit, !order.isEmpty {
            // A quarter at once, so that forgetting costs little a mark.
            let count = order.count / 4 + 1
            for old in order.prefix(count) {
                remembered -= Self.cost(old.content)
                known[old.id]?[old.content] = nil
                if known[old.id]?.isEmpty == true { known[old.id] = nil }
            }
            order.removeFirst(count)
        }
        if reading.mark.kind == .withdraw {
            if reading.mark.attributes["id"] == latestByPerson?.id { latestByPerson = nil }
        } else if reading.mark.by == .person {
            latestByPerson = reading.mark
        }
        return acknowledgement
    }
}

extension MarkIntake {
    /// The text is kept as the key and in the acknowledgement's parts.
    private static func cost(_ content: String) -> Int { 2 * content.utf8.count + entryOverhead }
}

/// The object of a mark, made of names and values as a query or a form gives them.
enum MarkForm {
    /// The names that are a mark's own; `attrs.NAME` is an attribute.
    private static let names: Set<String> = [
        "kind", "target", "id", "at", "until", "phase", "count", "by", "clock", "device", "name",
    ]

    /// The JSON text of the object. Throws when a name is not known or given twice.
    static func object(_ pairs: [(name: String, value: String)]) throws(MarkRefusal) -> [UInt8] {
        var members: [JSONMember] = []
        var attributes: [JSONMember] = []
        var seen: Set<String> = []
        for (name, value) in pairs {
            guard seen.insert(name).inserted else {
                throw MarkRefusal(status: 400, sentence: "'\(name.prefix(40))' is given twice")
            }
            if name.hasPrefix("attrs.") {
                attributes.append(JSONMember(name: String(name.dropFirst(6)), value: .string(value)))
            } else if names.contains(name) {
                guard !value.isEmpty else { continue }
                let isNumber = name == "count" && value.utf8.allSatisfy { (0x30...0x39).contains($0) }
                members.append(JSONMember(name: name, value: isNumber ? .number(value) : .string(value)))
            } else {
                throw MarkRefusal(status: 400, sentence: "a mark has no '\(name.prefix(40))'")
            }
        }
        if !attributes.isEmpty { members.append(JSONMember(name: "attrs", value: .object(attributes))) }
        return Array(JSONValue.object(members).description.utf8)
    }

    /// The objects of a request's content: one object, an array of them, or JSON Lines.
    static func objects(json body: [UInt8]) throws(MarkRefusal) -> [[UInt8]] {
        let limit = 1_000
        let first = body.first { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
        guard let first else { throw MarkRefusal(status: 400, sentence: "no mark in the request") }
        if first == UInt8(ascii: "[") {
            let value: JSONValue
            do throws(JSONError) {
                value = try JSONValue.parse(body)
            } catch {
                throw MarkRefusal(status: 400, sentence: "\(error)")
            }
            let elements = value.elements ?? []
            guard (1...limit).contains(elements.count) else {
                throw MarkRefusal(
                    status: 400, sentence: "from 1 to \(limit) marks in one request, not \(elements.count)")
            }
            return elements.map { Array($0.description.utf8) }
        }
        if (try? JSONValue.parse(body)) != nil { return [body] }
        let lines = body.split(separator: 0x0A).map(Array.init).filter { line in
            line.contains { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }
        }
        guard lines.count <= limit else {
            throw MarkRefusal(status: 400, sentence: "from 1 to \(limit) marks in one request, not \(lines.count)")
        }
        // One text that spans lines and is broken gives its own error, with its own line.
        return lines.count > 1 && lines.allSatisfy { $0.first == UInt8(ascii: "{") } ? lines : [body]
    }
}
