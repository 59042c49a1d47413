import Testing

@testable import HandoffProxy

@Suite struct ApplicationProtocolsTests {
    static func list(_ names: String...) -> [UInt8] { names.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } }

    @Test func namesAreReadInOrder() {
        #expect(ApplicationProtocols(list: Self.list("h2", "http/1.1")).names == ["h2", "http/1.1"])
        #expect(ApplicationProtocols(list: []).names.isEmpty)
    }

    @Test func aCutListIsNotWellFormed() {
        #expect(ApplicationProtocols(list: Self.list("h2", "http/1.1")).isWellFormed)
        #expect(ApplicationProtocols(list: []).isWellFormed)
        #expect(!ApplicationProtocols(list: [3, 0x68, 0x32]).isWellFormed)
        #expect(!ApplicationProtocols(list: [0]).isWellFormed)
        #expect(!ApplicationProtocols(list: [2, 0x68, 0x32, 0]).isWellFormed)
    }

    @Test func restrictionKeepsHTTP1Alone() {
        let both = ApplicationProtocols(list: Self.list("h2", "http/1.1"))
        #expect(both.restrictedToHTTP1?.list == Self.list("http/1.1"))
        #expect(ApplicationProtocols(list: []).restrictedToHTTP1?.list == [])
        #expect(ApplicationProtocols(list: Self.list("h2")).restrictedToHTTP1 == nil)
    }
}
