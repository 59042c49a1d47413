internal import Crypto

/// Texts with `${name|filter|…}` in them.
enum StoryText {
    /// What a filter makes of bytes; nil when there is no such filter.
    static func filter(_ name: String, _ bytes: [UInt8]) -> [UInt8]? {
        switch name {
        case "base64": encode64(bytes, "+/", pads: true)
        case "base64url": encode64(bytes, "-_", pads: false)
        case "hex": bytes.flatMap { Array(hex($0, upper: false).utf8) }
        case "HEX": bytes.flatMap { Array(hex($0, upper: true).utf8) }
        case "percent": bytes.flatMap { isUnreserved($0) ? [$0] : Array("%\(hex($0, upper: true))".utf8) }
        case "path-escaped":
            // Only what stands for itself in a path anyway, written otherwise: the tilde.
            bytes.flatMap { $0 == 0x7E ? Array("%7E".utf8) : [$0] }
        case "hex-labels":
            // Labels of a DNS name are no longer than 63 bytes (RFC 1035 §2.3.4).
            bytes.enumerated().flatMap { index, byte in
                (index > 0 && index % 30 == 0 ? [0x2E] : []) + Array(hex(byte, upper: false).utf8)
            }
        case "percent-all": bytes.flatMap { Array("%\(hex($0, upper: true))".utf8) }
        case "json-slash": bytes.flatMap { $0 == 0x2F ? [0x5C, 0x2F] : [$0] }
        case "json-u": bytes.flatMap { Array("\\u00\(hex($0, upper: false))".utf8) }
        case "json-string": Array(quoted(String(decoding: bytes, as: UTF8.self)).utf8)
        case "utf16": bytes.flatMap { [$0, 0] }
        case "reverse": Array(bytes.reversed())
        case "upper": Array(String(decoding: bytes, as: UTF8.self).uppercased().utf8)
        case "lower": Array(String(decoding: bytes, as: UTF8.self).lowercased().utf8)
        case "first-half": Array(bytes.prefix(bytes.count / 2))
        case "second-half": Array(bytes.dropFirst(bytes.count / 2))
        case "spoilt": bytes.isEmpty ? bytes : bytes.dropLast() + [bytes[bytes.count - 1] == 0x41 ? 0x42 : 0x41]
        case "gzip": gzip(bytes)
        case "md5": digest(.md5, bytes)
        case "sha1": digest(.sha1, bytes)
        case "sha256": digest(.sha256, bytes)
        case "path": path(bytes)
        case "host": Array(bytes.drop { $0 != 0x3A }.dropFirst(3).prefix { $0 != 0x2F && $0 != 0x3F })
        default: nil
        }
    }

    /// Replaces each `${…}` by what `value` gives for its name, filtered.
    static func fill(_ text: String, _ value: (String) -> [UInt8]?) throws(LabError) -> [UInt8] {
        var result: [UInt8] = []
        var rest = text[...]
        while let dollar = rest.firstIndex(of: "$") {
            let after = rest[rest.index(after: dollar)...]
            result += Array(rest[..<dollar].utf8)
            guard after.first == "{", let end = after.firstIndex(of: "}") else {
                result.append(0x24)
                rest = after
                continue
            }
            let parts = after[after.index(after: after.startIndex)..<end].split(separator: "|").map(String.init)
            guard let name = parts.first, var bytes = value(name) else {
                throw LabError("nothing is called \(parts.first ?? "") yet")
            }
            for name in parts.dropFirst() {
                guard let filtered = filter(name, bytes) else { throw LabError("there is no filter \(name)") }
                bytes = filtered
            }
            result += bytes
            rest = after[after.index(after: end)...]
        }
        return result + Array(rest.utf8)
    }

    static func replace(_ pattern: String, by text: String, in bytes: [UInt8]) -> [UInt8] {
        let whole = String(decoding: bytes, as: UTF8.self)
        guard whole.contains(pattern) else { return bytes }
        return Array(whole.split(separator: pattern, omittingEmptySubsequences: false).joined(separator: text).utf8)
    }

    // MARK: Pieces

    private static func hex(_ byte: UInt8, upper: Bool) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: upper)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }

    private static func quoted(_ text: String) -> String {
        text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
    }

    private static func digest(_ function: HashFunction, _ bytes: [UInt8]) -> [UInt8] {
        function.digest(of: bytes).flatMap { Array(hex($0, upper: false).utf8) }
    }

    private static func path(_ url: [UInt8]) -> [UInt8] {
        Array(url.drop { $0 != 0x3A }.dropFirst(3).drop { $0 != 0x2F })
    }

    private static func encode64(_ bytes: [UInt8], _ last: String, pads: Bool) -> [UInt8] {
        let alphabet = Array(("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + last).utf8)
        var output: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let piece = bytes[index..<min(index + 3, bytes.count)]
            let bits = piece.enumerated().reduce(UInt32(0)) { $0 | UInt32($1.element) << (16 - 8 * $1.offset) }
            for position in 0..<4 {
                if position <= piece.count {
                    output.append(alphabet[Int(bits >> UInt32(18 - 6 * position) & 63)])
                } else if pads {
                    output.append(0x3D)
                }
            }
            index += 3
        }
        return output
    }

    /// RFC 1952 around one stored block (RFC 1951 §3.2.4).
    private static func gzip(_ bytes: [UInt8]) -> [UInt8] {
        let length = UInt16(truncatingIfNeeded: bytes.count)
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        return [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 1] + little(length) + little(~length) + bytes + little(~crc)
            + little(UInt32(truncatingIfNeeded: bytes.count))
    }

    private static func little(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
}
