/// Loads of header fields. Each caller has checked the bounds first: headers are checked once, as a whole.
extension UnsafeRawBufferPointer {
    /// The big-endian 16-bit field at `offset`; `offset + 2` must not exceed `count`.
    @inline(__always)
    func field16(_ offset: Int) -> UInt16 {
        UInt16(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }

    /// The big-endian 32-bit field at `offset`; `offset + 4` must not exceed `count`.
    @inline(__always)
    func field32(_ offset: Int) -> UInt32 {
        UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    /// The big-endian 64-bit field at `offset`; `offset + 8` must not exceed `count`.
    @inline(__always)
    func field64(_ offset: Int) -> UInt64 {
        UInt64(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// The little-endian 16-bit field at `offset`; `offset + 2` must not exceed `count`.
    @inline(__always)
    func littleField16(_ offset: Int) -> UInt16 {
        UInt16(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }

    /// The little-endian 32-bit field at `offset`; `offset + 4` must not exceed `count`.
    @inline(__always)
    func littleField32(_ offset: Int) -> UInt32 {
        UInt32(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    /// What follows the first `length` bytes; empty when there are no more.
    @inline(__always)
    func after(_ length: Int) -> UnsafeRawBufferPointer {
        guard length < count else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(rebasing: self[length...])
    }

    /// At most the first `length` bytes.
    @inline(__always)
    func first(_ length: Int) -> UnsafeRawBufferPointer {
        length < count ? UnsafeRawBufferPointer(rebasing: self[..<Swift.max(length, 0)]) : self
    }
}
