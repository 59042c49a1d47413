import SessionTrace
import Testing

@testable import HandoffProxy

/// A guide that withholds what a browser asks, and remembers what it was asked.
private final class StubGuide: JourneyGuide {
    func mayWithhold(_ connection: JourneyConnection) -> Bool { true }

    func decide(_ connection: JourneyConnection, first request: Request?) -> JourneyDecision {
        guard let request else { return .withhold(attributes: ["actor": "unknown"]) }
        return request.fields.first("user-agent") == "browser" ? .withhold(attributes: ["actor": "browser"]) : .record
    }

    func attributes(of exchange: Exchange, on connection: JourneyConnection) async -> [String: String] { [:] }
}

/// Heads in, verdict and pairs of heads out; whole, a byte at a time, and over the limits.
@Suite struct JourneyWatchTests {
    private static let connection = JourneyConnection(
        client: Endpoint(address: IPAddress(ipv4: 0x0A00_0002), port: 40_000), serverName: HostName("chia.health"))

    private static func instant(_ milliseconds: Int64) -> Instant {
        Instant(nanoseconds: 1_795_000_000_000_000_000 + milliseconds * 1_000_000)
    }

    private static func watch(_ alpn: String? = nil) -> JourneyWatch {
        var connection = connection
        connection.applicationProtocol = alpn
        return JourneyWatch(guide: StubGuide(), connection: connection)
    }

    /// Feeds text in pieces of `size` and gives the last verdict.
    @discardableResult
    private static func feed(
        _ watch: inout JourneyWatch, _ bytes: some Sequence<UInt8>, from side: Side, at time: Int64 = 0,
        size: Int = .max
    ) -> JourneyWatch.Verdict {
        let bytes = Array(bytes)
        var verdict = JourneyWatch.Verdict.wait
        var start = 0
        while start < bytes.count {
            let end = start + min(size, bytes.count - start)
            verdict = bytes[start..<end].withUnsafeBytes { watch.receive($0, from: side, at: instant(time)) }
            start = end
        }
        return verdict
    }

    @Test(arguments: [1, 7, Int.max]) func theFirstHeadDecides(size: Int) {
        var app = Self.watch()
        #expect(Self.feed(&app, "GET / HTTP/1.1\r\nHost: chia.hea".utf8, from: .client, size: size) == .wait)
        #expect(Self.feed(&app, "lth\r\nUser-Agent: okhttp\r\n\r\n".utf8, from: .client, size: size) == .record)
        #expect(Self.feed(&app, "HTTP/1.1 204 No Content\r\n\r\n".utf8, from: .server) == .record)
        let none = app.takeExchanges()
        #expect(none.isEmpty, "what is recorded whole needs no heads")

        var browser = Self.watch()
        let head = "GET /h/x HTTP/1.1\r\nHost: chia.health\r\nUser-Agent: browser\r\n\r\n"
        let verdict = Self.feed(&browser, head.utf8, from: .client, at: 5, size: size)
        #expect(verdict == .withhold(attributes: ["actor": "browser"]))
        let early = browser.takeExchanges()
        #expect(early.isEmpty, "the answer has not come")
        Self.feed(&browser, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret".utf8, from: .server, at: 9, size: size)
        let exchanges = browser.takeExchanges()
        #expect(exchanges.count == 1)
        #expect(exchanges.first?.request?.target == "/h/x" && exchanges.first?.response?.status == 200)
        #expect(exchanges.first?.response?.body.bytes.isEmpty == true, "no content is kept")
        #expect(exchanges.first?.request?.started.time == Self.instant(5))
        #expect(exchanges.first?.ended.time == Self.instant(9))
        let late = browser.takeExchanges()
        #expect(late.isEmpty)
    }

    @Test func everyRequestOfAWithheldConnectionIsAPair() {
        var watch = Self.watch()
        let head = "GET /%d HTTP/1.1\r\nHost: chia.health\r\nUser-Agent: browser\r\n\r\n"
        for number in 0..<3 {
            Self.feed(&watch, head.replacing("%d", with: String(number)).utf8, from: .client)
            Self.feed(&watch, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8, from: .server)
        }
        Self.feed(&watch, head.replacing("%d", with: "3").utf8, from: .client)
        _ = watch.closed(.reset(by: .server), at: Self.instant(20))
        let exchanges = watch.takeExchanges()
        #expect(exchanges.map { $0.request?.target } == ["/0", "/1", "/2", "/3"])
        #expect(exchanges.map(\.id.index) == [0, 1, 2, 3])
        #expect(exchanges.last?.response == nil && exchanges.last?.end == .reset(by: .server, code: nil))
    }

    @Test func aConnectionWithoutAWordIsRecorded() {
        var watch = Self.watch("h2")
        let finished = watch.finished(.client, at: Self.instant(1))
        let closed = watch.closed(.finished, at: Self.instant(2))
        #expect(finished == .wait && closed == .record)
    }

    @Test func anHTTP2PrefaceAloneDecidesNothing() {
        var watch = Self.watch("h2")
        let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]
        #expect(Self.feed(&watch, preface, from: .client) == .wait)
        let closed = watch.closed(.finished, at: Self.instant(2))
        #expect(closed == .withhold(attributes: ["actor": "unknown"]))
    }

    @Test func anHTTP2HeadDecides() {
        var watch = Self.watch("h2")
        let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]
        #expect(Self.feed(&watch, preface, from: .client) == .wait)
        // :method GET, :scheme https, :path /, :authority a, user-agent browser: literals and the static table (RFC 7541).
        let block: [UInt8] =
            [0x82, 0x87, 0x84, 0x41, 1] + Array("a".utf8) + [0x0F, 0x2B, 7] + Array("browser".utf8)
        let headers: [UInt8] = [0, 0, UInt8(block.count), 1, 5, 0, 0, 0, 1]
        #expect(Self.feed(&watch, headers, from: .client) == .wait)
        #expect(Self.feed(&watch, block, from: .client) == .withhold(attributes: ["actor": "browser"]))
        Self.feed(&watch, [0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 1, 1, 5, 0, 0, 0, 1, 0x88], from: .server)
        let exchanges = watch.takeExchanges()
        #expect(exchanges.map { $0.response?.status } == [200])
    }

    @Test func bytesThatAreNoRequestAreAskedAboutAtTheLimit() {
        var watch = Self.watch()
        let noise = [UInt8](repeating: 0xFF, count: JourneyWatch.undecidedLimit)
        #expect(Self.feed(&watch, noise, from: .client) == .wait)
        #expect(Self.feed(&watch, [0xFF], from: .client) == .withhold(attributes: ["actor": "unknown"]))
    }

    @Test func givesUpWaitingOnce() {
        var watch = Self.watch()
        guard case .withhold(let attributes) = watch.overLimit() else {
            Issue.record("a connection that can't wait is withheld")
            return
        }
        #expect(attributes["host"] == "chia.health")
        let again = watch.overLimit()
        let closed = watch.closed(.finished, at: Self.instant(1))
        #expect(again == .withhold(attributes: attributes) && closed == again)
    }

    @Test func exchangesThatNobodyTakesAreCounted() {
        var watch = Self.watch()
        for _ in 0..<(JourneyWatch.exchangeLimit + 2) {
            Self.feed(
                &watch, "GET / HTTP/1.1\r\nHost: a\r\nUser-Agent: browser\r\n\r\n".utf8, from: .client)
            Self.feed(&watch, "HTTP/1.1 204 No\r\n\r\n".utf8, from: .server)
        }
        #expect(watch.lostExchanges == 2)
        let exchanges = watch.takeExchanges()
        #expect(exchanges.count == JourneyWatch.exchangeLimit)
    }
}

/// What waits is written whole, or cut down to the handshake without its secrets.
@Suite struct JourneyHoldTests {
    private static let time = Instant(nanoseconds: 1)

    private static func filled() -> JourneyHold {
        var hold = JourneyHold()
        for piece in pieces.prefix(3) { _ = hold.append(piece) }
        hold.handshakeEnded()
        for piece in pieces.dropFirst(3) { _ = hold.append(piece) }
        return hold
    }

    private static let pieces: [JourneyHold.Piece] = [
        .sent([2], at: time), .secrets([1]), .received([3], at: time), .received([4], at: time),
        .acknowledged(1, includingFinish: false, at: time), .sent([5], at: time),
    ]

    @Test func givesEverythingInOrder() {
        var hold = Self.filled()
        let all = hold.takeAll()
        let rest = hold.takeAll()
        #expect(all == Self.pieces && rest.isEmpty)
    }

    @Test func givesTheHandshakeWithoutSecrets() {
        var hold = Self.filled()
        let handshake = hold.takeHandshake()
        let rest = hold.takeAll()
        #expect(handshake == [.sent([2], at: Self.time), .received([3], at: Self.time)])
        #expect(rest.isEmpty, "the rest is forgotten")
    }

    @Test func anUnfinishedHandshakeIsAllHandshake() {
        var hold = JourneyHold()
        _ = hold.append(.sent([2], at: Self.time))
        _ = hold.append(.secrets([9]))
        let handshake = hold.takeHandshake()
        #expect(handshake == [.sent([2], at: Self.time)])
    }

    @Test func saysWhenNothingMoreMayWait() {
        var hold = JourneyHold()
        let answers = [
            hold.append(.received([UInt8](repeating: 0, count: JourneyHold.limit - 128), at: Self.time)),
            hold.append(.secrets([])), hold.append(.secrets([1])),
        ]
        #expect(answers == [true, true, false])
    }
}
