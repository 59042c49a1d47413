import SessionTrace
import Testing

@testable import Assertions

/// Parts of answers that are read once they are decoded, and words that only look like others.
@Suite struct HiddenContentRulesTests {
    private func judge(policy: String, _ change: (inout ScriptedSession) -> Void) throws -> TraceVerdict {
        var session = ScriptedSession.conformingShare()
        session.policyText += policy
        change(&session)
        return try session.judge()
    }

    /// An image service fetches the address that its query names.
    @Test(
        arguments: [
            ("https%3A%2F%2Fassets.chia.health%2Fx.png", ["asset-url"]),
            ("https%3A%2F%2Fassets.chia.healthy%2Fx.png", []),
            ("https%3A%2F%2Fwww.chia.health%2Fx.png%3FX-Amz-Signature%3Da1b2c3d4e5", ["asset-url"]),
        ] as [(String, [String])]) func aURLInAQueryIsFound(inner: String, kinds: [String]) throws
    {
        let result = try judge(policy: "  chia-assets: [assets.chia.health]\n") {
            $0.exchange(
                .app, "GET", "https://api.partner.example/card", at: 20,
                response: #"{"i":"https://img.partner.example/_i?url=\#(inner)&w=64"}"#)
        }["HR-57"]
        #expect(result.violations == kinds, "\(result)")
    }

    @Test(arguments: [(4_000, true), (4_001, false)]) func wordsThatAreDecodedAreCounted(
        count: Int, isWhole: Bool
    ) {
        let text = Array(String(repeating: "abcdefghijklmnop ", count: count).utf8)
        #expect(SecretSearch(Policy.Forbidden()).search(text[...]).isWhole == isWhole)
    }

    @Test(arguments: ["/img/meal-prep.jpg", "/img/standard-month.jpg"])
    func aPlainWordTellsNoTreatment(path: String) {
        let title = TreatmentWords.telling(in: "Standard programme, first month")
        #expect(TreatmentWords.naming(path: path, titleWords: title) == nil)
        #expect(TreatmentWords.naming(path: "/img/hiv-prep.jpg", titleWords: title) == "hiv")
    }
}
