internal import SessionTrace

/// Looks for the next message in a stream whose framing was lost: a hole, a start that was not captured, broken framing.
///
/// A message begins where a whole line ends in a start line: `METHOD SP target SP HTTP/1.x` (a known method may follow
/// the bytes of a body directly), or `HTTP/1.x SP 3DIGIT`. The places of packet borders play no part, so the same bytes
/// give the same messages however they are split.
package struct MessageSearch {
    /// Bytes of an unfinished line that are kept; a start line that is longer is not found.
    static let lineLimit = 16 << 10

    /// A message's first line, with its line end.
    struct Found {
        var line: [UInt8]
        var started: PacketReference
    }

    private let side: Side
    private var line: [UInt8] = []
    /// Where in `line` each packet's bytes begin.
    private var packets: [(start: Int, packet: PacketReference)] = []
    /// Bytes that were passed over.
    private(set) var skipped = 0
    /// The first and the last packet that was passed over.
    private(set) var first: PacketReference?
    private(set) var last: PacketReference?

    init(side: Side) {
        self.side = side
    }

    /// Bytes follow that are not those after the last ones, or none: the unfinished line is given up. When it is the
    /// beginning of a start line, what can be read of that is returned.
    mutating func interrupt() -> (head: MessageHead, started: PacketReference)? {
        let head = line.withUnsafeBytes { $0.isEmpty ? nil : MessageHead(cutLine: $0, from: side) }
        let started = packets.first?.packet
        if head == nil { skipped &+= line.count }
        forgetLine()
        guard let head, let started else { return nil }
        return (head, started)
    }

    private mutating func forgetLine() {
        line.removeAll(keepingCapacity: true)
        packets.removeAll(keepingCapacity: true)
    }

    /// Reads from `offset` on until a start line is found.
    mutating func read(_ input: UnsafeRawBufferPointer, from offset: inout Int, at packet: PacketReference) -> Found? {
        if offset < input.count {
            first = first ?? packet
            last = packet
        }
        while offset < input.count {
            guard let lineFeed = ByteSearch.first(0x0A, in: input, from: offset) else {
                keep(input.slice(offset..<input.count), packet)
                offset = input.count
                return nil
            }
            let piece = input.slice(offset..<lineFeed &+ 1)
            offset = lineFeed &+ 1
            if line.isEmpty {
                if let start = messageStart(in: piece) {
                    skipped &+= start
                    return Found(line: Array(piece.slice(start..<piece.count)), started: packet)
                }
                skipped &+= piece.count
            } else {
                keep(piece, packet)
                let start = line.withUnsafeBytes { messageStart(in: $0) }
                if let start {
                    let started = packets.last { $0.start <= start }?.packet ?? packet
                    skipped &+= start
                    let found = Found(line: Array(line[start...]), started: started)
                    forgetLine()
                    return found
                }
                skipped &+= line.count
                forgetLine()
            }
        }
        return nil
    }

    private mutating func keep(_ piece: UnsafeRawBufferPointer, _ packet: PacketReference) {
        if packets.last?.packet != packet { packets.append((line.count, packet)) }
        line.append(contentsOf: piece)
        // Trimmed only at twice the limit, so that the work stays linear.
        guard line.count > 2 * Self.lineLimit else { return }
        let surplus = line.count - Self.lineLimit
        line.removeFirst(surplus)
        skipped &+= surplus
        let current = packets.last { $0.start <= surplus }?.packet ?? packet
        packets = [(0, current)] + packets.filter { $0.start > surplus }.map { ($0.start - surplus, $0.packet) }
    }

    private func messageStart(in withLineEnd: UnsafeRawBufferPointer) -> Int? {
        var end = withLineEnd.count &- 1
        if end > 0, withLineEnd[end &- 1] == 0x0D { end &-= 1 }
        let line = withLineEnd.slice(max(0, end &- Self.lineLimit)..<end)
        let start =
            switch side {
            case .client: Self.requestStart(in: line)
            case .server: Self.statusStart(in: line)
            }
        return start.map { $0 &+ end &- line.count }
    }

    private static func statusStart(in line: UnsafeRawBufferPointer) -> Int? {
        var at = 0
        while let found = ByteSearch.first(0x48, in: line, from: at) {
            let rest = line.slice(found..<line.count)
            if StartLine.mayBeginStatus(rest), let status = StartLine.status(rest), status.status < 600,
                status.oddity == nil
            {
                return found
            }
            at = found &+ 1
        }
        return nil
    }

    /// From the line's end backwards: version, target without a space, method.
    private static func requestStart(in line: UnsafeRawBufferPointer) -> Int? {
        guard line.count >= 14, line[line.count &- 9] == 0x20 else { return nil }
        let targetEnd = line.count &- 9
        var targetStart = targetEnd
        while targetStart > 0, line[targetStart &- 1] > 0x20, line[targetStart &- 1] < 0x7F { targetStart &-= 1 }
        guard targetStart < targetEnd, targetStart > 0, line[targetStart &- 1] == 0x20 else { return nil }
        let methodEnd = targetStart &- 1
        var methodStart = methodEnd
        while methodStart > 0, methodEnd &- methodStart < StartLine.methodLimit,
            ByteSearch.isTokenByte(line[methodStart &- 1])
        {
            methodStart &-= 1
        }
        let token = line.slice(methodStart..<methodEnd)
        let start: Int
        if let known = knownMethods.first(where: { ends(token, with: $0) }) {
            start = methodEnd &- known.utf8CodeUnitCount
        } else if methodStart == 0, !token.isEmpty, token.allSatisfy({ $0 &- 0x41 < 26 || $0 == 0x2D }) {
            start = 0
        } else {
            return nil
        }
        let rest = line.slice(start..<line.count)
        guard let request = StartLine.request(rest), request.version != nil else { return nil }
        let target = rest.slice(request.target)
        let isConnect = ByteSearch.equalsIgnoringCase(rest.slice(request.method), "connect")
        let isPlausible =
            target[0] == 0x2F || target.count == 1 && target[0] == 0x2A || isConnect
            || target.count > 7 && target.contains(0x3A)
        return isPlausible ? start : nil
    }

    private static let knownMethods: [StaticString] = [
        "GET", "POST", "PUT", "HEAD", "OPTIONS", "PATCH", "DELETE", "CONNECT", "TRACE",
    ]

    private static func ends(_ token: UnsafeRawBufferPointer, with method: StaticString) -> Bool {
        let count = method.utf8CodeUnitCount
        guard token.count >= count else { return false }
        for index in 0..<count where token[token.count &- count &+ index] != method.utf8Start[index] { return false }
        return true
    }
}
