import SessionTrace
import Testing
import WireFormats

@Suite("HTTP/1 with holes")
struct HTTP1HoleTests {
    typealias Case = HTTP1ExchangeTests.Case

    static func get(_ path: String) -> ConversationScript.Step { .client("GET /\(path) HTTP/1.1\r\nHost: h\r\n\r\n") }
    static func ok(_ text: String) -> ConversationScript.Step {
        .server("HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
    }
    static func start(_ number: Int, _ path: String) -> String { "start \(number) HTTP/1.1 GET /\(path) h" }

    static let bodies: [Case] = [
        Case(
            "inside bodies of known length",
            [
                .client("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\n\r\nab"), .hole(.client, 2), .client("ef"),
                .server("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe"), .hole(.server, 3), get("b"), ok("B"),
            ],
            [
                "start 0 HTTP/1.1 POST /a h",
                "exchange 0 POST /a [abef]/4-2 1-3 200 [he]/2-3 4-5 complete", start(1, "b"),
                "exchange 1 GET /b [] 6-6 200 [B] 7-7 complete",
            ].map { $0.replacing("]/4", with: "]").replacing("]/2", with: "]") }),
        Case(
            "inside a chunk",
            [
                get("a"), .server("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"), .hole(.server, 3),
                .server("\r\n1\r\nz\r\n0\r\n\r\n"),
            ],
            [start(0, "a"), "exchange 0 GET /a [] 1-1 200 [abz]-3 2-4 complete"]),
        Case(
            "across chunks",
            [
                get("a"), .server("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"), .hole(.server, 30),
                .server("tail\r\n0\r\n\r\n"), get("b"), ok("B"),
            ],
            [
                start(0, "a"), "exchange 0 GET /a [] 1-1 200 [ab]-3… 2-3 not seen", start(1, "b"),
                "blind unreadable-message server 11", "exchange 1 GET /b [] 5-5 200 [B] 6-6 complete",
            ]),
        Case(
            "in a body until close",
            [get("a"), .server("HTTP/1.1 200 OK\r\n\r\nab"), .hole(.server, 7), .server("cd"), .finished(.server)],
            [start(0, "a"), "exchange 0 GET /a [] 1-1 200 [abcd]-7 2-5 complete"]),
        Case(
            "of unknown length in a body until close",
            [get("a"), .server("HTTP/1.1 200 OK\r\n\r\nab"), .hole(.server, nil), .finished(.server)],
            [start(0, "a"), "exchange 0 GET /a [] 1-1 200 [ab]… 2-4 complete"]),
        Case(
            "longer than the rest of the body",
            [
                get("a"), .server("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"), .hole(.server, 90), get("b"),
                ok("B"),
            ],
            [
                start(0, "a"), "exchange 0 GET /a [] 1-1 200 [ab]-3 2-3 complete", start(1, "b"),
                "exchange 1 GET /b [] 4-4 200 [B] 5-5 complete",
            ]),
    ]

    static let heads: [Case] = [
        Case(
            "in a request head: what was read of it is told",
            [
                .client("POST /session HTTP/1.1\r\nHost: h\r\nContent-Le"), .hole(.client, 400), ok("A"), get("b"),
                ok("B"),
            ],
            [
                "start 0 HTTP/1.1 POST /session h",
                "exchange 0 POST /session []… 1-2 200 [A] 3-3 not seen !head: cut by a hole in the capture",
                start(1, "b"), "exchange 1 GET /b [] 4-4 200 [B] 5-5 complete",
            ]),
        Case(
            "in a request line",
            [.client("GET /very/long"), .client("/path"), .hole(.client, 400), .closed(.traceEnded)],
            [
                "start 0 HTTP/1.1 GET /very/long/path -",
                "exchange 0 GET /very/long/path []… 1-3 no response trace ended !head: cut by a hole in the capture",
            ]),
        Case(
            "in a line of another protocol",
            [.client("EHLO there"), .hole(.client, 400), .closed(.traceEnded)], ["blind unknown-protocol both 10"]),
        Case(
            "between two pieces of request lines",
            [
                get("a"), .hole(.client, 9), .client("GET /b"), .hole(.client, 9), .client("POST /c?d HT"),
                .closed(.traceEnded),
            ],
            [
                start(0, "a"), "start 1 HTTP/1.1 GET /b -", "start 2 HTTP/1.1 POST /c?d -",
                "exchange 0 GET /a [] 1-1 no response trace ended",
                "exchange 1 GET /b []… 3-4 no response trace ended !head: cut by a hole in the capture",
                "exchange 2 POST /c?d []… 5-6 no response trace ended !head: the connection ends inside the head",
            ]),
        Case(
            "in a later request line",
            [get("a"), ok("A"), .client("GET /very/long"), .hole(.client, 400), .closed(.traceEnded)],
            [
                start(0, "a"), "exchange 0 GET /a [] 1-1 200 [A] 2-2 complete", "start 1 HTTP/1.1 GET /very/long -",
                "exchange 1 GET /very/long []… 3-4 no response trace ended !head: cut by a hole in the capture",
            ]),
        Case(
            "in a response head",
            [get("a"), .server("HTTP/1.1 302 Found\r\nLocation: /x\r\nSet-"), .hole(.server, 40), get("b"), ok("B")],
            [
                start(0, "a"),
                "exchange 0 GET /a [] 1-1 302 []… 2-3 not seen !head: cut by a hole in the capture", start(1, "b"),
                "exchange 1 GET /b [] 4-4 200 [B] 5-5 complete",
            ]),
    ]

    static let pairing: [Case] = [
        Case(
            "a request is hidden: its response stands alone",
            [get("a"), ok("A"), .hole(.client, 50), ok("X"), get("b"), ok("B")],
            [
                start(0, "a"), "exchange 0 GET /a [] 1-1 200 [A] 2-2 complete",
                "exchange 1 no request 200 [X] 4-4 complete !unexpected", "start 2 HTTP/1.1 GET /b h",
                "exchange 2 GET /b [] 5-5 200 [B] 6-6 complete",
            ]),
        Case(
            "request and response are hidden",
            [get("a"), ok("A"), .hole(.client, 50), .hole(.server, 50), get("b"), ok("B")],
            [
                start(0, "a"), "exchange 0 GET /a [] 1-1 200 [A] 2-2 complete", start(1, "b"),
                "exchange 1 GET /b [] 5-5 200 [B] 6-6 complete",
            ]),
        Case(
            "a response is hidden, and the hole is told before the next request",
            [get("a"), .hole(.server, 50), get("b"), ok("B")],
            [
                start(0, "a"), start(1, "b"), "exchange 0 GET /a [] 1-1 no response not seen",
                "exchange 1 GET /b [] 3-3 200 [B] 4-4 complete",
            ]),
        Case(
            "a response is hidden, and the hole is told with the next response",
            [get("a"), get("b"), .hole(.server, 50), ok("B"), get("c"), ok("C")],
            [
                start(0, "a"), start(1, "b"), "exchange 0 GET /a [] 1-1 no response not seen",
                "exchange 1 GET /b [] 2-2 200 [B] 4-4 complete", start(2, "c"),
                "exchange 2 GET /c [] 5-5 200 [C] 6-6 complete",
            ]),
        Case(
            "a client that pipelines: no guess, and order again with the next request",
            [
                .client("GET /a HTTP/1.1\r\nHost: h\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\n\r\n"), ok("A"), ok("B"),
                .client("GET /c HTTP/1.1\r\nHost: h\r\n\r\nGET /d HTTP/1.1\r\nHost: h\r\n\r\n"), .hole(.server, 30),
                ok("?"), get("e"), ok("E"),
            ],
            [
                start(0, "a"), start(1, "b"), "exchange 0 GET /a [] 1-1 200 [A] 2-2 complete",
                "exchange 1 GET /b [] 1-1 200 [B] 3-3 complete", start(2, "c"), start(3, "d"),
                "exchange 2 GET /c [] 4-4 no response not seen", "exchange 3 GET /d [] 4-4 no response not seen",
                "exchange 4 no request 200 [?] 6-6 complete !unexpected", "start 5 HTTP/1.1 GET /e h",
                "exchange 5 GET /e [] 7-7 200 [E] 8-8 complete",
            ]),
        Case(
            "a pipelined request is hidden",
            [get("a"), .hole(.client, 33), get("c"), ok("A"), ok("B"), ok("C"), get("d"), ok("D")],
            [
                start(0, "a"), start(1, "c"), "exchange 0 GET /a [] 1-1 200 [A] 4-4 complete",
                "exchange 1 GET /c [] 3-3 no response not seen",
                "exchange 2 no request 200 [B] 5-5 complete !unexpected",
                "exchange 3 no request 200 [C] 6-6 complete !unexpected", "start 4 HTTP/1.1 GET /d h",
                "exchange 4 GET /d [] 7-7 200 [D] 8-8 complete",
            ]),
    ]

    static let oneSided: [Case] = [
        Case(
            "requests alone", [get("a"), get("b"), .finished(.client), .closed(.finished)],
            [
                start(0, "a"), start(1, "b"), "exchange 0 GET /a [] 1-1 no response not seen",
                "exchange 1 GET /b [] 2-2 no response not seen",
            ]),
        Case(
            "responses alone", [ok("A"), ok("B"), .finished(.server), .closed(.finished)],
            [
                "exchange 0 no request 200 [A] 1-1 complete !unexpected",
                "exchange 1 no request 200 [B] 2-2 complete !unexpected",
            ]),
        Case(
            "the server's end is hidden", [get("a"), .hole(.server, 50), .finished(.server), .closed(.finished)],
            [start(0, "a"), "exchange 0 GET /a [] 1-1 no response not seen"]),
        Case(
            "joined in the middle of a body",
            [
                .client("{\"last\":\"part\"}POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx"),
                .server("of a page\r\n"), ok("A"), .closed(.traceEnded),
            ], startSeen: false,
            [
                "blind unreadable-message client 15", "start 0 HTTP/1.1 POST /a h",
                "blind unreadable-message server 11", "exchange 0 POST /a [x] 1-1 200 [A] 3-3 complete",
            ]),
        Case(
            "joined in the middle of something else",
            [.client("\u{1}\u{2}\u{3}"), .server("binary\n"), .closed(.traceEnded)], startSeen: false,
            ["blind unknown-protocol both 10"]),
        Case(
            "the first bytes are missing",
            [.hole(.client, 10), .client("lue\r\n\r\n"), get("b"), ok("B"), .closed(.traceEnded)],
            [
                "blind unreadable-message client 7", start(0, "b"),
                "exchange 0 GET /b [] 3-3 200 [B] 4-4 complete",
            ]),
    ]

    /// The hole is told with the next request, and the answer to what was in it waits until then.
    @Test("a response answers no request that was sent after it", arguments: [(3, false), (4, true), (5, true)])
    func answersNothingLater(response: Int, isOfRequest: Bool) {
        let told = ConversationScript.lines(of: [
            (Self.get("a"), 1), (Self.ok("A"), 2), (.hole(.client, 50), 4), (Self.get("b"), 4),
            (Self.ok("X"), response),
            (Self.ok("B"), 6), (.closed(.traceEnded), 7),
        ])
        let own = [
            Self.start(0, "a"), "exchange 0 GET /a [] 1-1 200 [A] 2-2 complete", Self.start(1, "b"),
        ]
        let pairs =
            isOfRequest
            ? [
                "exchange 1 GET /b [] 4-4 200 [X] \(response)-\(response) complete",
                "exchange 2 no request 200 [B] 6-6 complete !unexpected",
            ]
            : [
                "exchange 2 no request 200 [X] 3-3 complete !unexpected",
                "exchange 1 GET /b [] 4-4 200 [B] 6-6 complete",
            ]
        #expect(told == own + pairs)
    }

    @Test("behind a hole of the server's, a response answers the youngest request before it")
    func answersTheYoungestBefore() {
        let told = ConversationScript.lines(of: [
            (Self.get("a"), 1), (Self.get("b"), 3), (Self.get("c"), 6), (.hole(.server, 50), 5), (Self.ok("B"), 5),
            (Self.ok("C"), 7),
        ])
        #expect(
            told == [
                Self.start(0, "a"), Self.start(1, "b"), Self.start(2, "c"),
                "exchange 0 GET /a [] 1-1 no response not seen", "exchange 1 GET /b [] 3-3 200 [B] 5-5 complete",
                "exchange 2 GET /c [] 6-6 200 [C] 7-7 complete",
            ])
    }

    @Test("without a hole, the order of a capture's packets within a moment says nothing")
    func aCaptureMayBeOutOfOrder() {
        let told = ConversationScript.lines(of: [(Self.get("a"), 2), (Self.ok("A"), 1)])
        #expect(told == [Self.start(0, "a"), "exchange 0 GET /a [] 2-2 200 [A] 1-1 complete"])
    }

    @Test("an answer that a hole tore before the connection was reset was perhaps whole")
    func aTornAnswerBeforeAReset() {
        let told = ConversationScript.lines(of: [
            (Self.get("a"), 1), (.server("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhe"), 2),
            (.hole(.server, 3), 3), (.server("lo"), 4), (.closed(.reset(by: .server)), 5),
        ])
        #expect(told.last == "exchange 0 GET /a [] 1-1 200 [helo]-3… 2-5 not seen", "\(told)")
    }

    @Test("in bodies", arguments: bodies)
    func inBodies(_ example: Case) { HTTP1ExchangeTests().check(example) }

    @Test("in heads", arguments: heads)
    func inHeads(_ example: Case) { HTTP1ExchangeTests().check(example) }

    @Test("requests and responses pair again", arguments: pairing)
    func pairsAgain(_ example: Case) { HTTP1ExchangeTests().check(example) }

    @Test("one side, or no start", arguments: oneSided)
    func oneSide(_ example: Case) { HTTP1ExchangeTests().check(example) }
}
