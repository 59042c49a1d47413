/// Whether something stands in a URL.
enum EnclosingURL {
    /// How far back a URL's scheme is looked for.
    private static let longest = 2_048

    private static let separators: [[UInt8]] = ["://", ":\\/\\/", "%3a%2f%2f", "%253a%252f%252f"].map { Array($0.utf8) }

    /// Whether the byte at `place` belongs to a URL that begins before it.
    static func holds(_ place: Int, in bytes: UnsafeRawBufferPointer) -> Bool {
        var start = place
        while start > 0, place - start < longest, isURLByte(bytes[start - 1]) { start -= 1 }
        let text = bytes[start..<place].map(ByteClass.lower)
        return text.withUnsafeBytes { text in
            separators.contains { separator in
                separator.withUnsafeBytes { ByteSearch.contains($0, in: text) }
            }
        }
    }

    private static func isURLByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...0x20, 0x22, 0x3C, 0x3E, 0x60, 0x7B...0x7D, 0x7F...: false
        default: true
        }
    }
}
