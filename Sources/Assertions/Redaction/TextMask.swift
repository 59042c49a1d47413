/// Decides which words of a path, host, field name or sentence may be shown.
///
/// Masks are by kind (`‹token›`, `‹uuid›`, `‹email›`, `‹number›`, `‹random›`, `‹encoded›`), so that masked text is
/// stable over runs and can serve as a template.
enum TextMask {
    /// Words longer than this are never shown.
    static let longestWord = 64

    /// The word, or its mask.
    static func word(_ word: Substring) -> String {
        let bytes = Array(word.utf8)
        guard !bytes.isEmpty else { return "" }
        return mask(for: bytes) ?? String(word)
    }

    private static func mask(for bytes: [UInt8]) -> String? {
        let lower = bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        if contains(lower, TokenShape.prefix) { return bytes == TokenShape.prefix ? nil : "‹token›" }
        if bytes.contains(0x40) { return "‹email›" }
        if bytes.contains(0x25) { return "‹encoded›" }
        if isUUID(lower) { return "‹uuid›" }
        if bytes.contains(where: { $0 < 0x21 || $0 > 0x7E }) { return "‹text›" }
        if bytes.count > longestWord { return "‹random›" }
        var kinds: String?
        for piece in bytes.split(whereSeparator: { [0x2D, 0x2E, 0x5F, 0x7E, 0x2B, 0x2C, 0x3B, 0x3A].contains($0) }) {
            guard let kind = mask(forPiece: Array(piece)) else { continue }
            kinds = kinds ?? kind
        }
        return kinds
    }

    /// A piece between punctuation: numbers that can name a person or an order, and what no person would have written.
    private static func mask(forPiece piece: [UInt8]) -> String? {
        let digits = piece.count { (0x30...0x39).contains($0) }
        if digits == piece.count { return digits >= 5 ? "‹number›" : nil }
        if piece.count >= 8, piece.allSatisfy({ Hex.value($0) != nil }), digits >= 2 { return "‹random›" }
        if piece.count >= 10, digits >= 3 { return "‹random›" }
        if digits >= 6 { return "‹random›" }
        if piece.count >= 12, caseChanges(piece) >= 4 { return "‹random›" }
        if piece.count >= 28 { return "‹random›" }
        return nil
    }

    private static func caseChanges(_ piece: [UInt8]) -> Int {
        zip(piece, piece.dropFirst()).count { ($0 & 0x20) != ($1 & 0x20) }
    }

    private static func isUUID(_ lower: [UInt8]) -> Bool {
        guard lower.count == 36 else { return false }
        for (index, byte) in lower.enumerated() {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == 0x2D else { return false }
            } else {
                guard Hex.value(byte) != nil else { return false }
            }
        }
        return true
    }

    private static func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        guard bytes.count >= part.count else { return false }
        return (0...bytes.count - part.count).contains { start in
            bytes[start..<start + part.count].elementsEqual(part)
        }
    }
}
