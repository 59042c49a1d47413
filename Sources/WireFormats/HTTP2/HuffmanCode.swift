/// The Huffman code of HPACK (RFC 7541 Appendix B), as lengths only: the code is canonical (codes of one length are
/// consecutive, in symbol order), so the codes follow from the lengths.
///
/// Enters: the octets of a string literal with the H bit. Leaves: the string, or nil where the coding is broken.
enum HuffmanCode {
    /// Code length in bits of each octet, then of EOS.
    static let lengths: [UInt8] = [
        13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
        28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
        6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
        5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
        13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
        7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
        15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
        6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
        20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
        24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
        22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
        21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
        26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
        19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
        20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
        26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
        30,
    ]

    private static let longest = 30

    /// For each length: where its codes begin and end in a 32-bit window (left-aligned), and its first symbol's place.
    private struct Table {
        /// First value of the window that is *beyond* the codes of this length; ascending, so the first match wins.
        var beyond = [UInt64](repeating: 0, count: HuffmanCode.longest + 1)
        /// First code of this length, right-aligned.
        var firstCode = [UInt32](repeating: 0, count: HuffmanCode.longest + 1)
        /// Place of that code's symbol in `symbols`.
        var firstSymbol = [Int](repeating: 0, count: HuffmanCode.longest + 1)
        /// All symbols, by length and then by value; 256 is EOS.
        var symbols: [UInt16] = []

        init() {
            var code: UInt32 = 0
            for length in 1...HuffmanCode.longest {
                code <<= 1
                firstCode[length] = code
                firstSymbol[length] = symbols.count
                for (symbol, candidate) in HuffmanCode.lengths.enumerated() where Int(candidate) == length {
                    symbols.append(UInt16(symbol))
                    code += 1
                }
                beyond[length] = UInt64(code) << UInt64(32 - length)
            }
        }
    }

    private static let table = Table()

    /// Decodes `bytes`; nil when they hold EOS, end inside a code, or are padded by other than the first 0 to 7 bits
    /// of EOS (RFC 7541 §5.2).
    static func decode(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        let table = table
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count + bytes.count / 2)
        var window: UInt64 = 0
        var held = 0
        var next = 0
        while true {
            while held <= 32, next < bytes.count {
                window |= UInt64(bytes[next]) << UInt64(56 - held)
                held += 8
                next += 1
            }
            if held == 0 { return output }
            let head = window >> 32
            var length = 5
            while length <= longest, head >= table.beyond[length] { length += 1 }
            if length > held || length > longest {
                // What is left can only be padding: fewer than eight bits, all set.
                let padding = UInt64.max << UInt64(64 - held)
                return held < 8 && window & padding == padding ? output : nil
            }
            let code = UInt32(truncatingIfNeeded: head >> UInt64(32 - length))
            let symbol = table.symbols[table.firstSymbol[length] + Int(code - table.firstCode[length])]
            guard symbol < 256 else { return nil }
            output.append(UInt8(symbol))
            window <<= UInt64(length)
            held -= length
        }
    }
}
