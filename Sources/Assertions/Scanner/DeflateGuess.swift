internal import ContentCodings

/// deflate without zlib's header (RFC 1951), as Apple's and .NET's compressors write it: it has no mark, but its first block says
/// enough about itself that few other bytes pass.
enum DeflateGuess {
    /// What `bytes` decode to, up to `limit` bytes, when they are one whole stream of something that reads as text; nil otherwise.
    static func text(in bytes: UnsafeRawBufferPointer, limit: Int) -> [UInt8]? {
        guard isPlausible(bytes) else { return nil }
        // The decoder reads what has no zlib header as such a stream.
        var decoder = ContentDecoder(.deflate, expansion: ContentDecoder.ExpansionLimit(ratio: 200, floor: 1 << 16))
        var output: [UInt8] = []
        guard let progress = try? decoder.decode(bytes, into: &output, limit: limit),
            progress.status == .atBoundary || progress.status == .outputFull,
            output.count >= EncodedPattern.shortest, output.withUnsafeBytes(ByteClass.looksLikeText)
        else { return nil }
        return output
    }

    /// Whether a first block can begin here that codes text: with fixed codes and a printable character, or with codes of its
    /// own whose lengths make a code. (Stored bytes show as they are.)
    static func isPlausible(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= shortest else { return false }
        // What is less than a compressor's block is one block, the last.
        if bytes[0] & 1 == 0, bytes.count < shortestOfBlocks { return false }
        switch bytes[0] >> 1 & 3 {
        case 1:
            // Eight bits from the fourth on, the first bit highest: 0x30 and the character (RFC 1951 §3.2.6).
            let bits = UInt16(bytes[0]) | UInt16(bytes[1]) << 8
            var code: UInt8 = 0
            for index in 0..<8 as Range<UInt16> { code = code << 1 | UInt8(bits >> (3 + index) & 1) }
            return code >= 0x30 && ByteClass.isPrintable(code &- 0x30)
        case 2: return hasCodeOfCodes(bytes)
        default: return false
        }
    }

    /// Whether the lengths of the code for code lengths fill it (RFC 1951 §3.2.7).
    private static func hasCodeOfCodes(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var bits: UInt128 = 0
        for index in 0..<10 { bits |= UInt128(bytes[index]) << UInt128(8 * index) }
        let literals = bits >> 3 & 31
        let distances = bits >> 8 & 31
        let count = Int(bits >> 13 & 15) + 4
        guard literals < 30, distances < 30 else { return false }
        var filled = 0
        for index in 0..<count {
            let length = Int(bits >> UInt128(17 + 3 * index) & 7)
            if length > 0 { filled += 128 >> length }
        }
        return filled == 128
    }

    /// A value of eight bytes makes no less.
    private static let shortest = 10
    /// Bytes from which on a stream may have more than one block: zlib begins a new one after some thousand symbols.
    private static let shortestOfBlocks = 4_096
}
