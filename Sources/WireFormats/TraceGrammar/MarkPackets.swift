extension TraceText {
    /// Bytes of padding, checksum or trailer that may lie behind a datagram in its packet.
    private static let trailerLimit = 64
    private static let datagramHeaderLength = 8

    /// Whether a captured packet carries a mark, as a UDP datagram or as a comment, whatever its link type: the text of a
    /// mark behind bytes that are a UDP header of the right length. Looked at only for packets that a filter refused.
    public static func isMark(_ packet: borrowing CapturedPacket) -> Bool {
        packet.comments.contains { $0.hasPrefix(markWord) }
            || holdsMark(packet.bytes, originalLength: packet.originalLength)
    }

    static func holdsMark(_ bytes: UnsafeRawBufferPointer, originalLength: Int) -> Bool {
        let word = Array(markWord.utf8)
        guard bytes.count >= datagramHeaderLength + word.count else { return false }
        for start in datagramHeaderLength...bytes.count - word.count where bytes[start] == word[0] {
            guard bytes[start..<start + word.count].elementsEqual(word) else { continue }
            let length = Int(bytes[start - 4]) << 8 | Int(bytes[start - 3])
            let end = start - datagramHeaderLength + length
            if length >= datagramHeaderLength + word.count, end <= originalLength, originalLength - end <= trailerLimit
            {
                return true
            }
        }
        return false
    }
}
