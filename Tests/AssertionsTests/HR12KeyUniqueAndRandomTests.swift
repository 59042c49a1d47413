import Assertions
import SessionTrace
import Testing

@Suite struct HR12KeyUniqueAndRandomTests {
    private static let other = ScriptedSession.shareBody(item: "item-9999-zzzzzz")

    private func judge(_ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        build(&session)
        session.mark(.end, at: 200)
        return try session.judge()["HR-12"]
    }

    /// A share that succeeded and was opened, then another tap.
    private func afterSuccess(fate: ScriptedSession.Fate = .answered, _ build: (inout ScriptedSession) -> Void) throws
        -> RuleResult
    {
        try judge {
            $0.share(at: 4.1, fate: fate)
            $0.browse(ScriptedSession.url, at: 4.5)
            $0.tap(.share, at: 60)
            build(&$0)
        }
    }

    @Test func twoOperationsWithTwoKeysPass() throws {
        let result = try afterSuccess { $0.share(at: 60.1, key: ScriptedSession.key2, url: ScriptedSession.otherURL) }
        #expect(result.verdict == .pass)
        #expect(result.sentence == "2 keys in 2 epochs, none in two")
        #expect(result.lookedAt.count == 2)
    }

    @Test func theKeyOfASuccessComesAgain() throws {
        let result = try afterSuccess { $0.share(at: 60.1, body: Self.other, url: ScriptedSession.otherURL) }
        #expect(result.verdict == .fail)
        #expect(result.findings.map(\.kind) == ["key-in-two-epochs"])
        let same = try afterSuccess { $0.share(at: 60.1, url: ScriptedSession.otherURL) }
        #expect(same.findings.map(\.kind) == ["key-in-two-epochs"])
        #expect(same.sentence.contains("attempts 1 and 2 have one key"))
        #expect(same.sentence.contains("ended with success"))
        #expect(same.findings[0].severity == .error)
    }

    @Test func theKeyOfARejectionComesAgain() throws {
        let result = try judge {
            $0.share(at: 4.1, status: 422)
            $0.share(at: 6, body: ScriptedSession.shareBody(version: #""2026-04""#))
        }
        #expect(result.findings.map(\.kind) == ["key-in-two-epochs"])
        #expect(result.sentence.contains("definitively rejected"))
    }

    @Test func oneKeyForTwoItems() throws {
        let result = try judge {
            $0.share(at: 4.1, status: 503)
            $0.share(at: 6, body: Self.other)
        }
        #expect(result.findings.map(\.kind) == ["key-with-two-bodies"])
        let own = try judge {
            $0.share(at: 4.1, status: 503)
            $0.share(at: 6, key: ScriptedSession.key2, body: Self.other)
        }
        #expect(own.verdict == .pass)
    }

    /// Restamped within its epoch: HR-13's matter.
    @Test func aRetryIsNoSecondUse() throws {
        let result = try judge {
            $0.share(at: 4.1, status: 503)
            $0.share(at: 6, body: ScriptedSession.shareBody(affirmedAt: #""2026-11-29T12:00:09Z""#))
        }
        #expect(result.verdict == .notApplicable)
        #expect(result.sentence == "one operation, with no other to compare its key with")
    }

    /// After the neutral choice the operation is given up: its key may come back for the same request, not for another.
    @Test func afterANeutralChoice() throws {
        func again(_ body: String, isWhole: Bool = true) throws -> RuleResult {
            try judge {
                $0.share(at: 4.1, status: 503)
                $0.tap(.neutral, at: 6)
                $0.browse(ScriptedSession.neutral, at: 6.5)
                $0.tap(.share, at: 60)
                $0.share(at: 60.1, body: body, bodyIsComplete: isWhole)
            }
        }
        #expect(try again(ScriptedSession.body).verdict == .pass)
        let other = try again(ScriptedSession.shareBody(affirmedAt: #""2026-11-29T12:01:00Z""#))
        #expect(other.findings.map(\.kind) == ["key-with-two-bodies"])
        #expect(try again(ScriptedSession.body, isWhole: false).reason?.code == "body-not-whole")
    }

    @Test func twoDevicesWithOneKeyAreAWarning() throws {
        let result = try afterSuccess {
            $0.clientAddress = IPAddress(ipv4: 0x0A00_0009)
            $0.share(at: 60.1, body: Self.other)
        }
        #expect(result.verdict == .fail)
        #expect(result.severity == .warning)
        #expect(result.sentence.contains("on two devices"))
    }

    @Test func aSuccessOfUnknownDeliveryIsNotHeldAgainstTheKey() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, fate: .deliveryUnknown)
        session.mark(.foreground, at: 50)
        session.tap(.share, at: 60)
        session.share(at: 60.1)
        session.mark(.end, at: 200)
        #expect(try session.judge()["HR-12"].reason?.code == "delivery-unknown")
        // With other bytes it is no retry of that one, delivered or not.
        session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, fate: .deliveryUnknown)
        session.mark(.foreground, at: 50)
        session.tap(.share, at: 60)
        session.share(at: 60.1, body: ScriptedSession.shareBody(affirmedAt: #""2026-11-29T12:01:00Z""#))
        session.mark(.end, at: 200)
        #expect(try session.judge()["HR-12"].verdict == .fail)
    }

    @Test func unreadSessionTrafficMayHoldTheKeyAgain() throws {
        let result = try afterSuccess {
            $0.share(at: 60.1, key: ScriptedSession.key2, url: ScriptedSession.otherURL)
            $0.dark(.app, "api.partner.example", at: 70, lastData: 71)
        }
        #expect(result.reason?.code == "no-keys")
    }

    @Test func withoutARequestThereIsNothingToCompare() throws {
        #expect(try judge { _ in }.reason?.code == "policy-mismatch", "a share tap without an attempt")
        #expect(try ScriptedSession.upToTap().judge()["HR-12"].verdict == .notApplicable)
        #expect(try ScriptedSession.conformingShare().judge()["HR-12"].verdict == .notApplicable)
    }

    // MARK: randomness

    private func drawn(_ keys: [String]) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        for (index, key) in keys.enumerated() {
            let time = 4 + 20 * Double(index)
            let url = "https://chia.health/h/phs_\(index)rAnDoMrAnDoMrAnDoM"
            session.tap(.share, at: time)
            session.share(at: time + 0.1, key: key, url: url)
            session.browse(url, at: time + 0.5)
        }
        session.mark(.end, at: 300)
        return try session.judge()["HR-12"]
    }

    private static let random = [
        "7b0f6f0e-4c1d-4f5a-9d55-0a2f8f1f3c11", "c2a9e5d4-1b3c-4d7e-8f90-a1b2c3d4e5f6",
        "18d31f0a-92b7-4e06-a4cb-7749f00d52e8", "e5527cc1-6d80-4a93-b31e-5fc6083be94d",
        "93bc80f7-f5e2-4729-8a07-d8101c6ab7a2",
    ]
    /// All agree in the low 62 free bits, less those that `low` has.
    private static func seeded(low: String) -> [String] {
        [
            "00000000-0000-4000-8000-000000000000", "ffffffff-ffff-4fff-8000-\(low)",
            "0fffffff-ffff-4fff-8000-000000000000", "f0ffffff-ffff-4fff-8000-000000000000",
            "ff0fffff-ffff-4fff-8000-000000000000",
        ]
    }

    @Test func randomKeysAreRandom() throws {
        let result = try drawn(Self.random)
        #expect(result.verdict == .pass)
        #expect(result.sentence.contains("of 122 free bits are common to all"))
    }

    @Test func keysOfASeededGeneratorAreAWarning() throws {
        var result = try drawn(Self.seeded(low: "000000000000"))
        #expect(result.verdict == .fail)
        #expect(result.severity == .warning)
        #expect(result.findings.map(\.kind) == ["keys-not-random"])
        #expect(result.sentence == "5 keys have 62 of 122 free bits in common, where about 7 are by chance")
        result = try drawn(Array(Self.seeded(low: "000000000000").prefix(4)))
        #expect(result.verdict == .pass, "four keys are too few")
        #expect(!result.sentence.contains("free bits"))
    }

    @Test(arguments: [("000000000003", true), ("000000000007", false)])
    func sixtyBitsAreTheLimit(low: String, isSuspicious: Bool) throws {
        #expect((try drawn(Self.seeded(low: low)).verdict == .fail) == isSuspicious)
    }

    @Test func aPinnedGeneratorNeedsAnExceptionWithAnEnd() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5)
        session.mark(.foreground, at: 50)
        session.tap(.share, at: 60)
        session.share(at: 60.1, url: ScriptedSession.otherURL)
        session.mark(.end, at: 200)
        session.policyText +=
            "exceptions: [{rule: HR-12, scope: key-in-two-epochs, reason: pinned, owner: ana, expires: 2027-01-31}]\n"
        #expect(try session.judge()["HR-12"].verdict == .pass)
    }
}
