/// The Internet checksum (RFC 1071) over pieces of even length, the last of any length.
///
/// The sum of 16-bit words does not depend on their byte order but for the order of the result (RFC 1071 §2 B), and wider
/// words may be added and folded later (§2 C): so eight bytes at a time are added as this machine reads them.
struct ChecksumSum {
    /// Sum of 32-bit words in this machine's byte order. 2^32 of them can be added before it could overflow.
    private var sum: UInt64 = 0

    /// Adds bytes: all pieces but the last have to be of even length.
    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        // The halves of 64-bit words in two vectors of sums, three times as fast as one word after the other.
        var low = SIMD4<UInt64>()
        var high = SIMD4<UInt64>()
        let half = SIMD4<UInt64>(repeating: 0xFFFF_FFFF)
        var index = 0
        while index + 32 <= bytes.count {
            let words = bytes.loadUnaligned(fromByteOffset: index, as: SIMD4<UInt64>.self)
            low &+= words & half
            high &+= words &>> 32
            index &+= 32
        }
        sum = Self.folded(sum) &+ Self.folded(low.wrappedSum()) &+ Self.folded(high.wrappedSum())
        while index + 2 <= bytes.count {
            sum &+= UInt64(bytes.loadUnaligned(fromByteOffset: index, as: UInt16.self))
            index &+= 2
        }
        // An odd byte counts as the first of its word; the second is 0.
        if index < bytes.count { sum &+= UInt64((UInt16(bytes[index]) << 8).bigEndian) }
    }

    /// Adds a number of 32 bits as it would be written in a header.
    mutating func add(number: UInt32) {
        sum &+= UInt64(number.bigEndian)
    }

    /// The complement of the sum so far, as a number to be written in network byte order.
    var value: UInt16 {
        ~UInt16(truncatingIfNeeded: Self.folded(sum)).bigEndian
    }

    /// The same sum in 16 bits, the carries added at the other end.
    private static func folded(_ sum: UInt64) -> UInt64 {
        var folded = sum
        while folded >> 16 != 0 { folded = (folded & 0xFFFF) &+ (folded >> 16) }
        return folded
    }
}
