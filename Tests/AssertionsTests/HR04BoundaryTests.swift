import SessionTrace
import Testing

@testable import Assertions

/// Where "ahead of the page" begins and ends, to the moment.
@Suite struct HR04NoPreconnectBoundaryTests {
    private func judge(_ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        try ScriptedSession.shared(build).judge()["HR-04"]
    }

    /// The page of the handoff URL, on a connection of its own.
    private static func open(_ session: inout ScriptedSession, at time: Double = 4.5) {
        let own = session.connect(.browser, "chia.health", at: time - 0.1)
        session.exchange(.browser, "GET", ScriptedSession.url, at: time, isNavigation: true, on: own)
    }

    // MARK: what is judged

    @Test func aTapAloneIsEnoughToBeJudged() throws {
        var session = ScriptedSession()
        session.mark(.launch, at: 0)
        session.tap(.neutral, at: 4)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-04"]
        #expect(result.verdict == .pass && result.sentence.hasPrefix("0 contacts"), "\(result)")
    }

    @Test func aSpareConnectionIsCounted() throws {
        let result = try judge {
            $0.connect(.nobody, "chia.health", at: 4.3)
            Self.open(&$0)
        }
        #expect(result.verdict == .pass && result.sentence.contains("1 of them unused connections"), "\(result)")
    }

    /// Names in the policy's exceptions go on matching.
    @Test func aLookupAndAConnectionHaveFingerprintsOfTheirOwn() throws {
        let connection = try judge {
            $0.connect(.nobody, "chia.health", at: 3)
            Self.open(&$0)
        }
        #expect(
            connection.findings.map(\.fingerprint) == [
                Judgement.fingerprint(["HR-04", "before-tap", "chia", "connection"])
            ])
        let lookup = try judge {
            $0.lookup("chia.health", at: 3)
            Self.open(&$0)
        }
        #expect(
            lookup.findings.map(\.fingerprint) == [Judgement.fingerprint(["HR-04", "before-tap", "chia", "lookup"])])
        #expect(lookup.sentence == "DNS query of chia.health 1 s before the tap")
    }

    @Test func namesResolvedOutOfSightAreAnAssumption() throws {
        func judge(_ host: String) throws -> RuleResult {
            try self.judge {
                $0.connect(.app, host, at: 3)
                Self.open(&$0)
            }
        }
        #expect(try judge("dns.google").assumptions.map(\.code).contains("encrypted-dns"))
        #expect(try !judge("sdk.vendor.example").assumptions.map(\.code).contains("encrypted-dns"))
    }

    /// A connection of which no name is known may have been to Chia, when it was there before the tap.
    @Test func aConnectionWithoutANameBeforeTheTapIsNotDecided() throws {
        func dark(at time: Double) throws -> RuleResult {
            try judge {
                $0.dark(.nobody, "203.0.113.9", at: time, lastData: time + 0.5, hello: false)
                Self.open(&$0)
            }
        }
        #expect(try dark(at: 1).reason?.code == "host-unknown")
        #expect(try dark(at: 20).verdict == .pass)
    }

    // MARK: the first page

    @Test func whatIsConnectedInThePagesOwnMomentIsThePages() throws {
        func beside(at time: Double) throws -> [String] {
            try judge {
                Self.open(&$0)
                $0.connect(.nobody, "chia.health", at: time)
            }.information
        }
        #expect(try beside(at: 4.5) == ["not-the-app"])
        #expect(try beside(at: 4.499) == [])
    }

    /// What comes up to two seconds before the next page's own connection is the browser's spare.
    @Test func twoSecondsBeforeALaterPageAreTheBrowsersOwn() throws {
        func spare(at time: Double) throws -> RuleResult {
            try judge {
                Self.open(&$0)
                $0.connect(.nobody, "chia.health", at: time)
                Self.open(&$0, at: 20.1)
            }
        }
        let inTime = try spare(at: 18)
        #expect(inTime.verdict == .pass && inTime.information == ["not-the-app"], "\(inTime)")
        #expect(try spare(at: 17.999).reason?.code == "actor-unknown")
    }

    /// A script that the browser fetched is no page that explains a connection.
    @Test func whatTheBrowserFetchesBesideIsNoPage() throws {
        let result = try judge {
            let other = $0.connect(.browser, "chia.health", at: 2.4)
            $0.exchange(.browser, "GET", "https://chia.health/app.js", at: 2.5, on: other)
            $0.connect(.app, "chia.health", at: 3)
            Self.open(&$0)
        }
        #expect(result.violations.contains("before-tap"), "\(result)")
    }

    // MARK: the tap that it belongs to

    @Test func withoutMarksTheRequestsOwnMomentIsNotBeforeIt() throws {
        func early(at time: Double) throws -> [String] {
            var session = ScriptedSession()
            session.projection(at: 0.5)
            session.connect(.nobody, "chia.health", at: time)
            session.share(at: 4.1)
            Self.open(&session)
            session.exchange(.app, "GET", "https://api.partner.example/x", at: 80)
            return try session.judge()["HR-04"].violations
        }
        #expect(try early(at: 4.1) == [])
        #expect(try early(at: 4.099) == ["before-request"])
    }

    @Test func aRequestInTheSameMomentIsWhatItWasMadeFor() throws {
        let result = try judge {
            let own = $0.connect(.disguised, "chia.health", at: 4.4)
            $0.connect(.nobody, "chia.health", at: 4.5)
            $0.exchange(.disguised, "GET", ScriptedSession.url, at: 4.5, on: own)
        }
        #expect(result.reason?.code != "navigation-not-seen", "\(result)")
    }

    @Test func aLaterTapIsNotTheOneItCameBefore() throws {
        let result = try judge {
            $0.connect(.nobody, "chia.health", at: 4.2)
            Self.open(&$0)
            $0.tap(.neutral, at: 60)
            Self.open(&$0, at: 60.5)
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test func aPageInTheMomentOfATapFollowedIt() throws {
        let result = try judge {
            $0.tap(.neutral, at: 20)
            $0.connect(.nobody, "chia.health", at: 19.5)
            let own = $0.connect(.disguised, "chia.health", at: 20)
            $0.exchange(.disguised, "GET", ScriptedSession.neutral, at: 20, on: own)
        }
        #expect(result.violations == ["before-tap"], "\(result)")
    }

    @Test func whatIsUnusedInTheMomentOfATapIsNotBeforeALaterOne() throws {
        let result = try judge {
            $0.connect(.nobody, "chia.health", at: 4)
            $0.tap(.neutral, at: 60)
        }
        #expect(result.verdict == .inconclusive && result.reason?.code == "navigation-not-seen", "\(result)")
    }

    // MARK: used and unused

    /// A trace that was cut short says nothing of what was open, and enough of what had been closed unused.
    @Test func whatWasClosedUnusedIsJudgedInACutTraceToo() throws {
        var session = ScriptedSession.upToTap()
        let spare = session.connect(.nobody, "chia.health", at: 3)
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        Self.open(&session)
        session.isComplete = false
        func isEnd(_ event: SessionEvent) -> Bool {
            if case .connectionClosed(let end) = event { end.id == spare } else { false }
        }
        let all = session.events()
        #expect(try session.judge(all)["HR-04"].violations == ["before-tap"])
        #expect(try session.judge(all.filter { !isEnd($0) })["HR-04"].violations == [])
        session.isComplete = true
        #expect(try session.judge(session.events().filter { !isEnd($0) })["HR-04"].violations == ["before-tap"])
    }

    /// Used by the app after the tap in whose moment it was made: HR-03's matter, no preconnect.
    @Test func aConnectionInTheMomentOfTheTapWasNotMadeAhead() throws {
        func used(from time: Double) throws -> [String] {
            try judge {
                let own = $0.connect(.app, "chia.health", at: time)
                $0.exchange(.app, "GET", "https://chia.health/x", at: 5, on: own)
            }.violations
        }
        #expect(try used(from: 4) == [])
        #expect(try used(from: 3.999) == ["app-owned"])
    }

    @Test func whatIsAskedInTheMomentOfTheTapWasMadeAhead() throws {
        func asked(at time: Double) throws -> [String] {
            try judge {
                let warm = $0.connect(.browser, "chia.health", at: 3)
                $0.exchange(.browser, "GET", ScriptedSession.url, at: time, isNavigation: true, on: warm)
            }.violations
        }
        #expect(try asked(at: 4) == ["before-tap"])
        #expect(try asked(at: 3.999) == [])
    }
}
