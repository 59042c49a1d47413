import Crypto
import Foundation
import Testing

@testable import HandoffProxy

/// A conversation whose every byte is known: who sends what, and after what.
struct Dialogue: Sendable, CustomTestStringConvertible {
    enum Step: Sendable {
        case device(String)
        case origin(String)
        /// Bytes that are no text, both ways.
        case deviceBytes([UInt8])
        case originBytes([UInt8])
        /// The end of a direction.
        case deviceEnds
        case originEnds
    }

    var name: String
    var steps: [Step]

    var testDescription: String { name }

    init(_ name: String, _ steps: [Step]) {
        self.name = name
        self.steps = steps
    }

    func bytes(fromDevice: Bool) -> [UInt8] {
        steps.flatMap { step -> [UInt8] in
            switch step {
            case .device(let text): fromDevice ? Array(text.utf8) : []
            case .origin(let text): fromDevice ? [] : Array(text.utf8)
            case .deviceBytes(let bytes): fromDevice ? bytes : []
            case .originBytes(let bytes): fromDevice ? [] : bytes
            case .deviceEnds, .originEnds: []
            }
        }
    }

    /// Plays one side on `channel`: sends its own steps, and before each waits for what the other side sent earlier.
    /// Everything received, and whether an end came after it.
    func play(asDevice: Bool, on channel: some DialogueChannel) -> Heard {
        var heard = Heard()
        var due = 0
        var isOver = false
        func wait() {
            while heard.bytes.count < due || (isOver && !heard.isEnded) {
                guard let piece = channel.hear() else {
                    heard.isReset = true
                    return
                }
                if piece.isEmpty {
                    heard.isEnded = true
                    return
                }
                heard.bytes += piece
            }
        }
        for step in steps {
            switch step {
            case .device(let text): asDevice ? say(Array(text.utf8)) : expect(text.utf8.count)
            case .origin(let text): asDevice ? expect(text.utf8.count) : say(Array(text.utf8))
            case .deviceBytes(let bytes): asDevice ? say(bytes) : expect(bytes.count)
            case .originBytes(let bytes): asDevice ? expect(bytes.count) : say(bytes)
            case .deviceEnds: if asDevice { wait(); channel.finish() } else { isOver = true }
            case .originEnds: if asDevice { isOver = true } else { wait(); channel.finish() }
            }
        }
        isOver = true
        wait()
        return heard

        func say(_ bytes: [UInt8]) {
            wait()
            channel.say(bytes)
        }
        func expect(_ count: Int) { due += count }
    }

    /// What a side got.
    struct Heard: Equatable, Sendable {
        var bytes: [UInt8] = []
        /// An orderly end.
        var isEnded = false
        var isReset = false
    }
}

/// Bytes both ways, TLS or not.
protocol DialogueChannel {
    func say(_ bytes: [UInt8])
    /// Some bytes; empty at the orderly end, nil at any other.
    func hear() -> [UInt8]?
    func finish()
}

extension BlockingSocket: DialogueChannel {
    func say(_ bytes: [UInt8]) { write(bytes) }
    func hear() -> [UInt8]? { read() }
    func finish() { finishWriting() }
}

extension TLSPeer: DialogueChannel {
    func say(_ bytes: [UInt8]) { send(bytes) }

    func hear() -> [UInt8]? {
        switch receive() {
        case .bytes(let bytes): bytes
        case .closeNotify: []
        case .finished, .reset, .failed: nil
        }
    }

    func finish() {
        closeNotify()
        socket.finishWriting()
    }
}

extension Dialogue {
    /// A conversation a line of the protocols that are relayed.
    static let all = [
        Dialogue(
            "HTTP/1.0, ended by the close",
            [
                .device("GET / HTTP/1.0\r\n\r\n"), .origin("HTTP/1.0 200 OK\r\nServer: old\r\n\r\nuntil the end"),
                .originEnds, .deviceEnds,
            ]),
        Dialogue(
            "keep-alive",
            (1...4).flatMap {
                [
                    Step.device("GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n"),
                    .origin("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\($0)"),
                ]
            } + [.deviceEnds, .originEnds]),
        Dialogue(
            "pipelining",
            [
                .device(
                    "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\nHEAD /3 HTTP/1.1\r\nHost: a"),
                .device("\r\n\r\n"),
                .origin("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\noneHTTP/1.1 204 No Content\r\n\r\n"),
                .origin("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"), .deviceEnds, .originEnds,
            ]),
        Dialogue(
            "chunks and trailers both ways",
            [
                .device("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"),
                .device("5;ext=\"a;b\"\r\nhello\r\n0A\r\n0123456789\r\n0\r\nX-Sum: 1\r\nx-SUM:  2 \r\n\r\n"),
                .origin("HTTP/1.1 200 OK\r\ntransfer-encoding:chunked\r\nTrailer: grpc-status\r\n\r\n3\r\nabc\r\n"),
                .origin("00\r\ngrpc-status: 0\r\n\r\n"), .deviceEnds, .originEnds,
            ]),
        Dialogue(
            "every 1xx",
            [
                .device("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"),
                .origin("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"),
                .origin("HTTP/1.1 102 Processing\r\n\r\n"),
                .origin("HTTP/1.1 100 Continue\r\n\r\n"), .device("ok"),
                .origin("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .originEnds,
                .deviceEnds,
            ]),
        Dialogue(
            "an expectation that fails",
            [
                .device("PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1000000\r\n\r\n"),
                .origin("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno"),
                .device("GET /next HTTP/1.1\r\nHost: a\r\n\r\n"),
                .origin("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\nETag: W/\"x\"\r\n\r\n"), .deviceEnds,
                .originEnds,
            ]),
        Dialogue(
            "odd header fields",
            [
                .device("GET  /two  spaces HTTP/1.1\nHOST:a\r\nhost:  b \t\r\nX-Fold: a\r\n b\r\ncookie: 1\r\n"),
                .device("Cookie: 2\r\nProxy-Authorization: Basic x\r\nX_Under-SCORE:\t\u{e9}\r\nEmpty:\r\n\r\n"),
                .origin(
                    "http/1.1  200\r\nset-cookie: a\r\nSet-Cookie: a\r\nSET-COOKIE: b\r\nContent-Length : 0\r\n\r\n"),
                .originEnds, .deviceEnds,
            ]),
        Dialogue(
            "two lengths and chunks: two readings, one relay",
            [
                .device(
                    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nX"),
                .origin("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"), .originEnds, .deviceEnds,
            ]),
        // The frames are those of RFC 7692 §7.2.3: "Hello" deflated, then again from the context kept.
        Dialogue(
            "WebSocket with permessage-deflate",
            [
                .device("GET /chat HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"),
                .device("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"),
                .device("Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n\r\n"),
                .origin("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"),
                .origin("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"),
                .origin("Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"),
                .originBytes([0xC1, 0x07, 0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]),
                .originBytes([0xC1, 0x05, 0xF2, 0x00, 0x11, 0x00, 0x00]),
                .deviceBytes([0xC1, 0x87, 0, 0, 0, 0, 0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]),
                .originBytes([0x89, 0x00]), .deviceBytes([0x8A, 0x80, 1, 2, 3, 4]),
                .deviceBytes([0x88, 0x82, 0, 0, 0, 0, 3, 232]), .originBytes([0x88, 0x02, 3, 232]), .originEnds,
                .deviceEnds,
            ]),
        Dialogue(
            "the server speaks first",
            [
                .origin("220 mail ready\r\n"), .device("EHLO a\r\n"), .origin("250 hello\r\n"), .device("QUIT\r\n"),
                .origin("221 bye\r\n"), .originEnds, .deviceEnds,
            ]),
        Dialogue(
            "an answer after the device's end",
            [.device("all of it"), .deviceEnds, .origin("an answer after the end"), .originEnds]),
        Dialogue(
            "a question after the origin's end",
            [.origin("early"), .originEnds, .device("late"), .device(" and later"), .deviceEnds]),
        Dialogue(
            "an unknown protocol",
            [
                .deviceBytes((0...255).map { UInt8($0) }), .originBytes((0...255).reversed().map { UInt8($0) }),
                .deviceEnds, .originEnds,
            ]),
    ]
}
