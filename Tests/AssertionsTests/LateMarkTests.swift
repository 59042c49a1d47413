import SessionTrace
import Testing

@testable import Assertions

/// HR-43, 64 and 66: what a mark says happened at some moment around it, and what lies between the earliest and the
/// latest such moment is not decided.
@Suite struct LateMarkTests {
    private static let handoff = ScriptedSession.inTheBrowser()
    private static let outcome = #"{"item":"item-4711-abcdef","outcome":"returned"}"#

    private static func send(_ session: inout ScriptedSession, _ path: String, at time: Double, body: String? = nil) {
        session.exchange(
            .app, body == nil ? "GET" : "POST", "https://api.partner.example\(path)", at: time, body: body ?? "")
    }

    // MARK: HR-66

    private func link(
        _ time: Double, by: Mark.Maker = .script, onTraceClock: Bool = true, end: Double = 200
    ) throws -> RuleResult {
        try ScriptedSession.result("HR-66", Self.handoff, end: end) {
            $0.mark(.linkOpened, at: 60, by: by, onTraceClock: onTraceClock, attributes: ["host": "evil.example"])
            Self.send(&$0, "/home", at: time)
        }
    }

    /// The person presses, and opens the link up to 15 s later; or has opened it up to 3 s before.
    @Test(
        arguments: [
            (56.999, nil), (57, "late-mark"), (60, "late-mark"), (66.5, "late-mark"), (79.999, "late-mark"), (80, nil),
        ] as [(Double, String?)]) func aLinkOpenedByHand(time: Double, code: String?) throws
    {
        let result = try link(time, by: .person)
        #expect(result.reason?.code == code && result.violations == [], "\(result)")
        #expect((result.verdict == .pass) == (code == nil), "\(result)")
    }

    @Test(arguments: [(80.0, nil), (79.999, "trace-ended")] as [(Double, String?)])
    func aLinkOpenedByHandIsWatchedLonger(end: Double, code: String?) throws {
        let result = try link(20, by: .person, end: end)
        #expect(result.reason?.code == code && (result.verdict == .pass) == (code == nil), "\(result)")
    }

    @Test(
        arguments: [
            (59.949, nil, false), (59.95, "clock-bound", false), (60.049, "clock-bound", false), (60.05, nil, true),
            (64.949, nil, true), (64.95, "clock-bound", false), (65.049, "clock-bound", false), (65.05, nil, false),
        ] as [(Double, String?, Bool)]) func aLinkOnAnotherClock(time: Double, code: String?, fails: Bool) throws
    {
        let result = try link(time, onTraceClock: false)
        #expect(result.reason?.code == code && result.violations == (fails ? ["foreign-link"] : []), "\(result)")
    }

    @Test(arguments: [(59.999, false), (60, true), (64.999, true), (65, false)])
    func aLinkOnTheTracesClockIsDecidedToTheMillisecond(time: Double, fails: Bool) throws {
        #expect(try link(time).violations == (fails ? ["foreign-link"] : []))
    }

    // MARK: HR-43

    private func back(
        by: Mark.Maker = .person, onTraceClock: Bool = true, _ story: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        try ScriptedSession.result("HR-43", Self.handoff, end: 200) {
            $0.mark(.foreground, at: 60, by: by, onTraceClock: onTraceClock)
            story(&$0)
        }
    }

    /// The key was pressed after coming back.
    @Test(arguments: [(57.0, "late-mark"), (56.999, nil), (59.5, "late-mark")] as [(Double, String?)])
    func anOutcomeJustBeforeAMarkByHand(time: Double, code: String?) throws {
        let result = try back { Self.send(&$0, "/outcome", at: time, body: Self.outcome) }
        #expect(result.reason?.code == code && result.violations == [], "\(result)")
        let script = try back(by: .script) { Self.send(&$0, "/outcome", at: 59.5, body: Self.outcome) }
        #expect(script.verdict == .pass, "\(script)")
    }

    /// Who tells an outcome between the press and coming back has guessed it all the same.
    @Test func anOutcomeAfterThePressIsOne() throws {
        #expect(try back { Self.send(&$0, "/outcome", at: 60, body: Self.outcome) }.violations == ["outcome-words"])
    }

    /// A request in the background between the press and coming back; the projection shows that the app is back.
    @Test(
        arguments: [
            (57, "late-mark", false), (60.0, "late-mark", false), (61.999, "late-mark", false), (62, nil, true),
            (86.999, nil, true), (87, "late-mark", false), (91.999, "late-mark", false), (92, nil, false),
        ] as [(Double, String?, Bool)]) func whatIsSentWhileComingBackByHand(
            time: Double, code: String?, fails: Bool
        ) throws
    {
        let result = try back {
            $0.projection(at: 62)
            Self.send(&$0, "/sync", at: time)
        }
        #expect(
            result.reason?.code == code && result.violations == (fails ? ["unlisted-request"] : []), "\(result)")
    }

    /// Nothing shows when it came back: at most the 15 s of a mark by hand later.
    @Test(
        arguments: [
            (74.999, "late-mark", false), (75, nil, true), (86.999, nil, true), (87, "late-mark", false),
            (104.999, "late-mark", false), (105, nil, false),
        ] as [(Double, String?, Bool)])
    func withoutASignItIsBackWhenTheMarksTimeIsOver(time: Double, code: String?, fails: Bool) throws {
        let result = try back { Self.send(&$0, "/sync", at: time) }
        #expect(
            result.reason?.code == code && result.violations == (fails ? ["unlisted-request"] : []), "\(result)")
    }

    @Test(
        arguments: [
            (59.949, nil, false), (59.95, "clock-bound", false), (60.049, "clock-bound", false), (60.05, nil, true),
            (89.949, nil, true), (89.95, "clock-bound", false), (90.049, "clock-bound", false), (90.05, nil, false),
        ] as [(Double, String?, Bool)]) func whatIsSentAroundAMarkOfAnotherClock(
            time: Double, code: String?, fails: Bool
        ) throws
    {
        let result = try back(by: .script, onTraceClock: false) { Self.send(&$0, "/sync", at: time) }
        #expect(
            result.reason?.code == code && result.violations == (fails ? ["unlisted-request"] : []), "\(result)")
    }

    /// The tap was made before its key was pressed: what it started is not what coming back did.
    @Test(arguments: [(66.999, nil, true), (67, "late-mark", false), (70, nil, false)] as [(Double, String?, Bool)])
    func theNextMarkMayBeLateToo(time: Double, code: String?, fails: Bool) throws {
        let result = try back(by: .script) {
            Self.send(&$0, "/sync", at: time)
            $0.mark(.tap, .cta, at: 70, by: .person)
        }
        #expect(
            result.reason?.code == code && result.violations == (fails ? ["unlisted-request"] : []), "\(result)")
    }

    // MARK: HR-64

    private func returned(
        by: Mark.Maker = .person, onTraceClock: Bool = true, _ story: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        try ScriptedSession.result("HR-64", Self.handoff, end: 200) {
            $0.mark(.return, at: 60, by: by, onTraceClock: onTraceClock)
            story(&$0)
        }
    }

    @Test(
        arguments: [
            (56.999, nil, false), (57, "late-mark", false), (59.2, "late-mark", false), (60, "late-mark", false),
            (61.999, "late-mark", false), (62, nil, true), (150, nil, true),
        ] as [(Double, String?, Bool)]) func whatIsSentAroundAReturnByHand(
            time: Double, code: String?, fails: Bool
        ) throws
    {
        let result = try returned {
            Self.send(&$0, "/home", at: 62)
            Self.send(&$0, "/orders/4711", at: time)
        }
        #expect(result.reason?.code == code && result.violations == (fails ? ["not-home"] : []), "\(result)")
    }

    @Test(arguments: [(74.999, "late-mark", false), (75, nil, true)] as [(Double, String?, Bool)])
    func withoutTheHomeTheReturnIsOverWhenTheMarksTimeIs(time: Double, code: String?, fails: Bool) throws {
        let result = try returned { Self.send(&$0, "/orders/4711", at: time) }
        #expect(result.reason?.code == code && result.violations == (fails ? ["not-home"] : []), "\(result)")
    }

    @Test(
        arguments: [
            (59.949, nil, false), (59.95, "clock-bound", false), (60.049, "clock-bound", false), (60.05, nil, true),
        ] as [(Double, String?, Bool)]) func whatIsSentAroundAReturnOnAnotherClock(
            time: Double, code: String?, fails: Bool
        ) throws
    {
        let result = try returned(by: .script, onTraceClock: false) { Self.send(&$0, "/orders/4711", at: time) }
        #expect(result.reason?.code == code && result.violations == (fails ? ["not-home"] : []), "\(result)")
    }

    @Test(arguments: [(66.999, nil, true), (67, "late-mark", false), (70, nil, false)] as [(Double, String?, Bool)])
    func theTapAfterTheReturnMayBeLate(time: Double, code: String?, fails: Bool) throws {
        let result = try returned(by: .script) {
            Self.send(&$0, "/orders/4711", at: time)
            $0.mark(.tap, .other, at: 70, by: .person)
        }
        #expect(result.reason?.code == code && result.violations == (fails ? ["not-home"] : []), "\(result)")
    }
}

/// Who asks for the home's path on another host asks for another thing.
@Suite struct HomeElsewhereTests {
    private func judge(_ rule: String, _ host: String, policy: String = ScriptedSession.returnPolicy) throws
        -> RuleResult
    {
        var session = ScriptedSession.inTheBrowser()
        session.policyText = policy
        return try ScriptedSession.result(rule, session, end: 200) {
            $0.mark(.foreground, at: 59.9)
            $0.mark(.return, at: 60)
            $0.exchange(.app, "GET", "https://\(host)/home?back=1", at: rule == "HR-43" ? 59.95 : 60.5)
        }
    }

    @Test(arguments: ["HR-43", "HR-64"]) func thePathAloneIsNotTheHome(rule: String) throws {
        for host in ["api.partner.example", "www.partner.example", "img.partner.example"] {
            #expect(try judge(rule, host).verdict == .pass, "\(host)")
        }
        let elsewhere = try judge(rule, "tracker.example")
        #expect(elsewhere.reason?.code == "policy-mismatch" && elsewhere.violations == [], "\(elsewhere)")
        #expect(elsewhere.reason?.remedy.contains("tracker.example") == true, "\(elsewhere)")
    }

    @Test func telemetryIsNoHome() throws {
        let result = try judge("HR-64", "app-measurement.com")
        #expect(result.verdict == .pass && result.information == ["telemetry"], "\(result)")
        #expect(try judge("HR-43", "app-measurement.com").violations == ["unlisted-request"])
    }

    /// Where nothing names the partner, any host may be it.
    @Test func withoutAPartnerAnyHostMayServeTheHome() throws {
        let policy = "requests: {home: [\"GET /home\"]}\n"
        #expect(try judge("HR-64", "api.partner.example", policy: policy).verdict == .pass)
    }
}
