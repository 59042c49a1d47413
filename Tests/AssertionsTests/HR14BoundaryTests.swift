import Assertions
import SessionTrace
import Testing

/// What lies between an uncertain end and the next attempt.
@Suite struct HR14UncertainKeepsKeyBoundaryTests {
    /// An attempt from 4.1 to 4.2, and what `next` adds.
    private func judge(
        status: Int = 503, fate: ScriptedSession.Fate = .answered, body: String = ScriptedSession.body,
        isWhole: Bool = true, policy: String = "", hasTaps: Bool = true, _ next: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        var session = ScriptedSession()
        session.policyText += policy
        session.projection(at: 0.5)
        if hasTaps { session.tap(.share, at: 4) }
        session.share(at: 4.1, body: body, status: status, fate: fate, bodyIsComplete: isWhole)
        next(&session)
        session.mark(.end, at: 90)
        return try session.judge()["HR-14"]
    }

    @Test func withNothingToCompareItSaysWhy() throws {
        #expect(try judge { _ in }.sentence == "no attempt followed the uncertain end")
        #expect(try judge(status: 201) { _ in }.sentence == "no attempt ended uncertain")
    }

    // A success that may not have arrived.

    @Test(
        arguments: [
            (ScriptedSession.Fate.deliveryUnknown, ScriptedSession.key2, nil, true, "delivery-unknown"),
            (.deliveryUnknown, ScriptedSession.key1, nil, true, ""), (.answered, ScriptedSession.key2, nil, true, ""),
            (.deliveryUnknown, ScriptedSession.key2, nil, false, ""),
            (.deliveryUnknown, ScriptedSession.key2, 4.2, true, ""),
            (.deliveryUnknown, ScriptedSession.key2, 8, true, ""),
            (.deliveryUnknown, ScriptedSession.key2, 4.199, true, "delivery-unknown"),
            (.deliveryUnknown, ScriptedSession.key2, 8.001, true, "delivery-unknown"),
        ] as [(ScriptedSession.Fate, String, Double?, Bool, String)])
    func aTapBetweenThemMakesAnotherOperation(
        fate: ScriptedSession.Fate, key: String, tap: Double?, hasTaps: Bool, code: String
    ) throws {
        let result = try judge(status: 201, fate: fate, hasTaps: hasTaps) {
            if let tap { $0.tap(.share, at: tap) }
            $0.share(at: 8, key: key)
        }
        #expect(result.reason?.code ?? "" == code, "\(result)")
    }

    @Test(arguments: [(9.2, Verdict.fail), (9.201, .inconclusive)]) func theHorizonIsKept(
        time: Double, verdict: Verdict
    ) throws {
        let result = try judge(policy: "timing: {retry-horizon: 5s}\n") {
            $0.tap(.share, at: time)
            $0.share(at: time, key: ScriptedSession.key2)
        }
        #expect(result.verdict == verdict, "\(result)")
    }

    /// One of the two broke off before it named its item.
    @Test(arguments: [(true, false, true), (false, true, true), (false, false, true), (true, false, false)])
    func whatBrokeOffMayBeForAnotherItem(first: Bool, second: Bool, isTapped: Bool) throws {
        let torn = String(ScriptedSession.body.prefix(5))
        let result = try judge(
            status: 503, fate: first ? .reset : .answered, body: first ? torn : ScriptedSession.body, isWhole: !first
        ) {
            if isTapped { $0.tap(.share, at: 8) }
            $0.share(
                at: 8.1, key: ScriptedSession.key2, body: second ? torn : ScriptedSession.body, bodyIsComplete: !second)
        }
        let isOpen = isTapped && (first || second)
        #expect(result.reason?.code == (isOpen ? "body-not-whole" : nil), "\(result)")
        #expect(result.violations == (isOpen ? [] : ["new-key"]))
    }

    // Whose operation it is.

    @Test(arguments: [("a", 8.1, Verdict.notApplicable), ("a", 8.101, .fail), ("", 6, .fail)])
    func anotherAccountIsAnotherUser(first: String, second: Double, verdict: Verdict) throws {
        let result = try judge {
            if !first.isEmpty { $0.mark(.launch, at: 4.1, attributes: ["account": first]) }
            $0.mark(.launch, at: second, attributes: ["account": "b"])
            $0.share(at: 8.1, key: ScriptedSession.key2)
        }
        #expect(result.verdict == verdict, "\(result)")
    }

    @Test func anotherAddressOfTheFamilyIsAnotherDevice() throws {
        func judge(_ address: IPAddress) throws -> Verdict {
            try self.judge {
                $0.clientAddress = address
                $0.share(at: 8.1, key: ScriptedSession.key2)
            }.verdict
        }
        #expect(try judge(IPAddress(ipv4: 0x0A00_0002)) == .fail)
        #expect(try judge(IPAddress(ipv4: 0x0A00_0003)) == .notApplicable)
        #expect(try judge(IPAddress(ipv6High: 0x2001_0DB8_0000_0000, low: 3)) == .fail)
    }
}
