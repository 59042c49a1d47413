/// Reads the presentation language of TLS and QUIC (RFC 8446 §3, RFC 9000 §16): bytes in, numbers and vectors out.
///
/// Every read returns nil, and takes nothing, when the bytes do not hold it whole.
struct PresentationReader {
    /// What has not been read.
    private(set) var rest: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) {
        rest = bytes
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func bytes(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count >= 0, count <= rest.count else { return nil }
        let taken = UnsafeRawBufferPointer(rebasing: rest[..<count])
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        return taken
    }

    mutating func uint8() -> UInt8? {
        bytes(1)?[0]
    }

    mutating func uint16() -> UInt16? {
        guard let bytes = bytes(2) else { return nil }
        return UInt16(bytes[0]) << 8 | UInt16(bytes[1])
    }

    mutating func uint24() -> Int? {
        guard let bytes = bytes(3) else { return nil }
        return Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
    }

    mutating func uint32() -> UInt32? {
        guard let bytes = bytes(4) else { return nil }
        return bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// A vector with a length of one byte.
    mutating func vector8() -> UnsafeRawBufferPointer? {
        let before = rest
        if let length = uint8(), let vector = bytes(Int(length)) { return vector }
        rest = before
        return nil
    }

    /// A vector with a length of two bytes.
    mutating func vector16() -> UnsafeRawBufferPointer? {
        let before = rest
        if let length = uint16(), let vector = bytes(Int(length)) { return vector }
        rest = before
        return nil
    }

    /// A variable-length integer of QUIC (RFC 9000 §16): 0 to 2^62−1.
    mutating func variableLengthInteger() -> UInt64? {
        guard let first = rest.first, let encoded = bytes(1 << Int(first >> 6)) else { return nil }
        return encoded.dropFirst().reduce(UInt64(first & 0x3F)) { $0 << 8 | UInt64($1) }
    }

    /// The numbers of a list of 16-bit values; an odd last byte is dropped.
    static func uint16List(_ bytes: UnsafeRawBufferPointer) -> [UInt16] {
        stride(from: 0, to: bytes.count - 1, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
    }
}
