/// Names of files, which are bytes, as text and back.
///
/// A name need not be UTF-8. A byte that belongs to no character of UTF-8 stands as a scalar of its own, U+10FF80 to
/// U+10FFFF for 0x80 to 0xFF, and so does each byte of a character of that range: every name has one text, and every such
/// text leads back to its name. Nobody has characters there (the end of the last private plane) for anything else.
public enum FileName {
    private static let base: UInt32 = 0x10FF00
    private static let first: UInt32 = 0x10FF80

    /// A name as text.
    public static func text(_ bytes: some Collection<UInt8>) -> String {
        let bytes = Array(bytes)
        if let text = String(validating: bytes, as: UTF8.self), !isOdd(text) { return text }
        var text = String.UnicodeScalarView()
        var index = 0
        while index < bytes.count {
            let length = bytes[index] < 0x80 ? 1 : bytes[index] < 0xE0 ? 2 : bytes[index] < 0xF0 ? 3 : 4
            let piece = bytes[index..<min(index + length, bytes.count)]
            if let character = String(validating: piece, as: UTF8.self), !isOdd(character) {
                text.append(contentsOf: character.unicodeScalars)
                index += piece.count
            } else {
                // An ASCII byte is a character by itself, so that this one is 0x80 or more.
                if let scalar = Unicode.Scalar(base + UInt32(bytes[index])) { text.append(scalar) }
                index += 1
            }
        }
        return String(text)
    }

    /// The name that a text stands for, with a zero behind it, for calls of the system.
    public static func path(_ text: String) -> [CChar] {
        guard isOdd(text) else { return text.utf8.map { CChar(bitPattern: $0) } + [0] }
        var bytes: [CChar] = []
        for scalar in text.unicodeScalars {
            if scalar.value >= first {
                bytes.append(CChar(bitPattern: UInt8(truncatingIfNeeded: scalar.value - base)))
            } else {
                bytes += UTF8.encode(scalar).map { $0.map { CChar(bitPattern: $0) } } ?? []
            }
        }
        return bytes + [0]
    }

    /// Whether a text stands for a name that is not UTF-8.
    public static func isOdd(_ text: String) -> Bool {
        // Their first byte is that of few other characters.
        text.utf8.contains(0xF4) && text.unicodeScalars.contains { $0.value >= first }
    }

    /// A text for people and reports: bytes that are no UTF-8 in hexadecimal, `‹FF›`.
    public static func shown(_ text: String) -> String {
        guard isOdd(text) else { return text }
        var shown = ""
        for scalar in text.unicodeScalars {
            if scalar.value >= first {
                shown += "‹\(String(scalar.value - base, radix: 16, uppercase: true))›"
            } else {
                shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }
}
