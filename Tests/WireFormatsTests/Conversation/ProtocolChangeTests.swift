import SessionTrace
import Testing
import WireFormats

@Suite("ConversationObserver and HTTP/2")
struct ProtocolChangeTests {
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    static let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]

    /// A HEADERS frame that ends its stream; `block` uses entries of the static table alone.
    static func headers(_ stream: UInt8, _ block: [UInt8]) -> [UInt8] {
        [0, 0, UInt8(block.count), 1, 0x5, 0, 0, 0, stream] + block
    }

    /// `:method: GET`, `:scheme: http`, `:path: /`.
    static let get: [UInt8] = [0x82, 0x86, 0x84]
    /// `:status: 200`.
    static let ok: [UInt8] = [0x88]

    func exchanges(_ script: ConversationScript) -> [Exchange] {
        script.run().compactMap { if case .event(.exchange(let exchange)) = $0 { exchange } else { nil } }
    }

    @Test("the preface decides, the server's settings may come first")
    func priorKnowledge() {
        let script = ConversationScript(steps: [
            .server(Self.settings), .client(Self.preface + Self.settings + Self.headers(1, Self.get)),
            .server(Self.headers(1, Self.ok)), .closed(.finished),
        ])
        #expect(exchanges(script).map(\.version) == [.http2])
        #expect(exchanges(script).first?.response?.status == 200)
        #expect(script.isIndifferentToSplits)
    }

    @Test("ALPN decides; frames in the middle of a stream are recognised")
    func withoutPreface() {
        var script = ConversationScript(steps: [
            .client(Self.headers(5, Self.get)), .server(Self.headers(5, Self.ok)), .closed(.finished),
        ])
        script.startSeen = false
        #expect(exchanges(script).map(\.streamID) == [5])
        script.applicationProtocol = "h2"
        #expect(exchanges(script).map(\.streamID) == [5])
    }

    @Test("h2c: the upgrade request becomes stream 1, once")
    func upgrade() {
        let script = ConversationScript(steps: [
            .client(
                "GET /a HTTP/1.1\r\nHost: h\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n"
            ),
            .server(
                Array("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n".utf8)
                    + Self.settings + Self.headers(1, Self.ok)),
            .client(Self.preface + Self.settings + Self.headers(3, Self.get)), .server(Self.headers(3, Self.ok)),
            .closed(.finished),
        ])
        let found = exchanges(script)
        #expect(found.map(\.id.index) == [0, 1])
        #expect(found.map(\.streamID) == [1, 3])
        #expect(found.first?.informational.map(\.status) == [101])
        #expect(found.first?.request?.target == "/a")
        let starts = script.lines().filter { $0.hasPrefix("start 0") }
        #expect(starts == ["start 0 HTTP/1.1 GET /a h"])
        #expect(script.isIndifferentToSplits)
    }
}
