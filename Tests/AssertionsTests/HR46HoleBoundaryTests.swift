import SessionTrace
import Testing

@testable import Assertions

/// Where bytes of the device are missing, or could not be searched, since the URL came at 4.2: what HR-46 and HR-47
/// share.
@Suite struct HR46HoleBoundaryTests {
    private static let host = "logs.vendor.example"

    private func judge(
        policy: String = "", end: Double = 90, _ build: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        try ScriptedSession.leakResult(policy: policy, end: end, build)
    }

    /// A connection since 3, of which something could not be read up to a moment.
    private func hole(
        _ reason: BlindSpot.Reason = .tcpHole, from side: Side? = .client, until: Double = 20, host: String = host,
        isNamed: Bool = true
    ) throws -> RuleResult {
        try judge {
            let id = $0.connect(.app, host, at: 3, hello: isNamed)
            $0.blindSpot(reason, from: side, at: 3.1, until: until, on: id)
        }
    }

    @Test(arguments: [(4.2, "tcp-hole"), (4.199, nil)] as [(Double, String?)]) func aHoleInTheURLsMomentMayHoldIt(
        until: Double, code: String?
    ) throws {
        #expect(try hole(until: until).reason?.code == code)
        #expect(try hole(until: until, host: "203.0.113.9", isNamed: false).reason?.code == code)
    }

    @Test func onlyWhatTheDeviceSentMayHoldIt() throws {
        #expect(try hole(from: .server).verdict == .pass)
        #expect(try hole(from: nil).reason?.code == "tcp-hole")
    }

    @Test(
        arguments: [
            (.bodyOverLimit, "body-over-limit"), (.undecodableContent, "undecodable-content"),
            (.decodeBudget, "decode-budget"), (.startNotSeen, nil),
        ] as [(BlindSpot.Reason, String?)]) func notEveryBlindSpotHidesARequest(
            reason: BlindSpot.Reason, code: String?
        ) throws
    {
        #expect(try hole(reason).reason?.code == code)
    }

    @Test(
        arguments: [
            ("chia.health", nil), ("17.courier.push.apple.com", nil), ("api.partner.example", "tcp-hole"),
        ] as [(String, String?)]) func whatGoesToChiaOrTheSystemIsNoLeak(host: String, code: String?) throws
    {
        #expect(try hole(host: host).reason?.code == code)
    }

    /// What belongs to no connection is of the capture as a whole, and is said of it.
    @Test func aBlindSpotOfTheWholeTraceIsSaidOfIt() throws {
        let result = try judge { $0.blindSpot(.stateGivenUp, from: nil, at: 20, until: 21, on: nil) }
        #expect(result.sentence.hasPrefix("part of the trace could not be read"), "\(result)")
    }

    /// What the policy allows to stay unread is not held against it as a hole, either.
    @Test func aHostThatMayStayDarkHasNoHoles() throws {
        let result = try judge(policy: "  opaque-ok: [{host: sdk.vendor.example, reason: pinned}]\n") {
            $0.dark(.app, "sdk.vendor.example", at: 3, lastData: 4.2)
        }
        #expect(result.verdict == .pass && result.assumptions.map(\.code).contains("opaque-ok"), "\(result)")
    }

    /// Push and time services are known by their ports where no name is.
    @Test func aServiceOfTheSystemsIsKnownByItsPort() throws {
        func judge(port: UInt16) throws -> RuleResult {
            var session = ScriptedSession.upToTap()
            session.tap(.share, at: 4)
            session.share(at: 4.1)
            session.browse(ScriptedSession.url, at: 4.5)
            let id = session.connect(.nobody, "203.0.113.9", at: 6, hello: false)
            session.blindSpot(.tcpHole, from: .client, at: 6.1, until: 20, on: id)
            session.mark(.end, at: 90)
            let events = session.events().map { event in
                guard case .connectionOpened(var connection) = event, connection.id == id else { return event }
                connection.server = Endpoint(address: connection.server.address, port: port)
                return .connectionOpened(connection)
            }
            return try session.judge(events)["HR-46"]
        }
        #expect(try judge(port: 5223).verdict == .pass)
        #expect(try judge(port: 5222).reason?.code == "tcp-hole")
    }

    // MARK: what could not be searched

    @Test(
        arguments: [
            (.app, 4.2, "undecodable-content"), (.app, 4.199, nil), (.nobody, 6, "undecodable-content"),
            (.browser, 6, nil),
        ] as [(ScriptedSession.Who, Double, String?)]) func contentThatCouldNotBeDecodedMayHoldIt(
            who: ScriptedSession.Who, time: Double, code: String?
        ) throws
    {
        let result = try judge {
            $0.exchange(
                who, "POST", "https://\(Self.host)/t", at: time, headers: [("content-encoding", "x-own")], body: "abc")
        }
        #expect(result.reason?.code == code, "\(result)")
    }

    // MARK: how long it was watched

    /// A background since the URL came and a launch after it flush what was queued.
    @Test(arguments: [(4.2, 20, false), (4.199, 20, true), (10, 10.001, false), (10, 10, true)])
    func aRelaunchIsEnoughToHaveWatched(background: Double, launch: Double, isAssumed: Bool) throws {
        let result = try judge(end: 30) {
            $0.mark(.background, at: background)
            $0.mark(.launch, at: launch)
        }
        #expect(result.assumptions.map(\.code).contains("observed-only") == isAssumed, "\(result)")
    }

    // MARK: no URL is known

    private func withoutURL(_ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        build(&session)
        session.mark(.end, at: 90)
        return try session.judge()["HR-46"]
    }

    @Test func anAnswerThatWasNotSeenMayHaveBroughtIt() throws {
        func ended(_ fate: ScriptedSession.Fate) throws -> RuleResult {
            try withoutURL {
                $0.tap(.share, at: 4)
                $0.share(at: 4.1, fate: fate)
            }
        }
        #expect(try ended(.notSeen).reason?.code == "outcome-not-seen")
        #expect(try ended(.reset).verdict == .notApplicable)
    }

    @Test func aSessionRequestMayHaveStayedUnread() throws {
        let result = try withoutURL { $0.dark(.app, "api.partner.example", at: 6, lastData: 7) }
        #expect(result.reason?.code == "no-keys", "\(result)")
        let tapped = try withoutURL { $0.tap(.share, at: 4) }
        #expect(tapped.reason?.code == "policy-mismatch", "\(tapped)")
        #expect(try withoutURL { $0.tap(.neutral, at: 4) }.verdict == .notApplicable)
    }
}

/// What was sent on connections of which the heads alone were recorded, as the browser's visit to Chia is.
@Suite struct HR46WithheldBoundaryTests {
    private static let logs = "https://logs.vendor.example/t"
    private static let chia = "https://www.chia.health/api"

    /// A request on a connection that was withheld since the browser asked Chia on it at 2.6; the URL came at 4.2.
    private func judge(
        _ who: ScriptedSession.Who, _ address: String, at time: Double = 6, headers: [(String, String)] = []
    ) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        let id = session.connect(.browser, "www.chia.health", at: 2.5)
        session.exchange(.browser, "GET", "https://www.chia.health/style.css", at: 2.6, on: id)
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5)
        session.exchange(who, "POST", address, at: time, headers: headers, body: "u=1", on: id)
        session.mark(.end, at: 90)
        return try session.judgeWithheld()["HR-46"]
    }

    @Test(arguments: [(4.2, "withheld"), (4.199, nil)] as [(Double, String?)]) func theURLsMomentCounts(
        time: Double, code: String?
    ) throws {
        #expect(try judge(.app, Self.logs, at: time).reason?.code == code)
    }

    @Test(
        arguments: [
            (.app, chia, [], "withheld"), (.browser, chia, [], nil), (.nobody, chia, [], nil),
            (.nobody, logs, [], "withheld"),
            (.nobody, logs, [("origin", "https://chia.health")], "withheld"), (.disguised, logs, [], "withheld"),
            (.disguised, logs, [("origin", "https://chia.health")], nil), (.browser, logs, [], nil),
        ] as [(ScriptedSession.Who, String, [(String, String)], String?)]) func whoSentItWhereDecides(
            who: ScriptedSession.Who, address: String, headers: [(String, String)], code: String?
        ) throws
    {
        let result = try judge(who, address, headers: headers)
        #expect(result.reason?.code == code, "\(result)")
        let isTaken = who == .browser && address == Self.logs
        #expect(result.assumptions.map(\.code).contains("chia-page-by-time") == isTaken, "\(result)")
        #expect(!result.assumptions.map(\.code).contains("browser-service"))
    }

    @Test func aFormIsNotOfChiasPageForSure() throws {
        let form = [
            ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document"),
        ]
        let result = try judge(.browser, Self.logs, headers: form)
        #expect(result.reason?.code == "withheld" && result.sentence.hasPrefix("the browser sent a form"), "\(result)")
    }

    /// The browser's own service needs no page, unless one asked for it.
    @Test(arguments: [(nil, false), ("https://news.example", true)] as [(String?, Bool)])
    func aServiceOfTheSystemsIsNoPages(origin: String?, isTaken: Bool) throws {
        let result = try judge(
            .browser, "https://optimizationguide-pa.googleapis.com/v1", headers: origin.map { [("origin", $0)] } ?? [])
        #expect(result.verdict == .pass, "\(result)")
        #expect(result.assumptions.map(\.code).contains("chia-page-by-time") == isTaken)
    }
}
