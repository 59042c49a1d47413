import SessionTrace
import Testing

@Suite struct InstantTests {
    /// Each pair was checked with `date -u -d TEXT +%s%N`.
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0),
        ("2026-11-29T12:00:00.123456Z", 1_795_953_600_123_456_000),
        ("2026-11-29T13:00:00.123456+01:00", 1_795_953_600_123_456_000),
        ("2000-02-29T23:59:59.999999999Z", 951_868_799_999_999_999),
        ("1969-12-31T23:59:59.5Z", -500_000_000),
    ])
    func readsTimestamps(text: String, nanoseconds: Int64) throws {
        let instant = try #require(Instant(rfc3339: text))
        #expect(instant.nanoseconds == nanoseconds)
        #expect(Instant(rfc3339: instant.rfc3339) == instant)
    }

    @Test(arguments: [
        "", "2026-11-29", "2026-11-29T12:00:00", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z",
        "2026-11-29T12:00:00.Z", "2026-11-29T24:00:00Z", "2026-11-29T12:00:00+0100",
    ])
    func refusesWhatIsNoInstant(text: String) {
        #expect(Instant(rfc3339: text) == nil)
    }

    /// An empty capture has blind spots from the distant past on, which reports write out.
    @Test func theEndsOfTimeAreWritten() {
        #expect(Instant.distantPast.rfc3339 == "1677-09-21T00:12:43.145224192Z")
        #expect(Instant.distantFuture.rfc3339 == "2262-04-11T23:47:16.854775807Z")
        #expect(Instant(nanoseconds: -1).rfc3339 == "1969-12-31T23:59:59.999999999Z")
    }

    @Test func arithmeticSticksToTheEnds() {
        #expect(Instant.distantFuture.advanced(byNanoseconds: 1) == .distantFuture)
        #expect(Instant.distantPast.advanced(byNanoseconds: -1) == .distantPast)
        #expect(Instant.distantFuture.nanoseconds(since: .distantPast) == .max)
    }

    @Test func theEndsCanBeWritten() {
        #expect(Instant.distantPast.rfc3339 == "1677-09-21T00:12:43.145224192Z")
        #expect(Instant.distantFuture.rfc3339 == "2262-04-11T23:47:16.854775807Z")
        #expect(Instant.distantPast.timeOfDay == "00:12:43.145224")
        #expect(Instant(nanoseconds: -1).rfc3339 == "1969-12-31T23:59:59.999999999Z")
    }
}
