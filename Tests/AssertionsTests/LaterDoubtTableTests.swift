import Assertions
import SessionTrace
import Testing

/// Which rules a thing that went wrong with the recording takes the pass from, as `DoubtTableTests` does, for the rules
/// that ask for a longer story: exactly these, no fewer and no more.
@Suite struct LaterDoubtTableTests {
    /// A share that is opened by a browser of which the process is known, the way back, a return link with crafted
    /// values, a link on a foreign host, and a relaunch.
    static func session(url: String = ScriptedSession.url, isNamed: Bool = true) -> ScriptedSession {
        var session = ScriptedSession()
        session.policyText = ScriptedSession.returnPolicy + "\nreturn-link: https://www.partner.example/home\n"
        if isNamed { session.processes[.browser] = ProcessIdentity(source: .pktap, name: "MobileSafari") }
        session.mark(.launch, at: 0)
        session.mark(.browserClean, at: 0.1)
        session.projection(at: 0.5)
        session.tap(.cta, at: 12)
        session.projection(at: 12.1)
        session.tap(.share, at: 14)
        session.share(at: 14.1, url: url)
        session.mark(.opened, at: 14.3)
        session.browse(url, at: 14.5, responseHeaders: [("set-cookie", "sid=c0ffee81c2f0aa77")])
        session.mark(.background, at: 14.6)
        session.mark(.foreground, at: 60)
        session.projection(at: 60.5)
        session.mark(.background, at: 100)
        session.tap(.return, at: 129.5)
        session.browse(
            "https://www.partner.example/home", at: 130,
            headers: [("referer", "https://chia.health/"), ("sec-fetch-site", "cross-site")])
        session.mark(
            .return, at: 130.5, attributes: ["url": "https://www.partner.example/home?ref=canary-81c2f0aa"])
        session.exchange(.app, "GET", "https://api.partner.example/home", at: 131)
        session.mark(.background, at: 170)
        session.mark(.linkOpened, at: 172, attributes: ["host": "www.lookalike.example"])
        session.mark(.kill, at: 180)
        session.mark(.launch, at: 190)
        session.exchange(.app, "GET", "https://api.partner.example/home", at: 191)
        session.mark(.end, at: 400)
        return session
    }

    private static let rules = [
        "HR-04", "HR-06", "HR-26", "HR-27", "HR-28", "HR-29", "HR-30", "HR-31", "HR-32", "HR-33", "HR-34", "HR-35",
        "HR-42", "HR-43", "HR-44", "HR-48", "HR-49", "HR-50", "HR-51", "HR-52", "HR-53", "HR-54", "HR-61", "HR-63",
        "HR-64", "HR-65", "HR-66",
    ]

    private static func names(_ numbers: [Int]) -> [String] { numbers.map { $0 < 10 ? "HR-0\($0)" : "HR-\($0)" } }

    private static func change(_ what: String, _ session: inout ScriptedSession) {
        func hole(to host: String) {
            let connection = session.connect(.app, host, at: 15)
            session.blindSpot(.tcpHole, from: .client, at: 16, until: 350, on: connection)
        }
        switch what {
        case "a mark that contradicts": session.mark(.tap, .other, at: 70, id: "x", phase: .pre)
        case "traffic around the proxy": session.blindSpot(.bypass, from: nil, at: 100, until: 101, on: nil)
        case "nobody watched": session.watchedForBypass = false
        case "dropped packets": session.dropped = 3
        case "the partner unread": session.dark(.app, "api.partner.example", at: 10, lastData: 350)
        case "another host unread": session.dark(.app, "sdk.vendor.example", at: 10, lastData: 350)
        case "telemetry unread": session.dark(.app, "app-measurement.com", at: 10, lastData: 350)
        case "a shortener unread": session.dark(.app, "bit.ly", at: 10, lastData: 350)
        case "chia unread": session.dark(.nobody, "www.chia.health", at: 20, lastData: 350)
        case "the return host unread": session.dark(.nobody, "www.partner.example", at: 20, lastData: 350)
        case "a hole to chia": hole(to: "chia.health")
        case "a hole to the partner": hole(to: "api.partner.example")
        case "a hole to another host": hole(to: "sdk.vendor.example")
        case "no partner named": session.policyText.replace("  partner: [api.partner.example]\n", with: "")
        case "another path":
            session.policyText.replace("requests:\n", with: "requests:\n  session: {path: /elsewhere}\n")
        case "the partner unreachable": session.unreachable(.app, "api.partner.example", at: 300)
        case "another host unreachable":
            for time in [20.0, 65, 135, 173, 300] { session.unreachable(.app, "sdk.vendor.example", at: time) }
        case "telemetry unreachable":
            for time in [13.0, 20, 65, 135, 173, 300] { session.unreachable(.app, "app-measurement.com", at: time) }
        case "a connection without a name":
            session.dark(.nobody, "203.0.113.9", at: 10, lastData: 350, hello: false)
        case "a full log": session.options.limits.loggedRequests = 2
        case "a page of another session": session.browse(ScriptedSession.otherURL, at: 300)
        case "nobody asks for the URL": session.exchange(.nobody, "GET", ScriptedSession.url, at: 300)
        case "no processes": session = Self.session(isNamed: false)
        case "a name that the policy does not know":
            session = Self.session(url: "https://chia.example/h/\(ScriptedSession.token)")
        case "an answer without a token": session = Self.session(url: "https://chia.health/nothing")
        default: break
        }
    }

    private static func judge(_ what: String = "") throws -> [RuleResult] {
        var session = session()
        change(what, &session)
        let verdict = try session.judge()
        return rules.map { verdict[$0] }
    }

    @Test func withoutAnythingWrongTheyPass() throws {
        #expect(try Self.judge().filter { $0.verdict != .pass || !$0.assumptions.isEmpty }.map(\.id) == [])
    }

    @Test(
        arguments: [
            ("a mark that contradicts", "marks-inconsistent", [4, 6, 34, 42, 43, 64]),
            (
                "traffic around the proxy", "bypass",
                [
                    4, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 43, 44, 48, 49, 50, 51, 52, 53, 54, 63, 64, 65, 66,
                ]
            ),
            (
                "dropped packets", "capture-drops",
                [
                    4, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 43, 44, 48, 49, 50, 51, 52, 53, 54, 63, 64, 65, 66,
                ]
            ),
            ("the partner unread", "no-keys", [27, 35, 43, 44, 48, 49, 53, 63, 64, 65, 66]),
            ("another host unread", "no-keys", [43, 44, 48, 49, 53, 63, 64, 66]),
            ("telemetry unread", "opaque-telemetry", [43, 44, 48, 49, 50, 53, 54, 63, 64, 66]),
            ("a shortener unread", "no-keys", [51]),
            ("chia unread", "no-keys", [26, 27, 28, 29, 30, 31, 33, 34, 53, 61]),
            ("the return host unread", "no-keys", [43, 44, 48, 49, 53, 63, 64, 65, 66]),
            ("another path", "policy-mismatch", [27]),
            ("a hole to chia", "tcp-hole", [26, 27, 28, 29, 30, 31, 33, 34]),
            ("a hole to the partner", "tcp-hole", [27, 35, 43, 44, 48, 49, 53, 63, 64, 66]),
            ("a hole to another host", "tcp-hole", [43, 44, 48, 49, 53, 63, 64, 66]),
            ("the partner unreachable", "dial-failed", [27, 35, 48, 49, 53, 63]),
            ("another host unreachable", "dial-failed", [43, 44, 48, 49, 53, 63, 64, 66]),
            ("telemetry unreachable", "dial-failed", [43, 44, 48, 49, 50, 53, 54, 63, 64, 66]),
            ("a connection without a name", "host-unknown", [4, 26, 28, 29, 30, 31, 33, 34]),
            (
                "a connection without a name", "no-keys", [27, 35, 43, 44, 48, 49, 50, 51, 52, 53, 54, 63, 64, 65, 66]
            ),
            ("a full log", "request-log-full", [43, 44, 50, 51, 52, 53, 54, 63, 64, 65, 66]),
            ("a page of another session", "url-of-another-session", [26, 27, 28, 30, 31]),
            ("nobody asks for the URL", "actor-unknown", [26, 27, 28, 29, 30, 31, 49]),
            ("a name that the policy does not know", "policy-mismatch", [4, 26, 27, 28, 29, 30, 31, 35]),
            ("an answer without a token", "handoff-url-unknown", [26, 27, 28, 29, 30, 31, 33]),
        ] as [(String, String, [Int])]) func whatTakesThePass(what: String, code: String, rules: [Int]) throws
    {
        let results = try Self.judge(what)
        #expect(results.filter { $0.reason?.code == code }.map(\.id) == Self.names(rules))
        let errors = results.filter { $0.verdict == .fail && $0.severity == .error }
        #expect(errors.map { "\($0.id) \($0.sentence)" } == [])
    }

    @Test(
        arguments: [
            (
                "nobody watched", "bypass-not-watched",
                [
                    4, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 43, 44, 48, 49, 50, 51, 52, 53, 54, 63, 64, 65, 66,
                ]
            ),
            ("no partner named", "partner-inferred", [6, 32, 42, 53, 65]),
            ("no processes", "browser-by-headers", [26, 27, 28, 29, 30, 31]),
        ] as [(String, String, [Int])]) func whatAPassRestsOn(what: String, code: String, rules: [Int]) throws
    {
        let assuming = try Self.judge(what).filter { $0.assumptions.contains { $0.code == code } }
        #expect(assuming.map(\.id) == Self.names(rules))
        #expect(assuming.allSatisfy { $0.verdict == .pass })
    }
}
