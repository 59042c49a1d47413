import SessionTrace
import Testing

@testable import Assertions

/// What WebSocket messages and streams of events hold is looked into as answers and bodies of requests are.
@Suite struct WebSocketContentTests {
    private static let socket = "https://api.partner.example/live"
    private static let large = String(repeating: "a", count: 8 << 10)

    /// A conforming handoff, and a WebSocket of the app's that was opened at 1.5 s.
    private func judge(
        _ rule: String, host: String = "api.partner.example", policy: String = "",
        who: ScriptedSession.Who = .app, _ story: (inout ScriptedSession, ExchangeID) -> Void
    ) throws -> RuleResult {
        var session = ScriptedSession.conformingShare()
        session.policyText += policy
        let opened = session.exchange(who, "GET", "https://\(host)/live", at: 1.5, status: 101)
        story(&session, opened)
        session.mark(.end, at: 100)
        return try session.judge()[rule]
    }

    // MARK: what a server says

    @Test func aMessageOfTheServerIsAnAnswer() throws {
        let result = try judge("HR-60") { $0.serverMessage($1, #"{"order_status":"x"}"#, at: 56) }
        #expect(result.violations == ["status-key"], "\(result)")
        #expect(
            result.sentence.hasPrefix(
                "/order_status stands in a message of WS api.partner.example/live, 51.8 s after the handoff"),
            "\(result.sentence)")
        #expect(try judge("HR-60") { $0.serverMessage($1, #"{"order_status":"x"}"#, at: 3) }.verdict == .pass)
        #expect(try judge("HR-60") { $0.serverMessage($1, #"{"a":"order_status"}"#, at: 56) }.verdict == .pass)
        #expect(
            try judge("HR-60", who: .browser) { $0.serverMessage($1, #"{"order_status":"x"}"#, at: 56) }.verdict
                == .pass, "the browser's own")
    }

    @Test func itsHiddenItemsCatalogAndAssetsCountToo() throws {
        #expect(
            try judge("HR-40") { $0.serverMessage($1, #"{"items":[{"itemId":"a","hidden":true}]}"#, at: 3) }.violations
                == ["hidden-item"])
        #expect(
            try judge("HR-40", policy: "fields: {hidden: [sleep-77]}\n") {
                $0.serverMessage($1, " [\"sleep-77\"]", at: 3)
            }.violations == ["hidden-id"])
        #expect(
            try judge("HR-58", policy: "forbidden: {catalog-keys: [formulary_code]}\n") {
                $0.serverMessage($1, #"{"formulary_code":"x"}"#, at: 3)
            }.violations.count == 1)
        #expect(
            try judge("HR-57", policy: "  chia-assets: [assets.chia.health]\n") {
                $0.serverMessage($1, #"see https://assets.chia.health/a.png"#, at: 3)
            }.violations == ["asset-url"])
    }

    @Test func aMessageThatIsNotWholeIsADoubt() throws {
        let long = "{\"a\":\"" + String(repeating: "x", count: Projection.limit) + "\"}"
        let result = try judge("HR-60") { $0.serverMessage($1, long, at: 56) }
        #expect(result.verdict == .inconclusive, "\(result)")
        let whole = "{\"a\":\"" + String(repeating: "x", count: Projection.limit - 8) + "\"}"
        #expect(try judge("HR-60") { $0.serverMessage($1, whole, at: 56) }.verdict == .pass)
    }

    // MARK: what the app says

    @Test func aSecretInEitherDirectionIsFound() throws {
        let text = "{\"k\":\"whsec_" + String(repeating: "aB3", count: 11) + "\"}"
        let sent = try judge("HR-55") { $0.message($1, Array(text.utf8), at: 3) }
        #expect(!sent.violations.isEmpty, "\(sent)")
        let got = try judge("HR-55") { $0.serverMessage($1, text, at: 3) }
        #expect(got.violations == sent.violations && !got.violations.isEmpty, "\(got)")
        #expect(try judge("HR-55") { $0.message($1, Array("{}".utf8), at: 3) }.violations.isEmpty)
    }

    /// Coming back at 50 s, for half a minute.
    @Test(arguments: [(49.9, false), (50, true), (79.9, true), (80.1, false)])
    func anOutcomeBesideAnItemIsAnErrorInAMessageToo(time: Double, isFound: Bool) throws {
        let body = Array(#"{"item":"item-4711-abcdef","elapsed_ms":48211}"#.utf8)
        let result = try returned("HR-43") { $0.message($1, body, at: time) }
        #expect(result.violations == (isFound ? ["outcome-words"] : []), "\(result)")
        let alone = try returned("HR-43") { $0.message($1, Array(#"{"elapsed_ms":48211}"#.utf8), at: time) }
        #expect(alone.verdict == .pass, "\(alone)")
        let nobodys = try returned("HR-43", who: .nobody) { $0.message($1, body, at: time) }
        #expect(nobodys.reason?.code == (isFound ? "actor-unknown" : nil), "\(nobodys)")
    }

    /// The words of the address that opened the WebSocket are no message's.
    @Test func theAddressOfTheWebSocketIsNoMessage() throws {
        let result = try returned("HR-43", path: "/live?elapsed_ms=1&ref=item-4711-abcdef") {
            $0.message($1, Array("{}".utf8), at: 52)
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    private func returned(
        _ rule: String, path: String = "/live", who: ScriptedSession.Who = .app,
        _ story: (inout ScriptedSession, ExchangeID) -> Void
    ) throws -> RuleResult {
        var session = ScriptedSession.inTheBrowser()
        session.policyText = ScriptedSession.returnPolicy
        return try ScriptedSession.result(rule, session, end: 120) {
            let opened = $0.exchange(who, "GET", "https://api.partner.example\(path)", at: 2, status: 101)
            $0.mark(.foreground, at: 50)
            story(&$0, opened)
        }
    }

    /// While the person is in the browser: heartbeats are short, and a poll's moments are even.
    @Test(
        arguments: [
            ([10.0, 20, 30, 40], 33, true), ([10, 20, 30, 40], 32, false), ([10, 20], 33, false),
            ([10, 11, 30, 41], 33, false), ([60, 70, 80, 90], 33, false),
        ] as [([Double], Int, Bool)])
    func messagesAtEvenDistancesMayAsk(times: [Double], length: Int, isDoubt: Bool) throws {
        let result = try returned("HR-44") {
            for time in times { $0.message($1, Array(repeating: 0x61, count: length), at: time) }
        }
        #expect(result.reason?.code == (isDoubt ? "perhaps-polling" : nil), "\(result)")
        #expect(result.violations.isEmpty)
        #expect(isDoubt || result.verdict == .pass, "\(result)")
    }

    @Test func messagesOfTwoKindsAreTwoRows() throws {
        let result = try returned("HR-44") {
            for (time, name) in [(10.0, "a"), (20, "b"), (30, "a"), (40, "b")] {
                $0.message($1, Array("{\"\(name)\":\"\(String(repeating: "x", count: 40))\"}".utf8), at: time)
            }
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test(arguments: [
        ("rec.smartlook.com", large, ["capture-upload"]), ("rec.smartlook.com", String(large.dropLast()), []),
        ("app-measurement.com", #"{"event":"$snapshot","d":[]}"#, ["capture-upload"]),
        ("api.partner.example", #"{"event":"$snapshot","d":[]}"#, []),
    ]) func aRecordingSentAsMessages(host: String, body: String, kinds: [String]) throws {
        let result = try ScriptedSession.result("HR-50", .inTheBrowser()) {
            let opened = $0.exchange(.app, "GET", "https://\(host)/live", at: 1.5, status: 101)
            $0.message(opened, Array(body.utf8), at: 3)
        }
        #expect(result.violations == kinds, "\(result)")
    }

    @Test(arguments: ["HR-43", "HR-44"]) func moreMessagesThanAreKeptAreADoubt(rule: String) throws {
        for (limit, code) in [(2, "request-log-full"), (3, nil)] {
            var session = ScriptedSession.inTheBrowser()
            session.policyText = ScriptedSession.returnPolicy
            session.options.limits.loggedMessages = limit
            let result = try ScriptedSession.result(rule, session, end: 120) {
                let opened = $0.exchange(.app, "GET", Self.socket, at: 2, status: 101)
                for time in [2.5, 2.6, 2.7] { $0.message(opened, Array("{}".utf8), at: time) }
                $0.mark(.foreground, at: 50)
            }
            #expect(result.reason?.code == code, "\(result)")
        }
    }

    // MARK: streams and lines

    /// The answer of an address that is asked once, of the given type.
    private func answered(_ rule: String, _ type: String, _ body: String, policy: String = "") throws -> RuleResult {
        var session = ScriptedSession.conformingShare()
        session.policyText += policy
        session.exchange(
            .app, "GET", "https://api.partner.example/feed", at: 56, response: body,
            responseHeaders: [("content-type", type)])
        session.mark(.end, at: 100)
        return try session.judge()[rule]
    }

    @Test(
        arguments: [
            ("text/event-stream", "event: x\ndata: {\"order_status\":\"x\"}\n\n", ["status-key"]),
            ("text/event-stream", "data:{\ndata:\"order_status\":\"x\"}\n\n", ["status-key"]),
            ("text/event-stream; charset=utf-8", "data: {\"order_status\":\"x\n\n", ["status-key"]),
            ("text/event-stream", "data: {\"a\":\"order_status\"}\n\n", []),
            ("text/plain", "  {\"order_status\":\"x\"}", ["status-key"]),
            ("text/plain", ")]}',\n{\"order_status\":\"x\"}", ["status-key"]),
            ("text/plain", "a\nb\n{\"order_status\":\"x\"}", []),
            ("text/html", "{\"order_status\":\"x\"}", ["status-key"]),
            ("text/javascript; charset=utf-8", "  {\"order_status\":\"x\"}", ["status-key"]),
            ("text/html", "<!doctype html>\n[{\"order_status\":\"x\"}]", []),
            ("text/css", "main\n{\"order_status\":\"x\"}", []),
            ("application/javascript", "export default\n{\"order_status\":\"x\"}", []),
            ("text/ecmascript", "export default\n{\"order_status\":\"x\"}", []),
            ("application/x-ndjson", "{\"a\":1}\n{\"order_status\":\"x\"}\n", ["status-key"]),
        ] as [(String, String, [String])]) func namesInStreamsAndLines(type: String, body: String, kinds: [String])
        throws
    {
        let result = try answered("HR-60", type, body)
        #expect(result.violations == kinds, "\(result)")
    }

    @Test(
        arguments: [
            ("data: {\"items\":[{\"itemId\":\"a\",\n data: x\n\n", [String]()),
            ("data: {\"items\":[{\"itemId\":\"a\",\ndata: \"hidden\":true}]}\n\n", ["hidden-item"]),
            ("data: {\"n\":1}\n\ndata: {\"itemId\":\"a\",\"hidden\":true}\n\n", ["hidden-item"]),
            ("data: [\"sleep-77\"]\n\n", ["hidden-id"]), ("data: [\"sleep-77\"\n\n", ["hidden-id"]),
            ("data: {\"n\":1}\n\ndata: [\"sleep-78\"]\n\n", []),
        ] as [(String, [String])]) func hiddenItemsInStreams(body: String, kinds: [String]) throws
    {
        let result = try answered("HR-40", "text/event-stream", body, policy: "fields: {hidden: [sleep-77]}\n")
        #expect(result.violations == kinds, "\(result)")
    }
}
