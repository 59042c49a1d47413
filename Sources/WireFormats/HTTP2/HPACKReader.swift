/// Reads the primitives of HPACK from one header block: integers and string literals (RFC 7541 §5).
///
/// Enters: a whole header block, or the part of it that was seen. Leaves: values; nil where the block ends inside one
/// or the coding is broken. `offset` is then of no further use, except that a string with broken Huffman coding has
/// been stepped over.
struct HPACKReader {
    /// A string literal: its bytes, or nil when its Huffman coding is broken (its place in the block is still known).
    struct Literal {
        var bytes: [UInt8]?
    }

    /// Largest integer that is taken; anything above is a coding error in every field HPACK has.
    static let largestInteger = 1 << 28

    private let block: UnsafeRawBufferPointer
    private(set) var offset = 0

    init(_ block: UnsafeRawBufferPointer) {
        self.block = block
    }

    var isAtEnd: Bool { offset >= block.count }

    /// The octet at the reading position, not consumed.
    var octet: UInt8? { offset < block.count ? block[offset] : nil }

    /// An integer with a prefix of `bits` bits (1 to 8), RFC 7541 §5.1.
    mutating func integer(prefix bits: Int) -> Int? {
        guard offset < block.count else { return nil }
        let mask = (1 << bits) - 1
        var value = Int(block[offset]) & mask
        offset += 1
        if value < mask { return value }
        var shift = 0
        while offset < block.count {
            let byte = Int(block[offset])
            offset += 1
            // Four continuation octets reach the limit; the fifth can only overflow it or be empty padding.
            guard shift <= 28 else { return nil }
            value += (byte & 0x7F) << shift
            guard value <= Self.largestInteger else { return nil }
            shift += 7
            if byte & 0x80 == 0 { return value }
        }
        return nil
    }

    /// A string literal, RFC 7541 §5.2. Nil when the block ends first.
    mutating func literal() -> Literal? {
        guard let first = octet else { return nil }
        guard let length = integer(prefix: 7), length <= block.count - offset else { return nil }
        let bytes = UnsafeRawBufferPointer(rebasing: block[offset..<offset + length])
        offset += length
        return Literal(bytes: first & 0x80 == 0 ? Array(bytes) : HuffmanCode.decode(bytes))
    }
}
