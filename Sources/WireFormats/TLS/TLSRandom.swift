/// The 32 random bytes of a hello: the name by which key logs know a connection.
public struct TLSRandom: Hashable, Sendable {
    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// Length in bytes.
    public static let length = 32

    /// Takes 32 bytes; nil for any other number.
    public init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.length else { return nil }
        words = (
            bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self),
            bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self),
            bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self),
            bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self)
        )
    }

    /// Takes 32 bytes; nil for any other number.
    public init?(_ bytes: [UInt8]) {
        guard let random = bytes.withUnsafeBytes({ TLSRandom($0) }) else { return nil }
        self = random
    }

    private init() {
        words = (0, 0, 0, 0)
    }

    /// Zeros: what nobody's generator gives, for a hello that was not seen.
    public static let zero = TLSRandom()

    /// The bytes in wire order.
    public var bytes: [UInt8] { withUnsafeBytes(of: words) { Array($0) } }

    public static func == (lhs: Self, rhs: Self) -> Bool { lhs.words == rhs.words }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
        hasher.combine(words.2)
        hasher.combine(words.3)
    }

    /// The random that makes a ServerHello a HelloRetryRequest: SHA-256 of that name (RFC 8446 §4.1.3).
    public static let helloRetryRequest = TLSRandom([
        0xCF, 0x21, 0xAD, 0x74, 0xE5, 0x9A, 0x61, 0x11, 0xBE, 0x1D, 0x8C, 0x02, 0x1E, 0x65, 0xB8, 0x91,
        0xC2, 0xA2, 0x11, 0x16, 0x7A, 0xBB, 0x8C, 0x5E, 0x07, 0x9E, 0x09, 0xE2, 0xC8, 0xA8, 0x33, 0x9C,
    ])
}
