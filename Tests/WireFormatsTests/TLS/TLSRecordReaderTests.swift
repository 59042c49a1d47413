import Testing
import WireFormats

@Suite struct TLSRecordReaderTests {
    /// A record with `count` payload bytes.
    private func record(_ type: UInt8, _ count: Int, fill: UInt8 = 0xEE) -> [UInt8] {
        [type, 3, 3, UInt8(count >> 8), UInt8(count & 0xFF)] + [UInt8](repeating: fill, count: count)
    }

    private enum Seen: Equatable { case record(UInt8, Int), lost, found }

    private func feed(_ reader: inout TLSRecordReader, _ bytes: [UInt8], step: Int) -> [Seen] {
        var seen: [Seen] = []
        var start = 0
        while start < bytes.count {
            let end = min(start + step, bytes.count)
            bytes[start..<end].withUnsafeBytes { piece in
                var input = piece
                reading: while true {
                    switch reader.next(&input) {
                    case .needsInput: break reading
                    case .record(let record):
                        #expect(record.payload.count == record.header.payloadLength)
                        seen.append(.record(record.header.type.rawValue, record.payload.count))
                    case .lostFraming: seen.append(.lost)
                    case .resynchronised: seen.append(.found)
                    }
                }
            }
            start = end
        }
        return seen
    }

    @Test(arguments: [1, 2, 3, 5, 6, 100, 40_000]) func recordsCutAnyhow(step: Int) {
        var reader = TLSRecordReader()
        let bytes = record(22, 4) + record(23, 0) + record(23, 16_384 + 2_048) + record(21, 2)
        #expect(
            feed(&reader, bytes, step: step)
                == [.record(22, 4), .record(23, 0), .record(23, 18_432), .record(21, 2)])
        #expect(!reader.isInsideRecord)
    }

    @Test(arguments: [1, 7, 40_000]) func aHoleInsideOneRecordCostsThatRecord(step: Int) {
        var reader = TLSRecordReader()
        #expect(feed(&reader, Array(record(23, 1_000).prefix(300)), step: step).isEmpty)
        reader.hole(length: 200)
        #expect(feed(&reader, Array(record(23, 1_000).suffix(505)) + record(23, 9), step: step) == [.record(23, 9)])
        let lost = reader.takeLost()
        #expect(lost.certain.map(\.payloadLength) == [1_000])
        #expect(lost.unframedBytes == 0 && !lost.isUnbounded)
    }

    @Test(arguments: [1, 7, 40_000]) func aHoleBeyondARecordNeedsASearch(step: Int) {
        var reader = TLSRecordReader()
        _ = feed(&reader, Array(record(23, 1_000).prefix(300)), step: step)
        // 705 bytes of the record and 2,000 more, which end inside another one.
        reader.hole(length: 2_705)
        let tail = [UInt8](repeating: 0x17, count: 90)
        let seen = feed(&reader, tail + record(23, 500) + record(23, 600) + record(23, 700), step: step)
        #expect(seen == [.found, .record(23, 500), .record(23, 600), .record(23, 700)])
        let lost = reader.takeLost()
        #expect(lost.certain.count == 1)
        #expect(lost.unframedBytes == 2_000 + 90)
    }

    @Test func holesOfUnknownLength() {
        var reader = TLSRecordReader()
        _ = feed(&reader, record(23, 10), step: 100)
        reader.hole(length: nil)
        #expect(feed(&reader, record(23, 500) + record(23, 600), step: 100).contains(.record(23, 600)))
        #expect(reader.takeLost().isUnbounded)
    }

    @Test func whatIsNotTLSIsSteppedOver() {
        var reader = TLSRecordReader()
        var generator = SystemRandomNumberGenerator()
        let noise = (0..<200_000).map { _ in UInt8.random(in: 32...126, using: &generator) }
        #expect(feed(&reader, noise, step: 1_448) == [.lost])
        #expect(feed(&reader, record(23, 500) + record(23, 600), step: 1_448).last == .record(23, 600))
    }
}
