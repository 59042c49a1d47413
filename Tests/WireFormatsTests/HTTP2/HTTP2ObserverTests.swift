import SessionTrace
import Testing

@testable import WireFormats

private typealias Make = HTTP2Fixtures

/// Frames built by hand → events, each table also fed an octet at a time and at random cuts.
@Suite struct HTTP2ObserverTests {
    static let preface = HTTP2Direction.preface + Make.frame(4, stream: 0)
    static let settings = Make.frame(4, stream: 0)

    private func both(_ client: [UInt8], _ server: [UInt8]) -> [Make.Input] {
        [
            .bytes(.client, Self.preface), .bytes(.server, Self.settings), .bytes(.client, client),
            .bytes(.server, server),
        ]
    }

    /// Feeds the inputs in three cuts, which have to agree, and returns the events.
    private func events(
        _ inputs: [Make.Input], startSeen: Bool = true, limits: ConversationLimits = ConversationLimits(),
        cause: ConnectionEnd.Cause = .finished, sourceLocation: SourceLocation = #_sourceLocation
    ) -> [SessionEvent] {
        let whole = Make.events(inputs, startSeen: startSeen, limits: limits, cause: cause)
        let octets = Make.events(inputs, startSeen: startSeen, cut: .octets, limits: limits, cause: cause)
        #expect(octets == whole, sourceLocation: sourceLocation)
        for seed in 1...5 as ClosedRange<UInt64> {
            let random = Make.events(
                inputs, startSeen: startSeen, cut: .random(seed: seed), limits: limits, cause: cause)
            #expect(random == whole, sourceLocation: sourceLocation)
        }
        return whole
    }

    private func head(_ stream: UInt32, _ fields: [UInt8], ends: Bool = false) -> [UInt8] {
        Make.frame(1, flags: ends ? 5 : 4, stream: stream, fields)
    }

    private func ok(_ stream: UInt32, ends: Bool = false) -> [UInt8] { head(stream, [0x88], ends: ends) }

    private func data(_ stream: UInt32, _ text: String, ends: Bool = false) -> [UInt8] {
        Make.frame(0, flags: ends ? 1 : 0, stream: stream, Array(text.utf8))
    }

    // MARK: Messages

    @Test func requestAndResponse() throws {
        let all = events(
            both(
                head(1, Make.request("POST", "/p?q", more: [("content-length", "5")])) + data(1, "he")
                    + data(1, "llo", ends: true),
                ok(1) + data(1, "yes", ends: true)))
        guard case .requestStarted(let id, .http2, let started) = all.first else {
            Issue.record("no requestStarted")
            return
        }
        #expect(id == ExchangeID(connection: ConnectionID(7), index: 0))
        #expect(started.method == "POST" && started.target == "/p?q" && started.scheme == "https")
        #expect(started.authority == "api.example" && !started.body.isComplete)
        let exchange = try #require(Make.exchanges(all).first)
        #expect(all.count == 2)
        #expect(exchange.streamID == 1 && exchange.end == .complete && exchange.anomalies.isEmpty)
        #expect(exchange.request?.body.bytes == Array("hello".utf8) && exchange.request?.body.isWhole == true)
        #expect(exchange.response?.status == 200 && exchange.response?.body.bytes == Array("yes".utf8))
        #expect(exchange.request?.started == Make.packet(3) && exchange.ended == Make.packet(4))
        #expect(exchange.request?.fields.first(":path") == "/p?q")
    }

    @Test func exchangesComeInTheOrderInWhichTheyEnd() {
        let all = events(
            both(
                head(1, Make.request("GET", "/1"), ends: true) + head(3, Make.request("GET", "/3"), ends: true),
                ok(3, ends: true) + ok(1) + data(1, "x", ends: true)))
        #expect(Make.exchanges(all).map(\.streamID) == [3, 1])
        #expect(Make.exchanges(all).map(\.id.index) == [1, 0])
    }

    @Test func coalescedConnectionsHaveAnAuthorityForEachRequest() {
        let other = Make.literals([
            (":method", "GET"), (":scheme", "https"), (":authority", "b.example:8443"), (":path", "/"),
        ])
        let all = events(
            both(
                head(1, Make.request("GET", "/"), ends: true) + head(3, other, ends: true),
                ok(1, ends: true) + ok(3, ends: true)))
        #expect(Make.exchanges(all).map(\.request?.host?.text) == ["api.example", "b.example"])
    }

    @Test func interimResponsesAndTrailers() throws {
        let all = events(
            both(
                head(1, Make.request("POST", "/")) + data(1, "a")
                    + head(1, Make.literals([("x-sum", "1")]), ends: true),
                head(1, Make.literals([(":status", "100")]))
                    + head(1, Make.literals([(":status", "103"), ("link", "</a>")]))
                    + ok(1) + data(1, "b") + head(1, Make.literals([("grpc-status", "0")]), ends: true)))
        let exchange = try #require(Make.exchanges(all).first)
        #expect(exchange.informational.map(\.status) == [100, 103])
        #expect(exchange.request?.trailers.first("x-sum") == "1")
        #expect(exchange.response?.trailers.first("grpc-status") == "0")
        #expect(exchange.end == .complete && exchange.anomalies.isEmpty)
    }

    @Test func paddingPriorityAndContinuation() throws {
        let block = Make.request("POST", "/long", more: [("x", String(repeating: "y", count: 300))])
        let first: [UInt8] = [3] + [0x80, 0, 0, 0, 200] + block.prefix(20) + [0, 0, 0]
        let client =
            Make.frame(1, flags: 0x28, stream: 1, first) + Make.frame(9, stream: 1, Array(block[20..<100]))
            + Make.frame(9, flags: 4, stream: 1, Array(block[100...])) + Make.frame(2, stream: 3, [0, 0, 0, 1, 9])
            + Make.frame(0, flags: 8, stream: 1, [2, 0x61, 0x62, 0, 0]) + Make.frame(0, flags: 9, stream: 1, [0, 0x63])
            + Make.frame(8, stream: 0, [0, 0, 1, 0]) + Make.frame(6, stream: 0, [UInt8](repeating: 1, count: 8))
            + Make.frame(0x4B, flags: 0xFF, stream: 9, [1, 2, 3])
        let exchange = try #require(Make.exchanges(events(both(client, ok(1, ends: true)))).first)
        #expect(exchange.request?.target == "/long" && exchange.request?.fields.first("x")?.count == 300)
        #expect(exchange.request?.body.bytes == Array("abc".utf8))
        #expect(exchange.anomalies.isEmpty)
    }

    @Test func pushedRequestsAreNotTheDevices() throws {
        let promise = Make.frame(5, flags: 4, stream: 1, Make.number(2) + Make.request("GET", "/pushed.css"))
        let all = events(
            both(
                head(1, Make.request("GET", "/"), ends: true),
                promise + ok(1, ends: true) + ok(2) + data(2, "css", ends: true)))
        let exchanges = Make.exchanges(all)
        #expect(exchanges.map(\.isPushed) == [false, true])
        #expect(exchanges.last?.request?.target == "/pushed.css" && exchanges.last?.end == .complete)
        #expect(all.count { if case .requestStarted = $0 { true } else { false } } == 1)
    }

    // MARK: Ends

    @Test(arguments: [
        (7 as UInt32, Side.server, ExchangeEnd.unprocessed), (8, .server, .reset(by: .server, code: 8)),
        (8, .client, .reset(by: .client, code: 8)), (7, .client, .reset(by: .client, code: 7)),
    ])
    func resets(code: UInt32, side: Side, end: ExchangeEnd) {
        var inputs = both(head(1, Make.request("POST", "/")) + data(1, "abc"), [])
        inputs.append(.bytes(side, Make.frame(3, stream: 1, Make.number(code))))
        inputs.append(.bytes(.client, data(1, "late", ends: true)))
        let exchanges = Make.exchanges(events(inputs))
        #expect(exchanges.map(\.end) == [end])
        #expect(exchanges.first?.request?.body.bytes == Array("abc".utf8))
        #expect(exchanges.first?.request?.body.isComplete == false)
    }

    @Test func aCancelledRequestMayStillBeAnswered() {
        let cancel = Make.frame(3, stream: 1, Make.number(8))
        let inputs = both(
            head(1, Make.request("POST", "/")) + data(1, "abc") + cancel + data(1, "no"),
            ok(1) + data(1, "token", ends: true))
        let exchange = Make.exchanges(events(inputs)).first
        #expect(exchange?.end == .reset(by: .client, code: 8) && exchange?.ended == Make.packet(3))
        #expect(exchange?.response?.body.bytes == Array("token".utf8) && exchange?.request?.body.length == 3)
    }

    @Test func cancelledStreamsWaitForALimitedTimeAndNumber() {
        var observer = HTTP2Observer(
            connection: ConnectionID(7), scheme: "https", startSeen: true, limits: ConversationLimits(),
            firstExchangeIndex: 0)
        var output: [ConversationOutput] = []
        let cancelled = (0..<100).flatMap { number in
            let stream = UInt32(number * 2 + 1)
            return head(stream, Make.request("GET", "/"), ends: true) + Make.frame(3, stream: stream, Make.number(8))
        }
        (Self.preface + cancelled).withUnsafeBytes {
            observer.receive($0, from: .client, at: Make.packet(1), into: &output)
        }
        #expect(observer.openStreamCount == HTTP2StreamTable.cancelledLimit)
        // Three seconds later.
        Self.preface[24...].withUnsafeBytes {
            observer.receive($0, from: .client, at: Make.packet(3_001), into: &output)
        }
        #expect(observer.openStreamCount == 0 && output.count == 200)
    }

    @Test func goAwayLeavesLaterStreamsUnprocessed() {
        let goAway = Make.frame(7, stream: 0, Make.number(1) + Make.number(0) + [1, 2])
        let client = ([1, 3, 5] as [UInt32]).flatMap { head($0, Make.request("POST", "/\($0)"), ends: $0 != 5) }
        var inputs = both(client, goAway)
        inputs.append(.bytes(.client, data(5, "rest", ends: true) + head(7, Make.request("POST", "/7"), ends: true)))
        inputs.append(.bytes(.server, ok(1, ends: true)))
        let exchanges = Make.exchanges(events(inputs))
        #expect(exchanges.map(\.streamID) == [3, 5, 7, 1])
        #expect(exchanges.map(\.end) == [.unprocessed, .unprocessed, .unprocessed, .complete])
        #expect(exchanges[1].request?.body.bytes == Array("rest".utf8))
    }

    @Test func theConnectionsEndEndsOpenStreams() {
        let inputs = both(head(1, Make.request("GET", "/"), ends: true), ok(1) + data(1, "par"))
        let causes: [(ConnectionEnd.Cause, ExchangeEnd)] = [
            (.finished, .closed(by: .server)), (.reset(by: .client), .reset(by: .client, code: nil)),
            (.idle, .traceEnded), (.traceEnded, .traceEnded),
        ]
        for (cause, end) in causes {
            let exchange = Make.exchanges(events(inputs + [.finished(.server)], cause: cause)).first
            #expect(exchange?.end == end)
            #expect(exchange?.response?.body.isComplete == false)
        }
    }

    @Test func anEarlyAnswerWaitsForTheRequest() {
        let inputs =
            both(head(1, Make.request("POST", "/")) + data(1, "a"), ok(1, ends: true)) + [
                .bytes(.client, data(1, "b", ends: true))
            ]
        let exchange = Make.exchanges(events(inputs)).first
        #expect(exchange?.end == .complete && exchange?.request?.body.bytes == Array("ab".utf8))
    }

    @Test func anAnswerSeenBeforeItsRequest() {
        // Captures put the two directions in no strict order.
        let inputs: [Make.Input] = [
            .bytes(.client, Self.preface), .bytes(.server, Self.settings + ok(1) + data(1, "x", ends: true)),
            .bytes(.client, head(1, Make.request("GET", "/"), ends: true)),
        ]
        let exchanges = Make.exchanges(events(inputs))
        #expect(exchanges.count == 1 && exchanges.first?.request?.target == "/" && exchanges.first?.end == .complete)
    }

    // MARK: Tunnels and upgrades

    @Test func connectIsABlindSpot() throws {
        let connect = Make.literals([(":method", "CONNECT"), (":authority", "x.example:443")])
        let all = events(both(head(1, connect) + data(1, "tls?"), ok(1) + data(1, "tls!") + data(1, "", ends: true)))
        let exchange = try #require(Make.exchanges(all).first)
        #expect(exchange.request?.target == "x.example:443" && exchange.request?.body.length == 0)
        let spot = try #require(Make.spots(all).first)
        #expect(spot.reason == .unknownProtocol && spot.bytes == 8 && spot.exchange == exchange.id)
    }

    @Test func aWebSocketInsideAStream() throws {
        let connect = Make.literals([
            (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "https"), (":authority", "x.example"),
            (":path", "/chat"),
        ])
        let granted = [0x88] + Make.literals([("sec-websocket-version", "13")])
        // A masked text frame "hi" (mask 0), and an unmasked one.
        let hi: [UInt8] = [0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]
        let yo: [UInt8] = [0x81, 0x02, 0x79, 0x6F]
        let all = events([
            .bytes(.client, Self.preface + head(1, connect)), .bytes(.server, Self.settings + head(1, granted)),
            .bytes(
                .client, Make.frame(0, stream: 1, Array(hi[..<3])) + Make.frame(0, flags: 1, stream: 1, Array(hi[3...]))
            ),
            .bytes(.server, Make.frame(0, flags: 1, stream: 1, yo)),
        ])
        let exchange = try #require(Make.exchanges(all).first)
        #expect(
            exchange.end == .complete && exchange.request?.connectProtocol == "websocket"
                && exchange.request?.target == "/chat")
        let messages = all.compactMap { if case .message(let message) = $0 { message } else { nil } }
        #expect(messages.map(\.payload.bytes) == [Array("hi".utf8), Array("yo".utf8)])
        #expect(messages.map(\.from) == [.client, .server] && messages.allSatisfy { $0.exchange == exchange.id })
        #expect(Make.spots(all).isEmpty)
    }

    @Test func upgradeFromHTTP1() throws {
        var observer = HTTP2Observer(
            connection: ConnectionID(7), scheme: "http", startSeen: true, limits: ConversationLimits(),
            firstExchangeIndex: 4)
        let request = Request(
            method: "GET", target: "/up", scheme: "http", authority: "a.example", fields: FieldSection(),
            started: Make.packet(1), ended: Make.packet(1))
        var output: [ConversationOutput] = []
        observer.adoptUpgrade(request: request, at: Make.packet(1), into: &output)
        let all =
            output.compactMap { if case .event(let event) = $0 { event } else { nil } }
            + Make.feed(
                &observer,
                both(
                    head(3, Make.request("GET", "/3"), ends: true), ok(1) + data(1, "x", ends: true) + ok(3, ends: true)
                ))
        #expect(Make.exchanges(all).map(\.id.index) == [4, 5])
        #expect(Make.exchanges(all).first?.request?.target == "/up" && Make.exchanges(all).first?.end == .complete)
    }

    // MARK: Faults

    @Test func oddFieldsAreKeptAndTold() throws {
        let odd = Make.request("GET", "/", more: [("X-Upper", " edge "), ("connection", "close"), (":late", "1")])
        let exchange = try #require(Make.exchanges(events(both(head(1, odd, ends: true), ok(1, ends: true)))).first)
        #expect(exchange.request?.fields.values("x-upper") == [" edge "])
        for text in [
            "upper-case field name", "field value with white space at its edge", "connection-specific field",
            "pseudo-header field after regular ones", "pseudo-header field that does not belong there",
        ] {
            #expect(exchange.anomalies.contains(.malformedHead(text)), "\(text)")
        }
    }

    @Test func contentLengthThatLies() {
        let exchange = Make.exchanges(
            events(
                both(
                    head(1, Make.request("POST", "/", more: [("content-length", "9")])) + data(1, "abc", ends: true),
                    head(1, [0x88] + Make.literals([("content-length", "1")])) + data(1, "ab", ends: true)))
        ).first
        #expect(
            exchange?.anomalies == [
                .ambiguousFraming("request: content-length is 9, DATA frames held 3 bytes"),
                .ambiguousFraming("response: content-length is 1, DATA frames held 2 bytes"),
            ])
        let head = Make.exchanges(
            events(
                both(
                    self.head(1, Make.request("HEAD", "/"), ends: true),
                    self.head(1, [0x88] + Make.literals([("content-length", "100")]), ends: true)))
        ).first
        #expect(head?.anomalies == [])
    }

    @Test func malformedFramesAreToldAndSteppedOver() {
        let faults: [[UInt8]] = [
            Make.frame(0, stream: 0, [1]), Make.frame(3, stream: 1, [1, 2, 3]), Make.frame(4, stream: 0, [1, 2, 3]),
            Make.frame(4, stream: 5), Make.frame(6, stream: 0, [1]), Make.frame(8, stream: 0, [1]),
            Make.frame(9, flags: 4, stream: 1, [0x82]), Make.frame(0, flags: 8, stream: 1, [9, 1]),
            Make.frame(7, stream: 0, [1]),
            Make.frame(2, stream: 1, [1]), Make.frame(5, flags: 4, stream: 1, Make.number(3) + [0x82]),
            Make.frame(0, stream: 1, [UInt8](repeating: 0, count: 16_385)),
        ]
        for fault in faults {
            let inputs = both(head(1, Make.request("POST", "/")) + fault + data(1, "a", ends: true), ok(1, ends: true))
            let exchange = Make.exchanges(events(inputs)).first
            #expect(exchange?.end == .complete, "\(fault.prefix(12))")
            #expect(
                exchange?.anomalies.contains { if case .framingError = $0 { true } else { false } } == true,
                "\(fault.prefix(12))")
        }
    }

    @Test func aBrokenHeaderBlockMakesTheTableUnknown() {
        let client =
            head(1, Make.inserted("x-a", "1") + Make.request("GET", "/1"), ends: true)
            + head(3, [0x82, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], ends: true)
            + head(5, [0xBE] + Make.request("GET", "/5"), ends: true)
        let all = events(both(client, ([1, 3, 5] as [UInt32]).flatMap { ok($0, ends: true) }))
        let exchanges = Make.exchanges(all)
        #expect(exchanges.map { $0.request?.fields.hasUnknownFields } == [false, true, true])
        #expect(exchanges.last?.request?.target == "/5")
        #expect(Make.spots(all).map(\.reason) == [.headerTableUnknown, .headerTableUnknown])
        #expect(Make.spots(all).map(\.exchange) == exchanges.dropFirst().map(\.id))
    }

    @Test func bytesOfAnotherProtocol() {
        let all = events([
            .bytes(.client, Self.preface + head(1, Make.request("GET", "/"), ends: true)),
            .bytes(.server, Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)),
        ])
        #expect(Make.spots(all).map(\.reason) == [.unknownProtocol, .unknownProtocol])
        #expect(Make.exchanges(all).map(\.end) == [.notSeen])
        let none = events([.bytes(.client, Array("GET / HTTP/1.1\r\n\r\n".utf8))])
        #expect(Make.exchanges(none).isEmpty && Make.spots(none).first?.reason == .unknownProtocol)
    }

    // MARK: Limits

    @Test func bodiesAreKeptToTheirLimits() throws {
        var limits = ConversationLimits()
        limits.body = 10
        limits.responseBody = 4
        let all = events(
            both(
                head(1, Make.request("POST", "/")) + data(1, "0123456789ab", ends: true),
                ok(1) + data(1, "abcdef", ends: true)),
            limits: limits)
        let exchange = try #require(Make.exchanges(all).first)
        #expect(
            exchange.request?.body
                == Body(bytes: Array("0123456789".utf8), length: 12, missing: 0, isComplete: true, isCut: true))
        #expect(exchange.response?.body.bytes == Array("abcd".utf8) && exchange.response?.body.length == 6)
        #expect(Make.spots(all).map(\.reason) == [.bodyOverLimit, .bodyOverLimit])
        #expect(Make.spots(all).map(\.bytes) == [2, 2])
    }

    @Test func headerBlocksAreReadToTheirLimit() {
        var limits = ConversationLimits()
        limits.head = 1_000
        let flood = (0..<50).flatMap { _ in
            Make.frame(9, stream: 1, Make.literals([("x", String(repeating: "y", count: 100))]))
        }
        let client =
            Make.frame(1, flags: 1, stream: 1, Make.request("GET", "/1")) + flood + Make.frame(9, flags: 4, stream: 1)
            + head(3, Make.request("GET", "/3"), ends: true)
        let all = events(both(client, ok(1, ends: true) + ok(3, ends: true)), limits: limits)
        let exchanges = Make.exchanges(all)
        #expect(exchanges.map(\.request?.target) == ["/1", "/3"])
        #expect(
            exchanges.first?.request?.fields.hasUnknownFields == true && exchanges.first?.anomalies.isEmpty == false)
    }

    @Test func openStreamsAreLimited() {
        var limits = ConversationLimits()
        limits.openExchanges = 3
        let client = (0..<5).flatMap { head(UInt32($0 * 2 + 1), Make.request("GET", "/\($0)"), ends: true) }
        let all = events(both(client, []), limits: limits)
        #expect(Make.exchanges(all).map(\.streamID) == [1, 3, 5, 7, 9])
        #expect(Make.spots(all).map(\.reason) == [.stateGivenUp, .stateGivenUp])
    }

    @Test func interimResponsesAreLimited() {
        var limits = ConversationLimits()
        limits.interimResponses = 2
        let interim = (0..<5).flatMap { _ in head(1, Make.literals([(":status", "102")])) }
        let exchange = Make.exchanges(
            events(both(head(1, Make.request("GET", "/"), ends: true), interim + ok(1, ends: true)), limits: limits)
        ).first
        #expect(exchange?.informational.count == 2 && exchange?.response?.status == 200)
    }

    @Test func aFrameOf16MiBIsNotHeld() {
        var limits = ConversationLimits()
        limits.responseBody = 100
        let large = Make.frame(0, flags: 1, stream: 1, [UInt8](repeating: 7, count: 0xFF_FFFF))
        let settings = HTTP2Direction.preface + Make.frame(4, stream: 0, [0, 5] + Make.number(0xFF_FFFF))
        let all = Make.events(
            [
                .bytes(.client, settings + head(1, Make.request("GET", "/"), ends: true)),
                .bytes(.server, Self.settings + ok(1) + large),
            ], cut: .random(seed: 3), limits: limits)
        let exchange = Make.exchanges(all).first
        #expect(exchange?.response?.body.length == 0xFF_FFFF && exchange?.response?.body.bytes.count == 100)
        #expect(exchange?.anomalies == [])
    }

    @Test func endedStreamsCostNothing() {
        var observer = HTTP2Observer(
            connection: ConnectionID(7), scheme: "https", startSeen: true, limits: ConversationLimits(),
            firstExchangeIndex: 0)
        var output: [ConversationOutput] = []
        for round in 0..<5_000 {
            let stream = UInt32(round * 2 + 1)
            let client = (round == 0 ? Self.preface : []) + head(stream, Make.request("GET", "/"), ends: true)
            let server =
                (round == 0 ? Self.settings : []) + ok(stream) + data(stream, "x", ends: true) + data(stream, "late")
            client.withUnsafeBytes { observer.receive($0, from: .client, at: Make.packet(1), into: &output) }
            server.withUnsafeBytes { observer.receive($0, from: .server, at: Make.packet(2), into: &output) }
            #expect(observer.openStreamCount == 0)
        }
        #expect(output.count == 10_000)
    }
}
