import SessionTrace
import Testing

@testable import Assertions

/// HR-46 and HR-47: a page that asks says so itself, and is believed before the clock is.
@Suite struct AskingPageTests {
    private static let address = "https://api.mixpanel.com/track?u=\(ScriptedSession.token)"
    private static let partner = "hosts:\n  partner: [partner.example]\n"

    private func session(_ change: (inout ScriptedSession) -> Void) -> ScriptedSession {
        var session = ScriptedSession.conformingShare()
        session.policyText = Self.partner
        change(&session)
        return session
    }

    private func judge(_ change: (inout ScriptedSession) -> Void) throws -> TraceVerdict {
        try session(change).judge()
    }

    @Test(arguments: ["referer", "origin"]) func thePartnersPageIsNotExcused(field: String) throws {
        let verdict = try judge {
            $0.exchange(
                .browser, "GET", Self.address, at: 10, headers: [(field, "https://app.partner.example")])
        }
        #expect(verdict["HR-46"].verdict == .fail, "\(verdict.story)")
        #expect(verdict["HR-47"].verdict == .fail)
        #expect(verdict["HR-47"].sentence.contains("app.partner.example"))
        #expect(verdict["HR-46"].sentence.contains("the browser, on a page of app.partner.example"))
        let chias = try judge {
            $0.exchange(.browser, "GET", Self.address, at: 10, headers: [(field, "https://chia.health")])
        }
        #expect(chias["HR-46"].verdict == .pass, "\(chias.story)")
        #expect(chias["HR-47"].verdict == .pass)
    }

    @Test func theHeadsAloneSayTheSame() throws {
        let verdict = try session {
            $0.exchange(
                .browser, "GET", Self.address, at: 10, headers: [("referer", "https://app.partner.example")])
        }.judgeWithheld()
        #expect(verdict["HR-47"].verdict == .fail, "\(verdict.story)")
    }

    @Test func whatThePartnersPagePostsUnseenIsNotDecided() throws {
        func post(_ headers: [(String, String)]) throws -> TraceVerdict {
            try session {
                $0.exchange(
                    .browser, "POST", "https://api.mixpanel.com/track", at: 10, headers: headers, body: "u=1")
            }.judgeWithheld()
        }
        let partners = try post([("origin", "https://app.partner.example")])
        #expect(partners["HR-46"].reason?.code == "withheld", "\(partners.story)")
        #expect(partners["HR-47"].reason?.code == "withheld")
        let chias = try post([("origin", "https://chia.health")])
        #expect(chias["HR-47"].verdict == .pass, "\(chias.story)")
        #expect(!chias["HR-47"].assumptions.contains { $0.code == "chia-page-by-time" })
        let silent = try post([])
        #expect(silent["HR-47"].verdict == .pass, "\(silent.story)")
        #expect(silent["HR-47"].assumptions.contains { $0.code == "chia-page-by-time" })
        let own = try post([("sec-fetch-site", "none"), ("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "empty")])
        #expect(!own["HR-47"].assumptions.contains { $0.code == "chia-page-by-time" }, "\(own.story)")
    }

    @Test func aFrameInChiasPageIsChias() throws {
        let frame: [(String, String)] = [
            ("sec-fetch-dest", "iframe"), ("sec-fetch-mode", "navigate"), ("referer", "https://chia.health/"),
        ]
        func leak(_ session: inout ScriptedSession) {
            session.exchange(
                .browser, "GET", Self.address, at: 10, headers: [("referer", "https://frame.vendor.example/")])
        }
        let led = try judge {
            $0.exchange(.browser, "GET", "https://frame.vendor.example/f", at: 6, headers: frame)
            leak(&$0)
        }
        #expect(led["HR-47"].verdict == .pass, "\(led.story)")
        #expect(led["HR-47"].findings.contains { $0.message.contains("frame.vendor.example") })
        let opened = try judge {
            $0.browse("https://frame.vendor.example/f", at: 6)
            leak(&$0)
        }
        #expect(opened["HR-47"].verdict == .fail, "\(opened.story)")
        let unseen = try judge { leak(&$0) }
        #expect(unseen["HR-47"].reason?.code == "page-unknown", "\(unseen.story)")
        let tooLate = try judge {
            leak(&$0)
            $0.exchange(.browser, "GET", "https://frame.vendor.example/f", at: 12, headers: frame)
        }
        #expect(tooLate["HR-47"].reason?.code == "page-unknown", "\(tooLate.story)")
    }

    @Test func aFrameOfAFrameIsChiasToo() throws {
        let verdict = try judge {
            for (host, by, time) in [("one", "chia.health", 6.0), ("two", "one.vendor.example", 7.0)] {
                $0.exchange(
                    .browser, "GET", "https://\(host).vendor.example/f", at: time,
                    headers: [
                        ("sec-fetch-dest", "iframe"), ("sec-fetch-mode", "navigate"), ("referer", "https://\(by)/"),
                    ])
            }
            $0.exchange(.browser, "GET", Self.address, at: 10, headers: [("referer", "https://two.vendor.example/")])
        }
        #expect(verdict["HR-47"].verdict == .pass, "\(verdict.story)")
    }

    @Test func aReturnPageThatChiaLedToIsNotDecided() throws {
        let verdict = try judge {
            $0.browse(
                "https://app.partner.example/return", at: 9, headers: [("referer", "https://chia.health/")])
            $0.exchange(.browser, "GET", Self.address, at: 10, headers: [("referer", "https://app.partner.example/")])
        }
        #expect(verdict["HR-47"].reason?.code == "page-unknown", "\(verdict.story)")
    }

    @Test func beforeChiaWasOpenedNoPageIsChias() throws {
        let verdict = try judge {
            $0.exchange(.browser, "GET", Self.address, at: 4.3, headers: [("referer", "https://frame.vendor.example/")])
        }
        #expect(verdict["HR-47"].verdict == .fail, "\(verdict.story)")
    }

    @Test func theBrowsersOwnSuggestionIsNotTheApps() throws {
        let address = "https://suggest.vendor.example/s?q=\(ScriptedSession.token)"
        let own = try judge {
            $0.exchange(
                .browser, "GET", address, at: 10,
                headers: [("sec-fetch-site", "none"), ("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "empty")])
        }
        #expect(own["HR-47"].verdict == .pass, "\(own.story)")
        #expect(
            own["HR-47"].findings.contains {
                $0.kind == "not-the-app" && $0.message.contains("of its own") || $0.message.contains("browser's own")
            })
        let opened = try judge { $0.browse(address, at: 10) }
        #expect(opened["HR-47"].verdict == .fail, "\(opened.story)")
    }

    @Test func aBrowsersReportIsNotTheApps() throws {
        func report(_ type: String, at time: Double = 10, _ who: ScriptedSession.Who = .disguised) throws
            -> TraceVerdict
        {
            try judge {
                $0.exchange(
                    who, "POST", "https://o1.ingest.sentry.io/api/1/security/", at: time,
                    headers: [("content-type", type)], body: #"[{"url":"\#(ScriptedSession.url)"}]"#)
            }
        }
        let own = try report("application/reports+json")
        #expect(own["HR-46"].verdict == .pass, "\(own.story)")
        #expect(own["HR-47"].verdict == .pass)
        #expect(try report("application/json")["HR-46"].verdict == .fail)
        #expect(try report("application/reports+json", .app)["HR-46"].verdict == .fail)
        #expect(try report("application/reports+json", at: 4.3)["HR-46"].verdict == .fail)
    }
}
