/// Runs of base64, base64url or hex characters in a text.
///
/// Only every 15th byte is looked at until one is in the alphabet, so text with short words costs a fraction of a pass.
struct AlphabetRuns {
    /// Runs under this length are not decoded: what two encodings make of a value of eight bytes is longer, or one layer of it is a
    /// pattern.
    static let shortest = 15
    /// Lines of wrapped base64 are at least this long (RFC 2045 has 76, PEM 64).
    static let shortestLine = 60

    /// A set of characters.
    enum Alphabet {
        /// base64 and base64url together; wrapped lines make one run.
        case base64
        /// Hex digits.
        case hex
        /// Letters and digits.
        case alphanumeric
    }

    private let alphabet: Alphabet
    private var next = 0

    init(_ alphabet: Alphabet) {
        self.alphabet = alphabet
    }

    /// The next run at or after the last one's end; nil at the end of `bytes`.
    mutating func nextRun(in bytes: UnsafeRawBufferPointer) -> Range<Int>? {
        let table =
            switch alphabet {
            case .base64: ByteClass.base64Value
            case .hex: ByteClass.hexValue
            case .alphanumeric: ByteClass.alphanumericValue
            }
        return table.withUnsafeBufferPointer { values -> Range<Int>? in
            let floor = next
            var sample = next &+ Self.shortest &- 1
            while sample < bytes.count {
                guard values[Int(bytes[sample])] != 255 else {
                    sample &+= Self.shortest
                    continue
                }
                let start = Self.start(of: bytes, before: sample, notBefore: floor, values)
                var end = Self.end(of: bytes, from: sample &+ 1, values)
                guard end &- start >= Self.shortest else {
                    sample = end &+ Self.shortest
                    continue
                }
                if alphabet == .base64, end &- start >= Self.shortestLine {
                    end = Self.joinLines(from: start, to: end, in: bytes, values)
                }
                next = end
                return start..<end
            }
            next = bytes.count
            return nil
        }
    }

    /// The first place of the bytes before `end` that are in the alphabet.
    @inline(__always)
    private static func start(
        of bytes: UnsafeRawBufferPointer, before end: Int, notBefore floor: Int,
        _ values: UnsafeBufferPointer<UInt8>
    ) -> Int {
        var start = end
        while start &- 4 >= floor,
            values[Int(bytes[start &- 1])] | values[Int(bytes[start &- 2])] | values[Int(bytes[start &- 3])]
                | values[Int(bytes[start &- 4])] < 64
        {
            start &-= 4
        }
        while start > floor, values[Int(bytes[start &- 1])] != 255 { start &-= 1 }
        return start
    }

    /// The first place from `start` on whose byte is not in the alphabet.
    @inline(__always)
    private static func end(
        of bytes: UnsafeRawBufferPointer, from start: Int, _ values: UnsafeBufferPointer<UInt8>
    ) -> Int {
        var end = start
        // Values are below 64, so that the bits of 255 show in any four of them.
        while end &+ 4 <= bytes.count,
            values[Int(bytes[end])] | values[Int(bytes[end &+ 1])] | values[Int(bytes[end &+ 2])]
                | values[Int(bytes[end &+ 3])] < 64
        {
            end &+= 4
        }
        while end < bytes.count, values[Int(bytes[end])] != 255 { end &+= 1 }
        return end
    }

    /// The end of the wrapped run whose first line is `start..<end`: lines of whole groups, each followed by a line
    /// break and another line of the alphabet.
    private static func joinLines(
        from start: Int, to end: Int, in bytes: UnsafeRawBufferPointer, _ values: UnsafeBufferPointer<UInt8>
    ) -> Int {
        var lineStart = start
        var end = end
        while (end &- lineStart) % 4 == 0 {
            var following = end
            if following < bytes.count, bytes[following] == 0x0D { following &+= 1 }
            guard following < bytes.count, bytes[following] == 0x0A else { break }
            following &+= 1
            lineStart = following
            following = Self.end(of: bytes, from: following, values)
            guard following > lineStart else { break }
            end = following
        }
        return end
    }

    /// Whether a run is a UUID in its usual form, which is the most frequent run and hides nothing.
    static func isUUID(_ run: UnsafeRawBufferPointer) -> Bool {
        guard run.count == 36, run[8] == 0x2D, run[13] == 0x2D, run[18] == 0x2D, run[23] == 0x2D else { return false }
        return run.count { ByteClass.hexValue[Int($0)] != 255 } == 32
    }

    /// Whether the first or second character reads as the number of bytes that follow, padding included: a length that a
    /// container writes before a string.
    static func isCounted(_ run: UnsafeRawBufferPointer) -> Bool {
        run.count > 2
            && ((0...2).contains(Int(run[0]) - run.count + 1) || (0...2).contains(Int(run[1]) - run.count + 2))
    }

    /// The number of digits (1) that may be skipped at a hex run's start so that text or compressed data comes out: the
    /// length before it may read as a digit.
    static func laterHexPhases(_ run: UnsafeRawBufferPointer) -> [Int] {
        guard run.count > 21 else { return [] }
        var bytes: [UInt8] = []
        TextDecoding.hex(UnsafeRawBufferPointer(rebasing: run[1..<21]), into: &bytes)
        let isCompressed = bytes.starts(with: [0x1F, 0x8B]) || bytes.starts(with: [0x28, 0xB5]) || bytes.first == 0x78
        return isCompressed || bytes.allSatisfy(ByteClass.isPrintable) ? [1] : []
    }

    /// The numbers of characters (1, 2, 3) that may be skipped at the run's start so that base64 gives text or
    /// compressed data at its start, or text at its end.
    static func laterPhases(_ run: UnsafeRawBufferPointer) -> [Int] {
        var phases: [Int] = []
        for phase in 1...3 where reads(run, from: phase) { phases.append(phase) }
        return phases
    }

    /// Whether base64 from `start` on gives text or compressed data at its start, or text at its end.
    static func reads(_ run: UnsafeRawBufferPointer, from start: Int) -> Bool {
        guard run.count - start >= 20 else { return false }
        let last = run.count - 20 - (run.count - 20 - start) % 4
        return readsAsText(run, at: start) || (last > start && readsAsText(run, at: last))
    }

    /// Whether 20 characters of base64 from `offset` on give 15 printable bytes, or a compressed stream's first bytes.
    private static func readsAsText(_ run: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        ByteClass.base64Value.withUnsafeBufferPointer { values in
            var isText = true
            // The last four bytes, for the marks of gzip, Zstandard and zlib.
            var last: UInt32 = 0
            for group in 0..<5 {
                var bits: UInt32 = 0
                for index in 0..<4 {
                    let value = values[Int(run[offset &+ group &* 4 &+ index])]
                    if value == 255 { return false }
                    bits = bits &<< 6 | UInt32(value)
                }
                for shift: UInt32 in [16, 8, 0] {
                    let byte = UInt8(truncatingIfNeeded: bits &>> shift)
                    if !ByteClass.isPrintable(byte) { isText = false }
                    last = last &<< 8 | UInt32(byte)
                    if last & 0xFF_FFFF == 0x1F_8B08 || last & 0xFF_FFFF == 0x28_B52F { return true }
                    switch last & 0xFFFF {
                    case 0x7801, 0x785E, 0x789C, 0x78DA: return true
                    default: break
                    }
                }
            }
            return isText
        }
    }
}
