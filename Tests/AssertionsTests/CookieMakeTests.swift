import Testing

@testable import Assertions

/// Which values two sites may have alike: on both sides of each bound.
@Suite struct CookieMakeTests {
    private func make(_ value: String) -> CookieMake { CookieMake(Array(value.utf8)) }

    @Test(arguments: [
        "a1b2345678", "7b0f6f0e-4c1d-4f5a-9d55-0a2f8f1f3c11", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "AAb1cd23ef",
        "a1b%32345678", "1x2y3abcdef", "2Tab34cd5e6", "2026Zq1w2e3",
    ]) func whatNobodyWritesIsAnIdentifier(value: String) {
        #expect(make(value) == .identifier)
    }

    @Test(arguments: [
        // Nine characters, two digits, two changes.
        "a1b234567", "ab1cdefgh2", "abc1234567def", "iPhone15ProMax", "Pixel8", "AAbcdefghij", "T12345678",
        "x1234567890",
    ]) func wordsWithNumbersAreMixed(value: String) {
        #expect(make(value) == .mixed)
    }

    @Test(arguments: [
        "America/New_York", "Europe%2FBerlin", "2026-11-30T03:18:13.123Z", "20261130T031813Z", "1170x2532x3",
        "1795000000",
        "zh-Hans-CN.UTF-8", "abcdefghijkl", "ABCDEFGHIJKL", "aBcDeFgHiJkL", "",
    ]) func wordsNumbersAndTimesArePlain(value: String) {
        #expect(make(value) == .plain)
    }

    @Test func aBreakEndsARun() {
        #expect(make("abcd-1234-efgh-5678") == .plain)
        #expect(make("abcd1-234e-fgh5-678") == .identifier)
    }
}
