/// Searching in borrowed bytes, eight at a time.
package enum ByteSearch {
    /// The offset of the first `byte` at or after `start`.
    package static func first(_ byte: UInt8, in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        let count = bytes.count
        var at = start
        let pattern = 0x0101_0101_0101_0101 &* UInt64(byte)
        while at &+ 8 <= count {
            // A zero byte in `word` marks a match; the lowest such byte is exact (the borrow only runs upwards).
            let word = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: at, as: UInt64.self)) ^ pattern
            let zeros = (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
            if zeros != 0 { return at &+ zeros.trailingZeroBitCount >> 3 }
            at &+= 8
        }
        while at < count {
            if base.load(fromByteOffset: at, as: UInt8.self) == byte { return at }
            at &+= 1
        }
        return nil
    }

    /// Whether `bytes` equals `name`, which is lower case, without regard to ASCII case.
    package static func equalsIgnoringCase(_ bytes: UnsafeRawBufferPointer, _ name: StaticString) -> Bool {
        let count = name.utf8CodeUnitCount
        guard bytes.count == count else { return false }
        for index in 0..<count {
            let byte = bytes[index]
            let lower = byte &- 0x41 < 26 ? byte | 0x20 : byte
            if lower != name.utf8Start[index] { return false }
        }
        return true
    }

    /// Whether `byte` may be part of a token (RFC 9110 §5.6.2).
    package static func isTokenByte(_ byte: UInt8) -> Bool {
        // Bit n of a half stands for byte n (+ 64): letters, digits and !#$%&'*+-.^_`|~
        let low: UInt64 = 0x03FF_6CFA_0000_0000
        let high: UInt64 = 0x57FF_FFFF_C7FF_FFFE
        guard byte < 128 else { return false }
        return (byte < 64 ? low >> UInt64(byte) : high >> UInt64(byte &- 64)) & 1 == 1
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes of `range`, as a buffer of their own.
    func slice(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self[range])
    }

    /// Without spaces and tabs at both ends.
    var trimmed: UnsafeRawBufferPointer {
        var start = 0
        var end = count
        while start < end, self[start] == 0x20 || self[start] == 0x09 { start &+= 1 }
        while end > start, self[end &- 1] == 0x20 || self[end &- 1] == 0x09 { end &-= 1 }
        return slice(start..<end)
    }

    /// The bytes as text; what is not UTF-8 is replaced.
    var text: String { String(decoding: self, as: UTF8.self) }
}
