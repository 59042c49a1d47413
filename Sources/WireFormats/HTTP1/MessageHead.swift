package import SessionTrace

/// A message head as read: start line, fields, and what the fields say about framing.
package struct MessageHead {
    /// The start line.
    package enum Start {
        case request(method: String, target: String)
        case status(Int, reason: String)
    }

    package var start: Start
    package var version: HTTPVersion
    package var fields = FieldSection()
    package var framing = FramingFields()
    package var anomalies: [Anomaly] = []

    /// Reads a whole head: from its first byte to the end of the empty line (or of what was read of it). Nil when its first
    /// line is no start line of this kind.
    package init?(_ bytes: UnsafeRawBufferPointer, from side: Side, fieldLimit: Int) {
        var lines = HeadLines(bytes)
        guard let first = lines.next() else { return nil }
        switch side {
        case .client:
            guard let line = StartLine.request(first) else { return nil }
            let method = first.slice(line.method)
            start = .request(method: method.text, target: first.slice(line.target).text)
            version = line.version ?? .http09
            if let oddity = line.oddity { anomalies.append(.malformedHead("request line: \(oddity)")) }
        case .server:
            guard let line = StartLine.status(first) else { return nil }
            start = .status(line.status, reason: first.slice(line.reason).text)
            version = line.version
            if let oddity = line.oddity { anomalies.append(.malformedHead("status line: \(oddity)")) }
        }
        fields.reserveCapacity(fields: 16, bytes: bytes.count)
        var reader = FieldLineReader(limit: fieldLimit)
        while let line = lines.next(), !line.isEmpty {
            reader.read(line, into: &fields) { framing.note(name: $0, value: $1) }
        }
        reader.finish(into: &fields) { framing.note(name: $0, value: $1) }
        anomalies.append(contentsOf: reader.anomalies)
        if side == .client, version == .http11 {
            if framing.hostCount == 0 { anomalies.append(.malformedHead("no Host field")) }
            if framing.hostCount > 1 { anomalies.append(.malformedHead("more than one Host field")) }
        }
    }
}

extension MessageHead {
    /// What can be read of a start line whose end is missing; nil when it shows no method and target, or no status.
    init?(cutLine line: UnsafeRawBufferPointer, from side: Side) {
        switch side {
        case .client:
            guard let space = ByteSearch.first(0x20, in: line, from: 0), space > 0, space <= StartLine.methodLimit
            else {
                return nil
            }
            let method = line.slice(0..<space)
            let rest = line.slice(space &+ 1..<line.count)
            let end = ByteSearch.first(0x20, in: rest, from: 0) ?? rest.count
            let isPlausible =
                end > 0 && method.allSatisfy { $0 &- 0x41 < 26 || $0 == 0x2D }
                && (rest[0] == 0x2F || rest.slice(0..<min(4, end)).text == "http" || method.text == "CONNECT")
                && StartLine.mayBeginStatus(rest.slice(min(rest.count, end &+ 1)..<rest.count))
            guard isPlausible else { return nil }
            start = .request(method: method.text, target: rest.slice(0..<end).text)
            version = .http11
        case .server:
            guard let status = StartLine.status(line) else { return nil }
            start = .status(status.status, reason: line.slice(status.reason).text)
            version = status.version
        }
    }
}

/// The lines of a head, each without its line end (CRLF, or LF alone: RFC 9112 §2.2).
struct HeadLines {
    private let bytes: UnsafeRawBufferPointer
    private var at = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    mutating func next() -> UnsafeRawBufferPointer? {
        guard at < bytes.count else { return nil }
        let lineFeed = ByteSearch.first(0x0A, in: bytes, from: at) ?? bytes.count
        var end = lineFeed
        if end > at, bytes[end &- 1] == 0x0D { end &-= 1 }
        let line = bytes.slice(at..<end)
        at = lineFeed &+ 1
        return line
    }
}

/// Reads field lines (RFC 9112 §5) into a section, unfolding obsolete folds; used for heads and for trailers.
struct FieldLineReader {
    private(set) var anomalies: [Anomaly] = []
    private let limit: Int
    private var count = 0
    /// A field whose value goes on in the next line, or nothing.
    private var held: (name: [UInt8], value: [UInt8])?
    /// The last line's place, until it is known that no fold follows.
    private var last: (name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)?

    init(limit: Int) {
        self.limit = limit
    }

    /// Reads one line. The bytes of the line must stay valid until `finish`.
    mutating func read(
        _ line: UnsafeRawBufferPointer, into fields: inout FieldSection,
        note: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Void
    ) {
        if line[0] == 0x20 || line[0] == 0x09 {
            unfold(line)
            return
        }
        finish(into: &fields, note: note)
        var colon = 0
        while colon < line.count, ByteSearch.isTokenByte(line[colon]) { colon &+= 1 }
        if colon < line.count, colon > 0, line[colon] == 0x3A {
            last = (line.slice(0..<colon), line.slice(colon &+ 1..<line.count).trimmed)
            return
        }
        guard let actual = ByteSearch.first(0x3A, in: line, from: 0) else {
            complain("a line without a colon")
            last = (line, line.slice(line.count..<line.count))
            return
        }
        let name = line.slice(0..<actual)
        complain(name.trimmed.count < name.count ? "space before a colon" : "a field name that is no token")
        last = (name.trimmed, line.slice(actual &+ 1..<line.count).trimmed)
    }

    /// Hands out the field that was waiting for a fold.
    mutating func finish(
        into fields: inout FieldSection, note: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Void
    ) {
        if let held {
            held.name.withUnsafeBytes { name in
                held.value.withUnsafeBytes { value in add(name, value, to: &fields, note: note) }
            }
            self.held = nil
        } else if let last {
            add(last.name, last.value, to: &fields, note: note)
        }
        last = nil
    }

    private mutating func add(
        _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, to fields: inout FieldSection,
        note: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Void
    ) {
        count &+= 1
        guard count <= limit else {
            if count == limit &+ 1 { complain("more than \(limit) fields") }
            return
        }
        if ByteSearch.first(0, in: value, from: 0) != nil || ByteSearch.first(0x0D, in: value, from: 0) != nil {
            complain("a NUL or a bare CR in a field value")
        }
        fields.append(name: name, value: value)
        note(name, value)
    }

    /// RFC 9112 §5.2: a fold is read as one space.
    private mutating func unfold(_ line: UnsafeRawBufferPointer) {
        complain("folded field line")
        if held == nil {
            guard let last else { return }
            held = (Array(last.name), Array(last.value))
        }
        let more = line.trimmed
        if !more.isEmpty {
            held?.value.append(0x20)
            held?.value.append(contentsOf: more)
        }
    }

    private mutating func complain(_ what: String) {
        let anomaly = Anomaly.malformedHead(what)
        if !anomalies.contains(anomaly) { anomalies.append(anomaly) }
    }
}
