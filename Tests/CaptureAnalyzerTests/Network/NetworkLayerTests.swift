import SessionTrace
import Testing
import WireFormats

@testable import CaptureAnalyzer

/// A frame of each kind that holds one datagram with the payload `hello`.
struct FrameCase: CustomTestStringConvertible, Sendable {
    var name: String
    var linkType: UInt32
    var frame: [UInt8]

    var testDescription: String { name }

    init(_ name: String, _ linkType: UInt32, _ frame: [UInt8]) {
        (self.name, self.linkType, self.frame) = (name, linkType, frame)
    }

    private static let hello = Frames.udp(Array("hello".utf8))
    private static let ip = Frames.ipv4(hello)
    private static let ip6 = Frames.ipv6(hello)

    static let links: [FrameCase] = [
        .init("Ethernet", 1, Frames.ethernet(ip)),
        .init("Ethernet, IPv6", 1, Frames.ethernet(ip6, type: 0x86DD)),
        .init("Ethernet with trailer", 1, Frames.ethernet(ip + [0xFF, 0xFE, 1, 2, 3, 4, 5, 6])),
        .init("802.1Q", 1, Frames.ethernet([0, 5, 8, 0] + ip, type: 0x8100)),
        .init("QinQ 88A8", 1, Frames.ethernet([0, 5, 0x81, 0, 0, 6, 8, 0] + ip, type: 0x88A8)),
        .init("QinQ 9100", 1, Frames.ethernet([0, 0, 0x81, 0, 0, 6, 0x86, 0xDD] + ip6, type: 0x9100)),
        .init("MPLS", 1, Frames.ethernet([0, 1, 0, 64, 0, 2, 1, 64] + ip, type: 0x8847)),
        .init("MPLS, IPv6", 1, Frames.ethernet([0, 2, 1, 64] + ip6, type: 0x8848)),
        .init("MPLS pseudowire", 1, Frames.ethernet([0, 2, 1, 64, 0, 0, 0, 0] + Frames.ethernet(ip), type: 0x8847)),
        .init(
            "PPPoE", 1, Frames.ethernet([0x11, 0, 0, 7] + Frames.big16(ip.count + 2) + [0, 0x21] + ip, type: 0x8864)),
        .init("802.3 with SNAP", 1, Frames.ethernet(Frames.snap(ip), type: ip.count + 8)),
        .init("rvi: Ethernet that is IPv4", 1, ip),
        .init("rvi: Ethernet that is IPv6", 1, ip6),
        .init("raw 12", 12, ip), .init("raw 14", 14, ip6), .init("raw 101", 101, ip),
        .init("IPv4", 228, ip), .init("IPv6", 229, ip6),
        .init("null, little-endian", 0, [2, 0, 0, 0] + ip), .init("null, big-endian", 0, [0, 0, 0, 2] + ip),
        .init("null, AF 10", 0, [10, 0, 0, 0] + ip6), .init("null, AF 23", 0, [23, 0, 0, 0] + ip6),
        .init("null, AF 24", 0, [24, 0, 0, 0] + ip6), .init("null, AF 28", 0, [0, 0, 0, 28] + ip6),
        .init("null, AF 30", 0, [30, 0, 0, 0] + ip6), .init("loop", 108, [0, 0, 0, 24] + ip6),
        .init("PPP", 9, [0, 0x21] + ip), .init("PPP, address and control", 9, [0xFF, 3, 0, 0x57] + ip6),
        .init("PPP, short protocol", 9, [0xFF, 3, 0x21] + ip), .init("PPP in HDLC", 50, [0xFF, 3, 0, 0x21] + ip),
        .init("Cisco HDLC", 50, [0x0F, 0, 8, 0] + ip), .init("PPP, direction", 204, [1, 0xFF, 3, 0, 0x21] + ip),
        .init("pppd", 166, [0, 3, 0, 0x21] + ip),
        .init("PPPoE link", 51, [0x11, 0, 0, 7] + Frames.big16(ip.count + 2) + [0, 0x21] + ip),
        .init("cooked", 113, Frames.zeros(14) + [8, 0] + ip),
        .init("cooked, VLAN", 113, Frames.zeros(14) + [0x81, 0, 0, 5, 8, 0] + ip),
        .init("cooked v2", 276, [0x86, 0xDD] + Frames.zeros(18) + ip6),
        .init(
            "NFLOG", 239,
            [2, 0, 0, 0] + [8, 0, 1, 0, 1, 2, 3, 4] + [7, 0, 10, 0, 1, 2, 3, 0] + Frames.little16(ip.count + 4) + [
                9, 0,
            ] + ip + [0]),
        .init(
            "NFLOG, big-endian", 239,
            [2, 0, 0, 0] + [0, 8, 0, 1, 1, 2, 3, 4] + Frames.big16(ip.count + 4) + [0, 9] + ip),
        .init("802.11", 105, [0x08, 0x01] + Frames.zeros(22) + Frames.snap(ip)),
        .init("802.11 QoS", 105, [0x88, 0x02] + Frames.zeros(24) + Frames.snap(ip)),
        .init("802.11 QoS, HT control", 105, [0x88, 0x82] + Frames.zeros(28) + Frames.snap(ip)),
        .init("802.11, four addresses, QoS", 105, [0x88, 0x03] + Frames.zeros(30) + Frames.snap(ip6, type: 0x86DD)),
        .init(
            "radiotap", 127,
            [0, 0, 8, 0, 0, 0, 0, 0] + [0x08, 0x01] + Frames.zeros(22) + Frames.snap(ip) + [1, 2, 3, 4]),
        .init(
            "radiotap, two words, TSFT, padded", 127,
            [0, 0, 32, 0, 3, 0, 0, 0x80, 0, 0, 0, 0] + Frames.zeros(4) + Frames.zeros(8) + [0x20] + Frames.zeros(7)
                + [0x88, 0x01] + Frames.zeros(24) + [0, 0] + Frames.snap(ip)),
        .init(
            "A-MSDU", 105,
            [0x88, 0x01] + Frames.zeros(22) + [0x80, 0] + Frames.zeros(12) + Frames.big16(ip.count + 8)
                + Frames.snap(ip)),
        .init(
            "PKTAP", 258,
            Frames.pktap(
                Frames.ethernet(ip), dlt: 1, name: "MobileSafari", process: 42, effective: "",
                effectiveProcess: 0xFFFF_FFFF)),
        .init(
            "PKTAP, raw", 258, Frames.pktap(ip6, dlt: 12, name: "x", process: 1, effective: "y", effectiveProcess: 2)),
        .init(
            "PKTAP under its old number", 149,
            Frames.pktap(ip, dlt: 12, name: "x", process: 1, effective: "", effectiveProcess: 0)),
        .init("GRE", 101, Frames.ipv4([0, 0, 8, 0] + ip, proto: 47)),
        .init(
            "GRE, checksum, key, sequence", 101, Frames.ipv4([0xB0, 0, 0x86, 0xDD] + Frames.zeros(12) + ip6, proto: 47)),
        .init("GRE, Ethernet", 101, Frames.ipv4([0x20, 0, 0x65, 0x58, 0, 0, 0, 1] + Frames.ethernet(ip), proto: 47)),
        .init(
            "GRE, PPP", 101,
            Frames.ipv4([0x30, 0x81, 0x88, 0x0B] + Frames.zeros(12) + [0xFF, 3, 0, 0x21] + ip, proto: 47)),
        .init("ERSPAN I", 101, Frames.ipv4([0, 0, 0x88, 0xBE] + Frames.ethernet(ip), proto: 47)),
        .init(
            "ERSPAN II", 101,
            Frames.ipv4([0x10, 0, 0x88, 0xBE, 0, 0, 0, 1] + [0x10] + Frames.zeros(7) + Frames.ethernet(ip), proto: 47)),
        .init(
            "ERSPAN III", 101,
            Frames.ipv4([0x10, 0, 0x22, 0xEB, 0, 0, 0, 1] + [0x20] + Frames.zeros(11) + Frames.ethernet(ip), proto: 47)),
        .init(
            "ERSPAN III, subheader", 101,
            Frames.ipv4(
                [0x10, 0, 0x22, 0xEB, 0, 0, 0, 1] + [0x20] + Frames.zeros(10) + [1] + Frames.zeros(8)
                    + Frames.ethernet(ip), proto: 47)),
        .init(
            "VXLAN", 1,
            Frames.ethernet(Frames.ipv4(Frames.udp([8, 0, 0, 0, 0, 0, 9, 0] + Frames.ethernet(ip), to: 4789)))),
        .init("IP in IP", 101, Frames.ipv4(ip, proto: 4)), .init("6in4", 101, Frames.ipv4(ip6, proto: 41)),
        .init("4in6 in GRE in 6", 101, Frames.ipv6([0, 0, 0x86, 0xDD] + Frames.ipv6(ip, next: 4), next: 47)),
        .init("IPv4 options", 101, Frames.ipv4(hello, options: [7, 4, 4, 0])),
        .init("IPv4 length 0", 101, Frames.ipv4(hello, length: 0)),
        .init(
            "IPv6 hop-by-hop, destination, routing", 101,
            Frames.ipv6([60, 0, 1, 4, 0, 0, 0, 0, 43, 0, 1, 4, 0, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0, 0] + hello, next: 0)),
        .init("IPv6 AH", 101, Frames.ipv6([17, 4] + Frames.zeros(22) + hello, next: 51)),
        .init(
            "IPv6 atomic fragment", 101,
            Frames.ipv6(Frames.fragment6(hello, next: 17, offset: 0, more: false), next: 44)),
        .init("IPv6 length 0", 101, Frames.ipv6(hello, length: 0)),
    ]
}

@Suite struct NetworkLayerTests {
    @Test(arguments: FrameCase.links)
    func leadsToTheDatagram(_ item: FrameCase) {
        var layer = NetworkLayer()
        var sink = UnitCollector()
        layer.receive(item.frame, linkType: item.linkType, into: &sink)
        layer.finish(into: &sink)
        #expect(sink.texts == ["hello"])
        #expect(sink.units.last?.source.port == 50_000 && sink.units.last?.destination.port == 53)
        #expect(sink.units.last?.length == 5)
        #expect(sink.spots.isEmpty)
    }

    /// Cut anywhere, a frame gives the datagram whole, cut, or not at all.
    @Test(arguments: FrameCase.links)
    func cutAnywhere(_ item: FrameCase) {
        for length in 0..<item.frame.count {
            var layer = NetworkLayer()
            var sink = UnitCollector()
            layer.receive(
                Array(item.frame.prefix(length)), linkType: item.linkType, originalLength: item.frame.count, into: &sink
            )
            layer.finish(into: &sink)
            for unit in sink.units where unit.destination.port == 53 {
                #expect(Array("hello".utf8).starts(with: unit.payload) && unit.length == 5)
            }
        }
    }

    @Test(arguments: FrameCase.links)
    func anyByteChanged(_ item: FrameCase) {
        var generator = SeededGenerator(UInt64(item.linkType))
        for _ in 0..<300 {
            var frame = item.frame
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                frame[Int.random(in: 0..<frame.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            var layer = NetworkLayer()
            var sink = UnitCollector()
            layer.receive(
                frame, linkType: item.linkType, originalLength: .random(in: 0...3000, using: &generator), into: &sink)
            layer.finish(into: &sink)
        }
    }

    @Test func processOfPKTAP() {
        var layer = NetworkLayer()
        var sink = UnitCollector()
        let inner = Frames.ethernet(Frames.ipv4(Frames.udp([1])))
        layer.receive(
            Frames.pktap(
                inner, dlt: 1, name: "com.apple.WebKi", process: 77, effective: "PartnerApp", effectiveProcess: 78),
            linkType: 258, into: &sink)
        layer.receive(
            Frames.pktap(inner, dlt: 1, name: "Safari", process: 5, effective: "Safari", effectiveProcess: 5),
            linkType: 258, into: &sink)
        #expect(
            sink.units.map(\.process) == [
                ProcessIdentity(source: .pktap, name: "com.apple.WebKi", processID: 77, effectiveName: "PartnerApp"),
                ProcessIdentity(source: .pktap, name: "Safari", processID: 5),
            ])
    }

    /// The trailer is read from the frame's end: PCAPdroid pads Ethernet header and IP packet together to four bytes.
    @Test(arguments: [20, 16], [5, 6, 7, 8])
    func processOfPCAPdroid(nameLength: Int, payload: Int) {
        let frame = Frames.ethernet(Frames.ipv4(Frames.udp(Frames.zeros(payload))))
        let padded = frame + Frames.zeros((4 - frame.count % 4) % 4)
        let name = Array("Chrome".utf8)
        let trailer =
            Frames.big32(0x0107_2021) + Frames.big32(10_123) + name + Frames.zeros(nameLength - name.count)
            + Frames.zeros(4)
        var layer = NetworkLayer()
        var sink = UnitCollector()
        layer.receive(padded + trailer, into: &sink)
        #expect(sink.units.first?.process == ProcessIdentity(source: .pcapdroid, name: "Chrome", userID: 10_123))
        #expect(sink.units.first?.length == payload)
    }

    @Test func offloadAndJumboLengths() {
        var layer = NetworkLayer()
        var sink = UnitCollector()
        let big = Array(repeating: UInt8(7), count: 70_000)
        layer.receive(Frames.ipv4(Frames.tcp(big), proto: 6, length: 0), linkType: 101, into: &sink)
        let jumbo = [6, 0, 0xC2, 4] + Frames.big32(UInt32(8 + 20 + big.count)) + Frames.tcp(big)
        layer.receive(Frames.ipv6(jumbo, next: 0, length: 0) + [9, 9, 9], linkType: 101, into: &sink)
        // Captured in part: the rest is told.
        layer.receive(
            Array(Frames.ipv4(Frames.tcp(big), proto: 6, length: 0).prefix(100)), linkType: 101, originalLength: 70_040,
            into: &sink)
        #expect(sink.units.map(\.length) == [70_000, 70_000, 70_000])
        #expect(sink.units.map(\.payload.count) == [70_000, 70_000, 60])
    }

    @Test func ipLengthSaysWhatIsMissing() {
        var layer = NetworkLayer()
        var sink = UnitCollector()
        let frame = Frames.ethernet(Frames.ipv4(Frames.tcp(Frames.zeros(1000), options: Frames.zeros(12)), proto: 6))
        layer.receive(Array(frame.prefix(100)), originalLength: 100, into: &sink)  // a tool that lost the true length
        #expect(sink.units.map(\.length) == [1000] && sink.units.map(\.payload.count) == [34])
    }

    @Test func tunnelDepthLimit() {
        var limits = NetworkLimits()
        limits.tunnelDepth = 3
        for depth in 2...5 {
            var packet = Frames.ipv4(Frames.udp(Array("hello".utf8)))
            for _ in 0..<depth { packet = Frames.ipv4(packet, proto: 4) }
            var layer = NetworkLayer(limits: limits)
            var sink = UnitCollector()
            layer.receive(packet, linkType: 101, into: &sink)
            #expect(sink.texts == (depth <= 3 ? ["hello"] : []))
        }
    }

    @Test func tagLimit() {
        let tag: [UInt8] = [0, 5, 0x81, 0]
        let tags: [UInt8] = Array(Array(repeating: tag, count: EtherType.maximumTags).joined())
        var layer = NetworkLayer()
        var sink = UnitCollector()
        layer.receive(Frames.ethernet(tags + [0, 5, 8, 0] + Frames.ipv4(Frames.udp([1])), type: 0x8100), into: &sink)
        #expect(sink.units.isEmpty && layer.counters.notIP == 1)
    }

    @Test func extensionHeaderLimit() {
        let headers: [[UInt8]] = Array(
            repeating: [60, 0, 0, 0, 0, 0, 0, 0], count: IPHeader.maximumExtensionHeaders)
        var layer = NetworkLayer()
        var sink = UnitCollector()
        layer.receive(
            Frames.ipv6(Array(headers.joined()) + [17, 0, 0, 0, 0, 0, 0, 0] + Frames.udp([1]), next: 60), linkType: 101,
            into: &sink)
        #expect(sink.units.isEmpty && layer.counters.malformed == 1)
    }

    @Test func unreadLinkTypesAreToldOnce() {
        var layer = NetworkLayer()
        var sink = UnitCollector()
        for number in 1...3 {
            layer.receive([1, 2, 3], linkType: 195, number: number, seconds: Int64(number), into: &sink)
        }
        layer.receive([0x08, 0x41] + Frames.zeros(60), linkType: 105, number: 4, into: &sink)
        layer.finish(into: &sink)
        #expect(sink.spots.map(\.reason) == [.unreadablePackets, .unreadablePackets])
        #expect(sink.spots.first?.detail.hasPrefix("3 packets of link type 195") == true)
        #expect(sink.spots.first?.span.latest == Instant(nanoseconds: 3_000_000_000))
    }
}
