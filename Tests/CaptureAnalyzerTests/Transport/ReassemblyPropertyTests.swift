import SessionTrace
import Testing
import WireFormats

@testable import CaptureAnalyzer

/// Made-up conversations, cut and shuffled and lost in every way that captures show: what comes out must be the stream,
/// or the stream with holes of exactly the lost bytes.
struct ReassemblyPropertyTests {
    private func run(
        _ conversation: MadeConversation, limits: TransportLimits = .init()
    ) -> (sink: RecordingSink, table: ConnectionTable) {
        var sink = RecordingSink()
        var table = ConnectionTable(limits: limits)
        conversation.play(into: &sink, table: &table)
        return (sink, table)
    }

    private func expect(_ conversation: MadeConversation, seed: UInt64, mergeHoles: Bool = false) {
        let (sink, table) = run(conversation)
        #expect(sink.faults.isEmpty, "seed \(seed): \(sink.faults.prefix(3))")
        #expect(sink.records.count == 1, "seed \(seed)")
        #expect(table.counters.pendingBytes == 0, "seed \(seed)")
        guard let record = sink.records.first else { return }
        #expect(record.connection.client == conversation.clientEndpoint, "seed \(seed)")
        for side in Side.allCases {
            let (bytes, holes) = conversation.expected(side)
            #expect(record[side].bytes == bytes, "seed \(seed), \(side)")
            if mergeHoles {
                #expect(
                    record[side].holes.reduce(0) { $0 + ($1.length ?? 0) }
                        == holes.reduce(0) { $0 + ($1.length ?? 0) }, "seed \(seed), \(side)")
            } else {
                #expect(record[side].holes == holes, "seed \(seed), \(side)")
            }
            #expect(record[side].conflicts == 0, "seed \(seed), \(side)")
            #expect(record[side].isFinished, "seed \(seed), \(side)")
        }
        #expect(record.end?.cause == .finished, "seed \(seed)")
    }

    @Test func inOrder() {
        for seed in UInt64(0)..<50 {
            var generator = SeededGenerator(seed)
            expect(MadeConversation(using: &generator), seed: seed)
        }
    }

    @Test func reorderedRepeatedAndResegmented() {
        for seed in UInt64(1000)..<1120 {
            var generator = SeededGenerator(seed)
            var conversation = MadeConversation(using: &generator, largestSegment: Int(seed % 3) * 700 + 60)
            conversation.retransmit(using: &generator, one: 3)
            conversation.shuffle(using: &generator, distance: Int(seed % 40))
            expect(conversation, seed: seed)
        }
    }

    /// Every packet twice (`any`, bonds, mirrors), the copy at once or some packets later.
    @Test func capturedTwice() {
        for seed in UInt64(2000)..<2050 {
            var generator = SeededGenerator(seed)
            var conversation = MadeConversation(using: &generator)
            conversation.segments = conversation.segments.flatMap { [$0, $0] }
            if seed % 2 == 0 { conversation.shuffle(using: &generator, distance: 12) }
            expect(conversation, seed: seed)
        }
    }

    @Test func packetsLostByTheCapture() {
        for seed in UInt64(3000)..<3120 {
            var generator = SeededGenerator(seed)
            var conversation = MadeConversation(using: &generator, largestSegment: 400)
            if seed % 3 == 0 { conversation.retransmit(using: &generator, one: 4) }
            let rate = Int.random(in: 2...20, using: &generator)
            conversation.segments = conversation.segments.filter {
                $0.bytes.isEmpty || Int.random(in: 0..<rate, using: &generator) != 0
            }
            if seed % 2 == 0 { conversation.shuffle(using: &generator, distance: 20) }
            expect(conversation, seed: seed)
        }
    }

    /// Acknowledgements lost as well, FINs and handshake kept.
    @Test func anyPacketLost() {
        for seed in UInt64(4000)..<4120 {
            var generator = SeededGenerator(seed)
            var conversation = MadeConversation(using: &generator, largestSegment: 300)
            let count = conversation.segments.count
            conversation.segments = conversation.segments.enumerated().filter { index, _ in
                index < 3 || index >= count - 3 || Int.random(in: 0..<4, using: &generator) != 0
            }.map(\.element)
            expect(conversation, seed: seed)
        }
    }

    @Test func snapshotLength() {
        for seed in UInt64(5000)..<5050 {
            var generator = SeededGenerator(seed)
            var conversation = MadeConversation(using: &generator)
            let snap = Int.random(in: 0...1400, using: &generator)
            conversation.segments = conversation.segments.map { segment in
                var cut = segment
                cut.wireLength = segment.bytes.count
                cut.bytes = Array(segment.bytes.prefix(snap))
                return cut
            }
            expect(conversation, seed: seed, mergeHoles: true)
        }
    }

    /// Only one side's packets were captured: its bytes are all there is, and the other's are counted by its
    /// acknowledgements.
    @Test func oneSided() throws {
        for seed in UInt64(6000)..<6050 {
            var generator = SeededGenerator(seed)
            var conversation = MadeConversation(using: &generator)
            let side: Side = seed % 2 == 0 ? .client : .server
            conversation.segments.removeAll { $0.side != side }
            if seed % 4 < 2 {
                // The first acknowledgement says where the hidden side begins, so it keeps its place.
                conversation.segments =
                    Array(conversation.segments.prefix(2))
                    + conversation.segments.dropFirst(2).shuffledSlightly(using: &generator)
            }
            let (sink, _) = run(conversation)
            let record = try #require(sink.records.first)
            #expect(sink.records.count == 1 && sink.faults.isEmpty, "seed \(seed) \(sink.faults.prefix(2))")
            #expect(record[side].bytes == (side == .client ? conversation.client : conversation.server))
            #expect(record[side].holes.isEmpty)
            let hidden = side == .client ? conversation.server : conversation.client
            #expect(record[side.peer].bytes.isEmpty)
            let missing = record[side.peer].holes.reduce(0) { $0 + ($1.length ?? 0) }
            // Without its FIN, the last acknowledged number may be a byte or the FIN.
            #expect(
                missing == hidden.count || missing == hidden.count + 1 || missing == 0 && hidden.count <= 1,
                "seed \(seed): \(missing) of \(hidden.count)")
        }
    }

    /// One direction's packets all before the other's, as when two captures are joined end to end.
    @Test func directionsOneAfterTheOther() throws {
        for seed in UInt64(7000)..<7050 {
            var generator = SeededGenerator(seed)
            var conversation = MadeConversation(using: &generator)
            conversation.segments =
                conversation.segments.filter { $0.side == .client }
                + conversation.segments.filter { $0.side == .server }
            expect(conversation, seed: seed)
        }
    }

    /// Segments that make no sense at all, with small limits: nothing traps, every promise to the sink holds, and what
    /// waits stays within its limit.
    @Test func anySegmentsAtAll() {
        var limits = TransportLimits()
        limits.pendingBytes = 3000
        limits.pendingBytesPerSide = 1500
        limits.pendingSegmentsPerSide = 12
        limits.historyBytes = 64
        limits.openConnections = 3
        limits.endedConnections = 2
        limits.closingPackets = 3
        limits.acknowledgedGapPackets = 9
        for seed in UInt64(9000)..<9150 {
            var generator = SeededGenerator(seed)
            var sink = RecordingSink()
            var table = ConnectionTable(limits: limits)
            var conversation = MadeConversation()
            for number in 1...400 {
                conversation.clientEndpoint = Endpoint(
                    address: IPAddress(ipv4: 0x0A00_0001), port: 50_000 + .random(in: 0...3, using: &generator))
                if Int.random(in: 0..<40, using: &generator) == 0 { conversation.clientISN &+= 100_000_000 }
                var flags = TCPHeader.Flags.ack
                switch Int.random(in: 0..<20, using: &generator) {
                case 0: flags = .syn
                case 1: flags = [.syn, .ack]
                case 2, 3: flags = [.fin, .ack]
                case 4: flags = [.rst, .ack]
                case 5: flags = TCPHeader.Flags(rawValue: .random(in: 0...63, using: &generator))
                default: break
                }
                let isFar = Int.random(in: 0..<30, using: &generator) == 0
                let bytes = (0..<Int.random(in: 0...80, using: &generator)).map { _ in
                    UInt8.random(in: 0...3, using: &generator)
                }
                conversation.feed(
                    MadeSegment(
                        side: Bool.random(using: &generator) ? .client : .server,
                        offset: isFar
                            ? .random(in: -3_000_000_000...3_000_000_000, using: &generator)
                            : .random(in: -90...500, using: &generator),
                        bytes: bytes, flags: flags, acknowledges: .random(in: -50...600, using: &generator),
                        wireLength: bytes.count + (Bool.random(using: &generator) ? 0 : 17)),
                    number: number, time: Instant(nanoseconds: .random(in: .min ... .max, using: &generator)),
                    into: &sink, table: &table)
                #expect(table.counters.pendingBytes <= 3000, "seed \(seed)")
            }
            table.finish(into: &sink)
            #expect(sink.faults.isEmpty, "seed \(seed): \(sink.faults.prefix(3))")
            #expect(table.counters.pendingBytes == 0, "seed \(seed)")
            #expect(sink.records.allSatisfy { $0.end != nil }, "seed \(seed)")
        }
    }

    @Test func joinedInTheMiddle() throws {
        for seed in UInt64(8000)..<8050 {
            var generator = SeededGenerator(seed)
            var conversation = MadeConversation(using: &generator)
            let start = Int.random(in: 3..<conversation.segments.count, using: &generator)
            conversation.segments.removeFirst(start)
            let (sink, _) = run(conversation)
            let record = try #require(sink.records.first)
            #expect(sink.records.count == 1 && sink.faults.isEmpty, "seed \(seed) \(sink.faults.prefix(2))")
            #expect(!record.connection.startSeen)
            for side in Side.allCases {
                let bytes = conversation.expected(side).bytes
                #expect(record[side].bytes == bytes, "seed \(seed)")
                #expect(record[side].holes.isEmpty)
            }
        }
    }
}

extension ArraySlice<MadeSegment> {
    /// Neighbours changed places here and there.
    fileprivate func shuffledSlightly(using generator: inout SeededGenerator) -> [MadeSegment] {
        enumerated().map { (place: $0.offset + Int.random(in: 0...4, using: &generator), index: $0.offset, $0.element) }
            .sorted { ($0.place, $0.index) < ($1.place, $1.index) }.map(\.2)
    }
}
