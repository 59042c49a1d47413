import Testing
import WireFormats

@Suite struct HandshakeReaderTests {
    @Test(arguments: [1, 3, 4, 5, 1_000_000]) func messagesCutAnyhow(step: Int) {
        func message(_ type: UInt8, _ count: Int) -> [UInt8] {
            [type, UInt8(count >> 16), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF)]
                + [UInt8](repeating: type, count: count)
        }
        // A certificate is stepped over when it is split, and so is a message over the limit.
        let bytes =
            message(1, 300) + message(11, 70_000) + message(14, 0) + message(2, HandshakeReader.maximumBody)
            + message(2, HandshakeReader.maximumBody + 1) + message(24, 1)
        var reader = HandshakeReader()
        var types: [UInt8] = []
        var lengths: [Int] = []
        var start = 0
        while start < bytes.count {
            let end = min(start + step, bytes.count)
            bytes[start..<end].withUnsafeBytes { piece in
                var input = piece
                while let message = reader.next(&input) {
                    types.append(message.type)
                    lengths.append(message.body.count)
                    #expect(message.body.allSatisfy { $0 == message.type })
                }
            }
            start = end
        }
        #expect(types == [1, 11, 14, 2, 2, 24])
        #expect(lengths[0] == 300 && lengths[3] == HandshakeReader.maximumBody && lengths[5] == 1)
        if step < 1_000_000 { #expect(lengths[1] == 0 && lengths[4] == 0) }
        #expect(!reader.isInsideMessage)
    }
}
