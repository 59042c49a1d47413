/// The strings of a JSON text, or of lines of them, one after the other, without reading the text any closer: what is
/// asked of most answers is only whether some name stands in them.
struct JSONStrings {
    private let bytes: UnsafeRawBufferPointer
    private var index = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// The next string's bytes as they stand there, and whether it is a member's name; nil at the end.
    mutating func next() -> (range: Range<Int>, isName: Bool)? {
        guard let quote = ByteSearch.first(0x22, in: bytes, from: index) else { return nil }
        var end = quote + 1
        while end < bytes.count, bytes[end] != 0x22 { end += bytes[end] == 0x5C ? 2 : 1 }
        guard end < bytes.count else { return nil }
        index = end + 1
        var after = index
        while after < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[after]) { after += 1 }
        return (quote + 1..<end, after < bytes.count && bytes[after] == 0x3A)
    }
}
