import SessionTrace
import Testing
import WireFormats

/// Every limit of `ConversationLimits`, crossed.
@Suite("HTTP/1 limits")
struct HTTP1LimitTests {
    func lines(_ steps: [ConversationScript.Step], _ set: (inout ConversationLimits) -> Void) -> [String] {
        var script = ConversationScript(steps: steps)
        set(&script.limits)
        #expect(script.isIndifferentToSplits)
        return script.lines()
    }

    @Test("bodies are cut; a cut request body is a blind spot")
    func bodies() {
        let steps: [ConversationScript.Step] = [
            .client("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\n\r\nabcdef"),
            .server("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n"),
        ]
        let lines = lines(steps) {
            $0.body = 4
            $0.responseBody = 3
        }
        #expect(
            lines == [
                "start 0 HTTP/1.1 POST /a h", "blind body-over-limit client 2",
                "exchange 0 POST /a [abcd]/6 1-1 200 [abc]/4 2-2 complete",
            ])
    }

    @Test("a head over the limit: its first fields are told, and reading goes on at the next message")
    func heads() {
        let long = String(repeating: "x", count: 200)
        let steps: [ConversationScript.Step] = [
            .client("GET /a HTTP/1.1\r\nHost: h\r\nX: \(long)\r\n\r\n"),
            .server("HTTP/1.1 200 OK\r\nX: \(long)\r\n\r\n"),
            .client("GET /b HTTP/1.1\r\nHost: h\r\n\r\n"), .server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        ]
        let lines = lines(steps) { $0.head = 100 }
        let spots = lines.filter { $0.hasPrefix("blind unreadable-message") }
        #expect(spots.count == 4)
        #expect(
            lines.filter { $0.hasPrefix("exchange") } == [
                "exchange 0 GET /a []… 1-1 200 []… 2-2 not seen !head: longer than 100 bytes",
                "exchange 1 GET /b [] 3-3 200 [] 4-4 complete",
            ])
    }

    @Test("trailers, chunk extensions and fields")
    func sections() {
        let long = String(repeating: "x", count: 200)
        let post = "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        for tail in ["0\r\nT: \(long)\r\n\r\n", "0;\(long)\r\n\r\n"] {
            let lines = lines([.client(post + tail), .closed(.traceEnded)]) { $0.head = 100 }
            #expect(lines.contains { $0.contains("!framing") && $0.contains("[]…") })
        }
        let many = (0..<10).map { "F\($0): v\r\n" }.joined()
        let lines = lines([.client("GET /a HTTP/1.1\r\nHost: h\r\n\(many)\r\n"), .closed(.traceEnded)]) {
            $0.fields = 5
        }
        #expect(lines.last == "exchange 0 GET /a [] 1-1 no response trace ended !head: more than 5 fields")
    }

    @Test("open exchanges, by number and by size")
    func openExchanges() {
        let gets = (0..<4).map { "GET /\($0) HTTP/1.1\r\nHost: h\r\n\r\n" }.joined()
        let byNumber = lines([.client(gets)]) { $0.openExchanges = 2 }
        #expect(
            byNumber.filter { $0.hasPrefix("exchange") } == [
                "exchange 0 GET /0 [] 1-1 no response not seen", "exchange 1 GET /1 [] 1-1 no response not seen",
            ])
        let posts = (0..<4).map { "POST /\($0) HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nabcd" }.joined()
        let bySize = lines([.client(posts)]) { $0.openBytes = 7 }
        #expect(bySize.filter { $0.hasPrefix("exchange") }.count >= 2)
    }

    @Test("interim responses")
    func interim() {
        let many = String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 5)
        let lines = lines([
            .client("GET /a HTTP/1.1\r\nHost: h\r\n\r\n"), .server(many + "HTTP/1.1 204 No\r\n\r\n"),
        ]) { $0.interimResponses = 2 }
        #expect(lines.last == "exchange 0 GET /a [] 1-1 (103) (103) 204 [] 2-2 complete")
    }

    @Test("bytes held for an answer are read as HTTP/1 when they are too many")
    func held() {
        let get = "GET /b HTTP/1.1\r\nHost: h\r\n\r\n"
        let lines = lines([
            .client("GET /a HTTP/1.1\r\nHost: h\r\nUpgrade: x\r\n\r\n"), .client(get + get), .closed(.traceEnded),
        ]) { $0.heldBytes = 30 }
        #expect(lines.filter { $0.hasPrefix("start") }.count == 3)
    }

    @Test("a server that speaks first and long is no HTTP")
    func heldFromServer() {
        let banner = String(repeating: "220 ready\r\n", count: 10)
        let lines = lines([.server(banner), .client("GET / HTTP/1.1\r\nHost: h\r\n\r\n"), .closed(.finished)]) {
            $0.heldBytes = 30
        }
        #expect(lines == ["blind unknown-protocol both 137"])
    }

    @Test("a start line longer than a search keeps is passed over")
    func searchLine() {
        let long = String(repeating: "x", count: 40_000)
        var script = ConversationScript(steps: [
            .client("\(long)\nGET /\(long) HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\n\r\n"), .closed(.traceEnded),
        ])
        script.startSeen = false
        #expect(script.lines().filter { $0.hasPrefix("start") } == ["start 0 HTTP/1.1 GET /b h"])
        #expect(script.run(.every(1)) == script.run())
    }
}

@Suite("HTTP/1 under mutation")
struct HTTP1MutationTests {
    @Test("mutated conversations never trap, and splits change nothing")
    func mutations() {
        let client =
            "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabcPUT /b HTTP/1.1\r\nHost: h\r\n"
            + "Transfer-Encoding: chunked\r\n\r\n3\r\nxyz\r\n0\r\nT: v\r\n\r\nCONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n"
        let server =
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
            + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n"
        for round in 0..<600 {
            var bytes = [Array(client.utf8), Array(server.utf8)]
            for _ in 0..<Int.random(in: 1...5) {
                let side = Int.random(in: 0...1)
                let place = Int.random(in: 0..<bytes[side].count)
                switch Int.random(in: 0...3) {
                case 0: bytes[side][place] = .random(in: 0...255)
                case 1: bytes[side].remove(at: place)
                case 2: bytes[side].insert(contentsOf: [0x0D, 0x0A], at: place)
                default: bytes[side].insert(contentsOf: bytes[side].suffix(20), at: place)
                }
            }
            let cut = Int.random(in: 0..<bytes[0].count)
            var script = ConversationScript(steps: [
                .client(Array(bytes[0][..<cut])), .server(Array(bytes[1].prefix(60))),
                .hole(.client, round % 3 == 0 ? nil : Int.random(in: 0...50)), .client(Array(bytes[0][cut...])),
                .server(Array(bytes[1].dropFirst(60))), .hole(.server, Int.random(in: 0...9)),
                .server(bytes[1]), .finished(.server), .closed(.reset(by: .client)),
            ])
            script.startSeen = round % 2 == 0
            let whole = script.run()
            let isEqual = script.run(.every(1)) == whole && script.run(.random) == whole
            #expect(isEqual)
            // Every request that was started ends, once.
            let started = whole.compactMap { if case .event(.requestStarted(let id, _, _)) = $0 { id } else { nil } }
            let ended = whole.compactMap { output -> ExchangeID? in
                if case .event(.exchange(let exchange)) = output { exchange.id } else { nil }
            }
            #expect(Set(ended).count == ended.count)
            #expect(Set(started).isSubset(of: Set(ended)))
        }
    }
}
