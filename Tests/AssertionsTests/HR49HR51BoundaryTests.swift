import Assertions
import SessionTrace
import Testing

/// What leaves with a launch, and whose it is.
@Suite struct HR49NoDeferredLeakLaunchBoundaryTests {
    private static let sentry = "https://o4507.ingest.sentry.io/api/1/envelope/"

    /// A share that is answered at 4.2, a background at 10, a kill at 20 and a launch at 25.
    private func judge(_ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5)
        session.mark(.background, at: 10)
        session.mark(.kill, at: 20)
        session.mark(.launch, at: 25)
        build(&session)
        session.mark(.end, at: 100)
        return try session.judge()["HR-49"]
    }

    /// One piece that was sent with the launch makes the whole of it a deferred one.
    @Test(arguments: [(25.0, ["split-leak"]), (24.999, [])] as [(Double, [String])]) func theLastPieceDecides(
        last: Double, kinds: [String]
    ) throws {
        let token = ScriptedSession.token
        let starts = Array(stride(from: 0, to: token.count, by: 4))
        let result = try judge {
            for (number, start) in starts.enumerated() {
                $0.exchange(
                    .app, "GET", "\(Self.sentry)?n=\(number)&p=\(token.dropFirst(start).prefix(4))",
                    at: last - Double(starts.count - 1 - number) / 10)
            }
        }
        #expect(result.violations == kinds, "\(result)")
    }

    /// What was sent before the app was left is no deferred leak, whether the whole URL or its token went.
    @Test(arguments: [(5.0, []), (30, ["deferred-leak"])] as [(Double, [String])])
    func theURLOfThisSessionIsNoEarlierOnes(
        time: Double, kinds: [String]
    ) throws {
        for crumb in [ScriptedSession.url, ScriptedSession.token, "a \(ScriptedSession.url)#x b"] {
            let result = try judge { $0.exchange(.app, "POST", Self.sentry, at: time, body: #"{"crumb":"\#(crumb)"}"#) }
            #expect(Set(result.violations) == Set(kinds), "\(crumb): \(result)")
        }
    }

    @Test func theSenderIsNamed() throws {
        func sender(_ who: ScriptedSession.Who) throws -> String {
            try judge { $0.exchange(who, "POST", Self.sentry, at: 30, body: #"{"crumb":"\#(ScriptedSession.url)"}"#) }
                .sentence
        }
        #expect(try sender(.nobody).contains("by an unknown sender"))
        #expect(try sender(.app).contains("by app"))
    }
}

/// What goes to a shortener, and is not the app's.
@Suite struct HR51NoShortenerOrPreviewSenderBoundaryTests {
    private static let address = "https://bit.ly/create?u=\(ScriptedSession.token)"

    private func judge(_ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        try ScriptedSession.shared {
            $0.browse(ScriptedSession.url, at: 4.5)
            build(&$0)
        }.judge()["HR-51"]
    }

    /// A lookup goes with the connection that follows it, whose sender and silence are told.
    @Test func aLookupBelongsToItsConnection() throws {
        func code(_ build: (inout ScriptedSession) -> Void) throws -> String? {
            try ScriptedSession.result("HR-51", .inTheBrowser(), build).reason?.code
        }
        #expect(try code { $0.lookup("bit.ly", at: 4.2) } == "actor-unknown")
        #expect(
            try code {
                $0.lookup("bit.ly", at: 4.2)
                $0.dark(.nobody, "bit.ly", at: 4.3, lastData: 4.4)
            } == "no-keys")
    }

    @Test func aPageOfChiasIsOnlyMentioned() throws {
        let result = try judge {
            $0.exchange(.browser, "GET", Self.address, at: 60, headers: [("referer", "https://chia.health/")])
        }
        #expect(result.violations == [] && Self.mentions(result), "\(result)")
    }

    /// Whether the token that was sent is mentioned, beside the contact itself.
    private static func mentions(_ result: RuleResult) -> Bool {
        result.findings.contains {
            $0.kind == "not-the-app" && $0.message.hasPrefix("the handoff URL U#1 was sent to bit.ly")
        }
    }

    @Test(arguments: [("apsd", []), ("PartnerShop", ["link-shortened"])] as [(String, [String])])
    func theSystemIsOnlyMentioned(process: String, kinds: [String]) throws {
        let result = try judge {
            $0.processes[.nobody] = ProcessIdentity(source: .pktap, name: process)
            $0.exchange(.nobody, "GET", Self.address, at: 60)
        }
        #expect(result.violations == kinds && Self.mentions(result) == kinds.isEmpty, "\(result)")
    }
}

/// What went around the proxy may be what these rules forbid.
@Suite struct HR34HR65BypassTests {
    @Test(arguments: ["HR-34", "HR-65"]) func trafficAroundTheProxyLeavesThemOpen(rule: String) throws {
        var session = LaterDoubtTableTests.session()
        session.blindSpot(.bypass, from: nil, at: 100, until: 101, on: nil)
        #expect(try session.judge()[rule].reason?.code == "bypass")
    }
}
