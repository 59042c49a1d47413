import SessionTrace
import Testing

@testable import Assertions

@Suite struct HR50NoCaptureUploadBoundaryTests {
    /// An unread connection to session replay may be settings, unless it is as large as a recording.
    @Test(arguments: [(8_192, "opaque-telemetry"), (8_191, nil)] as [(Int, String?)])
    func anUnreadConnectionOfARecordingsSizeIsNotDecided(bytes: Int, code: String?) throws {
        var session = ScriptedSession.inTheBrowser()
        session.dark(.app, "rec.smartlook.com", at: 4.2, lastData: 4.4)
        session.mark(.end, at: 90)
        let events = session.events().map { event in
            guard case .secureSession(var secure) = event, secure.clientApplicationBytes == 900 else { return event }
            secure.clientApplicationBytes = bytes
            return .secureSession(secure)
        }
        #expect(try session.judge(events)["HR-50"].reason?.code == code)
    }

    /// Of messages that were too many to be logged any may have held a picture.
    @Test(arguments: [(40, nil), (41, "request-log-full")] as [(Int, String?)])
    func messagesThatWereNotLoggedAreNotDecided(count: Int, code: String?) throws {
        var session = ScriptedSession.inTheBrowser()
        session.options.limits.loggedMessages = 40
        let opened = session.exchange(.app, "GET", "https://api.partner.example/ws", at: 3, status: 101)
        for number in 0..<count {
            session.message(opened, Array("{\"n\":\(number)}".utf8), at: 4.2 + Double(number) / 1_000)
        }
        let result = try ScriptedSession.result("HR-50", session, end: 90) { _ in }
        #expect(result.reason?.code == code, "\(result)")
    }
}

/// The handoff is from the call to action at 2 to the end at 100.
@Suite struct HR51NoShortenerOrPreviewBoundaryTests {
    private func judge(_ story: (inout ScriptedSession) -> Void) throws -> RuleResult {
        try ScriptedSession.result("HR-51") { story(&$0) }
    }

    @Test func theNeutralWayIsJudgedToo() throws {
        let result = try ScriptedSession.goneNeutral { $0.browse(ScriptedSession.neutral, at: 4.5) }.judge()["HR-51"]
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test(arguments: [(1.999, []), (2.0, ["contact"]), (100, ["contact"]), (100.001, [])] as [(Double, [String])])
    func aContactInTheMomentOfTapOrEndIsInTheHandoff(time: Double, kinds: [String]) throws {
        var session = ScriptedSession.inTheBrowser()
        session.mark(.end, at: 100)
        session.exchange(
            .app, "GET", "https://bit.ly/x", at: time, on: session.connect(.app, "bit.ly", at: 1, hello: false))
        session.mark(.note, at: 105)
        #expect(try session.judge()["HR-51"].violations == kinds)
    }

    /// A lookup is for the connection that follows, which says whose both are.
    @Test func aLookupBelongsToItsConnection() throws {
        let used = try judge {
            $0.lookup("bit.ly", at: 20)
            $0.exchange(.app, "GET", "https://bit.ly/x", at: 20.2)
        }
        #expect(used.verdict == .fail && used.violations == ["contact"], "\(used)")
        #expect(try judge { $0.lookup("bit.ly", at: 20) }.reason?.code == "actor-unknown", "alone it is nobody's")
    }

    @Test func whatChiasPageShortensIsNotTheApps() throws {
        let result = try judge {
            $0.exchange(
                .browser, "POST", "https://api-ssl.bitly.com/v4", at: 20,
                headers: [("origin", "https://chia.health"), ("referer", "https://chia.health/")],
                body: #"{"long":"\#(ScriptedSession.url)"}"#)
        }
        #expect(result.verdict == .pass && result.information.contains("not-the-app"), "\(result)")
    }
}

@Suite struct HR52NoClickAttributionBoundaryTests {
    private static func event(
        _ session: inout ScriptedSession, at time: Double, body: String = #"{"event":"open"}"#
    ) {
        session.exchange(.app, "POST", "https://api2.branch.io/v1/event", at: time, body: body)
    }

    /// Taps at 4, and the page when `build` opens it.
    private func judge(policy: String = "", _ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.policyText += policy
        session.tap(.neutral, at: 4)
        build(&session)
        session.mark(.end, at: 90)
        return try session.judge()["HR-52"]
    }

    @Test(
        arguments: [(2.999, []), (3.0, ["click-event"]), (9.5, ["click-event"]), (9.501, [])] as [(Double, [String])])
    func oneSecondBeforeAndFiveAfterCount(time: Double, kinds: [String]) throws {
        let result = try judge {
            $0.browse(ScriptedSession.neutral, at: 4.5)
            Self.event(&$0, at: time)
        }
        #expect(result.violations == kinds, "\(result)")
    }

    /// The page ends the time, not what the browser fetches beside it; a page in the tap's own moment is the tap's.
    @Test func thePageOfTheTapEndsTheTime() throws {
        let late = try judge {
            $0.exchange(.browser, "GET", "https://chia.health/app.js", at: 4.2)
            $0.browse(ScriptedSession.neutral, at: 8)
            Self.event(&$0, at: 12)
        }
        #expect(late.violations == ["click-event"], "\(late)")
        let own = try judge {
            $0.browse(ScriptedSession.neutral, at: 4)
            Self.event(&$0, at: 12)
        }
        #expect(own.violations == [], "\(own)")
    }

    /// Without a page, ten seconds and five.
    @Test(arguments: [(19.0, ["click-event"]), (19.001, [])] as [(Double, [String])]) func withoutAPageTheTapTells(
        time: Double, kinds: [String]
    ) throws {
        #expect(try judge { Self.event(&$0, at: time) }.violations == kinds)
    }

    @Test(arguments: [(20.0, []), (19.999, ["click-event"])] as [(Double, [String])])
    func aPageInTheNextTapsMomentIsThatTaps(page: Double, kinds: [String]) throws {
        let result = try judge(policy: "timing: {tap-to-request: 2s}\n") {
            $0.mark(.opened, at: 4.2)
            $0.tap(.neutral, at: 20)
            $0.browse(ScriptedSession.neutral, at: page)
            Self.event(&$0, at: 15)
        }
        #expect(result.violations == kinds, "\(result)")
    }

    @Test func withoutTapsThePageTells() throws {
        func judge(at time: Double) throws -> [String] {
            var session = ScriptedSession()
            session.fetch(at: 0.5)
            session.share(at: 4.1)
            session.browse(ScriptedSession.url, at: 40)
            Self.event(&session, at: time)
            session.exchange(.app, "GET", "https://api.partner.example/x", at: 80)
            return try session.judge()["HR-52"].violations
        }
        #expect(try judge(at: 44) == ["click-event"])
        #expect(try judge(at: 46) == [])
    }

    // MARK: what it carries

    @Test func anEventAndASelectionAreToldApart() throws {
        let event = try judge { Self.event(&$0, at: 4.3) }
        #expect(event.sentence.hasSuffix(", around the action tap"), "\(event)")
        let selection = try judge { Self.event(&$0, at: 60, body: #"{"i":"item-4711-abcdef"}"#) }
        #expect(!selection.sentence.contains("around the action tap"), "\(selection)")
        #expect(selection.violations == ["attributed-selection"])
    }

    /// Eight characters are found anywhere, seven only behind the field's name.
    @Test(arguments: [("item-471", ["attributed-selection"]), ("item-47", [])] as [(String, [String])])
    func aShortIdIsNotSearchedFor(item: String, kinds: [String]) throws {
        let result = try judge {
            $0.fetch(at: 3, item: item)
            Self.event(&$0, at: 60, body: #"{"i":"\#(item)"}"#)
        }
        #expect(result.violations == kinds, "\(result)")
    }

    /// The item's id in base64 is the item's id.
    @Test func anEncodedItemIsASelection() throws {
        // {"item":"item-4711-abcdef"}
        let result = try judge {
            Self.event(&$0, at: 60, body: #"{"data":"eyJpdGVtIjoiaXRlbS00NzExLWFiY2RlZiJ9"}"#)
        }
        #expect(result.violations == ["attributed-selection"] && result.severity == .error, "\(result)")
    }
}

@Suite struct HR53NoChiaCookieInAppBoundaryTests {
    /// What another device sends is another person's.
    @Test func anotherDevicesCookiesAreNotTheApps() throws {
        func judge(isOther: Bool, _ story: (inout ScriptedSession) -> Void) throws -> [String] {
            var session = ScriptedSession.upToTap()
            session.exchange(
                .app, "GET", "https://api.partner.example/me", at: 3, headers: [("cookie", "sid=partner81c2f0aa77")])
            session.tap(.share, at: 4)
            session.share(at: 4.1)
            session.browse(
                ScriptedSession.url, at: 4.5, responseHeaders: [("set-cookie", "cid=c0ffee81c2f0aa77; Path=/")])
            if isOther { session.clientAddress = IPAddress(ipv4: 0x0A00_0009) }
            story(&session)
            session.mark(.end, at: 90)
            return try session.judge()["HR-53"].violations
        }
        func chias(_ session: inout ScriptedSession) {
            session.exchange(
                .app, "POST", "https://api.partner.example/visit", at: 20, headers: [("cookie", "x=c0ffee81c2f0aa77")])
        }
        func partners(_ session: inout ScriptedSession) {
            session.exchange(
                .app, "GET", "https://chia.health/x", at: 20, headers: [("cookie", "sid=partner81c2f0aa77")])
        }
        #expect(try judge(isOther: false, chias) == ["chia-cookie"])
        #expect(try judge(isOther: true, chias) == [])
        #expect(try judge(isOther: false, partners) == ["partner-credential"])
        #expect(try judge(isOther: true, partners) == [])
    }
}
