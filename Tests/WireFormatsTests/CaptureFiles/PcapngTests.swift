import SessionTrace
import Testing
import WireFormats

/// Everything that pcapng can say, written and read back.
@Suite struct PcapngTests {
    static let time = Instant(nanoseconds: 1_764_417_600_123_456_789)

    /// Two sections in different byte orders, with every block that has a meaning here.
    static func sample() -> [UInt8] {
        var bytes: [UInt8] = []
        for order in [PcapngWriter.ByteOrder.little, .big] {
            var writer = PcapngWriter(byteOrder: order)
            writer.section(
                userApplication: "handoff/1.2", hardware: "x86", operatingSystem: "Linux", comments: ["one", "två"])
            writer.interface(linkType: .ethernet, name: "eth0", description: "first", filter: "tcp", comments: ["if"])
            writer.interface(linkType: .raw, snapLength: 6, resolution: .microseconds)
            writer.interface(linkType: .null, resolution: TimestampResolution(.binary(20), offsetSeconds: 1_000_000))
            writer.packet([1, 2, 3, 4, 5], at: time, originalLength: 99, comments: ["c1", "c2"], droppedBefore: 7)
            writer.simplePacket([9, 9, 9])
            writer.packet([6], interface: 1, at: time)
            writer.secrets(
                DecryptionSecrets(kind: .tlsKeyLog, bytes: Array("CLIENT_RANDOM a b\n".utf8), comments: ["k"]))
            writer.block(type: 0x0BAD, body: [0, 0, 0, 1, 5, 6, 7])
            writer.block(type: 0x5555, body: [1, 2, 3, 4])
            writer.packet([7, 8], interface: 2, at: Instant(nanoseconds: 1_764_417_600_500_000_000))
            writer.names(
                NameResolution(entries: [
                    .init(address: IPAddress(ipv4: 0x7F00_0001), names: ["localhost", "lo"]),
                    .init(address: IPAddress(ipv6High: 0x2001_0DB8_0000_0000, low: 1), names: ["six"]),
                ]))
            writer.statistics(
                InterfaceStatistics(
                    interface: 0, time: time, started: time, ended: time.advanced(byNanoseconds: 5), received: 10,
                    accepted: 9, droppedByInterface: 3, droppedBySystem: 1, comments: ["end"]))
            bytes += writer.takeBytes()
        }
        return bytes
    }

    @Test("all blocks, both byte orders")
    func roundTrip() throws {
        let reading = try CaptureReading(Self.sample())
        #expect(reading.isComplete, "\(reading.notes)")
        let half = reading.records.count / 2
        for (section, records) in [reading.records[..<half], reading.records[half...]].enumerated() {
            check(Array(records), section: section)
        }
        #expect(reading.notes.count == 2)
        #expect(reading.notes.contains { $0.hasSuffix(": 2 blocks of custom skipped") })
        #expect(reading.notes.contains { $0.hasSuffix(": 2 blocks of type 0x5555 skipped") })
    }

    private func check(_ records: [CaptureReading.Record], section: Int) {
        let first = section * 5  // four packets and a custom block, which takes a number too
        let interface = section * 3
        let ethernet = CaptureInterface(
            index: interface, linkType: .ethernet, snapLength: 262_144, resolution: .nanoseconds, name: "eth0",
            description: "first", filter: "tcp", comments: ["if"])
        let expected: [CaptureReading.Record] = [
            .section(
                CaptureSection(
                    index: section, userApplication: "handoff/1.2", hardware: "x86", operatingSystem: "Linux",
                    comments: ["one", "två"])),
            .interface(ethernet),
            .interface(CaptureInterface(index: interface + 1, linkType: .raw, snapLength: 6)),
            .interface(
                CaptureInterface(
                    index: interface + 2, linkType: .null, snapLength: 262_144,
                    resolution: TimestampResolution(.binary(20), offsetSeconds: 1_000_000))),
            packet(
                first + 1, Self.time, .ethernet, 99, [1, 2, 3, 4, 5], interface, dropped: 7, comments: ["c1", "c2"]),
            packet(first + 2, Self.time, hasTimestamp: false, .ethernet, 3, [9, 9, 9], interface),
            packet(first + 3, Instant(nanoseconds: 1_764_417_600_123_456_000), .raw, 1, [6], interface + 1),
            .secrets(
                DecryptionSecrets(kind: .tlsKeyLog, bytes: Array("CLIENT_RANDOM a b\n".utf8), comments: ["k"])),
            .opaque(
                OpaqueBlock(
                    reference: PacketReference(
                        number: first + 4, time: Instant(nanoseconds: 1_764_417_600_123_456_000)),
                    blockType: 0x0BAD, length: 4)),
            packet(first + 5, Instant(nanoseconds: 1_764_417_600_500_000_000), .null, 2, [7, 8], interface + 2),
            .names(
                NameResolution(entries: [
                    .init(address: IPAddress(ipv4: 0x7F00_0001), names: ["localhost", "lo"]),
                    .init(address: IPAddress(ipv6High: 0x2001_0DB8_0000_0000, low: 1), names: ["six"]),
                ])),
            .statistics(
                InterfaceStatistics(
                    interface: interface, time: Self.time, started: Self.time,
                    ended: Self.time.advanced(byNanoseconds: 5), received: 10, accepted: 9, droppedByInterface: 3,
                    droppedBySystem: 1, comments: ["end"])),
        ]
        #expect(records == expected)
    }

    private func packet(
        _ number: Int, _ time: Instant, hasTimestamp: Bool = true, _ linkType: LinkType, _ original: Int,
        _ bytes: [UInt8], _ interface: Int, dropped: UInt64 = 0, comments: [String] = []
    ) -> CaptureReading.Record {
        bytes.withUnsafeBytes {
            .packet(
                CaptureReading.Packet(
                    CapturedPacket(
                        reference: PacketReference(number: number, time: time), hasTimestamp: hasTimestamp,
                        linkType: linkType, originalLength: original, bytes: $0, interface: interface,
                        droppedBefore: dropped, comments: comments)))
        }
    }

    @Test("obsolete packet block, Apple's process blocks")
    func others() throws {
        var writer = PcapngWriter()
        writer.section()
        writer.interface(linkType: .ethernet)
        writer.interface(linkType: .raw)
        writer.block(type: 0x8000_0001, body: [42, 0, 0, 0] + [2, 0, 6, 0] + Array("Safari".utf8) + [0, 0])
        writer.block(type: 0x8000_0001, body: [7, 0, 0, 0] + [2, 0, 3, 0] + Array("App".utf8) + [0, 0, 0, 0, 0])
        let options: [UInt8] = [0x01, 0x80, 4, 0, 0, 0, 0, 0, 0x03, 0x80, 4, 0, 1, 0, 0, 0, 0, 0, 0, 0]
        let fields: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 1, 2, 0, 0]
        writer.block(type: 6, body: fields + options)
        writer.block(type: 2, body: [1, 0, 3, 0] + fields.dropFirst(4))
        writer.block(type: 2, body: [1, 0, 0xFF, 0xFF] + fields.dropFirst(4))
        let packets = try CaptureReading(writer.takeBytes()).packets
        #expect(
            packets.map(\.process) == [
                ProcessIdentity(source: .pktap, name: "Safari", processID: 42, effectiveName: "App"), nil, nil,
            ])
        #expect(packets.map(\.interface) == [0, 1, 1])
        #expect(packets.map(\.droppedBefore) == [0, 3, 0])
        #expect(packets.map(\.time.nanoseconds) == [5, 5, 5])
    }

    @Test("the same records whatever the chunks")
    func chunks() throws {
        let sample = Self.sample()
        let whole = try CaptureReading(sample)
        #expect(try CaptureReading(sample, chunk: { 1 }) == whole)
        var random = SeededRandom(1)
        for _ in 0..<200 {
            #expect(try CaptureReading(sample, chunk: { Int.random(in: 1...90, using: &random) }) == whole)
        }
    }

    @Test("cut anywhere: the records before the cut, and a note unless the cut is between blocks")
    func cuts() throws {
        let sample = Self.sample()
        let whole = try CaptureReading(sample)
        var boundaries: Set<Int> = [0]
        var offset = 0
        var isBig = false
        while offset + 12 <= sample.count {
            if sample[offset] == 0x0A { isBig = sample[offset + 8] == 0x1A }
            let length = (0..<4).reduce(0) { $0 << 8 | Int(sample[offset + 4 + (isBig ? $1 : 3 - $1)]) }
            offset += length
            boundaries.insert(offset)
        }
        #expect(offset == sample.count)
        for count in 4...sample.count {
            let cut = try CaptureReading(sample.prefix(count))
            #expect(Array(whole.records.prefix(cut.records.count)) == cut.records)
            #expect(cut.isCutShort == !boundaries.contains(count), "cut at \(count)")
            #expect(!cut.isDamaged)
            if cut.isCutShort { #expect(cut.notes.contains { $0.contains("the file ends inside") }) }
        }
    }

    @Test("mutated files never trap and never grow")
    func mutations() throws {
        let sample = Self.sample()
        let whole = try CaptureReading(sample)
        var random = SeededRandom(2)
        for _ in 0..<20_000 {
            var bytes = sample
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes[Int.random(in: 4..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let reading = try CaptureReading(bytes)
            #expect(reading.records.count <= whole.records.count + 2)
        }
    }
}
