import SessionTrace
import Testing

@testable import Assertions

@Suite struct KnownIdentifiersTests {
    @Test func itsLimitIsSaid() {
        var known = KnownIdentifiers()
        func add(_ number: Int) {
            known.add(
                KnownIdentifiers.Answer(
                    value: Secret("account"), client: nil, ended: Instant(nanoseconds: Int64(number))))
        }
        for number in 0..<KnownIdentifiers.limit { add(number) }
        add(0)
        #expect(known.answers.count == KnownIdentifiers.limit && !known.isIncomplete)
        add(KnownIdentifiers.limit)
        #expect(known.answers.count == KnownIdentifiers.limit && known.isIncomplete)
    }
}
