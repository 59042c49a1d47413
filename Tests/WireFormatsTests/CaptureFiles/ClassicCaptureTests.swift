import SessionTrace
import Testing
import WireFormats

/// The classic format in all its forms.
@Suite struct ClassicCaptureTests {
    /// A file of two packets, the second truncated.
    private static func file(magic: UInt32, isBig: Bool, minor: UInt16 = 4, network: UInt32 = 1) -> [UInt8] {
        var bytes: [UInt8] = []
        func put<Value: FixedWidthInteger>(_ value: Value) {
            withUnsafeBytes(of: isBig ? value.bigEndian : value.littleEndian) { bytes += $0 }
        }
        put(magic)
        put(2 as UInt16)
        put(minor)
        put(0 as UInt64)
        put(65_535 as UInt32)
        put(network)
        for (number, original) in [(1, 4), (2, 1_000)] as [(UInt32, UInt32)] {
            put(1_700_000_000 + number)
            put(123_456 as UInt32)
            put(minor < 3 ? original : 4)
            put(minor < 3 ? 4 : original)
            if magic == 0xA1B2_CD34 { put(0 as UInt64) }
            put(number)
        }
        return bytes
    }

    @Test(
        "byte orders, resolutions, the modified format",
        arguments: [
            (0xA1B2_C3D4, 123_456_000), (0xA1B2_3C4D, 123_456), (0xA1B2_CD34, 123_456_000),
        ] as [(UInt32, Int64)], [false, true])
    func forms(form: (magic: UInt32, fraction: Int64), isBig: Bool) throws {
        let bytes = Self.file(magic: form.magic, isBig: isBig)
        let reading = try CaptureReading(bytes)
        #expect(reading.isComplete, "\(reading.notes)")
        #expect(reading.packets.map(\.number) == [1, 2])
        #expect(reading.packets.map(\.originalLength) == [4, 1_000])
        #expect(reading.packets.map(\.bytes.count) == [4, 4])
        #expect(
            reading.packets.map(\.time.nanoseconds) == [
                1_700_000_001_000_000_000 + form.fraction, 1_700_000_002_000_000_000 + form.fraction,
            ])
        #expect(try CaptureReading(bytes, chunk: { 1 }) == reading)
        for count in 4..<bytes.count {
            let cut = try CaptureReading(bytes.prefix(count))
            #expect(Array(reading.records.prefix(cut.records.count)) == cut.records)
            #expect(cut.isCutShort == (count != 24 && count != 24 + (bytes.count - 24) / 2))
        }
    }

    @Test("old versions wrote the lengths the other way round")
    func oldVersions() throws {
        let reading = try CaptureReading(Self.file(magic: 0xA1B2_C3D4, isBig: false, minor: 2))
        #expect(reading.packets.map(\.originalLength) == [4, 1_000])
        let maybe = try CaptureReading(Self.file(magic: 0xA1B2_C3D4, isBig: false, minor: 3))
        #expect(maybe.packets.map(\.bytes.count) == [4, 4])
    }

    @Test("checksum length in the link type's upper bits")
    func checksumLength() throws {
        let reading = try CaptureReading(Self.file(magic: 0xA1B2_C3D4, isBig: true, network: 0x2400_0001))
        #expect(
            reading.records.first
                == .interface(
                    CaptureInterface(index: 0, linkType: .ethernet, snapLength: 65_535, frameCheckSequenceLength: 4)))
    }

    @Test("a captured length beyond all bounds ends the reading")
    func hugePacket() throws {
        var bytes = Self.file(magic: 0xA1B2_C3D4, isBig: false)
        bytes[24 + 20 + 11] = 0x7F
        let reading = try CaptureReading(bytes)
        #expect(reading.packets.count == 1)
        #expect(reading.isDamaged)
        #expect(reading.notes.count == 1 && reading.notes[0].hasPrefix("byte 44: "), "\(reading.notes)")
        // The bound is the larger of the snapshot length and 262,144.
        bytes[24 + 20 + 11] = 0
        bytes[24 + 20 + 10] = 4
        bytes[24 + 20 + 8] = 0
        #expect(try CaptureReading(bytes).isCutShort)
        bytes[24 + 20 + 8] = 1
        #expect(try CaptureReading(bytes).isDamaged)
    }

    @Test(
        "what is no capture",
        arguments: [
            ([], "is empty"), ([0x0A], "starts with 0a (.)"),
            (Array("PK\u{3}\u{4}12345".utf8), "starts with 50 4b 03 04 31 32 33 34 (PK..1234)"),
        ])
    func foreign(bytes: [UInt8], words: String) {
        let error = #expect(throws: CaptureFormatError.self) { try CaptureReading(bytes) }
        #expect(error?.description == words)
    }

    @Test("mutated files never trap")
    func mutations() throws {
        var random = SeededRandom(4)
        for magic in [0xA1B2_C3D4, 0xA1B2_CD34] as [UInt32] {
            let sample = Self.file(magic: magic, isBig: true)
            for _ in 0..<5_000 {
                var bytes = sample
                bytes[Int.random(in: 4..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                #expect(try CaptureReading(bytes).packets.count <= 5)
            }
        }
    }
}
