import SessionTrace
import Testing

@testable import Assertions

/// Which lookups were made for something: a resolver may be slow, and a name may be asked for again.
@Suite struct HR04LookupBoundaryTests {
    private func judge(_ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        try ScriptedSession.shared(build).judge()["HR-04"]
    }

    private static func open(_ session: inout ScriptedSession, at time: Double = 4.5) {
        let own = session.connect(.browser, "chia.health", at: time - 0.1)
        session.exchange(.browser, "GET", ScriptedSession.url, at: time, isNavigation: true, on: own)
    }

    /// What was asked for before the tap is HR-01's matter, and the lookup for it too.
    @Test(arguments: [3.1, 3]) func aLookupThatWasUsedIsNoPreconnect(used: Double) throws {
        let result = try judge {
            $0.lookup("chia.health", at: 3, isAnswered: false)
            let own = $0.connect(.browser, "chia.health", at: used)
            $0.exchange(.browser, "GET", "https://chia.health/x", at: used, on: own)
            Self.open(&$0)
        }
        #expect(result.violations == [], "\(result)")
    }

    @Test func aLookupAfterTheLastUseIsUnused() throws {
        let result = try judge {
            let own = $0.connect(.browser, "chia.health", at: 2.9)
            $0.exchange(.browser, "GET", "https://chia.health/x", at: 2.95, on: own)
            $0.lookup("chia.health", at: 3, isAnswered: false)
        }
        #expect(result.violations == ["before-tap"], "\(result)")
    }

    /// Two seconds from the answer to the connection, and a millisecond more.
    @Test(arguments: [(3.5, []), (3.501, ["early"])]) func aLookupIsUsedWithinTwoSeconds(
        used: Double, kinds: [String]
    ) throws {
        let result = try judge {
            $0.lookup("chia.health", at: 1.5, isAnswered: false)
            let own = $0.connect(.browser, "chia.health", at: used)
            $0.exchange(.browser, "GET", "https://chia.health/x", at: 3.6, on: own)
            Self.open(&$0)
        }
        #expect(result.violations == kinds, "\(result)")
    }

    /// A connection in the moment in which its name was asked for, or answered, is its use.
    @Test(arguments: [(3.0, []), (2.999, ["before-tap"])]) func theMomentOfTheQuestionIsItsUse(
        used: Double, kinds: [String]
    ) throws {
        let result = try judge {
            $0.query("chia.health", at: 3)
            let own = $0.connect(.browser, "chia.health", at: used)
            $0.exchange(.browser, "GET", "https://chia.health/x", at: used, on: own)
            Self.open(&$0, at: 9)
        }
        #expect(result.violations == kinds, "\(result)")
    }

    /// A connection that was never used is a finding of its own, and the lookup that led to it none: from the moment of the
    /// question to two seconds after it.
    @Test(arguments: [(3.0, 2.999, 1), (3, 3, 0), (1.5, 3.5, 0), (1.5, 3.501, 1)])
    func aSpareConnectionIsTheLookupsUse(asked: Double, connected: Double, lookups: Int) throws {
        let result = try judge {
            $0.query("chia.health", at: asked)
            $0.connect(.browser, "chia.health", at: connected)
            Self.open(&$0, at: 9)
        }
        #expect(result.findings.count { $0.message.hasPrefix("DNS query") } == lookups, "\(result)")
        #expect(result.findings.contains { $0.message.hasPrefix("an unused connection") }, "\(result)")
    }

    @Test(arguments: [(3.5, []), (3.501, ["early"])]) func anAnswerInTheMomentOfTheUseCounts(
        answered: Double, kinds: [String]
    ) throws {
        let result = try judge {
            $0.query("chia.health", at: 0.5)
            $0.answer("chia.health", at: answered)
            let own = $0.connect(.browser, "chia.health", at: 3.5)
            $0.exchange(.browser, "GET", "https://chia.health/x", at: 3.6, on: own)
            Self.open(&$0, at: 9)
        }
        #expect(result.violations == kinds, "\(result)")
    }

    /// An answer of before the question is not its answer.
    @Test func anEarlierAnswerIsNotCounted() throws {
        let result = try judge {
            Self.open(&$0)
            $0.tap(.neutral, at: 60)
            $0.lookup("chia.health", at: 60.1)
            Self.open(&$0, at: 60.3)
            $0.lookup("chia.health", at: 70, isAnswered: false)
            Self.open(&$0, at: 70.5)
        }
        #expect(result.verdict == .pass && result.findings.isEmpty, "\(result)")
    }

    /// Nor is one that came long after its use.
    @Test func aLaterAnswerIsNotCounted() throws {
        let result = try judge {
            $0.lookup("chia.health", at: 4.2, isAnswered: false)
            Self.open(&$0)
            $0.lookup("chia.health", at: 60)
            Self.open(&$0, at: 60.3)
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    /// In a trace that was cut short, a lookup's use may be missing for ten seconds.
    @Test(arguments: [(13.0, []), (13.001, ["before-tap"])]) func aCutTraceMustGoOnForTenSeconds(
        end: Double, kinds: [String]
    ) throws {
        var session = ScriptedSession.upToTap()
        session.lookup("chia.health", at: 3, isAnswered: false)
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.mark(.note, at: end)
        session.isComplete = false
        #expect(try session.judge()["HR-04"].violations == kinds)
        session.isComplete = true
        #expect(try session.judge()["HR-04"].violations == ["before-tap"])
    }
}
