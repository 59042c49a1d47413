import SessionTrace
import Testing
import WireFormats

@Suite struct TimestampResolutionTests {
    @Test(
        "units to nanoseconds",
        arguments: [
            (TimestampResolution(option: 6), 1_500_000, 1_500_000_000), (TimestampResolution(option: 9), 7, 7),
            (TimestampResolution(option: 0), 3, 3_000_000_000), (TimestampResolution(option: 3), 1, 1_000_000),
            (TimestampResolution(option: 12), 1_999, 1), (TimestampResolution(option: 28), .max, 1),
            (TimestampResolution(option: 29), .max, 0), (TimestampResolution(option: 127), .max, 0),
            (TimestampResolution(option: 0x80), 2, 2_000_000_000),
            (TimestampResolution(option: 0x81), 3, 1_500_000_000),
            (TimestampResolution(option: 0x8A), 1_025, 1_000_976_562),
            (TimestampResolution(option: 0xC0), 1 << 63, 500_000_000),
            (TimestampResolution(option: 0xC1), 1 << 63, 250_000_000), (TimestampResolution(option: 0xFF), .max, 0),
            // Out of range: two's complement if that fits, else the end.
            (TimestampResolution(option: 6), UInt64.max - 999_999, -1_000_000_000),
            (TimestampResolution(option: 9), .max, -1), (TimestampResolution(option: 0), 1 << 62, .max),
            (TimestampResolution(option: 0), 1 << 63, .max),
            (TimestampResolution(option: 6, offsetSeconds: -5), 1, -4_999_999_000),
            (TimestampResolution(option: 6, offsetSeconds: .max), 1, .max),
            (TimestampResolution(option: 6, offsetSeconds: .min), 1, .min + 1_000),
        ] as [(TimestampResolution, UInt64, Int64)])
    func instants(resolution: TimestampResolution, units: UInt64, nanoseconds: Int64) {
        #expect(resolution.instant(units: units).nanoseconds == nanoseconds)
    }

    @Test("there and back, to the unit")
    func roundTrip() {
        var random = SeededRandom(5)
        for option in [0, 3, 6, 9, 0x80, 0x8A, 0x94, 0x9D] as [UInt8] {
            for offset in [0, 1_000, -1_000] as [Int64] {
                let resolution = TimestampResolution(option: option, offsetSeconds: offset)
                #expect(resolution.optionByte == option)
                for _ in 0..<100 {
                    let time = Instant(nanoseconds: Int64.random(in: 0...1 << 61, using: &random))
                    let units = resolution.units(at: time)
                    let read = resolution.instant(units: units)
                    #expect(read <= time)
                    #expect(resolution.units(at: read) == units || resolution.units(at: read) &+ 1 == units)
                    if option == 9 { #expect(read == time) }
                }
            }
        }
        #expect(TimestampResolution.nanoseconds.units(at: .distantPast) == 1 << 63)
        #expect(TimestampResolution.microseconds.units(at: Instant(nanoseconds: -1)) == .max)
    }
}
