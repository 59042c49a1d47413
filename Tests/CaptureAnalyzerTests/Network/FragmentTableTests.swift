import SessionTrace
import Testing
import WireFormats

@testable import CaptureAnalyzer

@Suite struct FragmentTableTests {
    private static let payload = (0..<3000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    /// A datagram's fragments as IPv4 packets: (offset, length) of the UDP header and payload together.
    private func packets(_ parts: [(Int, Int)], id: Int = 7, payload: [UInt8] = Self.payload) -> [[UInt8]] {
        let whole = Frames.udp(payload)
        return parts.map { offset, length in
            let end = min(offset + length, whole.count)
            return Frames.ipv4(Array(whole[offset..<end]), id: id, more: end < whole.count, offset: offset)
        }
    }

    private func packets6(_ parts: [(Int, Int)], headers: [UInt8] = [], first: UInt8 = 17) -> [[UInt8]] {
        let whole = headers + Frames.udp(Self.payload)
        return parts.map { offset, length in
            let end = min(offset + length, whole.count)
            return Frames.ipv6(
                Frames.fragment6(Array(whole[offset..<end]), next: first, offset: offset, more: end < whole.count),
                next: 44)
        }
    }

    private func feed(
        _ packets: [[UInt8]], limits: NetworkLimits = .init(), seconds: Int64 = 0
    ) -> (sink: UnitCollector, layer: NetworkLayer) {
        var layer = NetworkLayer(limits: limits)
        var sink = UnitCollector()
        for (index, packet) in packets.enumerated() {
            layer.receive(packet, linkType: 101, number: index + 1, seconds: Int64(index) * seconds, into: &sink)
        }
        layer.finish(into: &sink)
        return (sink, layer)
    }

    private let thirds = [(0, 1200), (1200, 1200), (2400, 1200)]

    @Test(arguments: [[0, 1, 2], [2, 1, 0], [1, 0, 2], [2, 0, 1]])
    func anyOrder(_ order: [Int]) {
        for fragments in [
            packets(thirds), packets6(thirds), packets6(thirds, headers: [17, 0, 1, 4, 0, 0, 0, 0], first: 60),
        ] {
            let (sink, layer) = feed(order.map { fragments[$0] })
            #expect(sink.units.map(\.payload) == [Self.payload])
            #expect(sink.spots.isEmpty)
            #expect(layer.counters.reassembledDatagrams == 1)
        }
    }

    @Test func countsMoreFragmentsBits() {
        let (_, layer) = feed(packets(thirds))
        #expect(layer.counters.ipFragments == 2)
    }

    @Test func everyFragmentTwice() {
        let fragments = packets(thirds)
        for order in [fragments + fragments, fragments.flatMap { [$0, $0] }] {
            let (sink, layer) = feed(order)
            #expect(sink.units.count == 1)
            #expect(sink.spots.isEmpty, "the repeats are known")
            #expect(layer.counters.repeatedFragments == 3)
        }
    }

    @Test func identificationUsedAgain() {
        let other = Self.payload.map { $0 ^ 0xFF }
        let (sink, _) = feed(packets(thirds) + packets(thirds, payload: other))
        #expect(sink.units.map(\.payload) == [Self.payload, other])
        #expect(sink.spots.isEmpty)
    }

    @Test func firstBytesWin() {
        var fragments = packets(thirds)
        // Bytes 800 to 1999 again, all 0xEE.
        fragments.insert(
            Frames.ipv4(Array(repeating: 0xEE, count: 1200), id: 7, more: true, offset: 800), at: 1)
        let (sink, layer) = feed(fragments)
        var expected = Self.payload
        for index in 1200..<2000 { expected[index - 8] = 0xEE }
        #expect(sink.units.map(\.payload) == [expected])
        #expect(layer.counters.fragmentConflicts == 2)
    }

    @Test func missingFragmentIsToldWithItsTransport() {
        let fragments = packets(thirds)
        let (sink, layer) = feed([fragments[0], fragments[2]])
        #expect(sink.units.isEmpty)
        #expect(sink.parts.map(\.payload.count) == [1192] && sink.parts.map(\.length) == [3000])
        #expect(sink.spots.map(\.reason) == [.fragmentMissing] && sink.spots.first?.bytes == 1200)
        #expect(layer.counters.incompleteDatagrams == 1)
    }

    @Test func missingFirstFragment() {
        let fragments = packets(thirds)
        let (sink, _) = feed([fragments[1], fragments[2]])
        #expect(sink.units.isEmpty && sink.parts.isEmpty && sink.spots.first?.bytes == 1200)
    }

    @Test func firstFragmentCutByTheCapture() {
        var layer = NetworkLayer()
        var sink = UnitCollector()
        let fragments = packets(thirds)
        layer.receive(Array(fragments[0].prefix(100)), linkType: 101, originalLength: 1220, into: &sink)
        layer.receive(fragments[1], linkType: 101, into: &sink)
        layer.receive(fragments[2], linkType: 101, into: &sink)
        layer.finish(into: &sink)
        #expect(sink.units.map(\.payload.count) == [72], "read at once: it will never be whole")
        #expect(sink.parts.isEmpty && sink.spots.map(\.reason) == [.truncatedPacket])
    }

    @Test func timeout() {
        let fragments = packets(thirds)
        let (sink, layer) = feed(fragments, seconds: 31)
        #expect(sink.units.isEmpty && layer.counters.incompleteDatagrams == 2)
    }

    @Test func datagramLimit() {
        var limits = NetworkLimits()
        limits.fragmentedDatagrams = 10
        let firsts = (1...50).flatMap { packets([(0, 1200)], id: $0) }
        let (sink, layer) = feed(firsts, limits: limits)
        #expect(layer.counters.incompleteDatagrams == 50 && sink.spots.count == 50)
    }

    @Test func byteLimit() {
        var limits = NetworkLimits()
        limits.fragmentBytes = 20_000
        var table = FragmentTable(limits: limits)
        var most = 0
        for id in 0..<200 {
            let reference = PacketReference(number: id, time: Instant(nanoseconds: 0))
            Array(Frames.udp(Self.payload).prefix(1200)).withUnsafeBytes { bytes in
                let packet = IPHeader(
                    source: IPAddress(ipv4: 1), destination: IPAddress(ipv4: 2), protocolNumber: 17, payload: bytes,
                    payloadLength: bytes.count)
                _ = table.add(
                    packet, fragment: .init(identification: UInt32(id), offset: 0, hasMore: true), at: reference)
            }
            while table.nextExpired(at: reference.time) != nil {}
            most = max(most, table.storedBytes)
        }
        #expect(most <= 20_000 && most > 10_000)
    }

    @Test func rememberedDatagramLimit() {
        var limits = NetworkLimits()
        limits.rememberedDatagrams = 2
        let all = (1...5).flatMap { packets(thirds, id: $0) }
        let (sink, _) = feed(all + packets([(0, 1200)], id: 1) + packets([(0, 1200)], id: 5), limits: limits)
        #expect(sink.units.count == 5)
        #expect(sink.spots.count == 1, "the first is forgotten, the last still known")
    }
}
