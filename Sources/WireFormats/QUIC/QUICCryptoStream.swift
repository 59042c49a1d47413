/// CRYPTO frames in any order, repeated and overlapping, to handshake bytes in order (RFC 9000 §19.6).
struct QUICCryptoStream {
    /// Bytes of handshake that are kept for one direction; a ClientHello with post-quantum shares has about 2,000.
    static let maximumLength = 64 << 10
    /// Pieces that may wait behind a gap.
    static let maximumPieces = 256

    private var bytes: [UInt8] = []
    /// What of `bytes` has been written, in order, apart from one another.
    private var pieces: [Range<Int>] = []

    /// Takes a piece. Outside of the limits it is dropped, and false is returned.
    mutating func insert(_ piece: UnsafeRawBufferPointer, at offset: UInt64) -> Bool {
        guard !piece.isEmpty else { return true }
        guard let start = Int(exactly: offset), start <= Self.maximumLength,
            piece.count <= Self.maximumLength - start
        else { return false }
        let range = start..<(start + piece.count)
        let touching = pieces.indices.filter {
            pieces[$0].upperBound >= range.lowerBound && pieces[$0].lowerBound <= range.upperBound
        }
        if touching.isEmpty, pieces.count >= Self.maximumPieces { return false }
        if bytes.count < range.upperBound {
            bytes.append(contentsOf: repeatElement(0, count: range.upperBound - bytes.count))
        }
        // What came first stays: a repeat has the same bytes, or it is not to be believed.
        for index in range where !pieces.contains(where: { $0.contains(index) }) {
            bytes[index] = piece[index - start]
        }
        guard let first = touching.first, let last = touching.last else {
            let place = pieces.firstIndex { $0.lowerBound > range.lowerBound } ?? pieces.count
            pieces.insert(range, at: place)
            return true
        }
        let merged =
            min(pieces[first].lowerBound, range.lowerBound)..<max(pieces[last].upperBound, range.upperBound)
        pieces.replaceSubrange(first...last, with: [merged])
        return true
    }

    /// The bytes from the start up to the first gap.
    var contiguous: ArraySlice<UInt8> {
        guard let first = pieces.first, first.lowerBound == 0 else { return [] }
        return bytes[first]
    }
}
