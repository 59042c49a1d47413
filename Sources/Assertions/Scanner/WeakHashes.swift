/// Hash functions without cryptographic strength that analytics code likes; no library of the product's has them all.
enum WeakHashes {
    /// MurmurHash3, 32 bits, seed 0 (Appleby's `MurmurHash3_x86_32`).
    static func murmur3With32Bits(_ bytes: [UInt8]) -> UInt32 {
        var hash: UInt32 = 0
        let blocks = bytes.count / 4
        for block in 0..<blocks {
            hash ^= mix(word(bytes, block &* 4, 4), 0xCC9E_2D51, 15, 0x1B87_3593)
            hash = rotate(hash, 13) &* 5 &+ 0xE654_6B64
        }
        let rest = bytes.count % 4
        if rest > 0 { hash ^= mix(word(bytes, blocks &* 4, rest), 0xCC9E_2D51, 15, 0x1B87_3593) }
        return finish(hash ^ UInt32(truncatingIfNeeded: bytes.count))
    }

    /// MurmurHash3, 128 bits, the variant for 64-bit machines, seed 0; its two words in big-endian order, as most
    /// libraries print it.
    static func murmur3(_ bytes: [UInt8]) -> [UInt8] {
        let first: UInt64 = 0x87C3_7B91_1142_53D5
        let second: UInt64 = 0x4CF5_AD43_2745_937F
        var low: UInt64 = 0
        var high: UInt64 = 0
        let blocks = bytes.count / 16
        for block in 0..<blocks {
            low ^= rotate(longWord(bytes, block &* 16, 8) &* first, 31) &* second
            low = (rotate(low, 27) &+ high) &* 5 &+ 0x52DC_E729
            high ^= rotate(longWord(bytes, block &* 16 &+ 8, 8) &* second, 33) &* first
            high = (rotate(high, 31) &+ low) &* 5 &+ 0x3849_5AB5
        }
        let rest = bytes.count % 16
        if rest > 8 { high ^= rotate(longWord(bytes, blocks &* 16 &+ 8, rest &- 8) &* second, 33) &* first }
        if rest > 0 { low ^= rotate(longWord(bytes, blocks &* 16, min(8, rest)) &* first, 31) &* second }
        low ^= UInt64(bytes.count)
        high ^= UInt64(bytes.count)
        low &+= high
        high &+= low
        low = finish(low)
        high = finish(high)
        low &+= high
        high &+= low
        return bigEndian(low) + bigEndian(high)
    }

    /// MurmurHash3, 128 bits, the variant for 32-bit machines, seed 0; its four words in big-endian order.
    static func murmur3x86(_ bytes: [UInt8]) -> [UInt8] {
        let factors: [UInt32] = [0x239B_961B, 0xAB0E_9789, 0x38B3_4AE5, 0xA1E3_8B93]
        let turns: [UInt32] = [15, 16, 17, 18]
        let afterTurns: [UInt32] = [19, 17, 15, 13]
        let adds: [UInt32] = [0x561C_CD1B, 0x0BCA_A747, 0x96CD_1C35, 0x32AC_3B17]
        var hash: [UInt32] = [0, 0, 0, 0]
        let blocks = bytes.count / 16
        for block in 0..<blocks {
            for lane in 0..<4 {
                let value = word(bytes, block &* 16 &+ lane &* 4, 4)
                hash[lane] ^= mix(value, factors[lane], turns[lane], factors[(lane + 1) % 4])
                hash[lane] = (rotate(hash[lane], afterTurns[lane]) &+ hash[(lane + 1) % 4]) &* 5 &+ adds[lane]
            }
        }
        let rest = bytes.count % 16
        for lane in (0..<4).reversed() where rest > lane * 4 {
            let value = word(bytes, blocks &* 16 &+ lane &* 4, min(4, rest - lane * 4))
            hash[lane] ^= mix(value, factors[lane], turns[lane], factors[(lane + 1) % 4])
        }
        for lane in 0..<4 { hash[lane] ^= UInt32(truncatingIfNeeded: bytes.count) }
        spread(&hash)
        for lane in 0..<4 { hash[lane] = finish(hash[lane]) }
        spread(&hash)
        return hash.flatMap(bigEndian)
    }

    /// CRC-32 of zip and gzip (ISO 3309).
    static func crc32(_ bytes: [UInt8]) -> UInt32 {
        var register: UInt32 = .max
        for byte in bytes {
            register ^= UInt32(byte)
            for _ in 0..<8 { register = register &>> 1 ^ (register & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
        return ~register
    }

    static func bigEndian(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value &>> $0) }
    }

    private static func bigEndian(_ value: UInt64) -> [UInt8] {
        bigEndian(UInt32(truncatingIfNeeded: value &>> 32)) + bigEndian(UInt32(truncatingIfNeeded: value))
    }

    private static func spread(_ hash: inout [UInt32]) {
        hash[0] = hash[0] &+ hash[1] &+ hash[2] &+ hash[3]
        for lane in 1..<4 { hash[lane] &+= hash[0] }
    }

    private static func mix(_ value: UInt32, _ first: UInt32, _ turn: UInt32, _ second: UInt32) -> UInt32 {
        rotate(value &* first, turn) &* second
    }

    /// Up to four bytes from `start`, little-endian.
    private static func word(_ bytes: [UInt8], _ start: Int, _ count: Int) -> UInt32 {
        (0..<count).reduce(0) { $0 | UInt32(bytes[start &+ $1]) &<< UInt32(8 &* $1) }
    }

    private static func longWord(_ bytes: [UInt8], _ start: Int, _ count: Int) -> UInt64 {
        (0..<count).reduce(0) { $0 | UInt64(bytes[start &+ $1]) &<< UInt64(8 &* $1) }
    }

    private static func rotate(_ value: UInt32, _ turn: UInt32) -> UInt32 { value &<< turn | value &>> (32 &- turn) }

    private static func rotate(_ value: UInt64, _ turn: UInt64) -> UInt64 { value &<< turn | value &>> (64 &- turn) }

    private static func finish(_ value: UInt32) -> UInt32 {
        var hash = value
        hash = (hash ^ hash &>> 16) &* 0x85EB_CA6B
        hash = (hash ^ hash &>> 13) &* 0xC2B2_AE35
        return hash ^ hash &>> 16
    }

    private static func finish(_ value: UInt64) -> UInt64 {
        var hash = value
        hash = (hash ^ hash &>> 33) &* 0xFF51_AFD7_ED55_8CCD
        hash = (hash ^ hash &>> 33) &* 0xC4CE_B9FE_1A85_EC53
        return hash ^ hash &>> 33
    }
}
