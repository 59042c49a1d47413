import SessionTrace
import Testing

@testable import Assertions

/// HR-09: a second request for the page, by the app, by the browser that goes back, and after a fault.
@Suite struct SecondOpeningTests {
    /// A share with its page at 4.5, and no word of the app being left.
    private func judge(_ change: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5)
        change(&session)
        session.mark(.end, at: 60)
        return try session.judge()["HR-09"]
    }

    private static let next = "https://chia.health/next"
    private static let sameOrigin = [("sec-fetch-site", "same-origin")]

    @Test func theBackButtonIsNotDecided() throws {
        let result = try judge {
            $0.browse(Self.next, at: 6, headers: Self.sameOrigin)
            $0.browse(ScriptedSession.url, at: 8)
        }
        #expect(result.reason?.code == "perhaps-back", "\(result)")
        #expect(result.sentence.contains("2 navigations"))
        let heads = try {
            var session = ScriptedSession.upToTap()
            session.tap(.share, at: 4)
            session.share(at: 4.1)
            session.browse(ScriptedSession.url, at: 4.5)
            session.browse(Self.next, at: 6, headers: Self.sameOrigin)
            session.browse(ScriptedSession.url, at: 8)
            session.mark(.end, at: 60)
            return try session.judgeWithheld()["HR-09"]
        }()
        #expect(heads.reason?.code == "perhaps-back", "\(heads)")
    }

    @Test func aTabBroughtBackIsNotDecided() throws {
        let result = try judge {
            $0.mark(.background, at: 4.6)
            $0.browse(ScriptedSession.url, at: 4.9)
        }
        #expect(result.reason?.code == "perhaps-back", "\(result)")
    }

    /// Where the app has just come to the front, the opening is the app's (HR-26: after kill, launch, foreground).
    @Test(arguments: [Mark.Kind.foreground, .restore, .kill])
    func whatIsOpenedWhenTheAppComesBackIsTheApps(kind: Mark.Kind) throws {
        let result = try judge {
            $0.mark(.background, at: 4.6)
            $0.mark(kind, at: 20)
            $0.browse(ScriptedSession.url, at: 20.3)
        }
        #expect(result.findings.map(\.kind) == ["second-navigation"], "\(result)")
    }

    @Test(arguments: ["nothing", "tap", "launch", "request", "at once", "redirect", "favicon", "before"])
    func theAppsSecondOpeningFails(kind: String) throws {
        let result = try judge {
            switch kind {
            case "nothing": $0.browse(ScriptedSession.url, at: 8)
            case "tap":
                $0.browse(Self.next, at: 6, headers: Self.sameOrigin)
                $0.tap(.other, at: 7)
                $0.browse(ScriptedSession.url, at: 8)
            case "launch":
                $0.browse(Self.next, at: 6, headers: Self.sameOrigin)
                $0.mark(.launch, at: 7)
                $0.browse(ScriptedSession.url, at: 8)
            case "request":
                $0.browse(Self.next, at: 6, headers: Self.sameOrigin)
                $0.exchange(.app, "GET", "https://api.partner.example/home", at: 7)
                $0.browse(ScriptedSession.url, at: 8)
            case "at once":
                $0.browse(Self.next, at: 4.7, headers: Self.sameOrigin)
                $0.browse(ScriptedSession.url, at: 4.9)
            case "redirect":
                $0.browse(
                    "https://chia.health/out", at: 6, status: 302, headers: Self.sameOrigin,
                    responseHeaders: [("location", Self.next)])
                $0.browse(Self.next, at: 6.2, headers: Self.sameOrigin)
                $0.browse(ScriptedSession.url, at: 6.1)
            case "favicon":
                $0.exchange(.browser, "GET", "https://chia.health/favicon.ico", at: 6)
                $0.browse(ScriptedSession.url, at: 8)
            default:
                $0.mark(.foreground, at: 4.4)
                $0.browse(ScriptedSession.url, at: 8)
            }
        }
        if kind == "redirect" {
            // The page that redirects is another one that the browser had gone to.
            #expect(result.reason?.code == "perhaps-back", "\(result)")
        } else {
            #expect(result.verdict == .fail, "\(kind) \(result)")
        }
    }

    @Test func aPageThatOnlyRedirectedIsNoOtherPage() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.browse(
            ScriptedSession.url, at: 4.5, status: 302, responseHeaders: [("location", "https://chia.health/welcome")])
        session.browse("https://chia.health/welcome", at: 4.7)
        session.browse(ScriptedSession.url, at: 8)
        session.mark(.end, at: 60)
        let result = try session.judge()["HR-09"]
        #expect(result.verdict == .fail, "\(result)")
    }

    @Test func whatTheAppSentBeforeTheOtherPageIsNoSign() throws {
        let result = try judge {
            $0.exchange(.app, "POST", "https://app-measurement.com/a", at: 5, body: "event=background")
            $0.browse(Self.next, at: 6, headers: Self.sameOrigin)
            $0.browse(ScriptedSession.url, at: 8)
        }
        #expect(result.reason?.code == "perhaps-back", "\(result)")
    }

    @Test(arguments: [503, 404]) func aNavigationThatMetAFaultCountsAsOneWithItsRepeat(status: Int) throws {
        func judge(fault: Bool, number: String = "0") throws -> RuleResult {
            var session = ScriptedSession.upToTap()
            session.tap(.share, at: 4)
            session.share(at: 4.1)
            let id = session.connect(.browser, "chia.health", at: 4.45)
            session.exchange(
                .browser, "GET", ScriptedSession.url, at: 4.5, status: status, isNavigation: true, on: id)
            if fault {
                session.proxyEvent(
                    .fault, on: id, at: 4.5, ["host": "chia.health", "exchange": number, "action": "503"])
            }
            session.browse(ScriptedSession.url, at: 8)
            session.mark(.end, at: 60)
            return try session.judge()["HR-09"]
        }
        #expect(try judge(fault: true).verdict == .pass)
        #expect(try judge(fault: false).verdict == .fail)
        #expect(try judge(fault: true, number: "7").verdict == .fail, "a fault of another exchange")
    }

    @Test func aFaultThatSpoiltNothingIsNoExcuse() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        let id = session.connect(.browser, "chia.health", at: 4.45)
        session.exchange(.browser, "GET", ScriptedSession.url, at: 4.5, isNavigation: true, on: id)
        session.proxyEvent(.fault, on: id, at: 4.5, ["host": "chia.health", "exchange": "0", "action": "delay"])
        session.browse(ScriptedSession.url, at: 8)
        session.mark(.end, at: 60)
        #expect(try session.judge()["HR-09"].verdict == .fail)
    }
}
