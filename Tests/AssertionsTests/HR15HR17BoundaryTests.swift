import Assertions
import SessionTrace
import Testing

@Suite struct HR15DefinitiveDiscardsKeyBoundaryTests {
    @Test func emptyBodiesAreNotTheSameBody() throws {
        func judge(_ body: String) throws -> RuleResult {
            var session = ScriptedSession.upToTap()
            session.tap(.share, at: 4)
            session.share(at: 4.1, body: body, status: 422)
            session.projection(at: 5)
            session.tap(.share, at: 8)
            session.share(at: 8.1, key: ScriptedSession.key2, body: body)
            session.mark(.end, at: 90)
            return try session.judge()["HR-15"]
        }
        #expect(try judge("").violations.isEmpty)
        #expect(try !judge(ScriptedSession.body).violations.isEmpty)
    }
}

/// When a further attempt after a success has a tap of its own.
@Suite struct HR17NoResendAfterSuccessBoundaryTests {
    /// A success from 4.1 to 4.2, and what `build` adds.
    private func judge(_ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        build(&session)
        session.mark(.end, at: 200)
        return try session.judge()["HR-17"]
    }

    /// An operation that begins as the success ends comes after it, one that begins sooner does not.
    @Test(arguments: [(4.2, ["operation-without-tap"]), (4.199, [])])
    func anOperationThatBeginsAsTheSuccessEndsFollowsIt(time: Double, kinds: [String]) throws {
        let result = try judge { $0.share(at: time, key: ScriptedSession.key2) }
        #expect(result.violations == kinds, "\(result)")
    }

    @Test(arguments: [(4.1, true), (4.099, false), (8, true), (8.001, false)])
    func aTapFromTheSuccessOnMakesAnotherOperation(tap: Double, isOwn: Bool) throws {
        let result = try judge {
            $0.tap(.share, at: tap)
            $0.share(at: 8, key: ScriptedSession.key2)
        }
        #expect(result.violations == (isOwn ? [] : ["operation-without-tap"]), "\(result)")
    }

    @Test func afterARejectionAnOperationNeedsNoSuccessBeforeIt() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, status: 422)
        session.share(at: 6, key: ScriptedSession.key2)
        session.mark(.end, at: 200)
        #expect(try session.judge()["HR-17"].violations == [])
    }

    @Test func anotherDevicesSuccessIsItsOwn() throws {
        let result = try judge {
            $0.clientAddress = IPAddress(ipv4: 0x0A00_0003)
            $0.share(at: 8, key: ScriptedSession.key2)
        }
        #expect(result.violations == [], "\(result)")
    }

    /// The answer came at 4.2; the app may have been killed before it read it.
    @Test(arguments: [(6.2, Severity.warning), (6.201, .error), (4.1, .warning), (4.099, .error), (8, .error)])
    func aKillSoonAfterTheAnswerWeighsLess(kill: Double, severity: Severity) throws {
        let result = try judge {
            $0.mark(.kill, at: kill)
            $0.share(at: 7)
        }
        #expect(result.findings.first { $0.kind == "resend-after-success" }?.severity == severity, "\(result)")
    }

    @Test func aKillInTheMomentOfTheResendStillCounts() throws {
        let result = try judge {
            $0.mark(.kill, at: 5)
            $0.share(at: 5)
        }
        #expect(result.findings.first?.severity == .warning, "\(result)")
    }
}
