import Assertions
import Foundation
import SessionTrace

/// Places that the longer matrix adds: names, what a handshake shows, content codings, and more containers.
extension LeakPlace {
    static let all = structured + containers + names + coded + furtherContainers

    private static let names: [LeakPlace] = [
        LeakPlace(location: "header-name:*", capacity: .word, name: "") {
            .request(ScannerSamples.request(fields: [("X-" + String(decoding: $0, as: UTF8.self), "1")]))
        },
        LeakPlace(location: "query:*", capacity: .word, name: "parameter's name") {
            .request(ScannerSamples.request("/a?" + text(inURL: $0) + "=1"))
        },
        LeakPlace(location: "cookie:*", capacity: .word, name: "cookie's name") {
            .request(ScannerSamples.request(fields: [("Cookie", String(decoding: $0, as: UTF8.self) + "=b")]))
        },
        LeakPlace(location: "fragment", capacity: .line, name: "") {
            .request(ScannerSamples.request("/a#" + text(inURL: $0)))
        },
        LeakPlace(location: "header::authority", capacity: .name(63), name: "") {
            .request(
                ScannerSamples.request(fields: [(":authority", String(decoding: $0, as: UTF8.self) + ".x.example")]))
        },
        LeakPlace(location: "connect-target", capacity: .name(63), name: "") {
            .request(
                ScannerSamples.request(String(decoding: $0, as: UTF8.self) + ".x.example:443", method: "CONNECT"))
        },
        LeakPlace(location: "server-name", capacity: .name(180), name: "labels") {
            let labels = stride(from: 0, to: $0.count, by: 60).map { [bytes = $0] start in
                String(decoding: bytes[start..<min(start + 60, bytes.count)], as: UTF8.self)
            }
            return .serverName((["a"] + labels + ["x", "example"]).joined(separator: "."))
        },
        LeakPlace(location: "application-protocol", capacity: .line, name: "protocol") {
            .protocols(["h2", String(decoding: $0, as: UTF8.self)])
        },
    ]

    /// Request bodies under a Content-Encoding, and parts with one of their own.
    private static let coded: [LeakPlace] =
        [
            ("gzip", SampleEncoding.gzip.encode), ("deflate", SampleEncoding.deflate.encode),
            ("zstd", SampleEncoding.zstd.encode), ("br", BrotliWriter.encode),
        ].map { coding, encode in
            LeakPlace(location: "body", structure: ["json:/u"], capacity: .text, name: coding) {
                let json = Array("{\"u\":".utf8) + SampleEncoding.jsonEscaped($0) + Array("}".utf8)
                return .request(ScannerSamples.request(fields: [("Content-Encoding", coding)], body: encode(json)))
            }
        } + [
            LeakPlace(location: "body", structure: ["multipart:log"], capacity: .binary, name: "coded part") {
                .request(
                    ScannerSamples.request(
                        fields: [("Content-Type", "multipart/form-data; boundary=b0unDary")],
                        body: Array(
                            ("--b0unDary\r\nContent-Disposition: form-data; name=\"log\"\r\nContent-Encoding: gzip\r\n\r\n")
                                .utf8) + SampleEncoding.gzip.encode($0) + Array("\r\n--b0unDary--\r\n".utf8)))
            }
        ]

    private static let furtherContainers: [LeakPlace] = [
        body("gRPC, compressed", .binary) {
            let message = SampleEncoding.gzip.encode([0x0A] + varint($0.count) + $0)
            return [1, 0, 0, UInt8(message.count >> 8 & 255), UInt8(message.count & 255)] + message
        },
        body("UTF-16 JSON, big-endian", .text) {
            SampleEncoding.utf16BigEndian.encode(
                Array("{\"u\":".utf8) + SampleEncoding.jsonEscaped($0) + Array("}".utf8))
        },
        body("binary property list, UTF-16", .text) {
            Array("bplist00".utf8) + [0xD1, 0x01, 0x02, 0x53, 0x75, 0x72, 0x6C, 0x6F, 0x11]
                + [UInt8($0.count >> 8 & 255), UInt8($0.count & 255)] + SampleEncoding.utf16BigEndian.encode($0)
                + [0x08, 0x0B, 0x0F, 0, 0, 0, 0, 0, 0, 1, 1]
        },
        LeakPlace(location: "header:authorization", capacity: .line, name: "JWT header") {
            let header = Array("{\"alg\":\"HS256\",\"kid\":".utf8) + SampleEncoding.jsonEscaped($0) + Array("}".utf8)
            let text =
                Array("Bearer ".utf8) + SampleEncoding.base64URL.encode(header) + Array(".eyJzdWIiOiIxIn0.c2ln".utf8)
            return .request(
                ScannerSamples.request(fields: [("Authorization", String(decoding: text, as: UTF8.self))]))
        },
        LeakPlace(location: "message", capacity: .text, name: "WebSocket text") {
            .message(Array("42[\"nav\",{\"to\":".utf8) + SampleEncoding.jsonEscaped($0) + Array("}]".utf8))
        },
    ]
}

/// Just enough of brotli (RFC 7932) to write one block of literals with eight bits each, so that nothing of the value shows
/// in the coded bytes.
enum BrotliWriter {
    static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var bits: [UInt8] = []
        func put(_ value: Int, _ count: Int) { bits += (0..<count).map { UInt8(value >> $0 & 1) } }
        put(0, 1)  // a window of 16 bits
        put(0b01, 2)  // the last block, not empty
        put(0, 2)  // its length in four nibbles
        put(bytes.count - 1, 16)
        put(0, 3)  // one block type of each kind
        put(0, 6)  // no postfix, no direct distances
        put(0, 2)  // context mode
        put(0, 2)  // one tree of literals, one of distances
        // Literals: of the code lengths, in the order 1 2 3 4 0 5 17 6 16 7 8 …, 8 alone is used; 256 symbols have it.
        put(0, 2)
        for place in 0..<18 { put(place == 10 ? 0b0111 : 0, place == 10 ? 4 : 2) }
        // The first code with extra bits that reaches the length: insert length codes 6 to 23 and what they begin at.
        let starts = [6, 8, 10, 14, 18, 26, 34, 50, 66, 98, 130, 194, 322, 578, 1_090, 2_114, 6_210, 22_594]
        let extra = [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7, 8, 9, 10, 12, 14, 24]
        let row = starts.lastIndex { $0 <= bytes.count } ?? 0
        let code = row + 6
        // Commands: one, that inserts so many literals and copies two bytes, which the end of the block forestalls.
        let command = [128, 256, 448][code / 8] + code % 8 * 8
        put(0b01, 2)
        put(0, 2)
        put(command, 10)
        put(0b01, 2)
        put(0, 2)
        put(0, 6)
        put(bytes.count - starts[row], extra[row])
        // Canonical codes of eight bits are the symbols themselves, first bit first.
        for byte in bytes { bits += (0..<8).reversed().map { byte >> $0 & 1 } }
        return stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<min(start + 8, bits.count)].enumerated().reduce(0) { $0 | $1.element << UInt8($1.offset) }
        }
    }
}
