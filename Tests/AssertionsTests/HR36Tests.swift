import Assertions
import SessionTrace
import Testing

@Suite struct HR36URLOnlyInSessionResponseTests {
    private static let partner = "https://api.partner.example"
    private static let url = ScriptedSession.url
    private static let token = ScriptedSession.token

    private func judge(_ change: (inout ScriptedSession) -> Void = { _ in }) throws -> RuleResult {
        var session = ScriptedSession.conformingShare()
        change(&session)
        let verdict = try session.judge()
        #expect(!verdict.story.contains(Self.token))
        return verdict["HR-36"]
    }

    @Test func theSessionResponseAlonePasses() throws {
        let result = try judge()
        #expect(result.verdict == .pass, "\(result)")
        #expect(result.sentence.hasPrefix("1 handoff URL, in no other of "))
        #expect(result.lookedAt.count == 1)
    }

    @Test(arguments: [
        #"{"url":"\#(url)"}"#, #"{"deep":{"t":"\#(token)"}}"#, #"{"u":"https:\/\/chia.health\/h\/\#(token)"}"#,
        "url=https%3A%2F%2Fchia.health%2Fh%2F\(token)", "<a href=\(url)>",
    ]) func anyOtherAnswerFails(body: String) throws {
        let result = try judge { $0.exchange(.app, "GET", "\(Self.partner)/config", at: 6, response: body) }
        #expect(result.verdict == .fail, "\(result)")
        #expect(result.findings.map(\.kind) == ["url-in-answer"])
        #expect(result.sentence.hasPrefix("the handoff URL U#1 stands in the answer to GET api.partner.example/config"))
    }

    @Test func aHeaderFieldCounts() throws {
        let result = try judge {
            $0.exchange(
                .app, "GET", "\(Self.partner)/config", at: 6, status: 302, responseHeaders: [("location", Self.url)])
        }
        #expect(result.verdict == .fail)
        #expect(result.sentence.contains("header:location"))
    }

    @Test func anotherHostsAnswerCounts() throws {
        #expect(
            try judge { $0.exchange(.app, "GET", "https://config.vendor.example/", at: 6, response: Self.url) }.verdict
                == .fail)
    }

    @Test func aTokenOfAnotherSessionCounts() throws {
        let result = try judge {
            $0.exchange(
                .app, "GET", "\(Self.partner)/config", at: 6, response: #"{"u":"phs_Aq1Bw2Ce3Dr4Et5Fy6Gu7"}"#)
        }
        #expect(result.verdict == .fail)
        #expect(result.sentence.contains("something of the shape of a handoff token"))
    }

    @Test func whatCameBeforeIsFoundOnceTheValueIsKnown() throws {
        // Of this form nothing but the value tells: it has not the shape.
        let short = "https://chia.health/h/phs_Zk3Tq8WvX2mN"
        var session = ScriptedSession.upToTap()
        session.exchange(.app, "GET", "\(Self.partner)/config", at: 3, response: #"{"u":"\#(short)"}"#)
        session.tap(.share, at: 4)
        session.share(at: 4.1, url: short)
        session.mark(.end, at: 80)
        let result = try session.judge()["HR-36"]
        #expect(result.verdict == .fail, "\(result)")
        #expect(result.sentence.contains("U#1"))
    }

    @Test func aMessageOfBeforeIsSearchedAgainToo() throws {
        let short = "https://chia.health/h/phs_Zk3Tq8WvX2mN"
        var session = ScriptedSession.upToTap()
        let opened = session.exchange(.app, "GET", "\(Self.partner)/ws", at: 2.5, status: 101)
        session.serverMessage(opened, #"{"u":"\#(short)"}"#, at: 3)
        session.tap(.share, at: 4)
        session.share(at: 4.1, url: short)
        session.mark(.end, at: 80)
        #expect(try session.judge()["HR-36"].verdict == .fail)
    }

    @Test func theOldestAnswersAreForgotten() throws {
        let short = "https://chia.health/h/phs_Zk3Tq8WvX2mN"
        var session = ScriptedSession.upToTap()
        session.options.limits.backlogBytes = 1
        session.exchange(.app, "GET", "\(Self.partner)/config", at: 3, response: #"{"u":"\#(short)"}"#)
        session.tap(.share, at: 4)
        session.share(at: 4.1, url: short)
        session.mark(.end, at: 80)
        #expect(try session.judge()["HR-36"].verdict == .pass)
    }

    @Test func aProjectionThatHoldsItFails() throws {
        var session = ScriptedSession()
        session.mark(.launch, at: 0)
        session.exchange(
            .app, "GET", ProjectionStory.path, at: 1,
            response: #"{"handoff":{"mode":"neutral_only","url":"\#(Self.url)"}}"#)
        session.mark(.end, at: 80)
        let result = try session.judge()["HR-36"]
        #expect(result.verdict == .fail, "\(result)")
    }

    @Test func aMessageOfTheServerFails() throws {
        let result = try judge {
            let opened = $0.exchange(.app, "GET", "\(Self.partner)/ws", at: 6, status: 101)
            $0.serverMessage(opened, #"{"t":"\#(Self.token)"}"#, at: 7)
        }
        #expect(result.verdict == .fail, "\(result)")
        #expect(result.sentence.contains("message of api.partner.example"))
    }

    @Test func aMessageToTheBrowserIsItsOwn() throws {
        let result = try judge {
            let opened = $0.exchange(.browser, "GET", "https://live.shop.example/ws", at: 6, status: 101)
            $0.serverMessage(opened, #"{"t":"\#(Self.token)"}"#, at: 7)
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test func aPushedAnswerFails() throws {
        let result = try judge {
            let id = $0.connect(.app, "api.partner.example", at: 6)
            $0.exchange(.app, "GET", "\(Self.partner)/a", at: 6.2, on: id)
            $0.strayAnswer(#"{"t":"\#(Self.token)"}"#, on: id, at: 7, isPushed: true)
        }
        #expect(result.verdict == .fail, "\(result)")
    }

    @Test func anAnswerWithoutItsRequestIsNotDecided() throws {
        let result = try judge {
            let id = $0.connect(.nobody, "api.partner.example", at: 6)
            $0.strayAnswer(#"{"t":"\#(Self.token)"}"#, on: id, at: 7, isPushed: false)
        }
        #expect(result.reason?.code == "start-not-seen", "\(result)")
    }

    // What may hold it.

    @Test func aResendMayBringItAgain() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, fate: .lost)
        session.share(at: 6)
        session.mark(.end, at: 80)
        #expect(try session.judge()["HR-36"].verdict == .pass)
    }

    @Test func aLaterAnswerMayNotBringAnEarlierURL() throws {
        func result(_ more: String) throws -> RuleResult {
            var session = ScriptedSession.upToTap()
            session.tap(.share, at: 4)
            session.share(at: 4.1)
            session.tap(.share, at: 20)
            session.exchange(
                .app, "POST", "\(Self.partner)/handoff-session", at: 20.1, status: 201,
                headers: [("idempotency-key", ScriptedSession.key2)], body: ScriptedSession.body,
                response: #"{"url":"\#(ScriptedSession.otherURL)","last":"\#(more)"}"#)
            session.mark(.end, at: 80)
            return try session.judge()["HR-36"]
        }
        #expect(try result("none").verdict == .pass)
        let older = try result(Self.url)
        #expect(older.findings.map(\.kind) == ["older-url"], "\(older)")
        #expect(older.sentence.contains("attempt 2 brings U#1 of attempt 1 too"))
    }

    @Test func whatChiaAnswersIsNotTheApps() throws {
        let result = try judge {
            $0.exchange(.browser, "GET", "https://chia.health/api/me", at: 6, response: #"{"t":"\#(Self.token)"}"#)
            $0.exchange(.app, "GET", "https://chia.health/api/me", at: 7, response: #"{"t":"\#(Self.token)"}"#)
            $0.exchange(.nobody, "GET", "https://chia.health/api/me", at: 8, response: #"{"t":"\#(Self.token)"}"#)
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test func theBrowsersAnswersAreItsOwn() throws {
        #expect(
            try judge { $0.exchange(.browser, "GET", "https://www.shop.example/", at: 6, response: Self.url) }.verdict
                == .pass)
    }

    @Test func aDisguisedReceiverIsNotDecided() throws {
        let result = try judge {
            $0.exchange(.disguised, "GET", "\(Self.partner)/config", at: 6, response: Self.url)
        }
        #expect(result.reason?.code == "actor-unknown", "\(result)")
    }

    @Test func anUnknownReceiverOfThePartnersAnswerFails() throws {
        #expect(
            try judge { $0.exchange(.nobody, "GET", "\(Self.partner)/config", at: 6, response: Self.url) }.verdict
                == .fail)
    }

    @Test func aPictureIsNotSearched() throws {
        let result = try judge {
            $0.exchange(
                .app, "GET", "\(Self.partner)/a.png", at: 6, response: Self.url,
                responseHeaders: [("content-type", "image/png")])
        }
        #expect(result.verdict == .pass)
    }

    @Test func onlyTheShapeOfASessionRequestIsNotDecided() throws {
        // Neither key nor body tells a session request.
        func result(_ method: String) throws -> RuleResult {
            var session = ScriptedSession()
            session.mark(.launch, at: 0)
            session.exchange(.app, method, "\(Self.partner)/begin", at: 4.1, response: #"{"url":"\#(Self.url)"}"#)
            session.mark(.end, at: 80)
            return try session.judge()["HR-36"]
        }
        let post = try result("PUT")
        #expect(post.reason?.code == "policy-mismatch", "\(post)")
        #expect(post.reason?.remedy.contains("requests: {session: {method: PUT, path: /begin}}") == true)
        #expect(try result("GET").verdict == .fail)
    }

    // What could hide it.

    @Test(arguments: [
        ("api.partner.example", "no-keys"), ("config.vendor.example", "no-keys"), ("o1.ingest.sentry.io", nil),
        ("chia.health", nil),
    ]) func unreadAnswersAreNotDecided(host: String, code: String?) throws {
        let result = try judge { $0.dark(.app, host, at: 20, lastData: 21) }
        #expect(result.reason?.code == code, "\(result)")
    }

    @Test func whatThePolicyAllowsUnreadIsAnAssumption() throws {
        let result = try judge {
            $0.policyText += "  opaque-ok: [{host: config.vendor.example, reason: pinned}]\n"
            $0.dark(.app, "config.vendor.example", at: 20, lastData: 21)
        }
        #expect(result.verdict == .pass, "\(result)")
        #expect(result.assumptions.contains { $0.code == "opaque-ok" })
    }

    @Test func unreadServicesOfTheSystemAreAnAssumption() throws {
        let result = try judge { $0.dark(.nobody, "17.courier.push.apple.com", at: 20, lastData: 21) }
        #expect(result.verdict == .pass, "\(result)")
        #expect(result.assumptions.contains { $0.code == "os-services" })
    }

    @Test func anAnswerThatIsNotWholeIsNotDecided() throws {
        let unseen = try judge {
            $0.exchange(.app, "GET", "\(Self.partner)/config", at: 6, response: "{", fate: .notSeen)
        }
        #expect(unseen.reason?.code == "body-not-whole", "\(unseen)")
        let closed = try judge {
            $0.exchange(
                .app, "GET", "\(Self.partner)/more", at: 7, response: "{}",
                responseHeaders: [("content-encoding", "x-own")])
        }
        #expect(closed.reason?.code == "undecodable-content", "\(closed)")
    }

    @Test func withoutASessionThereIsNothingToJudge() throws {
        var session = ScriptedSession()
        session.exchange(.app, "GET", "\(Self.partner)/config", at: 6, response: "{}")
        #expect(try session.judge()["HR-36"].verdict == .notApplicable)
    }
}
