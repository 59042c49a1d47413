/// The shape of a handoff token: `phs_` and the characters after it.
enum Token {
    static let prefix = "phs_"

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
        default: false
        }
    }

    /// The first token in a text, prefix included; nil when there is none or nothing follows the prefix.
    static func first(in text: some StringProtocol) -> String? {
        let bytes = Array(text.utf8)
        let prefix = Array(Self.prefix.utf8)
        guard bytes.count > prefix.count else { return nil }
        var start = 0
        while start + prefix.count < bytes.count {
            if bytes[start] == prefix[0], Array(bytes[start..<start + prefix.count]) == prefix {
                let body = bytes[(start + prefix.count)...].prefix(while: isTokenByte)
                if !body.isEmpty { return Self.prefix + String(decoding: body, as: UTF8.self) }
            }
            start += 1
        }
        return nil
    }
}
