#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Searches for bytes and runs of bytes, by the C library.
enum ByteSearch {
    /// The first place of `byte` at or after `start`.
    static func first(_ byte: UInt8, in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard let base = bytes.baseAddress, start < bytes.count else { return nil }
        // memchr stays within the given length, and its result points into the same buffer.
        guard let found = memchr(base + start, Int32(byte), bytes.count - start) else { return nil }
        return UnsafeRawPointer(found) - base
    }

    /// Whether `needle` stands in `bytes`. An empty needle stands everywhere.
    ///
    /// Looks for the needle's rarest byte (the first that is no letter, else its first) and compares around it.
    static func contains(_ needle: UnsafeRawBufferPointer, in bytes: UnsafeRawBufferPointer) -> Bool {
        guard let pattern = needle.baseAddress else { return true }
        guard let base = bytes.baseAddress, bytes.count >= needle.count else { return false }
        let anchor = needle.firstIndex { !(0x61...0x7A).contains($0 | 0x20) } ?? 0
        let end = bytes.count - needle.count + anchor
        var place = anchor
        while let found = first(needle[anchor], in: bytes, from: place), found <= end {
            if memcmp(base + (found - anchor), pattern, needle.count) == 0 { return true }
            place = found + 1
        }
        return false
    }
}

extension String {
    /// Whether the bytes of `other` stand in this text's UTF-8: exact, and much faster than a search by characters.
    func holds(_ other: String) -> Bool {
        let found = utf8.withContiguousStorageIfAvailable { text in
            other.utf8.withContiguousStorageIfAvailable { other in
                ByteSearch.contains(UnsafeRawBufferPointer(other), in: UnsafeRawBufferPointer(text))
            }
        }
        return (found ?? nil) ?? contains(other)
    }
}
