import SessionTrace
import Testing

@testable import HandoffProxy

@Suite struct UpstreamProxyClientTests {
    /// Plays `answers` to what is sent, never more bytes at once than asked for; the origin's bytes must stay.
    private func play(
        _ url: String, _ goal: Destination, answers: [[UInt8]], origin: [UInt8] = Array("hello".utf8),
        atMost: Int = 1_000
    ) throws -> (sent: [[UInt8]], last: UpstreamProxyClient.Step, rest: [UInt8], failure: DialFailure) {
        var client = UpstreamProxyClient(proxy: try #require(UpstreamProxy(url)), goal: goal)
        var sent: [[UInt8]] = []
        var answers = answers
        var rest: [UInt8] = []
        while true {
            switch client.next() {
            case .send(let bytes):
                sent.append(bytes)
                if !answers.isEmpty { rest += answers.removeFirst() }
                if answers.isEmpty { rest += origin }
            case .read(let count):
                #expect(count > 0)
                let taken = min(count, atMost, rest.count)
                if taken == 0 {
                    client.ended()
                } else {
                    client.feed(rest.prefix(taken))
                    rest.removeFirst(taken)
                }
            case let last: return (sent, last, rest, client.failure)
            }
        }
    }

    private static let goal = Destination(.of("2001:db8::1", 443), kind: .connect)

    @Test(arguments: [1, 2, 1_000]) func http(atMost: Int) throws {
        for head in [
            "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.0 200 OK\r\nA: b\r\n\r\n", "HTTP/1.1 200 OK\nA: b\n\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nX: y\r\n\r\n",
        ] {
            let played = try play("http://u:p@h:1", Self.goal, answers: [Array(head.utf8)], atMost: atMost)
            #expect(played.last == .connected)
            #expect(played.rest == Array("hello".utf8))
            let request = String(decoding: played.sent[0], as: UTF8.self)
            #expect(request.hasPrefix("CONNECT [2001:db8::1]:443 HTTP/1.1\r\nHost: [2001:db8::1]:443\r\n"))
            #expect(request.contains("Proxy-Authorization: Basic dTpw\r\n"))
        }
    }

    @Test func httpRefusals() throws {
        for (head, words) in [
            ("HTTP/1.1 407 No\r\n\r\n", "407"), ("HTTP/1.1 503 No\r\n\r\n", "503"), ("nonsense\r\n\r\n", "no HTTP"),
            ("HTTP/1.1 2", "closed"),
        ] {
            let played = try play("http://h:1", Self.goal, answers: [Array(head.utf8)], origin: [])
            #expect(played.last == .failed)
            #expect(played.failure.sentence.contains(words))
        }
        let long = try play("http://h:1", Self.goal, answers: [[UInt8](repeating: 0x61, count: 17_000)])
        #expect(long.failure.sentence.contains("\(UpstreamProxyClient.headLimit)"))
    }

    @Test(arguments: [1, 1_000]) func socks(atMost: Int) throws {
        let host = try #require(HostName("a.test"))
        let played = try play(
            "socks5://u:pw@h:1", Destination(host: host, port: 80, kind: .connect),
            answers: [[5, 2], [1, 0], [5, 0, 0, 3, 2, 0x61, 0x62, 0, 1]], atMost: atMost)
        #expect(played.last == .connected)
        #expect(played.rest == Array("hello".utf8))
        #expect(
            played.sent == [
                [5, 2, 0, 2], [1, 1, 0x75, 2, 0x70, 0x77], [5, 1, 0, 3, 6] + Array("a.test".utf8) + [0, 80],
            ])
    }

    @Test func socksRefusals() throws {
        let refused = try play(
            "socks5://h:1", Self.goal, answers: [[5, 0], [5, 5, 0, 1, 0, 0, 0, 0, 0, 0]], origin: [])
        #expect(refused.failure.kind == .connectionRefused)
        #expect(try play("socks5://h:1", Self.goal, answers: [[5, 0xFF]]).failure.sentence.contains("authenticate"))
        #expect(
            try play("socks5://u:p@h:1", Self.goal, answers: [[5, 2], [1, 9]]).failure.sentence.contains("password"))
    }
}
