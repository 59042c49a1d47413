import SessionTrace
import Testing

@testable import Assertions

/// Names of items are alike, so that one is looked for as a word of its own; what is random is found inside others too.
@Suite struct WholeWordTests {
    private func count(_ kind: Needle.Kind, _ text: [UInt8]) -> Int {
        var scanner = LeakScanner(redactor: Redactor(installationKey: []))
        scanner.learn(needle: Needle(number: 1, kind: kind, label: "x", value: "item-4711-abcdef"))
        return scanner.scan(bytes: text, location: "body").hits.count
    }

    @Test(arguments: [.catalogID, .disclosureVersion, .cookie] as [Needle.Kind])
    func aLongerNameIsAnother(kind: Needle.Kind) {
        for text in ["item-4711-abcdef9", "9item-4711-abcdef", "a=xitem-4711-abcdef&b"] {
            #expect(count(kind, Array(text.utf8)) == 0, "\(text)")
        }
        for text in [
            "item-4711-abcdef", "a/item-4711-abcdef/9", "a%2Fitem-4711-abcdef_9", "item-4711-abcdef9 item-4711-abcdef",
        ] {
            #expect(count(kind, Array(text.utf8)) == 1, "\(text)")
        }
    }

    /// A length or a tag may look like a letter.
    @Test func inBytesThatAreNoTextItIsFound() {
        for byte: UInt8 in [0x08, 0x0E, 0x1E, 0xFF] {
            #expect(count(.catalogID, [byte, 0x42] + Array("item-4711-abcdefB".utf8)) == 1, "\(byte)")
        }
        for byte: UInt8 in [0x09, 0x0A, 0x0D, 0x1F, 0x20] {
            #expect(count(.catalogID, [byte, 0x42] + Array("item-4711-abcdefB".utf8)) == 0, "\(byte)")
        }
    }

    @Test(arguments: [.canary, .idempotencyKey, .sessionIdentifier, .secret] as [Needle.Kind])
    func whatIsRandomIsFoundInside(kind: Needle.Kind) {
        #expect(count(kind, Array("xitem-4711-abcdef9".utf8)) == 1)
    }
}
