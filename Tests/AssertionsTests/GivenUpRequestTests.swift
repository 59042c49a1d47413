import SessionTrace
import Testing

@testable import Assertions

/// A device that stops waiting closes its side of the connection: from then on the request is over for it, whatever the
/// server still sends.
@Suite struct GivenUpRequestTests {
    typealias Fate = ScriptedSession.Fate

    /// A share request at 4.1 of which the answer would end at 7.1, the device's close of that connection, and another
    /// request at 5 on another one.
    private func judge(
        _ fate: Fate, closed: Double?, key: String = ScriptedSession.key1, status: Int = 201
    ) throws -> TraceVerdict {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        let first = session.connect(.app, "api.partner.example", at: 4.05)
        session.share(at: 4.1, status: status, took: 3, fate: fate, on: first)
        if let closed { session.clientFinishes[first] = session.reference(closed) }
        let second = session.connect(.app, "api.partner.example", at: 4.95)
        session.share(at: 5, key: key, on: second)
        session.browse(ScriptedSession.url, at: 5.3)
        session.mark(.end, at: 90)
        return try session.judge()
    }

    @Test(arguments: [Fate.lost, .deliveryUnknown, .reset])
    func whatComesAfterTheCloseIsARetry(fate: Fate) throws {
        let verdict = try judge(fate, closed: 4.9)
        for rule in ["HR-07", "HR-08", "HR-10", "HR-14"] {
            #expect(verdict[rule].verdict == .pass, "\(rule): \(verdict[rule])")
        }
    }

    @Test func aRetryAfterTheCloseKeepsTheKey() throws {
        let verdict = try judge(.lost, closed: 4.9, key: ScriptedSession.key2)
        #expect(verdict["HR-14"].verdict == .fail, "\(verdict["HR-14"])")
    }

    @Test func aRequestBeforeTheCloseOverlaps() throws {
        let verdict = try judge(.lost, closed: 5.05)
        #expect(verdict["HR-08"].verdict == .fail, "\(verdict["HR-08"])")
    }

    /// The answer may be in the hole, and then the device had it long before it closed.
    @Test func aHoleThatMayHideTheAnswerLeavesTheEndOpen() throws {
        let during = try judge(.notSeen, closed: 5.05, key: ScriptedSession.key2)
        for rule in ["HR-07", "HR-08", "HR-10", "HR-14"] {
            #expect(during[rule].reason?.code == "outcome-not-seen", "\(rule): \(during[rule])")
        }
        let after = try judge(.notSeen, closed: 4.9)
        for rule in ["HR-08", "HR-10"] { #expect(after[rule].verdict == .pass, "\(rule): \(after[rule])") }
        #expect(after["HR-07"].reason?.code == "outcome-not-seen", "\(after["HR-07"])")
        #expect(after["HR-14"].verdict == .notApplicable, "\(after["HR-14"])")
    }

    @Test func withoutACloseItIsNotKnownWhenTheDeviceGaveUp() throws {
        let verdict = try judge(.lost, closed: nil)
        #expect(verdict["HR-08"].reason?.code == "outcome-not-seen", "\(verdict["HR-08"])")
    }

    /// What began before the end of the first request knew nothing of it.
    @Test func whatBeganBeforeTheEndIsNoRetry() throws {
        let lost = try judge(.lost, closed: nil, key: ScriptedSession.key2)
        #expect(lost["HR-14"].reason?.code == "outcome-not-seen", "\(lost["HR-14"])")
        let failed = try judge(.answered, closed: nil, key: ScriptedSession.key2, status: 503)
        #expect(failed["HR-14"].violations == [], "\(failed["HR-14"])")
        #expect(failed["HR-08"].violations == ["overlap"], "\(failed["HR-08"])")
    }

    @Test func aDeviceThatGotTheAnswerHadNotGivenUp() throws {
        let verdict = try judge(.answered, closed: 4.9)
        #expect(verdict["HR-08"].verdict == .fail, "\(verdict["HR-08"])")
    }

    @Test func aCloseAfterTheAnswerSaysNothing() throws {
        let verdict = try judge(.deliveryUnknown, closed: 60)
        #expect(verdict["HR-08"].verdict == .fail, "\(verdict["HR-08"])")
        #expect(verdict["HR-07"].verdict != .pass, "\(verdict["HR-07"])")
    }
}
