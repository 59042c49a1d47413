import SessionTrace
import Testing
import WireFormats

/// Files that lie: everything whole is used, the rest is said with its place.
@Suite struct CaptureDamageTests {
    /// A section header, an interface, and packets of four bytes each; blocks start at the returned offsets.
    private func file(packets: Int = 3) -> (bytes: [UInt8], offsets: [Int]) {
        var writer = PcapngWriter()
        writer.section()
        writer.interface(linkType: .ethernet)
        var offsets: [Int] = []
        for number in 0..<packets {
            offsets.append(writer.bytes.count)
            writer.packet([UInt8(number), 0, 0, 0], at: Instant(nanoseconds: Int64(number)), comments: ["c"])
        }
        return (writer.takeBytes(), offsets)
    }

    @Test("a wrong length at the end of a block")
    func trailingLength() throws {
        var (bytes, offsets) = file()
        bytes[offsets[2] - 4] = 0x77
        let reading = try CaptureReading(bytes)
        #expect(reading.packets.count == 3)
        #expect(reading.isDamaged)
        #expect(
            reading.notes == ["byte \(offsets[1]): a block of 48 bytes ends with the length 119; read all the same"])
    }

    @Test("a wrong length at the start of a block ends the reading")
    func leadingLength() throws {
        for length in [0, 8, 44, 52, 60] as [UInt8] {
            var (bytes, offsets) = file()
            bytes[offsets[1] + 4] = length
            let reading = try CaptureReading(bytes)
            #expect(reading.packets.map(\.number) == [1], "length \(length)")
            #expect(reading.isDamaged)
            #expect(reading.notes.count == 1 && reading.notes[0].hasPrefix("byte \(offsets[1]): "), "\(reading.notes)")
        }
    }

    @Test("a length that is no multiple of four, with the padding not counted")
    func uncountedPadding() throws {
        var (bytes, offsets) = file(packets: 1)
        // A custom block of 4 + 3 bytes whose writer forgot the padding in its count, then a packet.
        let packet = Array(bytes[offsets[0]...])
        bytes.insert(contentsOf: [0xAD, 0x0B, 0, 0, 19, 0, 0, 0, 1, 0, 0, 0, 5, 6, 7, 0, 19, 0, 0, 0], at: offsets[0])
        let reading = try CaptureReading(bytes)
        #expect(reading.packets.count == 1)
        #expect(reading.isComplete, "\(reading.notes)")
        // And one that neither counts nor writes it.
        bytes.removeSubrange(offsets[0]..<offsets[0] + 20)
        bytes.insert(contentsOf: [0xAD, 0x0B, 0, 0, 19, 0, 0, 0, 1, 0, 0, 0, 5, 6, 7, 19, 0, 0, 0], at: offsets[0])
        #expect(Array(bytes.suffix(packet.count)) == packet)
        #expect(try CaptureReading(bytes).packets.count == 1)
        for chunk in 1...30 { #expect(try CaptureReading(bytes, chunk: { chunk }).packets.count == 1) }
    }

    @Test("more captured bytes than the block has room for")
    func capturedLength() throws {
        var (bytes, offsets) = file()
        bytes[offsets[1] + 20] = 200
        let reading = try CaptureReading(bytes)
        #expect(reading.packets.map(\.number) == [1, 3])
        #expect(
            reading.notes == [
                "byte \(offsets[1]): packet 2 claims 200 captured bytes in a block that has room for 16, and was not read"
            ])
    }

    @Test("an interface that was never described")
    func unknownInterface() throws {
        var (bytes, offsets) = file()
        bytes[offsets[0] + 8] = 3
        let reading = try CaptureReading(bytes)
        #expect(reading.packets.map(\.number) == [2, 3])
        #expect(
            reading.notes == ["byte \(offsets[0]): packet 1 names interface 3 of 1 in its section and was not read"])
        #expect(reading.isDamaged)
    }

    @Test("a simple packet before any interface, and one longer than its block")
    func simplePackets() throws {
        var writer = PcapngWriter()
        writer.section()
        writer.simplePacket([1])
        writer.interface(linkType: .ethernet, snapLength: 2)
        writer.simplePacket([1, 2], originalLength: 9)
        writer.section()
        writer.interface(linkType: .ethernet, snapLength: 0)
        writer.block(type: 3, body: [200, 0, 0, 0, 1])
        writer.simplePacket([1, 2, 3])
        let reading = try CaptureReading(writer.takeBytes())
        #expect(reading.packets.map(\.number) == [2, 4])
        #expect(reading.packets.map(\.bytes.count) == [2, 3])
        #expect(reading.packets.map(\.originalLength) == [9, 3])
        #expect(reading.notes.count == 2)
    }

    @Test("an option that reaches beyond its block: the packet is used, the option is not")
    func overrunningOption() throws {
        var (bytes, offsets) = file()
        bytes[offsets[1] + 34] = 50
        let reading = try CaptureReading(bytes)
        #expect(reading.packets.map(\.comments) == [["c"], [], ["c"]])
        #expect(reading.isDamaged)
        #expect(reading.notes.count == 1)
    }

    @Test("a section of unknown version between two that are known")
    func unknownVersion() throws {
        let one = file().bytes
        var other = one
        other[12] = 2
        let reading = try CaptureReading(one + other + one)
        #expect(reading.packets.map(\.number) == [1, 2, 3, 4, 5, 6])
        #expect(reading.hasUnreadSections && !reading.isDamaged && !reading.isComplete)
        #expect(reading.notes == ["byte \(one.count): a section of version 2.0, which is not known, was skipped"])
        // 1.2 was written by mistake and reads like 1.0.
        other[12] = 1
        other[14] = 2
        #expect(try CaptureReading(other).isComplete)
    }

    @Test("a section header without its byte-order mark")
    func byteOrderMark() throws {
        let one = file().bytes
        var other = one
        other[8] = 0
        let reading = try CaptureReading(one + other)
        #expect(reading.packets.count == 3)
        #expect(reading.isDamaged)
    }

    @Test("a block over the limit is stepped over, and its number is kept")
    func longBlock() throws {
        var writer = PcapngWriter()
        writer.section()
        writer.interface(linkType: .ethernet)
        writer.packet([1], at: Instant(nanoseconds: 1))
        writer.packet([UInt8](repeating: 7, count: 5_000), at: Instant(nanoseconds: 2))
        writer.packet([3], at: Instant(nanoseconds: 3))
        let bytes = writer.takeBytes()
        var limits = CaptureLimits()
        limits.block = 4_096
        var random = SeededRandom(3)
        let whole = try CaptureReading(bytes, limits: limits)
        #expect(whole.packets.map(\.number) == [1, 3])
        #expect(whole.isDamaged && !whole.isCutShort)
        #expect(try CaptureReading(bytes, limits: limits, chunk: { Int.random(in: 1...999, using: &random) }) == whole)
        #expect(try CaptureReading(bytes.dropLast(2_000), limits: limits).isCutShort)
    }

    @Test("limits on interfaces, processes, notes and kinds")
    func limits() throws {
        var limits = CaptureLimits()
        limits.interfaces = 2
        limits.processes = 1
        limits.notes = 3
        limits.skippedKinds = 2
        var writer = PcapngWriter()
        writer.section()
        for _ in 0..<3 { writer.interface(linkType: .ethernet) }
        for id in 1...3 as ClosedRange<UInt8> { writer.block(type: 0x8000_0001, body: [id, 0, 0, 0]) }
        for type in 0x700...0x704 as ClosedRange<UInt32> { writer.block(type: type, body: []) }
        writer.packet([1], interface: 2, at: Instant(nanoseconds: 0))
        writer.packet([1], interface: 1, at: Instant(nanoseconds: 0))
        let reading = try CaptureReading(writer.takeBytes(), limits: limits)
        #expect(reading.packets.map(\.number) == [2])
        #expect(reading.notes.count == 7, "\(reading.notes)")
        #expect(reading.notes.contains { $0.hasSuffix("more than 2 interfaces; the packets of this one are lost") })
        #expect(reading.notes.contains { $0.hasSuffix(": 1 more such places") })
        #expect(reading.notes.contains { $0.hasSuffix(": 3 blocks of other types skipped") })
    }
}
