import SessionTrace
import Testing
import WireFormats

@Suite("WebSocketObserver")
struct WebSocketObserverTests {
    typealias Step = ConversationScript.Step

    /// A frame as RFC 6455 §5.2 draws it.
    static func frame(
        _ opcode: UInt8, _ payload: [UInt8], final: Bool = true, reserved: UInt8 = 0, mask: [UInt8]? = nil
    ) -> [UInt8] {
        var bytes = [(final ? 0x80 : 0) | reserved << 4 | opcode]
        let flag: UInt8 = mask == nil ? 0 : 0x80
        switch payload.count {
        case ..<126: bytes.append(flag | UInt8(payload.count))
        case ..<65_536: bytes += [flag | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        default: bytes += [flag | 127] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
        }
        guard let mask else { return bytes + payload }
        return bytes + mask + payload.enumerated().map { $1 ^ mask[$0 % 4] }
    }

    static func text(_ text: String, final: Bool = true, mask: [UInt8]? = nil) -> [UInt8] {
        frame(1, Array(text.utf8), final: final, mask: mask)
    }

    static func upgrade(_ extensions: String? = nil) -> [Step] {
        let agreed = extensions.map { "Sec-WebSocket-Extensions: \($0)\r\n" } ?? ""
        return [
            .client("GET /ws HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"),
            .server("HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\n\(agreed)\r\n"),
        ]
    }

    static let opening = ["start 0 HTTP/1.1 GET /ws h", "exchange 0 GET /ws [] 1-1 101 [] 2-2 complete"]
    static let mask: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]

    func check(
        _ steps: [Step], extensions: String? = nil, limits: ConversationLimits = ConversationLimits(),
        _ expected: [String]
    ) {
        var script = ConversationScript(steps: Self.upgrade(extensions) + steps)
        script.limits = limits
        #expect(script.lines() == Self.opening + expected)
        #expect(script.isIndifferentToSplits)
    }

    @Test("messages of both sides, masked and not, of every length form")
    func messages() {
        let long = [UInt8](repeating: 0x61, count: 70_000)
        check(
            [
                .client(Self.text("Hello", mask: Self.mask)),
                .server(Self.text("") + Self.frame(2, [UInt8](repeating: 1, count: 300))),
                .client(Self.frame(2, long, mask: Self.mask)),
            ],
            [
                "client text [Hello] frames 1 packets 3-3", "server text [] frames 1 packets 4-4",
                "server binary [300 bytes] frames 1 packets 4-4", "client binary [70000 bytes] frames 1 packets 5-5",
            ])
    }

    @Test("fragments with control frames between them, and a close")
    func fragments() {
        check(
            [
                .client(Self.text("Hel", final: false, mask: Self.mask)),
                .client(Self.frame(9, [1, 2], mask: Self.mask)),
                .client(Self.frame(0, Array("lo".utf8), mask: [0, 0, 0, 0])),
                .server(Self.frame(10, [0x31])), .server(Self.frame(8, [3, 0xE8, 0x62, 0x79])),
            ],
            [
                "client ping [\u{1}\u{2}] frames 1 packets 4-4", "client text [Hello] frames 2 packets 3-5",
                "server pong [1] frames 1 packets 6-6", "server close [\u{3}\u{FFFD}by] frames 1 packets 7-7",
            ])
    }

    @Test("bytes that overtake the answer belong to the WebSocket")
    func early() {
        var steps = Self.upgrade()
        steps.insert(.client(Self.text("first", mask: Self.mask)), at: 1)
        let lines = ConversationScript(steps: steps).lines()
        #expect(lines.last == "client text [first] frames 1 packets 2-2")
    }

    /// "Hello" compressed, and compressed again with the window of the first (RFC 7692 §7.2.3).
    static let hello: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
    static let helloAgain: [UInt8] = [0xF2, 0x00, 0x11, 0x00, 0x00]

    @Test("permessage-deflate: context kept by one side, forgotten by the other")
    func deflate() {
        check(
            [
                .client(Self.frame(1, Self.hello, reserved: 4, mask: Self.mask)),
                .client(Self.frame(1, Self.helloAgain, reserved: 4, mask: Self.mask)),
                .server(Self.frame(1, Array(Self.hello[..<3]), final: false, reserved: 4)),
                .server(Self.frame(0, Array(Self.hello[3...]))), .server(Self.frame(1, Self.hello, reserved: 4)),
                .server(Self.text("plain")), .server(Self.frame(1, Self.helloAgain, reserved: 4)),
            ],
            extensions: "permessage-deflate; server_no_context_takeover; client_max_window_bits=15",
            [
                "client text [Hello] frames 1 packets 3-3", "client text [Hello] frames 1 packets 4-4",
                "server text [Hello] frames 2 packets 5-6", "server text [Hello] frames 1 packets 7-7",
                "server text [plain] frames 1 packets 8-8", "blind undecodable-content server -",
                "server text [H]… frames 1 packets 9-9",
            ])
    }

    @Test("a message over the limit is cut, and the next is whole")
    func limit() {
        var limits = ConversationLimits()
        limits.message = 3
        check(
            [
                .client(Self.frame(1, Self.hello, reserved: 4, mask: Self.mask)),
                .client(Self.frame(1, Self.helloAgain, reserved: 4, mask: Self.mask)),
                .client(Self.text("four", mask: Self.mask)), .client(Self.text("abc", mask: Self.mask)),
            ],
            extensions: "permessage-deflate", limits: limits,
            [
                "client text [Hel]/5 frames 1 packets 3-3", "blind body-over-limit client 2",
                "client text [Hel]/5 frames 1 packets 4-4", "blind body-over-limit client 2",
                "client text [fou]/4 frames 1 packets 5-5", "blind body-over-limit client 1",
                "client text [abc] frames 1 packets 6-6",
            ])
    }

    @Test("a hole inside a payload costs its bytes; any other ends the direction")
    func holes() {
        let frame = Self.text("abcdef", mask: Self.mask)
        check(
            [
                .client(Array(frame[..<8])), .hole(.client, 3), .client(Array(frame[11...])),
                .client(Self.text("next", mask: Self.mask)), .hole(.client, 4),
                .client(Self.text("lost", mask: Self.mask)),
                .server(Self.text("other side")), .closed(.finished),
            ],
            [
                "client text [abf]-3 frames 1 packets 3-5", "client text [next] frames 1 packets 6-6",
                "blind unreadable-message client -", "server text [other side] frames 1 packets 9-9",
                "blind unreadable-message client 10",
            ])
    }

    @Test("what RFC 6455 does not allow ends the direction")
    func protocolErrors() {
        let wrong: [[UInt8]] = [
            Self.frame(3, []), Self.frame(1, [], reserved: 4), Self.frame(9, [], final: false), Self.frame(0, []),
            Self.frame(9, [UInt8](repeating: 0, count: 126)), Self.text("a", final: false) + Self.text("b"),
        ]
        for bytes in wrong {
            let lines = ConversationScript(steps: Self.upgrade() + [.server(bytes + Self.text("never"))]).lines()
            #expect(lines.contains("blind unreadable-message server -"))
            #expect(!lines.contains { $0.contains("never") })
        }
    }

    @Test("an open message is handed out at the end")
    func openEnd() {
        check(
            [.server(Self.text("begun", final: false)), .closed(.reset(by: .client))],
            ["server text [begun]… frames 1 packets 3-4"])
    }

    @Test("mutated frames never trap")
    func mutations() {
        let good =
            Self.frame(1, Self.hello, reserved: 4, mask: Self.mask) + Self.text("x", final: false) + Self.frame(9, [1])
            + Self.frame(0, [2]) + Self.frame(2, [UInt8](repeating: 7, count: 200))
        for _ in 0..<500 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...4) { bytes[Int.random(in: 0..<bytes.count)] = .random(in: 0...255) }
            let script = ConversationScript(
                steps: Self.upgrade("permessage-deflate") + [
                    .client(bytes), .hole(.client, 3), .client(bytes), .closed(.idle),
                ])
            #expect(script.run() == script.run(.every(1)))
        }
    }
}
