import SessionTrace
import Testing

@testable import Assertions

/// Chia's name in a path is a brand's as well as an SDK's; the SDK's whole name is the SDK's wherever it stands.
@Suite struct HR56PathTests {
    private func judge(_ address: String, policy: String = "") throws -> RuleResult {
        var session = ScriptedSession.conformingShare()
        session.policyText += policy
        session.exchange(.app, "GET", address, at: 60)
        return try session.judge()["HR-56"]
    }

    @Test(
        arguments: [
            ("https://api.partner.example/brands/chiahealth", "sdk-name-in-path"),
            ("https://www.instagram.com/chiahealth/", "sdk-name-in-path"),
            ("https://api.partner.example/brands/chiahealth/logo.png", nil),
            ("https://api.partner.example/x?b=chiahealth", nil),
        ] as [(String, String?)]) func theNameAloneIsNoViolation(address: String, code: String?) throws
    {
        let result = try judge(address)
        #expect(result.violations == [] && result.reason?.code == code, "\(result)")
    }

    @Test func whatThePolicyAllowsIsNotDoubted() throws {
        let result = try judge(
            "https://api.partner.example/brands/chiahealth", policy: "requests: {allow: [\"GET /brands/{name}\"]}\n")
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test func assetsOfThePartnersAreOnlyMentioned() throws {
        let result = try judge(
            "https://img.partner.example/chiahealth", policy: "  partner-assets: [img.partner.example]\n")
        #expect(result.verdict == .pass && result.information == ["chias-name"], "\(result)")
    }

    @Test(arguments: ["?m=@chiahealth/partner", "?m=%40chiahealth%2Fpartner", "/@chiahealth/partner/logo.png"])
    func theWholeNameIsTheSDKs(rest: String) throws {
        #expect(try judge("https://api.partner.example/x\(rest)").violations == ["sdk-name"])
    }

    @Test func hostsThatThePolicyDoesNotNameAreSaid() throws {
        func codes(_ rule: String, _ policy: String) throws -> [String] {
            var session = ScriptedSession.conformingShare()
            session.policyText += policy
            return try session.judge()[rule].assumptions.map(\.code)
        }
        #expect(try codes("HR-56", "").contains("chia-api-unnamed"))
        #expect(try !codes("HR-56", "  chia-api: [api.chia.health]\n").contains("chia-api-unnamed"))
        #expect(try codes("HR-57", "").contains("chia-assets-unnamed"))
        #expect(try !codes("HR-57", "  chia-assets: [assets.chia.health]\n").contains("chia-assets-unnamed"))
    }
}
