import Testing

@testable import Assertions

/// One value may be several things, each searched by itself.
@Suite struct NeedleBookTests {
    @Test func aValueIsTaughtOnceForEachThingThatItIs() {
        var book = NeedleBook()
        #expect(book.add(.canary, "value-1")?.label == "canary#1")
        #expect(book.add(.canary, "value-1") == nil)
        let item = book.add(.catalogID, "value-1")
        #expect(item?.number == 2 && item?.label == "catalog-id#1")
        #expect(book.add(.disclosureVersion, "value-1") != nil && book.add(.cookie, "value-1") != nil)
        #expect(book.contains("value-1", as: [.secret, .cookie]) && !book.contains("value-1", as: [.secret]))
        #expect(book.count(of: .catalogID) == 1 && book.count(of: .secret) == 0)
    }

    @Test func kindsOfOneRuleStandForOneAnother() {
        var book = NeedleBook()
        #expect(book.add(.idempotencyKey, "key-1") != nil && book.add(.sessionIdentifier, "key-1") == nil)
        #expect(book.add(.handoffURL, "https://chia.health/h/phs_1") != nil)
        book.know("phs_1", as: .token)
        #expect(book.add(.token, "phs_1") == nil)
        #expect(book.add(.token, "phs_2")?.number == 3)
    }

    @Test func itsLimitIsSaid() {
        var book = NeedleBook()
        for index in 0..<NeedleBook.limit { #expect(book.add(.canary, "value-\(index)") != nil) }
        #expect(book.add(.canary, "value-0") == nil && !book.isFull)
        #expect(book.add(.cookie, "value-0") == nil && book.isFull)
    }
}
