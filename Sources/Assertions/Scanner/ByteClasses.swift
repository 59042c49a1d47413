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

    /// Whether bytes look like text: of some 256 of them, spread evenly, 85 in 100 are printable ASCII (at least half) or
    /// part of UTF-8 beyond it. NUL counts as text's separator, since the scanner separates places with it.
    static func looksLikeText(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard !bytes.isEmpty else { return false }
        // A step of whole bytes keeps the look at many short strings cheap.
        let step = max(1, bytes.count / 256)
        var samples = 0
        var printable = 0
        var other = 0
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            samples &+= 1
            if byte &- 0x20 < 0x5F || byte == 0x0A || byte == 0x0D || byte == 0x09 {
                printable &+= 1
            } else if byte == 0 || byte & 0xC0 == 0x80 || byte &- 0xC2 < 0x33 {
                other &+= 1
            }
            index &+= step
        }
        // Continuation and lead bytes make up nearly half of all bytes, so printable ones must be there too.
        return (printable + other) * 100 >= samples * 85 && printable * 100 >= samples * 50
    }
}
