import SessionTrace
import Testing

@testable import Assertions

/// HR-43, 44, 63, 64 and 66: what the app wanted to send while they watch, to a host that the proxy could not reach or
/// whose certificate the client refused, was neither sent nor seen.
@Suite struct HR43HR66UnreachedTests {
    /// A moment at which each of them watches the app in `LaterDoubtTableTests.session`, and one at which it does not.
    private static let watched: [(rule: String, at: Double, not: Double)] = [
        ("HR-43", 65, 95), ("HR-44", 20, 95), ("HR-63", 135, 95), ("HR-64", 135, 95), ("HR-66", 173, 178),
    ]
    private static let host = "sdk.vendor.example"

    private func judge(_ rule: String, _ change: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = LaterDoubtTableTests.session()
        change(&session)
        return try session.judge()[rule]
    }

    @Test(arguments: watched) func anUnreachableHostIsADoubt(rule: String, at time: Double, not: Double) throws {
        let dial = try judge(rule) { $0.unreachable(.app, Self.host, at: time) }
        #expect(dial.reason?.code == "dial-failed" && dial.sentence.contains(Self.host), "\(dial)")
        let tls = try judge(rule) { $0.withoutServer(.app, Self.host, at: time) }
        #expect(tls.reason?.code == "upstream-tls-failed", "\(tls)")
        #expect(tls.reason?.remedy.contains("--upstream-ca") == true)
        let nobody = try judge(rule) { $0.unreachable(.nobody, Self.host, at: time) }
        #expect(nobody.reason?.code == "dial-failed", "\(nobody)")
        #expect(try judge(rule) { $0.unreachable(.app, Self.host, at: not) }.verdict == .pass)
    }

    @Test(arguments: watched) func whatOthersAskedForIsNone(rule: String, at time: Double, not: Double) throws {
        let browser = try judge(rule) { $0.unreachable(.browser, "ads.vendor.example", at: time) }
        #expect(browser.verdict == .pass, "\(browser)")
        #expect(browser.assumptions.map(\.code) == ["browser-unreached"])
        #expect(browser.assumptions.first?.sentence.hasSuffix("could not reach: 1") == true)
        let system = try judge(rule) { $0.unreachable(.app, "play.googleapis.com", at: time) }
        // HR-63 searches everything that is sent, whoever sends it.
        let assumed = rule == "HR-63" ? ["os-services-unreached"] : []
        #expect(system.verdict == .pass && system.assumptions.map(\.code) == assumed, "\(system)")
        let chia = try judge(rule) { $0.unreachable(.browser, "chia.health", at: time) }
        #expect(chia.verdict == .pass && chia.assumptions.isEmpty, "\(chia)")
    }

    @Test(arguments: watched) func aHostMayStayUnread(rule: String, at time: Double, not: Double) throws {
        func allowed(until day: String) throws -> RuleResult {
            try judge(rule) {
                $0.policyText.replace(
                    "requests:",
                    with: "  opaque-ok: [{host: \(Self.host), reason: a map, expires: \(day)}]\nrequests:")
                $0.unreachable(.app, Self.host, at: time)
            }
        }
        let open = try allowed(until: "2030-01-01")
        #expect(open.verdict == .pass && open.assumptions.map(\.code) == ["opaque-ok"], "\(open)")
        #expect(try allowed(until: "2020-01-01").reason?.code == "dial-failed")
    }

    /// A client that refuses the certificate may have tried again around the proxy.
    @Test(arguments: watched) func aRefusedCertificateIsADoubt(rule: String, at time: Double, not: Double) throws {
        let named = try judge(rule) { $0.dark(.app, Self.host, at: time, lastData: time, reason: .leafRefused) }
        #expect(named.reason?.code == "leaf-refused", "\(named)")
        let nameless = try judge(rule) {
            $0.dark(.nobody, "203.0.113.9", at: time, lastData: time, hello: false, reason: .leafRefused)
        }
        #expect(nameless.reason?.code == "leaf-refused", "\(nameless)")
    }

    @Test func aRequestInClearWasRead() throws {
        func returned(_ body: String) throws -> RuleResult {
            try judge("HR-63") { $0.unreachableInClear(.app, Self.host, at: 135, body: body) }
        }
        #expect(try returned("event=open").verdict == .pass)
        #expect(try returned("ref=canary-81c2f0aa").violations == ["crafted-value-sent"])
    }

    @Test func eachHostIsToldOnce() throws {
        let result = try judge("HR-44") {
            for time in [20.0, 30, 41] { $0.unreachable(.app, Self.host, at: time) }
            $0.unreachable(.app, "other.vendor.example", at: 25)
            for time in [22.0, 23] { $0.unreachable(.browser, "ads.vendor.example", at: time) }
        }
        #expect(result.reason?.code == "dial-failed", "\(result)")
        #expect(result.sentence.hasPrefix("the proxy could not reach sdk.vendor.example (connection-refused) (packet "))
    }

    @Test func whatWasSeenFailsAllTheSame() throws {
        let result = try judge("HR-63") {
            $0.unreachable(.app, Self.host, at: 135)
            $0.exchange(.app, "POST", "https://\(Self.host)/e", at: 140, body: "canary-81c2f0aa")
        }
        #expect(result.verdict == .fail && result.violations == ["crafted-value-sent"], "\(result)")
    }
}

/// HR-42 to 44, 50 to 52, 63, 64 and 66 look at so many times of one kind, and say so when there are more.
@Suite struct HR42HR64ManyTimesTests {
    private static let rules = [
        "HR-42", "HR-43", "HR-44", "HR-50", "HR-51", "HR-52", "HR-63", "HR-64",
    ]

    /// A call to action, the app left and come back to, and a return with a crafted value; again and again.
    private func judge(_ count: Int, limit: Int) throws -> TraceVerdict {
        var session = ScriptedSession.inTheBrowser()
        session.options.limits.windows = limit
        for time in (0..<count).map({ 50 + Double($0) }) {
            session.tap(.cta, at: time)
            session.tap(.neutral, at: time + 0.05)
            session.mark(.background, at: time + 0.1)
            session.mark(.end, at: time + 0.2)
            session.mark(.foreground, at: time + 0.3, attributes: ["screen": "settings"])
            session.mark(.return, at: time + 0.4, attributes: ["ref": "canary-81c2f0aa"])
        }
        return try session.judge()
    }

    /// Some of a kind are in the session already: the first that is too many is one more than the limit.
    @Test func whatIsBeyondTheLimitIsSaid() throws {
        var told: Set<String> = []
        for count in 4...11 {
            let verdict = try judge(count, limit: 10)
            for result in Self.rules.map({ verdict[$0] }) where !told.contains(result.id) {
                #expect(result.verdict != .fail, "\(result)")
                guard let doubt = result.reason else { continue }
                told.insert(result.id)
                #expect(doubt.code == "state-given-up", "\(result)")
                #expect(doubt.sentence.hasPrefix("there are 11 "), "\(result)")
                #expect(doubt.sentence.hasSuffix("only the first 10 were looked at"), "\(result)")
            }
        }
        #expect(told == Set(Self.rules))
    }

    @Test(arguments: [(10, Verdict.pass), (11, .inconclusive)]) func linksBeyondTheLimitAreSaid(
        count: Int, verdict: Verdict
    ) throws {
        let result = try ScriptedSession.result("HR-66", end: 300) {
            $0.options.limits.windows = 10
            for time in 0..<count {
                $0.mark(.linkOpened, at: 50 + 10 * Double(time), attributes: ["host": "www.lookalike.example"])
            }
        }
        #expect(result.verdict == verdict, "\(result)")
        #expect(result.reason == nil || result.sentence.hasPrefix("there are 11 links on foreign hosts"), "\(result)")
    }
}
