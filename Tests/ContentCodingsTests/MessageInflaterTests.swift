import ContentCodings
import Testing

/// The examples of RFC 7692 §7.2.3.
@Suite("MessageInflater")
struct MessageInflaterTests {
    static func inflate(
        _ inflater: inout MessageInflater, _ pieces: [[UInt8]], limit: Int = 1 << 20
    ) throws -> (text: String, dropped: Int) {
        var output: [UInt8] = []
        var dropped = 0
        for piece in pieces {
            try piece.withUnsafeBytes {
                try inflater.inflate($0, into: &output, limit: limit - output.count, dropped: &dropped)
            }
        }
        try inflater.endMessage(into: &output, limit: limit - output.count, dropped: &dropped)
        return (String(decoding: output, as: UTF8.self), dropped)
    }

    @Test("one message, in fragments, with context takeover and without")
    func hello() throws {
        let first: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
        let second: [UInt8] = [0xF2, 0x00, 0x11, 0x00, 0x00]
        var keeping = MessageInflater(keepsContext: true)
        #expect(try Self.inflate(&keeping, [first]).text == "Hello")
        #expect(try Self.inflate(&keeping, [second]).text == "Hello")
        #expect(try Self.inflate(&keeping, first.map { [$0] }).text == "Hello")
        var forgetting = MessageInflater(keepsContext: false)
        #expect(try Self.inflate(&forgetting, [first]).text == "Hello")
        #expect(throws: ContentCodingError.self) { try Self.inflate(&forgetting, [second]) }
    }

    @Test("stored block, final block, two blocks in one message")
    func blocks() throws {
        var inflater = MessageInflater(keepsContext: true)
        #expect(
            try Self.inflate(&inflater, [[0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00]]).text
                == "Hello")
        #expect(try Self.inflate(&inflater, [[0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00]]).text == "Hello")
        #expect(
            try Self.inflate(
                &inflater, [[0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00]]
            ).text == "Hello")
    }

    @Test("beyond the limit the rest is counted, and the next message is still right")
    func limit() throws {
        var inflater = MessageInflater(keepsContext: true)
        let cut = try Self.inflate(&inflater, [[0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]], limit: 2)
        #expect(cut == ("He", 3))
        #expect(try Self.inflate(&inflater, [[0xF2, 0x00, 0x11, 0x00, 0x00]]).text == "Hello")
    }
}
