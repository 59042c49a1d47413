internal import ContentCodings

/// Where zlib streams (RFC 1950) may begin.
enum ZlibGuess {
    /// Places in one view at which a zlib stream is tried.
    static let maximumGuesses = 1_024

    /// Where zlib streams may begin after the first byte. Their mark has two bytes only, so this is a guess that a failed
    /// decoding puts right.
    static func starts(in bytes: UnsafeRawBufferPointer) -> [Int] {
        var starts: [Int] = []
        var index = 1
        while index + 8 < bytes.count, starts.count < maximumGuesses,
            let found = ByteSearch.first(0x78, in: bytes, from: index)
        {
            if found + 8 < bytes.count, isZlibLevel(bytes[found + 1]), hasPlausibleBlock(bytes[found + 2]) {
                starts.append(found)
            }
            index = found + 1
        }
        return starts
    }

    /// Whether a zlib stream begins anywhere after the first byte: whether one of the places decodes without a fault for its
    /// first bytes, or as long as there are any. Chance makes that once in some thousand marks.
    static func holdsStream(_ bytes: UnsafeRawBufferPointer) -> Bool {
        starts(in: bytes).contains { isStream(UnsafeRawBufferPointer(rebasing: bytes[$0...])) }
    }

    /// Whether a compressed stream begins with the first of these bytes, as far as a few of them tell.
    static func isStream(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let coding = ContentCodings.sniff(bytes) else { return false }
        // What Zstandard gives comes by the block, later than the first bytes; its mark says enough.
        if coding == .zstd { return true }
        let coded = UnsafeRawBufferPointer(rebasing: bytes.prefix(triedBytes))
        var output: [UInt8] = []
        var decoder = ContentDecoder(coding)
        let isSound = (try? decoder.decode(coded, into: &output, limit: triedBytes)) != nil
        return output.count >= (isSound ? EncodedPattern.shortest : soundBytes)
    }

    /// Bytes that are decoded to see whether a stream is one.
    static let triedBytes = 128
    /// Bytes before a fault from which on it is one all the same: a stream whose end was lost.
    private static let soundBytes = 48

    private static func isZlibLevel(_ byte: UInt8) -> Bool {
        byte == 0x01 || byte == 0x5E || byte == 0x9C || byte == 0xDA
    }

    /// Whether a deflate block can begin with this byte: type 3 is reserved (RFC 1951 §3.2.3).
    private static func hasPlausibleBlock(_ byte: UInt8) -> Bool { byte >> 1 & 3 != 3 }
}
