import SessionTrace
import Testing

/// The words of marks and proxy events.
@Suite struct KindTests {
    @Test(
        "marks' words there and back", arguments: ["scenario", "jit-shown", "tap", "return", "net-off", "end", "later"])
    func marks(word: String) {
        let kind = Mark.Kind(rawValue: word)
        #expect(kind.rawValue == word)
        #expect((kind == .tap) == (word == "tap"))
        #expect((kind == .other("later")) == (word == "later"))
    }

    @Test("events' words there and back", arguments: ["dialed", "upstream-tls-failed", "limit", "later"])
    func events(word: String) {
        let kind = ProxyEvent.Kind(rawValue: word)
        #expect(kind.rawValue == word)
        #expect((kind == .dialed) == (word == "dialed"))
    }
}
