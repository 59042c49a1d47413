import SessionTrace
import WireFormats

@testable import CaptureAnalyzer

/// SplitMix64: the same numbers for the same seed, so that a failing case can be run again.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        return word ^ word >> 31
    }
}

/// One segment of a made-up conversation: stream offsets instead of sequence numbers.
struct MadeSegment {
    var side: Side
    /// Offset of the first byte; −1 is the SYN's own place.
    var offset: Int
    var bytes: [UInt8] = []
    var flags: TCPHeader.Flags = .ack
    /// The peer's offset that it acknowledges.
    var acknowledges = 0
    /// Payload length on the wire, when more than was captured.
    var wireLength: Int?
}

/// A made-up TCP conversation that can be cut, shuffled and lost in many ways, and fed to a table.
struct MadeConversation {
    var client: [UInt8]
    var server: [UInt8]
    var clientISN: UInt32
    var serverISN: UInt32
    var segments: [MadeSegment] = []
    var clientEndpoint = Endpoint(address: IPAddress(ipv4: 0x0A00_0001), port: 50_000)
    var serverEndpoint = Endpoint(address: IPAddress(ipv4: 0x0A00_0002), port: 443)

    /// A conversation of given segments.
    init(client: String = "", server: String = "", clientISN: UInt32 = 1000, serverISN: UInt32 = 9000) {
        self.client = Array(client.utf8)
        self.server = Array(server.utf8)
        self.clientISN = clientISN
        self.serverISN = serverISN
    }

    /// A whole conversation: handshake, both streams in turns, both FINs, everything acknowledged.
    init(using generator: inout SeededGenerator, length: Int = 8_000, largestSegment: Int = 1460) {
        client = (0..<Int.random(in: 0...length, using: &generator)).map { _ in
            UInt8.random(in: 0...255, using: &generator)
        }
        server = (0..<Int.random(in: 0...length, using: &generator)).map { _ in
            UInt8.random(in: 0...255, using: &generator)
        }
        // Half of them wrap around early.
        clientISN = Bool.random(using: &generator) ? .random(in: 0 ... .max, using: &generator) : 0xFFFF_FF00
        serverISN = Bool.random(using: &generator) ? .random(in: 0 ... .max, using: &generator) : 0xFFFF_FFFF
        segments = [
            MadeSegment(side: .client, offset: -1, flags: .syn),
            MadeSegment(side: .server, offset: -1, flags: [.syn, .ack]),
            MadeSegment(side: .client, offset: 0),
        ]
        var sent = [0, 0]
        while sent[0] < client.count || sent[1] < server.count {
            let side: Side =
                sent[0] < client.count && (sent[1] == server.count || Bool.random(using: &generator))
                ? .client : .server
            let own = Int(side.rawValue)
            let stream = side == .client ? client : server
            let end = min(sent[own] + .random(in: 1...largestSegment, using: &generator), stream.count)
            segments.append(
                MadeSegment(
                    side: side, offset: sent[own], bytes: Array(stream[sent[own]..<end]),
                    acknowledges: sent[1 - own]))
            sent[own] = end
            if Int.random(in: 0..<3, using: &generator) == 0 {
                segments.append(
                    MadeSegment(side: side.peer, offset: sent[1 - own], acknowledges: sent[own]))
            }
        }
        segments += [
            MadeSegment(side: .client, offset: client.count, flags: [.fin, .ack], acknowledges: server.count),
            MadeSegment(side: .server, offset: server.count, flags: [.fin, .ack], acknowledges: client.count + 1),
            MadeSegment(side: .client, offset: client.count + 1, acknowledges: server.count + 1),
        ]
    }

    /// Retransmissions of other stretches than were sent first, a little later.
    mutating func retransmit(using generator: inout SeededGenerator, one outOf: Int) {
        var result: [MadeSegment] = []
        for segment in segments {
            result.append(segment)
            let stream = segment.side == .client ? client : server
            guard !segment.bytes.isEmpty, Int.random(in: 0..<outOf, using: &generator) == 0 else { continue }
            let sent = segment.offset + segment.bytes.count
            let start = Int.random(in: max(0, sent - 3000)..<sent, using: &generator)
            var again = segment
            again.offset = start
            again.bytes = Array(stream[start..<Int.random(in: (start + 1)...sent, using: &generator)])
            result.append(again)
        }
        segments = result
    }

    /// Every packet after the handshake may come up to `distance` places later.
    mutating func shuffle(using generator: inout SeededGenerator, distance: Int) {
        let head = segments.prefix(3).shuffled(using: &generator)
        let tail = segments.dropFirst(3).enumerated()
            .map { (place: $0.offset + Int.random(in: 0...distance, using: &generator), index: $0.offset, $0.element) }
            .sorted { ($0.place, $0.index) < ($1.place, $1.index) }
        segments = head + tail.map(\.2)
    }

    /// Feeds all segments, a millisecond apart, and ends the capture.
    func play(
        into sink: inout RecordingSink, table: inout ConnectionTable, from start: Int64 = 1_000_000_000_000_000_000,
        spacing: Int64 = 1_000_000, finish: Bool = true
    ) {
        for (index, segment) in segments.enumerated() {
            feed(
                segment, number: index + 1, time: Instant(nanoseconds: start + Int64(index) * spacing), into: &sink,
                table: &table)
        }
        if finish { table.finish(into: &sink) }
    }

    func feed(
        _ segment: MadeSegment, number: Int, time: Instant, into sink: inout some StreamSink,
        table: inout ConnectionTable
    ) {
        let isClient = segment.side == .client
        let initial = isClient ? clientISN : serverISN
        let peer = isClient ? serverISN : clientISN
        _ = segment.bytes.withUnsafeBytes { bytes in
            table.receive(
                TransportUnit(
                    source: isClient ? clientEndpoint : serverEndpoint,
                    destination: isClient ? serverEndpoint : clientEndpoint,
                    segment: .init(
                        sequence: initial &+ 1 &+ UInt32(truncatingIfNeeded: segment.offset),
                        acknowledgement: segment.flags.contains(.ack)
                            ? peer &+ 1 &+ UInt32(truncatingIfNeeded: segment.acknowledges) : 0,
                        flags: segment.flags),
                    payload: bytes, payloadLength: segment.wireLength ?? bytes.count,
                    reference: PacketReference(number: number, time: time), interface: 0, processRecord: .none,
                    process: nil),
                into: &sink)
        }
    }

    /// What a reader of the captured packets can know of a side: bytes, and holes as (length, offset after).
    func expected(_ side: Side) -> (bytes: [UInt8], holes: [RecordingSink.Hole]) {
        let stream = side == .client ? client : server
        var isPresent = Array(repeating: false, count: stream.count)
        for segment in segments where segment.side == side {
            for index in segment.offset..<(segment.offset + segment.bytes.count) { isPresent[index] = true }
        }
        var bytes: [UInt8] = []
        var holes: [RecordingSink.Hole] = []
        var index = 0
        while index < stream.count {
            if isPresent[index] {
                bytes.append(stream[index])
                index += 1
            } else {
                let start = index
                while index < stream.count, !isPresent[index] { index += 1 }
                holes.append(.init(length: index - start, endOffset: UInt64(index), cause: .notCaptured))
            }
        }
        return (bytes, holes)
    }
}
