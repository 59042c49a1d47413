import SessionTrace
import Testing
import WireFormats

@Suite("HTTP/1 exchanges")
struct HTTP1ExchangeTests {
    struct Case: CustomTestStringConvertible {
        var testDescription: String
        var steps: [ConversationScript.Step]
        var expected: [String]
        var startSeen = true

        init(_ name: String, _ steps: [ConversationScript.Step], startSeen: Bool = true, _ expected: [String]) {
            testDescription = name
            self.steps = steps
            self.startSeen = startSeen
            self.expected = expected
        }
    }

    static let plain: [Case] = [
        Case(
            "one of each",
            [
                .client("GET /a HTTP/1.1\r\nHost: h\r\n\r\n"),
                .server("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"), .server("lo"),
            ],
            [
                "start 0 HTTP/1.1 GET /a h",
                "exchange 0 GET /a [] 1-1 200 [hello] 2-3 complete",
            ]),
        Case(
            "keep-alive with bodies",
            [
                .client("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"),
                .server("HTTP/1.1 204 No Content\r\n\r\n"),
                .client(
                    "PUT /b HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2;x=\"y\"\r\nab\r\n1\r\nc\r\n0\r\nT: v\r\n\r\n"
                ),
                .server("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n00A\r\n0123456789\r\n0\r\n\r\n"),
            ],
            [
                "start 0 HTTP/1.1 POST /a h",
                "exchange 0 POST /a [abc] 1-1 204 [] 2-2 complete",
                "start 1 HTTP/1.1 PUT /b h",
                "exchange 1 PUT /b [abc] trailers 1 3-3 200 [0123456789] 4-4 complete",
            ]),
        Case(
            "pipelined",
            [
                .client(
                    "GET /a HTTP/1.1\r\nHost: h\r\n\r\nHEAD /b HTTP/1.1\r\nHost: h\r\n\r\nGET /c HTTP/1.1\r\nHost: h\r\n\r\n"
                ),
                .server(
                    "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nAHTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nHTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"
                ),
            ],
            [
                "start 0 HTTP/1.1 GET /a h", "start 1 HTTP/1.1 HEAD /b h", "start 2 HTTP/1.1 GET /c h",
                "exchange 0 GET /a [] 1-1 200 [A] 2-2 complete",
                "exchange 1 HEAD /b [] 1-1 200 [] 2-2 complete",
                "exchange 2 GET /c [] 1-1 304 [] 2-2 complete",
            ]),
        Case(
            "interim responses",
            [
                .client("POST /a HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"),
                .server("HTTP/1.1 100 Continue\r\n\r\n"), .client("ok"),
                .server(
                    "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
                ),
            ],
            [
                "start 0 HTTP/1.1 POST /a h",
                "exchange 0 POST /a [ok] 1-3 (100) (102) (103) 200 [] 4-4 complete",
            ]),
        Case(
            "the answer comes before the request's end",
            [
                .client("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nab"),
                .server("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n"), .client("cd"),
            ],
            [
                "start 0 HTTP/1.1 POST /a h",
                "exchange 0 POST /a [abcd] 1-3 413 [] 2-2 complete",
            ]),
        Case(
            "until close, HTTP/1.0, line feeds alone, empty lines first",
            [
                .client("\r\n\nGET http://other/a?b HTTP/1.0\nAccept: x\n\n"),
                .server("HTTP/1.0 200 OK\nServer: s\n\nline\nline"), .server("more"), .finished(.server),
                .closed(.finished),
            ],
            [
                "start 0 HTTP/1.0 GET http://other/a?b other",
                "exchange 0 GET http://other/a?b [] 1-1 200 [line\nlinemore] 2-4 complete",
            ]),
        Case(
            "folded fields",
            [
                .client("GET /a HTTP/1.1\r\nHost: h\r\nX: one\r\n  two\r\n\r\n"),
                .server("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n"),
            ],
            [
                "start 0 HTTP/1.1 GET /a h",
                "exchange 0 GET /a [] 1-1 200 [] 2-2 complete !head: folded field line",
            ]),
        Case(
            "cut ends",
            [
                .client("GET /a HTTP/1.1\r\nHost: h\r\n\r\n"),
                .server("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), .finished(.server), .closed(.finished),
            ],
            [
                "start 0 HTTP/1.1 GET /a h",
                "exchange 0 GET /a [] 1-1 200 [half]… 2-3 closed by server",
            ]),
        Case(
            "reset while waiting",
            [.client("GET /a HTTP/1.1\r\nHost: h\r\n\r\n"), .closed(.reset(by: .server))],
            ["start 0 HTTP/1.1 GET /a h", "exchange 0 GET /a [] 1-1 no response reset by server"]),
        Case(
            "closed without an answer",
            [
                .client("GET /a HTTP/1.1\r\nHost: h\r\n\r\n"), .finished(.server), .finished(.client),
                .closed(.finished),
            ],
            ["start 0 HTTP/1.1 GET /a h", "exchange 0 GET /a [] 1-1 no response closed by server"]),
        Case(
            "trace ends inside a request",
            [.client("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nhalf"), .closed(.traceEnded)],
            ["start 0 HTTP/1.1 POST /a h", "exchange 0 POST /a [half]… 1-2 no response trace ended"]),
        Case(
            "a response alone",
            [.server("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"), .closed(.traceEnded)],
            ["exchange 0 no request 408 [] 1-1 complete !unexpected"]),
        Case(
            "HTTP/0.9",
            [.client("GET /a\r\n"), .server("<html>"), .finished(.server)],
            [
                "start 0 HTTP/0.9 GET /a -",
                "exchange 0 GET /a [] 1-1 0 [<html>] 2-3 complete !head: request line: no version",
            ]),
        Case(
            "a response without a status line",
            [.client("GET /a HTTP/1.1\r\nHost: h\r\n\r\n"), .server("<html>"), .finished(.server)],
            [
                "start 0 HTTP/1.1 GET /a h",
                "exchange 0 GET /a [] 1-1 0 [<html>] 2-3 complete !not http",
            ]),
    ]

    static let ambiguous: [Case] = [
        Case(
            "length and chunked; the next request is doubtful",
            [
                .client(
                    "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x HTTP/1.1\r\nHost: h\r\n\r\n"
                ),
                .server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
            ],
            [
                "start 0 HTTP/1.1 POST /a h", "start 1 HTTP/1.1 GET /x h",
                "exchange 0 POST /a [] 1-1 200 [] 2-2 complete !framing",
                "exchange 1 GET /x [] 1-1 200 [] 2-2 complete !framing",
            ]),
        Case(
            "two lengths",
            [
                .client(
                    "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabPOST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 1, 1\r\n\r\nz"
                ),
                .server("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx"),
                .closed(.traceEnded),
            ],
            [
                "start 0 HTTP/1.1 POST /a h", "start 1 HTTP/1.1 POST /b h",
                "exchange 0 POST /a [ab] 1-1 200 [x] 2-2 complete !framing !framing",
                "exchange 1 POST /b [z] 1-1 no response trace ended !framing !framing",
            ]),
        Case(
            "codings that do not end in chunked",
            [
                .client("POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked, gzip\r\n\r\nabc"),
                .finished(.client), .server("HTTP/1.1 400 Bad\r\nTransfer-Encoding: gzip\r\n\r\nxyz"),
                .finished(.server),
            ],
            [
                "start 0 HTTP/1.1 POST /a h",
                "exchange 0 POST /a [abc] 1-2 400 [xyz] 3-4 complete !framing",
            ]),
        Case(
            "a chunk size that is none; reading goes on at the next message",
            [
                .client(
                    "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0x5\r\nzzzzz\r\n0\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\n\r\n"
                ),
                .server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
                .server("HTTP/1.1 201 OK\r\nContent-Length: 0\r\n\r\n"),
            ],
            [
                "start 0 HTTP/1.1 POST /a h",
                "blind unreadable-message client 15",
                "start 1 HTTP/1.1 GET /b h",
                "exchange 0 POST /a [ab]… 1-1 200 [] 2-2 not seen !framing",
                "exchange 1 GET /b [] 1-1 201 [] 3-3 complete",
            ]),
    ]

    static let changes: [Case] = [
        Case(
            "CONNECT",
            [
                .client("CONNECT h.test:443 HTTP/1.1\r\nHost: h.test:443\r\n\r\nearly"),
                .server("HTTP/1.1 200 Established\r\nContent-Length: 5\r\n\r\nabc"), .client("late"),
                .hole(.server, 9), .closed(.finished),
            ],
            [
                "start 0 HTTP/1.1 CONNECT h.test:443 h.test:443",
                "exchange 0 CONNECT h.test:443 [] 1-1 200 [] 2-2 complete",
                "tunnel to h.test:443", "client inside 1: early", "server inside 2: abc", "client inside 3: late",
                "server inside: hole 9",
            ]),
        Case(
            "CONNECT refused, then again",
            [
                .client("CONNECT h:1 HTTP/1.1\r\nHost: h:1\r\n\r\nCONNECT h:2 HTTP/1.1\r\nHost: h:2\r\n\r\nTLS"),
                .server("HTTP/1.1 407 Auth\r\nContent-Length: 2\r\n\r\nno"), .server("HTTP/1.1 200 OK\r\n\r\n"),
            ],
            [
                "start 0 HTTP/1.1 CONNECT h:1 h:1", "start 1 HTTP/1.1 CONNECT h:2 h:2",
                "exchange 0 CONNECT h:1 [] 1-1 407 [no] 2-2 complete",
                "exchange 1 CONNECT h:2 [] 1-1 200 [] 3-3 complete", "tunnel to h:2", "client inside 1: TLS",
            ]),
        Case(
            "upgrade refused",
            [
                .client("GET /a HTTP/1.1\r\nHost: h\r\nUpgrade: h2c\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\n\r\n"),
                .server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
            ],
            [
                "start 0 HTTP/1.1 GET /a h", "start 1 HTTP/1.1 GET /b h",
                "exchange 0 GET /a [] 1-1 200 [] 2-2 complete", "exchange 1 GET /b [] 1-1 200 [] 2-2 complete",
            ]),
        Case(
            "upgrade to something else",
            [
                .client("POST /attach HTTP/1.1\r\nHost: h\r\nUpgrade: tcp\r\nContent-Length: 0\r\n\r\n"),
                .server("HTTP/1.1 101 UPGRADED\r\nUpgrade: tcp\r\n\r\nraw"),
            ],
            [
                "start 0 HTTP/1.1 POST /attach h", "exchange 0 POST /attach [] 1-1 101 [] 2-2 complete",
                "tunnel to unknown", "server inside 2: raw",
            ]),
        Case(
            "neither HTTP",
            [.client("EHLO there\r\n"), .server("250 ok\r\n"), .closed(.finished)],
            ["blind unknown-protocol both 20"]),
        Case(
            "the server speaks first",
            [.server("220 ready\r\n"), .client("GET"), .closed(.finished)],
            ["blind unknown-protocol both 14"]),
    ]

    @Test("messages", arguments: plain)
    func messages(_ example: Case) { check(example) }

    @Test("ambiguous framing is flagged", arguments: ambiguous)
    func ambiguousFraming(_ example: Case) { check(example) }

    @Test("changes of protocol", arguments: changes)
    func protocolChanges(_ example: Case) { check(example) }

    func check(_ example: Case) {
        let script = ConversationScript(steps: example.steps, startSeen: example.startSeen)
        #expect(script.lines() == example.expected)
        #expect(script.isIndifferentToSplits)
    }
}
