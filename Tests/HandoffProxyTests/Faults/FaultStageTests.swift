import SessionTrace
import Testing

@testable import HandoffProxy

@Suite struct FaultStageTests {
    struct Row: CustomTestStringConvertible {
        var name: String
        var faults: [String]
        var steps: [FaultScript.Step]
        var actions: [String]
        var testDescription: String { name }
    }

    static let post = "POST /s HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody"
    static let get = "GET /other HTTP/1.1\r\nhost:h\r\n\r\n"
    static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    static let injected = """
        HTTP/1.1 503 Service Unavailable\r\nDate: Mon, 30 Nov 2026 00:00:00 GMT\r\nContent-Length: 0\r\n\r\n
        """
    static let injectedAndClosed = """
        HTTP/1.1 503 Service Unavailable\r\nDate: Mon, 30 Nov 2026 00:00:00 GMT\r\nContent-Length: 0\r\n\
        Connection: close\r\n\r\n
        """

    static let rows: [Row] = [
        Row(
            name: "other exchanges pass, and the connection goes on after an injected answer",
            faults: ["POST /s: 503 once"],
            steps: [.client(get), .server(ok), .client(post), .client(post), .server(ok), .serverFinished],
            actions: [
                "> " + get, "< " + ok, "fault 1: 503", "< " + injected, "> " + post, "< " + ok, "finish client",
            ]),
        Row(
            name: "Retry-After is said",
            faults: ["POST /s: 429 retry-after=7"],
            steps: [.client(post)],
            actions: [
                "fault 0: 429 retry-after=7",
                "< HTTP/1.1 429 Too Many Requests\r\nDate: Mon, 30 Nov 2026 00:00:00 GMT\r\nContent-Length: 0\r\n"
                    + "Retry-After: 7\r\n\r\n",
            ]),
        Row(
            name: "a pipelined request is answered in its turn",
            faults: ["POST /s: 503"],
            steps: [.client(get + post), .client(get), .server(ok + ok)],
            actions: ["> " + get, "fault 1: 503", "> " + get, "< " + ok + injected + ok]),
        Row(
            name: "a client that waits for 100 gets the answer in its place",
            faults: ["POST /s: 503"],
            steps: [
                .client("POST /s HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"), .client("body"),
            ],
            actions: ["fault 0: 503", "< " + injectedAndClosed, "close"]),
        Row(
            name: "chunked content with trailers is taken whole before the answer",
            faults: ["POST /s: 503"],
            steps: [
                .client("POST /s HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\n"),
                .client("T: 1\r\n\r\n" + get), .server(ok),
            ],
            actions: ["fault 0: 503", "< " + injected, "> " + get, "< " + ok]),
        Row(
            name: "HTTP/1.0 closes after an injected answer",
            faults: ["POST /s: 503"],
            steps: [.client("POST /s HTTP/1.0\r\nContent-Length: 0\r\n\r\n")],
            actions: ["fault 0: 503", "< " + injectedAndClosed, "close"]),
        Row(
            name: "drop before the request",
            faults: ["POST /s: drop-before-request once"],
            steps: [.client(get), .server(ok), .client(post), .client(get)],
            actions: ["> " + get, "< " + ok, "fault 1: drop-before-request", "close"]),
        Row(
            name: "a drop waits for the answers before it",
            faults: ["POST /s: drop-before-request once"],
            steps: [.client(get + post + get), .server(ok)],
            actions: ["> " + get, "fault 1: drop-before-request", "< " + ok, "close"]),
        Row(
            name: "reset",
            faults: ["POST /s: reset delay=1s"],
            steps: [.client(post)],
            actions: ["fault 0: reset delay=1s", "wait 1.0 seconds", "reset"]),
        Row(
            name: "drop after the request: the origin gets all of it, the device hears nothing",
            faults: ["POST /s: drop-after-request once"],
            steps: [.client(post + get), .server("HTTP/1.1 201 Created\r\nContent-Length: 3\r\n\r\nab"), .server("c")],
            actions: ["fault 0: drop-after-request", "> " + post, "close"]),
        Row(
            name: "drop after the request: 100 is heard, since the client waits for it",
            faults: ["POST /s: drop-after-request once"],
            steps: [
                .client("POST /s HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"),
                .server("HTTP/1.1 100 Continue\r\n\r\n"), .client("body"),
                .server("HTTP/1.1 103 Early Hints\r\n\r\n" + ok),
            ],
            actions: [
                "fault 0: drop-after-request",
                "> POST /s HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n",
                "< HTTP/1.1 100 Continue\r\n\r\n", "> body", "close",
            ]),
        Row(
            name: "drop after the request: an answer that ends with the connection",
            faults: ["POST /s: drop-after-request once"],
            steps: [.client(post), .server("HTTP/1.1 200 OK\r\n\r\nall"), .serverFinished],
            actions: ["fault 0: drop-after-request", "> " + post, "close"]),
        Row(
            name: "delay: the answer waits, interim answers do not",
            faults: ["POST /s: delay=2s once"],
            steps: [
                .client(post), .server("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ok), .client(get), .server(ok),
            ],
            actions: [
                "fault 0: delay=2s", "> " + post, "< HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", "wait 2.0 seconds",
                "< " + ok, "> " + get, "< " + ok,
            ]),
        Row(
            name: "an answer cut after half of its length",
            faults: ["POST /s: truncate-response"],
            steps: [.client(post), .server("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789")],
            actions: [
                "fault 0: truncate-response", "> " + post,
                "< HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n01234", "close",
            ]),
        Row(
            name: "an answer cut after so many bytes, which are never all",
            faults: ["POST /s: truncate-response=500"],
            steps: [.client(post), .server("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789")],
            actions: [
                "fault 0: truncate-response=500", "> " + post,
                "< HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n012345678", "close",
            ]),
        Row(
            name: "an answer without body lacks the end of its head",
            faults: ["POST /s: truncate-response"],
            steps: [.client(post), .server("HTTP/1.1 204 No Content\r\nX: y\r\n\r\n")],
            actions: [
                "fault 0: truncate-response", "> " + post, "< HTTP/1.1 204 No Content\r\nX: y\r\n", "close",
            ]),
        Row(
            name: "a chunked answer is cut in its coding",
            faults: ["POST /s: truncate-response"],
            steps: [
                .client(post), .server("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
            ],
            actions: [
                "fault 0: truncate-response", "> " + post,
                "< HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5", "close",
            ]),
        Row(
            name: "an answer that ends with the connection is cut by a reset",
            faults: ["POST /s: truncate-response"],
            steps: [.client(post), .server("HTTP/1.1 200 OK\r\n\r\nhello")],
            actions: ["fault 0: truncate-response", "> " + post, "< HTTP/1.1 200 OK\r\n\r\nh", "reset"]),
        Row(
            name: "an upgrade elsewhere: raw bytes both ways, also those behind the request",
            faults: ["POST /s: 503"],
            steps: [
                .client("GET /ws HTTP/1.1\r\nUpgrade: websocket\r\n\r\n\u{1}\u{2}\r\n\r\nPOST /s"),
                .server("HTTP/1.1 101 Switching Protocols\r\n\r\nraw\n"), .client("POST /s HTTP/1.1\r\n\r\n"),
                .server("HTTP"), .clientFinished, .serverFinished,
            ],
            actions: [
                "> GET /ws HTTP/1.1\r\nUpgrade: websocket\r\n\r\n",
                "< HTTP/1.1 101 Switching Protocols\r\n\r\n", "> \u{1}\u{2}\r\n\r\nPOST /s", "< raw\n",
                "> POST /s HTTP/1.1\r\n\r\n",
                "< HTTP", "finish origin", "finish client",
            ]),
        Row(
            name: "an upgrade that is declined: what follows are requests",
            faults: ["POST /s: 503"],
            steps: [.client("GET /ws HTTP/1.1\r\nUpgrade: websocket\r\n\r\n" + post), .server(ok), .client(get)],
            actions: [
                "> GET /ws HTTP/1.1\r\nUpgrade: websocket\r\n\r\n", "< " + String(ok.dropLast(2)), "fault 1: 503",
                "< ok" + injected, "> " + get,
            ]),
        Row(
            name: "bytes that are no HTTP pass, and the fault says that it could not be injected",
            faults: ["POST /s: 503"],
            steps: [.server("220 hello\r\n"), .client("\u{10}\u{2}MQTT"), .server("x"), .clientFinished],
            actions: [
                "< 220 hello\r\n", "> \u{10}\u{2}MQTT",
                "fault fault-not-injected: The bytes are no HTTP/1 request.", "< x", "finish origin",
            ]),
        Row(
            name: "an ambiguous request passes as it came",
            faults: ["POST /s: 503"],
            steps: [
                .client("POST /s HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG"),
                .server(ok),
            ],
            actions: [
                "> POST /s HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
                "fault fault-not-injected: The request has both a Content-Length and a Transfer-Encoding.",
                "> 0\r\n\r\nG", "< " + ok,
            ]),
        Row(
            name: "odd white space, padding, case and order pass as they came; half a head passes at the end",
            faults: ["POST /s: 503"],
            steps: [
                .client("\r\n\r\nGET  /\r\n"), .clientFinished,
            ],
            actions: [
                "> \r\n\r\nGET  /\r\n",
                "fault fault-not-injected: The request line is not METHOD, target and HTTP version.",
                "finish origin",
            ]),
        Row(
            name: "half a head passes when the client ends",
            faults: ["POST /s: 503"],
            steps: [.client("\r\nGET /x HTTP/1.1\r\nX-A:\t 1 \r\nx"), .clientFinished],
            actions: ["> \r\nGET /x HTTP/1.1\r\nX-A:\t 1 \r\nx", "finish origin"]),
        Row(
            name: "HEAD and 304 have no body",
            faults: ["POST /s: 503"],
            steps: [
                .client("HEAD /a HTTP/1.1\r\n\r\n" + get + post),
                .server(
                    "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nHTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"
                ),
            ],
            actions: [
                "> HEAD /a HTTP/1.1\r\n\r\n" + get, "fault 2: 503",
                "< HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nHTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"
                    + injected,
            ]),
        Row(
            name: "absolute form is told by its path",
            faults: ["GET /p: 503"],
            steps: [.client("GET http://h/p?q HTTP/1.1\r\n\r\nGET http://h HTTP/1.1\r\n\r\n")],
            actions: ["fault 0: 503", "< " + injected, "> GET http://h HTTP/1.1\r\n\r\n"]),
        Row(
            name: "the origin ends while an answer of ours is due",
            faults: ["POST /s: 503"],
            steps: [.client(String(post.dropLast())), .serverFinished, .client("y")],
            actions: ["fault 0: 503", "< " + injected, "close"]),
        Row(
            name: "an unsolicited answer passes",
            faults: ["POST /s: 503"],
            steps: [.server("HTTP/1.1 408 Request Timeout\r\nContent-Length: 1\r\n\r\nxyz"), .serverFinished],
            actions: ["< HTTP/1.1 408 Request Timeout\r\nContent-Length: 1\r\n\r\nxyz", "finish client"]),
    ]

    @Test(arguments: rows)
    func table(row: Row) throws {
        let script = FaultScript(faults: row.faults, steps: row.steps)
        #expect(try script.run() == row.actions)
    }

    /// However the bytes are cut, the same bytes leave to each side, and the same is done. (Bytes that are no HTTP are
    /// recognised at another byte then, so what lies between two actions is compared for each side.)
    @Test(arguments: rows)
    func splitsChangeNothing(row: Row) throws {
        let script = FaultScript(faults: row.faults, steps: row.steps)
        let whole = Self.bySide(try script.run())
        #expect(Self.bySide(try script.run(.bytes)) == whole)
        for seed in 0..<40 {
            #expect(Self.bySide(try script.run(.random(SeededGenerator(seed: UInt64(seed))))) == whole)
        }
    }

    static func bySide(_ actions: [String]) -> [String] {
        let origin = actions.filter { $0.hasPrefix("> ") }.map { $0.dropFirst(2) }.joined()
        let client = actions.filter { $0.hasPrefix("< ") }.map { $0.dropFirst(2) }.joined()
        return [origin, client] + actions.filter { !$0.hasPrefix("> ") && !$0.hasPrefix("< ") }
    }

    /// Damaged conversations neither trap nor lose bytes: what no fault touched comes out as it went in.
    @Test func damageIsSurvived() throws {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<3_000 {
            guard let row = Self.rows.randomElement(using: &generator) else { continue }
            var steps = row.steps
            var sent = ""
            for index in steps.indices {
                switch steps[index] {
                case .client(let text):
                    let damaged = Self.damage(text, &generator)
                    steps[index] = .client(damaged)
                    sent += damaged
                case .server(let text): steps[index] = .server(Self.damage(text, &generator))
                case .clientFinished, .serverFinished: break
                }
            }
            steps.append(.clientFinished)
            let untouched = try FaultScript(faults: ["TRACE /never: 503"], steps: steps).run(.random(generator))
            if !steps.dropLast().contains(where: { if case .clientFinished = $0 { true } else { false } }) {
                #expect(Self.bySide(untouched)[0] == sent)
            }
            _ = try FaultScript(faults: row.faults, steps: steps).run(.random(generator))
        }
    }

    static func damage(_ text: String, _ generator: inout SeededGenerator) -> String {
        var bytes = Array(text.utf8)
        for _ in 0..<Int.random(in: 0...3, using: &generator) where !bytes.isEmpty {
            let at = Int.random(in: 0..<bytes.count, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: bytes.remove(at: at)
            case 1: bytes.insert(bytes[at], at: at)
            case 2: bytes[at] = UInt8.random(in: 0..<128, using: &generator)
            default: bytes[at] = [0x0A, 0x0D, 0x3A, 0x20, 0x30, 0x2C].randomElement(using: &generator) ?? 0
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
