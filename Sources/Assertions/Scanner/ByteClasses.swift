/// Tables of byte classes that the scanner's inner loops look bytes up in.
enum ByteClass {
    /// Value of a base64 or base64url character (RFC 4648 §4, §5), 255 for any other byte.
    static let base64Value: [UInt8] = (0...255).map { byte -> UInt8 in
        switch UInt8(byte) {
        case 0x41...0x5A: UInt8(byte) - 0x41
        case 0x61...0x7A: UInt8(byte) - 0x61 + 26
        case 0x30...0x39: UInt8(byte) - 0x30 + 52
        case 0x2B, 0x2D: 62  // + -
        case 0x2F, 0x5F: 63  // / _
        default: 255
        }
    }

    /// Value of a hex digit, 255 for any other byte.
    static let hexValue: [UInt8] = (0...255).map { Hex.value(UInt8($0)) ?? 255 }

    /// Printable ASCII, tab, line feed, carriage return.
    static func isPrintable(_ byte: UInt8) -> Bool {
        (0x20...0x7E).contains(byte) || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }

    /// ASCII lower case.
    @inline(__always)
    static func lower(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }

    /// Whether bytes look like text: of up to 256 of them, spread evenly, 85 in 100 are printable ASCII or part of
    /// UTF-8 beyond it. NUL counts as text's separator, since the scanner separates places with it.
    static func looksLikeText(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard !bytes.isEmpty else { return false }
        let samples = min(256, bytes.count)
        var good = 0
        for sample in 0..<samples {
            let byte = bytes[sample &* bytes.count / samples]
            if isPrintable(byte) || byte == 0 || byte >= 0xC2 && byte < 0xF5 || byte & 0xC0 == 0x80 { good += 1 }
        }
        // Continuation and lead bytes make up half of all bytes, so a second look tells noise from other scripts.
        let printable = (0..<samples).count { isPrintable(bytes[$0 &* bytes.count / samples]) }
        return good * 100 >= samples * 85 && (printable * 100 >= samples * 25)
    }
}
