import SessionTrace
import Testing

@testable import Assertions

/// What the browser sends for itself, and what that rests on. Chia's page is open since 4.5.
@Suite struct HR46HR47OwnBlameBoundaryTests {
    private static let body = "tab=\(ScriptedSession.url)"
    private static let noise = "https://optimizationguide-pa.googleapis.com/v1:GetHints"
    private static let chromeSync =
        "Chrome ANDROID-PHONE 140.0.7339.51 (1c2e8b0f-refs/branch-heads/7339@{#1}) channel(stable)"
    private static let chrome = ProcessIdentity(source: .pcapdroid, name: "com.android.chrome", userID: 10_100)

    private func judge(
        _ who: ScriptedSession.Who, _ address: String, headers: [(String, String)] = [],
        process: ProcessIdentity? = nil
    ) throws -> RuleResult {
        try ScriptedSession.shared {
            $0.browse(ScriptedSession.url, at: 4.5)
            $0.processes[who] = process
            $0.exchange(who, "POST", address, at: 10, headers: headers, body: Self.body)
        }.judge()["HR-47"]
    }

    /// A service of the browser's is its own by its other headers or its process, and by a mere name on an assumption.
    @Test(
        arguments: [
            (.browser, [], nil, false), (.nobody, [("user-agent", chromeSync)], chrome, false),
            (.nobody, [("user-agent", chromeSync)], nil, true),
        ] as [(ScriptedSession.Who, [(String, String)], ProcessIdentity?, Bool)]) func whatTellsThatItIsItsOwn(
            who: ScriptedSession.Who, headers: [(String, String)], process: ProcessIdentity?, isAssumed: Bool
        ) throws
    {
        let result = try judge(who, Self.noise, headers: headers, process: process)
        #expect(result.verdict == .pass && result.information == ["not-the-app"], "\(result)")
        #expect(result.assumptions.map(\.code).contains("browser-service") == isAssumed, "\(result)")
    }

    @Test func anExtensionNeedsNoAssumption() throws {
        let result = try judge(
            .browser, "https://check.vendor.example/", headers: [("origin", "moz-extension://0f1e2d3c")])
        #expect(result.verdict == .pass && result.information == ["not-the-app"], "\(result)")
        #expect(!result.assumptions.map(\.code).contains("chia-page-by-time"), "\(result)")
    }

    /// A program of the browser's is known by its process, also where no such program goes of itself.
    @Test(arguments: ["https://sync.vendor.example/", "https://api.mixpanel.com/track"])
    func aProgramOfARecordedProcessIsTheBrowsers(address: String) throws {
        let own = try judge(.nobody, address, headers: [("user-agent", Self.chromeSync)], process: Self.chrome)
        #expect(own.verdict == .pass && own.information == ["not-the-app"], "\(own)")
        let named = try judge(.nobody, address, headers: [("user-agent", Self.chromeSync)])
        #expect(named.verdict != .pass, "\(named)")
    }

    /// An address that is opened says so in its mode or its destination.
    @Test(arguments: [("navigate", "iframe", true), ("no-cors", "document", true), ("no-cors", "iframe", false)])
    func eitherFieldTellsThatItWasOpened(mode: String, destination: String, isOpening: Bool) throws {
        let result = try judge(
            .browser, "https://go.vendor.example/",
            headers: [("sec-fetch-site", "none"), ("sec-fetch-mode", mode), ("sec-fetch-dest", destination)])
        #expect(result.violations == (isOpening ? ["token-sent"] : []), "\(result)")
    }

    @Test func whatWasFetchedAheadIsSaidToBe() throws {
        let result = try judge(
            .browser, "https://go.vendor.example/",
            headers: [
                ("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document"),
                ("sec-purpose", "prefetch"),
            ])
        #expect(result.reason?.code == "actor-unknown", "\(result)")
        #expect(result.sentence.contains("fetched ahead"), "\(result)")
    }
}
