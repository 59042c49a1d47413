/// Reads `Basic` credentials (RFC 7617 §2).
enum BasicCredential {
    /// User and password of the value of an `Authorization` field; nil when it is not Basic or can't be read.
    static func read(_ value: String) -> (user: [UInt8], password: [UInt8])? {
        let parts = value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "basic",
            let bytes = decode(Array(parts[1].utf8.filter { $0 != 0x20 })), let colon = bytes.firstIndex(of: 0x3A)
        else { return nil }
        return (Array(bytes[..<colon]), Array(bytes[(colon + 1)...]))
    }

    /// The value of a field with this credential.
    static func text(_ credential: ProxyCredential) -> String {
        "Basic " + encode(Array("\(credential.user):\(credential.password)".utf8))
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// RFC 4648 §4, with padding.
    static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for index in 0..<4 {
                text.append(index <= group.count ? alphabet[Int(bits >> UInt32(18 - 6 * index) & 63)] : 0x3D)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// RFC 4648 §4; padding may be left out. Nil when there is anything else in it.
    static func decode(_ text: [UInt8]) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for digit in text.prefix(while: { $0 != 0x3D }) {
            guard let value = alphabet.firstIndex(of: digit) else { return nil }
            bits = (bits << 6 | UInt32(value)) & 0xFFFF
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        guard text.drop(while: { $0 != 0x3D }).allSatisfy({ $0 == 0x3D }) else { return nil }
        return bytes
    }
}
