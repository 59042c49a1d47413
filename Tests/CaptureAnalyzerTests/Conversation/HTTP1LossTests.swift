import SessionTrace
import Testing
import WireFormats

@testable import CaptureAnalyzer

/// Every packet of an HTTP/1.1 connection with several exchanges lost in turn: an answer is held against its own request,
/// or against none.
@Suite("HTTP/1 with lost packets")
struct HTTP1LossTests {
    /// How the peer acknowledges data.
    enum Acknowledgement: CaseIterable {
        /// At once, in a packet of its own.
        case atOnce
        /// With the next data of its own alone.
        case withData
        /// In a packet of its own, after every second one.
        case everySecond
    }

    private static let count = 5

    /// Requests and answers `0` to `4` in turn, each in two segments where `isSplit`, and both FINs.
    private static func conversation(_ acknowledgement: Acknowledgement, isSplit: Bool) -> MadeConversation {
        var conversation = MadeConversation()
        conversation.segments = [
            MadeSegment(side: .client, offset: -1, flags: .syn),
            MadeSegment(side: .server, offset: -1, flags: [.syn, .ack]), MadeSegment(side: .client, offset: 0),
        ]
        var sent: [Side: Int] = [.client: 0, .server: 0]
        var acknowledged: [Side: Int] = [.client: 0, .server: 0]
        var packets = 0
        func send(_ parts: [String], from side: Side) {
            for bytes in parts.map({ Array($0.utf8) }) {
                acknowledged[side] = sent[side.peer, default: 0]
                conversation.segments.append(
                    MadeSegment(
                        side: side, offset: sent[side, default: 0], bytes: bytes,
                        acknowledges: acknowledged[side, default: 0]))
                sent[side, default: 0] += bytes.count
                packets += 1
                guard acknowledgement == .atOnce || acknowledgement == .everySecond && packets % 2 == 0 else {
                    continue
                }
                conversation.segments.append(
                    MadeSegment(
                        side: side.peer, offset: sent[side.peer, default: 0], acknowledges: sent[side, default: 0]))
            }
        }
        for number in 0..<count {
            let request = ["POST /\(number) HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\n", "body"]
            let answer = ["HTTP/1.1 200 OK\r\nX-For: \(number)\r\nContent-Length: 6\r\n\r\n", "answer"]
            send(isSplit ? request : [request.joined()], from: .client)
            send(isSplit ? answer : [answer.joined()], from: .server)
        }
        let (client, server) = (sent[.client, default: 0], sent[.server, default: 0])
        conversation.segments += [
            MadeSegment(side: .client, offset: client, flags: [.fin, .ack], acknowledges: server),
            MadeSegment(side: .server, offset: server, flags: [.fin, .ack], acknowledges: client + 1),
            MadeSegment(side: .client, offset: client + 1, acknowledges: server + 1),
        ]
        return conversation
    }

    /// What is read of a conversation without some of its packets.
    private static func exchanges(of conversation: MadeConversation, without lost: Set<Int>) -> [Exchange] {
        var sink = ConversationSink()
        var table = ConnectionTable()
        for (index, segment) in conversation.segments.enumerated() where !lost.contains(index) {
            conversation.feed(
                segment, number: index + 1, time: Instant(nanoseconds: 1_000_000_000 + Int64(index) * 1_000_000),
                into: &sink, table: &table)
        }
        table.finish(into: &sink)
        return sink.exchanges
    }

    /// The numbers of requests that were paired with an answer, and of those answers.
    private static func pairs(_ exchanges: [Exchange]) -> [(request: String, answer: String)] {
        exchanges.compactMap { exchange in
            guard let request = exchange.request, let answer = exchange.response?.fields.first("x-for") else {
                return nil
            }
            return (String(request.target.dropFirst()), answer)
        }
    }

    @Test("each packet", arguments: Acknowledgement.allCases, [false, true])
    func eachPacket(acknowledgement: Acknowledgement, isSplit: Bool) {
        let conversation = Self.conversation(acknowledgement, isSplit: isSplit)
        #expect(Self.pairs(Self.exchanges(of: conversation, without: [])).map(\.request) == ["0", "1", "2", "3", "4"])
        for lost in conversation.segments.indices {
            let exchanges = Self.exchanges(of: conversation, without: [lost])
            let pairs = Self.pairs(exchanges)
            #expect(pairs.allSatisfy { $0.request == $0.answer }, "without packet \(lost + 1): \(pairs)")
            // What lost nothing is whole, and what has no end was not seen to end.
            #expect(pairs.count >= Self.count - 1, "without packet \(lost + 1): \(pairs)")
            for exchange in exchanges where exchange.response == nil {
                #expect(exchange.end == .notSeen, "without packet \(lost + 1)")
            }
        }
    }
}
