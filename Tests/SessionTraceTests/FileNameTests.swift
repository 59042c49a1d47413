import Testing

@testable import SessionTrace

/// Names of files are bytes: each has one text, and the text leads back to it.
@Suite struct FileNameTests {
    private func bytes(_ text: String) -> [UInt8] { FileName.path(text).dropLast().map { UInt8(bitPattern: $0) } }

    @Test(arguments: [
        ([], "", false), (Array("s.pcapng".utf8), "s.pcapng", false), (Array("é‹😀".utf8), "é‹😀", false),
        ([0xFF], "‹FF›", true), ([0x61, 0xC3, 0x62], "a‹C3›b", true), ([0xE2, 0x82, 0x2E], "‹E2›‹82›.", true),
        // Longer than need be, half of a pair, beyond the last plane, cut off at the end.
        ([0xC0, 0xAF], "‹C0›‹AF›", true), ([0xED, 0xA0, 0x80], "‹ED›‹A0›‹80›", true),
        ([0xF5, 0x80, 0x80, 0x80], "‹F5›‹80›‹80›‹80›", true), ([0xC3, 0xA9, 0xC3], "é‹C3›", true),
        // U+FFFD is a character as any other, and no byte.
        ([0xEF, 0xBF, 0xBD], "\u{FFFD}", false),
        // A character of the range that stands for bytes.
        ([0xF4, 0x8F, 0xBE, 0x80], "‹F4›‹8F›‹BE›‹80›", true), ([0xF4, 0x8F, 0xBD, 0xBF], "\u{10FF7F}", false),
    ])
    func names(name: [UInt8], shown: String, isOdd: Bool) {
        let text = FileName.text(name)
        #expect(bytes(text) == name && FileName.path(text).last == 0)
        #expect(FileName.shown(text) == shown && FileName.isOdd(text) == isOdd)
    }

    @Test func everyNameHasATextOfItsOwn() {
        var random = SystemRandomNumberGenerator()
        var texts: [String: [UInt8]] = [:]
        let pieces: [[UInt8]] = [
            [0x61], [0xC3, 0xA9], [0xF4, 0x8F, 0xBF, 0xBF], [0xFF], [0x80], [0xE2, 0x82], [0xF4],
        ]
        for _ in 0..<20_000 {
            let name = (0..<Int.random(in: 0...5, using: &random)).flatMap { _ in pieces.randomElement(using: &random)!
            }
            let text = FileName.text(name)
            #expect(bytes(text) == name)
            #expect(texts.updateValue(name, forKey: text) ?? name == name)
        }
        #expect(texts.count > 1_000)
    }
}
