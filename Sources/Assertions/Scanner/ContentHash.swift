/// A 128-bit hash of bytes, to know content again within one scan. Not cryptographic, and no security rests on it: a
/// collision would make two pieces of one message count as one.
struct ContentHash: Hashable {
    private var high: UInt64
    private var low: UInt64

    init(_ bytes: UnsafeRawBufferPointer) {
        var a: UInt64 = 0x9E37_79B9_7F4A_7C15 ^ UInt64(bytes.count)
        var b: UInt64 = 0xC2B2_AE3D_27D4_EB4F
        var index = 0
        while index &+ 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            a = Self.mix(a ^ word, 0x9FB2_1C65_1E98_DF25)
            b = Self.mix(b &+ word, 0xD6E8_FEB8_6659_FD93)
            index &+= 8
        }
        while index < bytes.count {
            a = Self.mix(a ^ UInt64(bytes[index]), 0x9FB2_1C65_1E98_DF25)
            b = Self.mix(b &+ UInt64(bytes[index]), 0xD6E8_FEB8_6659_FD93)
            index &+= 1
        }
        high = a
        low = b
    }

    private static func mix(_ value: UInt64, _ multiplier: UInt64) -> UInt64 {
        let product = value.multipliedFullWidth(by: multiplier)
        return product.high ^ product.low &+ value &>> 29
    }
}
