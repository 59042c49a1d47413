import SessionTrace
import Testing

@testable import WireFormats

private typealias Make = HTTP2Fixtures

/// Holes, starts that were not seen, and broken input (CASES rows 43, 53).
@Suite struct HTTP2LossTests {
    private static let preface = HTTP2Direction.preface + Make.frame(4, stream: 0)
    private static let settings = Make.frame(4, stream: 0)

    private func head(_ stream: UInt32, _ fields: [UInt8], ends: Bool = false) -> [UInt8] {
        Make.frame(1, flags: ends ? 5 : 4, stream: stream, fields)
    }

    private func ok(_ stream: UInt32, ends: Bool = false) -> [UInt8] { head(stream, [0x88], ends: ends) }

    private func data(_ stream: UInt32, _ text: String, ends: Bool = false) -> [UInt8] {
        Make.frame(0, flags: ends ? 1 : 0, stream: stream, Array(text.utf8))
    }

    private func events(
        _ inputs: [Make.Input], startSeen: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
    ) -> [SessionEvent] {
        let whole = Make.events(inputs, startSeen: startSeen)
        #expect(Make.events(inputs, startSeen: startSeen, cut: .octets) == whole, sourceLocation: sourceLocation)
        for seed in 1...5 as ClosedRange<UInt64> {
            let random = Make.events(inputs, startSeen: startSeen, cut: .random(seed: seed))
            #expect(random == whole, sourceLocation: sourceLocation)
        }
        return whole
    }

    // MARK: Holes

    @Test func aHoleInADataFrameCostsItsBytesAlone() throws {
        let frame = Make.frame(0, flags: 1, stream: 1, Array("0123456789".utf8))
        let next = head(3, [0xBE, 0x82, 0x87, 0x84], ends: true)
        let all = events([
            .bytes(.client, Self.preface + head(1, Make.request("POST", "/") + Make.inserted("x-a", "1"))),
            .bytes(.client, Array(frame[..<12])), .hole(.client, 4), .bytes(.client, Array(frame[16...]) + next),
            .bytes(.server, Self.settings + ok(1, ends: true) + ok(3, ends: true)),
        ])
        let exchanges = Make.exchanges(all)
        #expect(
            exchanges.first?.request?.body
                == Body(bytes: Array("012789".utf8), length: 6, missing: 4, isComplete: true, isCut: false))
        #expect(exchanges.first?.anomalies == [])
        // The table is still exact.
        #expect(exchanges.last?.request?.fields.first("x-a") == "1")
        #expect(Make.spots(all).isEmpty)
    }

    @Test func aHoleThatEndsWithItsFrame() {
        let all = events([
            .bytes(
                .client,
                Self.preface + head(1, Make.request("POST", "/"))
                    + Array(Make.frame(0, flags: 1, stream: 1, [1, 2, 3]).prefix(9))),
            .hole(.client, 3), .bytes(.client, head(3, Make.request("GET", "/3"), ends: true)),
            .bytes(.server, Self.settings + ok(1, ends: true) + ok(3, ends: true)),
        ])
        let exchanges = Make.exchanges(all)
        #expect(exchanges.map(\.end) == [.complete, .complete])
        #expect(exchanges.first?.request?.body.missing == 3)
    }

    @Test func aHoleInAHeaderBlockKeepsWhatStoodBefore() throws {
        let frame = head(1, Make.request("POST", "/secret", more: [("x-a", "1")]), ends: true)
        let all = events([
            .bytes(.client, Self.preface + frame.prefix(frame.count - 5)), .hole(.client, 5),
            .bytes(.client, head(3, [0xBE] + Make.request("GET", "/3"), ends: true)),
            .bytes(.server, Self.settings + ok(1, ends: true) + ok(3, ends: true)),
        ])
        let exchanges = Make.exchanges(all)
        #expect(exchanges.map(\.request?.target) == ["/secret", "/3"])
        #expect(exchanges.map { $0.request?.fields.hasUnknownFields } == [true, true])
        #expect(exchanges.map(\.end) == [.complete, .complete])
        #expect(Make.spots(all).count { $0.reason == .headerTableUnknown } == 2)
    }

    @Test func afterAHoleTheFramesAreFoundAgain() throws {
        let client =
            data(1, "tail of a body that was cut somewhere, with bytes that are no frame")
            + head(3, Make.request("GET", "/3"), ends: true)
            + head(5, Make.inserted("x-b", "2") + Make.request("GET", "/5"), ends: true)
            + head(7, [0xBE, 0xBF] + Make.request("GET", "/7"), ends: true) + Make.frame(8, stream: 0, [0, 0, 0, 9])
        let all = events([
            .bytes(.client, Self.preface + head(1, Make.inserted("x-a", "1") + Make.request("POST", "/1"))),
            .hole(.client, nil), .bytes(.client, Array(client.dropFirst(20))),
            .bytes(.server, Self.settings + ([1, 3, 5, 7] as [UInt32]).flatMap { ok($0, ends: true) }),
        ])
        let exchanges = Make.exchanges(all)
        #expect(exchanges.map(\.request?.target) == ["/1", "/3", "/5", "/7"])
        #expect(exchanges.map(\.end) == [.complete, .complete, .complete, .complete])
        #expect(exchanges.first?.request?.body.isWhole == false)
        let last = try #require(exchanges.last?.request?.fields)
        #expect(last.fields.map(\.isKnown) == [true, false, true, true, true, true])
        #expect(last.first("x-b") == "2")
        let dropped = Make.spots(all).first { $0.reason == .unreadableMessage }
        #expect(dropped?.bytes == 56 && dropped?.from == .client)
    }

    @Test func aShortRestIsTakenAtTheEnd() {
        // Two frames only: they end exactly where the stream ends.
        let all = events([
            .bytes(.client, Self.preface + head(1, Make.request("GET", "/1"), ends: true)),
            .bytes(.server, Self.settings), .hole(.server, 100),
            .bytes(.server, Array("rest".utf8) + ok(1) + data(1, "abc", ends: true)), .finished(.server),
        ])
        let exchange = Make.exchanges(all).first
        #expect(exchange?.end == .complete && exchange?.response?.body.bytes == Array("abc".utf8))
    }

    @Test func aLostEndIsNotSeen() {
        let all = events([
            .bytes(.client, Self.preface + head(1, Make.request("GET", "/1"), ends: true)),
            .bytes(.server, Self.settings + ok(1) + data(1, "abc")), .hole(.server, 10), .finished(.server),
        ])
        #expect(Make.exchanges(all).map(\.end) == [.notSeen])
        #expect(Make.exchanges(all).first?.response?.body.isComplete == false)
    }

    @Test func trailersOfAResponseThatWasNotSeen() {
        let rest =
            head(1, Make.literals([("grpc-status", "0")]), ends: true)
            + Make.frame(6, stream: 0, [UInt8](repeating: 0, count: 8))
            + Make.frame(4, flags: 1, stream: 0)
        let all = events([
            .bytes(.client, Self.preface + head(1, Make.request("POST", "/1"), ends: true)),
            .bytes(.server, Self.settings), .hole(.server, 60), .bytes(.server, rest),
        ])
        let response = Make.exchanges(all).first?.response
        #expect(response?.status == 0 && response?.fields.hasUnknownFields == true)
        #expect(response?.trailers.first("grpc-status") == "0" && response?.body.isComplete == false)
    }

    @Test func contentLengthProvesAWholeBodyInSpiteOfAHole() {
        let all = events([
            .bytes(
                .client,
                Self.preface + head(1, Make.request("POST", "/", more: [("content-length", "6")])) + data(1, "abc")),
            .hole(.client, 13),
            .bytes(
                .client,
                Make.frame(6, stream: 0, [UInt8](repeating: 0, count: 8)) + data(1, "def", ends: true)
                    + Make.frame(4, stream: 0)),
            .bytes(.server, Self.settings + ok(1, ends: true)),
        ])
        #expect(Make.exchanges(all).first?.request?.body.isWhole == true)
    }

    // MARK: Starts that were not seen

    @Test func joinedInTheMiddle() throws {
        let client =
            Array("…".utf8) + data(9, "x", ends: true)
            + head(11, [0xBF] + Make.request("GET", "/11") + Make.inserted("x", "y"), ends: true)
            + head(13, [0xBE, 0xBF] + Make.request("GET", "/13"), ends: true)
        let server =
            data(7, "zzz") + data(7, "end", ends: true) + ok(9, ends: true) + ok(11, ends: true) + ok(13, ends: true)
        let all = events([.bytes(.client, client), .bytes(.server, server)], startSeen: false)
        let exchanges = Make.exchanges(all)
        #expect(exchanges.map(\.streamID) == [7, 9, 11, 13])
        #expect(exchanges[0].request == nil && exchanges[0].response?.body.bytes == Array("zzzend".utf8))
        #expect(
            exchanges[0].response?.fields.hasUnknownFields == true && exchanges[0].response?.body.isComplete == false)
        #expect(exchanges[1].request?.method == "" && exchanges[1].response?.status == 200)
        #expect(exchanges[2].request?.target == "/11" && exchanges[2].request?.fields.hasUnknownFields == true)
        #expect(exchanges[3].request?.fields.fields.map(\.isKnown).prefix(2) == [true, false])
        #expect(exchanges.allSatisfy { $0.end == .complete })
    }

    @Test func aPrefaceMakesAStart() {
        let client =
            Self.preface + head(1, Make.inserted("x-a", "1") + Make.request("GET", "/"), ends: true)
            + head(3, [0xC1] + Make.request("GET", "/"), ends: true)
        let all = events([.bytes(.client, client)], startSeen: false)
        // An exact table knows that the index is wrong.
        #expect(Make.exchanges(all).last?.anomalies.isEmpty == false)
        #expect(Make.exchanges(all).first?.request?.fields.hasUnknownFields == false)
    }

    @Test func oneDirectionAlone() {
        let client = Self.preface + head(1, Make.request("POST", "/1"), ends: true)
        #expect(Make.exchanges(events([.bytes(.client, client)])).map(\.end) == [.closed(by: .server)])
        let server = ok(1) + data(1, "abc", ends: true) + ok(3, ends: true)
        let exchanges = Make.exchanges(events([.bytes(.server, server)], startSeen: false))
        #expect(exchanges.map(\.request) == [nil, nil] && exchanges.map(\.response?.status) == [200, 200])
    }

    @Test func theSearchGivesUp() {
        let noise = [UInt8](repeating: 0xFF, count: FrameSearch.budget + FrameSearch.window)
        let all = Make.events(
            [.bytes(.client, Self.preface), .hole(.client, nil), .bytes(.client, noise)], cut: .random(seed: 9))
        #expect(Make.spots(all).map(\.reason).contains(.unknownProtocol))
        // Within its window it takes late frames still.
        let late =
            [UInt8](repeating: 0xFF, count: FrameSearch.window * 3) + ok(1) + data(1, "abc")
            + data(1, "def", ends: true)
        let found = Make.events([.bytes(.server, late)], startSeen: false, cut: .random(seed: 9))
        #expect(Make.exchanges(found).first?.response?.body.bytes == Array("abcdef".utf8))
    }

    // MARK: Never a trap

    @Test func mutationsAndHolesNeverTrap() {
        var generator = SplitGenerator(state: 21)
        let request = Make.request("POST", "/p", more: [("content-length", "3")])
        let client: [UInt8] =
            Self.preface + head(1, request + Make.inserted("x", "y")) + data(1, "abc", ends: true)
            + Make.frame(1, flags: 0x29, stream: 3, [1, 0, 0, 0, 1, 1] + request.prefix(30))
            + Make.frame(9, flags: 4, stream: 3, Array(request[29...]))
            + head(5, [0xBE] + request, ends: true) + Make.frame(8, stream: 0, [0, 0, 0, 1])
        let server: [UInt8] =
            Self.settings + Make.frame(5, flags: 4, stream: 1, Make.number(2) + request) + ok(1)
            + data(1, "abc", ends: true)
            + ok(2, ends: true) + ok(3, ends: true) + Make.frame(3, stream: 5, Make.number(8))
            + Make.frame(7, stream: 0, [UInt8](repeating: 0, count: 8))
        for _ in 0..<4_000 {
            var inputs: [Make.Input] = []
            for (side, original) in [(Side.client, client), (.server, server)] {
                var bytes = original
                for _ in 0..<Int.random(in: 0...5, using: &generator) {
                    bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(
                        in: 0...255, using: &generator)
                }
                let cut = Int.random(in: 0...bytes.count, using: &generator)
                inputs.append(.bytes(side, Array(bytes[..<cut])))
                if Bool.random(using: &generator) {
                    let length = Int.random(in: 0...40, using: &generator)
                    inputs.append(.hole(side, Bool.random(using: &generator) ? length : nil))
                    bytes.removeSubrange(cut..<min(bytes.count, cut + length))
                }
                inputs.append(.bytes(side, Array(bytes[min(cut, bytes.count)...])))
                if Bool.random(using: &generator) { inputs.append(.finished(side)) }
            }
            let startSeen = Bool.random(using: &generator)
            let whole = Make.events(inputs, startSeen: startSeen)
            let random = Make.events(inputs, startSeen: startSeen, cut: .random(seed: generator.next() | 1))
            #expect(whole == random)
        }
    }
}
