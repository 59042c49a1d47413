import Testing

@testable import Assertions

@Suite struct WordSearchTests {
    private func holds(_ word: String, _ text: String, _ style: WordSearch.Style) -> Bool {
        Array(text.utf8).withUnsafeBytes { WordSearch.holds(Array(word.utf8), in: $0, style) }
    }

    @Test(arguments: [
        "chia", "Chia", "CHIA", "x chia", "chia x", "x-chia-y", "x_chia_y", "isChia", "chiaOrder", "step2Chia",
        "%2Fchia", "\\nchia",
        "\\u0022chia\\u0022", "\u{201C}Chia\u{201D}", "psychiatry chia", "chia\u{2122}", "9%20chia",
    ]) func aWordOfItsOwnIsFound(text: String) {
        #expect(holds("chia", text, .name))
    }

    @Test(arguments: [
        "", "chi", "Chiara", "psychiatry", "Ischia", "chia2", "2chia", "CHIAOrder", "ISCHIA", "xCHIa9", "%41chia",
        "\\u0041chia",
        "\\xchia", "\u{E9}chia", "chia\u{E9}", "ch-ia",
    ]) func partsOfOthersAreNot(text: String) {
        #expect(!holds("chia", text, .name))
    }

    @Test func onlyNamesHaveHumps() {
        #expect(!holds("chia", "isChia", .anyCase) && !holds("chia", "chiaOrder", .anyCase))
        #expect(holds("chia.health", "x.CHIA.health/", .anyCase) && !holds("chia.health", "mychia.health", .anyCase))
        #expect(holds("Ab-1", "/Ab-1?", .exact) && !holds("Ab-1", "/ab-1?", .exact) && !holds("ab-1", "xAb-1", .exact))
    }
}
