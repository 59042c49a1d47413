import SessionTrace
import Testing

@testable import Assertions

/// Programs of browser and system that fetch for others, and who asks for tunnels.
@Suite struct ServiceAgentTests {
    private static let safari =
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1"
    private static let network = "com.apple.WebKit.Networking/8617.2.4.10.8 CFNetwork/1490.0.4 Darwin/23.2.0"

    private func judge(_ change: (inout ScriptedSession) -> Void) throws -> TraceVerdict {
        var session = ScriptedSession.conformingShare()
        change(&session)
        return try session.judge()
    }

    private func fetch(_ agent: String, path: String = "/favicon.ico") throws -> TraceVerdict {
        try judge {
            $0.exchange(.app, "GET", "https://chia.health\(path)", at: 10, headers: [("user-agent", agent)])
        }
    }

    @Test(arguments: [
        network, "SafariViewService/8617.2 CFNetwork/1490.0.4 Darwin/23.2.0", "stagefright/1.2 (Linux;Android 14)",
        "AppleCoreMedia/1.0.0.21F90 (iPhone; U; CPU OS 17_5 like Mac OS X)", "WhatsApp/2.24.20.89 A",
        "AndroidDownloadManager/14 (Linux; U; Android 14)",
    ]) func whoFetchesForOthersIsNobodyByName(agent: String) throws {
        let verdict = try fetch(agent)
        for rule in ["HR-03", "HR-59"] {
            #expect(verdict[rule].reason?.code == "actor-unknown", "\(verdict.story)")
            let product = agent.prefix { $0 != "/" }
            #expect(verdict[rule].sentence.contains(product), "\(verdict[rule].sentence)")
        }
    }

    @Test(arguments: [
        "MobileSafari/8617.2.4.10.8 CFNetwork/1490.0.4 Darwin/23.2.0", "Google-Android-IntentFilterVerifier/1.0",
        "com.google.android.gms/244035035 (Linux; U; Android 14)",
    ]) func safarisAndTheSystemsOwnAreNotTheApps(agent: String) throws {
        let verdict = try fetch(agent)
        for rule in ["HR-03", "HR-59"] { #expect(verdict[rule].verdict == .pass, "\(verdict.story)") }
    }

    @Test(arguments: [
        "PartnerShop/5.2 CFNetwork/1490.0.4 Darwin/23.2.0", "okhttp/4.12.0", "Dalvik/2.1.0 (Linux; U; Android 14)",
        "My-stagefright/1.0", "PartnerShop/5.2 MobileSafari/1",
    ]) func theAppsOwnNameFails(agent: String) throws {
        let verdict = try fetch(agent)
        for rule in ["HR-03", "HR-59"] { #expect(verdict[rule].verdict == .fail, "\(verdict.story)") }
        #expect(verdict["HR-03"].sentence.contains(agent.prefix { $0 != " " && $0 != "(" }))
    }

    @Test func aPreviewOfTheURLStillFails() throws {
        let verdict = try judge {
            $0.exchange(
                .app, "GET", ScriptedSession.url, at: 10, headers: [("user-agent", "WhatsApp/2.24.20.89 A")])
        }
        #expect(verdict["HR-05"].verdict == .fail, "\(verdict.story)")
        #expect(verdict["HR-05"].sentence.contains("WhatsApp"))
    }

    /// A page of Chia over a tunnel that somebody else asked for.
    private func tunnel(asked agent: String?, inner: String = safari, isPage: Bool = true) throws -> TraceVerdict {
        try judge {
            $0.tunnel(
                to: "chia.health", asked: agent, at: 10,
                headers: isPage
                    ? [("user-agent", inner), ("accept", "text/html"), ("accept-language", "en")]
                    : [("user-agent", inner)], path: "/help")
        }
    }

    @Test(arguments: [
        network, "MobileSafari/8617.2.4.10.8 CFNetwork/1490.0.4 Darwin/23.2.0", safari, nil,
    ]) func theRequestOnTheTunnelTellsWhoItWas(agent: String?) throws {
        let verdict = try tunnel(asked: agent)
        #expect(verdict["HR-03"].verdict == .pass, "\(verdict.story)")
        let app = try tunnel(asked: agent, inner: "PartnerShop/5.2 okhttp/4.12.0", isPage: false)
        #expect(app["HR-03"].verdict == .fail, "\(app.story)")
    }

    @Test func theAppsNameAboveABrowsersIsAConflict() throws {
        let verdict = try tunnel(asked: "PartnerShop/5.2 CFNetwork/1490.0.4 Darwin/23.2.0")
        #expect(verdict["HR-03"].reason?.code == "actor-unknown", "\(verdict.story)")
        #expect(verdict["HR-03"].sentence.contains("PartnerShop/5.2"))
        let view = try tunnel(
            asked: Self.network,
            inner: "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)")
        #expect(view["HR-03"].verdict == .fail, "\(view.story)")
    }

    @Test func aTunnelWithoutARequestIsWhosItWasAskedBy() throws {
        let verdict = try judge { $0.unreachable(.app, "chia.health", at: 10) }
        #expect(verdict["HR-03"].verdict == .fail, "\(verdict.story)")
    }
}
