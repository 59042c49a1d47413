import Assertions
import SessionTrace
import Testing

/// Which rules a thing that went wrong with the recording takes the pass from, in one session that exercises most of
/// them: exactly these, no fewer and no more.
@Suite struct DoubtTableTests {
    /// A rejected share; one that is repeated after a lost answer, succeeds and is opened; and later the neutral way.
    static func session() -> ScriptedSession {
        var session = ScriptedSession()
        session.policyText += "fields: {affirmed: /affirmed}\n"
        session.mark(.launch, at: 0)
        session.mark(.browserClean, at: 0.1)
        session.mark(.note, at: 0.2, until: 0.25, attributes: ["deviceTime": ScriptedSession.instant(0.22).rfc3339])
        session.projection(at: 0.5)
        session.tap(.cta, at: 12)
        session.projection(at: 12.1)
        session.tap(.share, at: 14)
        session.share(
            at: 14.1, body: ScriptedSession.shareBody(affirmedAt: ScriptedSession.stamp(14.05)), status: 422,
            headers: [("cookie", "sid=1")])
        session.projection(at: 15)
        session.tap(.cta, at: 17)
        session.projection(at: 17.1)
        session.tap(.share, at: 18)
        for (time, fate) in [(18.1, ScriptedSession.Fate.reset), (19.1, .answered)] {
            session.share(
                at: time, key: ScriptedSession.key2,
                body: ScriptedSession.shareBody(affirmedAt: ScriptedSession.stamp(18.05)), fate: fate,
                headers: [("cookie", "sid=1")])
        }
        session.mark(.opened, at: 19.3)
        session.browse(ScriptedSession.url, at: 19.5)
        session.mark(.background, at: 19.6)
        session.mark(.foreground, at: 60)
        session.projection(at: 60.5)
        session.tap(.cta, at: 61)
        session.projection(at: 61.2)
        session.tap(.neutral, at: 62)
        session.browse(ScriptedSession.neutral, at: 62.4)
        session.mark(.end, at: 200)
        return session
    }

    /// The rules that the tables speak of; others have tables of their own kind.
    private static let rules = sentences.keys.sorted()

    private static func names(_ numbers: [Int]) -> [String] { numbers.map { $0 < 10 ? "HR-0\($0)" : "HR-\($0)" } }

    private static func change(_ what: String, _ session: inout ScriptedSession) {
        switch what {
        case "a mark that contradicts": session.mark(.tap, .other, at: 70, id: "x", phase: .pre)
        case "traffic around the proxy": session.blindSpot(.bypass, from: nil, at: 100, until: 101, on: nil)
        case "nobody watched": session.watchedForBypass = false
        case "dropped packets": session.dropped = 3
        case "a connection without a name": session.dark(.nobody, "203.0.113.9", at: 1, lastData: 1.5, hello: false)
        case "the partner unread": session.dark(.app, "api.partner.example", at: 100, lastData: 101)
        case "another host unread": session.dark(.app, "sdk.vendor.example", at: 100, lastData: 101)
        case "chia unread": session.dark(.nobody, "www.chia.health", at: 100, lastData: 101)
        case "no partner named": session.policyText = "fields: {affirmed: /affirmed}\n"
        case "another path": session.policyText += "requests: {session: {path: /elsewhere}}\n"
        case "a hole to chia":
            let connection = session.connect(.browser, "chia.health", at: 63)
            session.blindSpot(.tcpHole, from: .client, at: 100, until: 101, on: connection)
        case "the partner unreachable": session.unreachable(.app, "api.partner.example", at: 100)
        default: break
        }
    }

    private static func judge(_ what: String = "") throws -> [RuleResult] {
        var session = session()
        change(what, &session)
        let verdict = try session.judge()
        return rules.map { verdict[$0] }
    }

    @Test(
        arguments: [
            ("a mark that contradicts", "marks-inconsistent", [1, 2, 7, 9, 10, 22, 23, 25]),
            (
                "traffic around the proxy", "bypass",
                [
                    1, 2, 3, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 36, 37, 38, 39,
                    40, 41, 45, 46, 47, 55, 56, 57, 58, 59, 60,
                ]
            ),
            (
                "dropped packets", "capture-drops",
                [
                    1, 2, 3, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 36, 37, 38, 39,
                    40, 41, 45, 46, 47, 55, 56, 57, 58, 59, 60,
                ]
            ),
            ("a connection without a name", "host-unknown", [1, 3, 5, 9, 59]),
            (
                "a connection without a name", "no-keys",
                [
                    2, 7, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 36, 37, 38, 39, 40, 41, 45,
                    55, 56, 57, 58, 60,
                ]
            ),
            (
                "the partner unread", "no-keys",
                [
                    2, 7, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 36, 37, 38, 39, 40, 41, 45,
                    46, 47, 55, 56, 57, 58, 59, 60,
                ]
            ),
            ("another host unread", "no-keys", [36, 46, 47, 55]),
            ("chia unread", "no-keys", [5, 9, 47, 55, 57, 59]),
            (
                "another path", "policy-mismatch",
                [2, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24]
            ),
            ("a hole to chia", "tcp-hole", [5, 9]),
            (
                "the partner unreachable", "dial-failed",
                [2, 7, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 46, 47, 55, 56, 59]
            ),
        ] as [(String, String, [Int])]) func whatTakesThePass(what: String, code: String, rules: [Int]) throws
    {
        #expect(try Self.judge(what).filter { $0.reason?.code == code }.map(\.id) == Self.names(rules))
    }

    @Test(
        arguments: [
            (
                "nobody watched", "bypass-not-watched",
                [
                    1, 2, 3, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 36, 37, 38, 40,
                    46, 47, 55, 56, 57, 58, 59, 60,
                ]
            ),
            (
                "no partner named", "partner-inferred",
                [2, 7, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 36, 37, 38, 40, 58, 59, 60]
            ),
        ] as [(String, String, [Int])]) func whatAPassRestsOn(what: String, code: String, rules: [Int]) throws
    {
        let assuming = try Self.judge(what).filter { $0.assumptions.contains { $0.code == code } }
        #expect(assuming.map(\.id) == Self.names(rules))
        #expect(assuming.allSatisfy { $0.verdict == .pass })
    }

    /// The numbers that each verdict compared.
    private static let sentences: [String: String] = [
        "HR-01": #"the first of 3 contacts with Chia comes 5.5 s after the tap"#,
        "HR-02": #"3 session attempts and 2 share taps, the closest 100 ms after its tap"#,
        "HR-03": #"3 contacts with Chia, all by the browser"#,
        "HR-05": #"2 requests for 1 handoff URL and 1 neutral URL, all navigations of the browser"#,
        "HR-07": #"3 session requests for 2 taps in 2 bursts, the largest of 1 tap"#,
        "HR-08": #"3 session requests, the closest two 900 ms apart"#,
        "HR-09": #"1 tap: 1 navigation to the handoff URL U#1; 1 tap: 1 navigation to the neutral URL"#,
        "HR-10": #"3 session requests, in flight for 100 ms at most, and nothing else meanwhile"#,
        "HR-11": #"3 session requests with 2 distinct keys, each a UUIDv4 in header:idempotency-key"#,
        "HR-12": #"2 keys in 2 epochs, none in two"#,
        "HR-13": #"1 retry with the same key: same address, same 124 content bytes"#,
        "HR-14": #"1 attempt after an uncertain end, with the key of the one before"#,
        "HR-15": #"1 definitive rejection, whose key and body are in none of the 2 attempts after it"#,
        "HR-16": #"2 projections between a rejection and the next attempt, which has its disclosure version"#,
        "HR-17": #"1 success, none sent again in the 3 min that the trace goes on"#,
        "HR-18": #"3 session requests, all to api.partner.example over TLS"#,
        "HR-19": #"3 session requests, each with a credential (cookie, header Authorization)"#,
        "HR-20": #"2 bodies with exactly the fields /affirmed, /affirmedAt, /catalogId, /disclosureVersion"#,
        "HR-21": #"3 session requests, each with true at /affirmed"#,
        "HR-22": #"3 session requests with the disclosure version of the projection before the tap"#,
        "HR-23": #"2 affirmations between tap and request; the device's clock is −30 ms to 20 ms ahead by 1 sample"#,
        "HR-24": #"3 session requests for an item whose projection offered sharing, the closest 900 ms after it"#,
        "HR-25": #"1 neutral tap, the neutral URL opened directly, at most 400 ms after"#,
        "HR-36": #"1 handoff URL, in no other of 8 answers to the app"#,
        "HR-37": #"6 decisions in 6 projections, each exactly of the union"#,
        "HR-38": #"12 URLs in 6 projections, each where it may stand"#,
        "HR-39": #"no neutral_only decision in the trace"#,
        "HR-40": #"no hidden item in 8 answers to the app; 0 ids of hidden items known"#,
        "HR-41": #"every projection in the trace was current and valid"#,
        "HR-45": #"no projection names an image at /image of its item"#,
        "HR-46": #"not found in 9 requests of the app; 0 telemetry hosts contacted"#,
        "HR-47": #"seen in 1 request of the browser to Chia, and in none of 9 others"#,
        "HR-55": #"no secret in 9 requests and 8 answers of the app (1 shape, 0 hashes)"#,
        "HR-56": #"9 requests of the app, none with the SDK's name and none to Chia's API"#,
        "HR-57": #"no URL of an authenticated asset in 8 answers to the app, and none among 9 requests"#,
        "HR-58": #"none of 0 names in 8 answers, and none of 0 paths in 9 requests of the app"#,
        "HR-59": #"none of 9 requests of the app goes to Chia or carries what the session response gave"#,
        "HR-60": #"no forbidden name (2 listed ones) in an answer to the app after the handoff"#,
    ]

    /// What each verdict was told by.
    private static let evidence: [String: [String: Int]] = [
        "HR-01": ["tap:share mark": 2, "tap:neutral mark": 1, "contact with Chia": 1],
        "HR-02": ["session request": 3, "tap:share mark": 3],
        "HR-03": ["contact with Chia": 3],
        "HR-05": ["navigation": 2],
        "HR-07": ["tap:share mark": 2, "session request": 3],
        "HR-08": ["session request": 3],
        "HR-09": ["session response": 1, "tap:share mark": 2, "navigation": 2, "tap:neutral mark": 1],
        "HR-10": ["session request": 3],
        "HR-11": ["session request": 3],
        "HR-12": ["session request": 2],
        "HR-13": ["session request": 1, "retry": 1],
        "HR-14": ["uncertain end": 1, "next attempt": 1],
        "HR-15": ["definitive rejection": 1],
        "HR-16": ["definitive rejection": 1, "next attempt": 1, "projection": 2],
        "HR-17": ["success": 1],
        "HR-18": ["session request": 3],
        "HR-19": ["session request": 3],
        "HR-20": ["session request": 3],
        "HR-21": ["session request": 3],
        "HR-22": ["projection": 2, "session request": 3],
        "HR-23": ["session request": 2],
        "HR-24": ["session request": 3],
        "HR-25": ["tap:neutral mark": 1, "navigation": 1],
        "HR-36": ["session response": 1],
        "HR-37": ["projection": 6],
        "HR-38": ["projection": 6],
        "HR-39": [:],
        "HR-40": ["projection": 6],
        "HR-41": [:],
        "HR-45": [:],
        "HR-46": ["session response": 1],
        "HR-47": ["session response": 1, "navigation": 1],
        "HR-55": [:],
        "HR-56": [:],
        "HR-57": [:],
        "HR-58": [:],
        "HR-59": ["session response": 1],
        "HR-60": [:],
    ]

    @Test func eachVerdictSaysWhatItCompared() throws {
        let idle = ["HR-39", "HR-41", "HR-45"]
        for result in try Self.judge() {
            #expect(result.verdict == (idle.contains(result.id) ? .notApplicable : .pass), "\(result)")
            #expect(result.sentence == Self.sentences[result.id])
            #expect(Dictionary(grouping: result.lookedAt, by: \.label).mapValues(\.count) == Self.evidence[result.id])
        }
    }

    /// Which rules say so when share was tapped, and no request was seen that could be the session request.
    @Test func aShareWithoutAnyRequestLeavesThemOpen() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.mark(.end, at: 60)
        let verdict = try session.judge()
        let open = verdict.rules.filter { $0.reason?.code == "policy-mismatch" }.map(\.id)
        #expect(open.filter(Self.rules.contains) == Self.names(Self.open))
    }

    private static let open = [
        2, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 36, 46, 47, 59, 60,
    ]
}
