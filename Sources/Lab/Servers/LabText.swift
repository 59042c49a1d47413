internal import Crypto

/// Values that the lab makes up as it goes: nothing that looks like a secret is in its source.
enum LabText {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")

    /// A random token in base64url's alphabet.
    static func token(length: Int) -> String {
        String(bytes(length).map { alphabet[Int($0 & 63)] })
    }

    /// A random UUID, version 4 (RFC 9562 §5.4).
    static func uuid() -> String {
        var bytes = bytes(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        return [hex[0..<4], hex[4..<6], hex[6..<8], hex[8..<10], hex[10..<16]].map { $0.joined() }
            .joined(separator: "-")
    }

    private static func bytes(_ count: Int) -> [UInt8] {
        // Without a source of randomness nothing else here would work either.
        (try? randomBytes(count)) ?? Array(repeating: 7, count: count)
    }
}
