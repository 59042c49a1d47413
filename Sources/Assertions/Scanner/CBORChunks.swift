/// Strings that CBOR writes in chunks (RFC 8949 §3.2.3), put together.
struct CBORChunks {
    /// Items below one another that are followed.
    private static let maximumDepth = 64

    private let bytes: UnsafeRawBufferPointer
    private var index = 0
    /// Each chunked string, and where it stands.
    private(set) var strings: [(bytes: [UInt8], range: Range<Int>)] = []

    /// Nil unless all of `bytes` is one CBOR array, map or tagged item.
    init?(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        // Without a chunked string there is nothing to put together.
        guard let first = bytes.first, first >= 0x80, first < 0xDC,
            ByteSearch.first(0x5F, in: bytes, from: 0) != nil || ByteSearch.first(0x7F, in: bytes, from: 0) != nil,
            readItem(depth: 0), index == bytes.count
        else { return nil }
    }

    /// Reads one item; false when it is none.
    private mutating func readItem(depth: Int) -> Bool {
        guard depth < Self.maximumDepth, index < bytes.count else { return false }
        let start = index
        let major = bytes[index] >> 5
        let info = bytes[index] & 31
        index += 1
        guard info != 31 else { return readChunkedItem(major, from: start, depth: depth) }
        guard let value = readNumber(info) else { return false }
        switch major {
        case 0, 1, 7: return true
        case 2, 3:
            guard value <= bytes.count - index else { return false }
            index += value
            return true
        case 4, 5:
            // Every item takes a byte at least, so that a wrong number ends soon.
            guard value <= bytes.count - index else { return false }
            for _ in 0..<(major == 5 ? 2 * value : value) where !readItem(depth: depth + 1) { return false }
            return true
        default: return readItem(depth: depth + 1)
        }
    }

    private mutating func readChunkedItem(_ major: UInt8, from start: Int, depth: Int) -> Bool {
        var joined: [UInt8] = []
        while index < bytes.count {
            if bytes[index] == 0xFF {
                index += 1
                if major == 2 || major == 3 { strings.append((joined, start..<index)) }
                return (2...5).contains(major)
            }
            if major == 2 || major == 3 {
                guard bytes[index] >> 5 == major, bytes[index] & 31 != 31 else { return false }
                let info = bytes[index] & 31
                index += 1
                guard let count = readNumber(info), count <= bytes.count - index else { return false }
                joined += bytes[index..<index + count]
                index += count
            } else if !readItem(depth: depth + 1) {
                return false
            }
        }
        return false
    }

    private mutating func readNumber(_ info: UInt8) -> Int? {
        guard info >= 24 else { return Int(info) }
        guard info <= 27 else { return nil }
        let count = 1 << Int(info - 24)
        guard count <= bytes.count - index else { return nil }
        let value = bytes[index..<index + count].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        index += count
        // Numbers themselves may be larger than any length; they are never used as one then.
        return value > UInt64(Int32.max) ? Int(Int32.max) : Int(value)
    }
}
