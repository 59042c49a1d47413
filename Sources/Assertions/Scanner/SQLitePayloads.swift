/// Rows of an SQLite database whose content spills over several pages, put together again
/// (sqlite.org/fileformat2.html §1.5, §1.6). Rows that fit their page hold their values in one stretch anyway.
struct SQLitePayloads {
    static let magic = Array("SQLite format 3\0".utf8)
    /// Pages of one row that are followed.
    private static let maximumPages = 1 << 14

    /// A row's content.
    struct Payload {
        var bytes: [UInt8] = []
        /// Where its cell begins.
        var cell: Int
        /// Where its parts are, in order.
        var parts: [Range<Int>] = []
    }

    private let bytes: UnsafeRawBufferPointer
    private let pageSize: Int
    private let usable: Int

    /// Nil when `bytes` is no database.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 100, bytes.starts(with: Self.magic) else { return nil }
        let size = Int(bytes[16]) << 8 | Int(bytes[17])
        pageSize = size == 1 ? 65_536 : size
        usable = pageSize - Int(bytes[20])
        guard pageSize >= 512, pageSize & (pageSize - 1) == 0, usable >= 480 else { return nil }
        self.bytes = bytes
    }

    /// Calls `body` with each payload that spills. False when `limit` bytes were reached.
    func forEach(limit: Int, _ body: (Payload) -> Void) -> Bool {
        var left = limit
        var page = 0
        while (page + 1) * pageSize <= bytes.count {
            let start = page * pageSize
            let header = start + (page == 0 ? 100 : 0)
            page += 1
            // Leaves of tables and indexes, and inner pages of indexes, hold payloads.
            let kind = bytes[header]
            guard kind == 0x0D || kind == 0x0A || kind == 0x02 else { continue }
            let cells = number(at: header + 3, 2)
            let pointers = header + (kind == 0x02 ? 12 : 8)
            for cell in 0..<cells where pointers + 2 * cell + 2 <= start + pageSize {
                let place = start + number(at: pointers + 2 * cell, 2)
                guard let payload = payload(ofCell: place, kind: kind, limit: left) else { continue }
                left -= payload.bytes.count
                body(payload)
                if left <= 0 { return false }
            }
        }
        return true
    }

    private func payload(ofCell place: Int, kind: UInt8, limit: Int) -> Payload? {
        var index = place + (kind == 0x02 ? 4 : 0)
        guard let length = varint(at: &index), length <= limit else { return nil }
        if kind == 0x0D, varint(at: &index) == nil { return nil }
        let largest = kind == 0x0D ? usable - 35 : (usable - 12) * 64 / 255 - 23
        guard length > largest else { return nil }
        let smallest = (usable - 12) * 32 / 255 - 23
        let kept = smallest + (length - smallest) % (usable - 4)
        let local = kept <= largest ? kept : smallest
        guard index + local + 4 <= bytes.count else { return nil }
        var payload = Payload(cell: place)
        func take(_ part: Range<Int>) {
            payload.bytes += bytes[part]
            payload.parts.append(part)
        }
        take(index..<index + local)
        var next = number(at: index + local, 4)
        var pages = 0
        while payload.bytes.count < length, next > 0, pages < Self.maximumPages {
            let start = (next - 1) * pageSize
            guard start + usable <= bytes.count else { break }
            take(start + 4..<start + 4 + min(usable - 4, length - payload.bytes.count))
            next = number(at: start, 4)
            pages += 1
        }
        return payload
    }

    /// A big-endian number; 0 beyond the end.
    private func number(at index: Int, _ count: Int) -> Int {
        guard index >= 0, index + count <= bytes.count else { return 0 }
        return bytes[index..<index + count].reduce(0) { $0 << 8 | Int($1) }
    }

    private func varint(at index: inout Int) -> Int? {
        var value = 0
        for _ in 0..<8 {
            guard index < bytes.count else { return nil }
            let byte = bytes[index]
            index += 1
            value = value &<< 7 | Int(byte & 127)
            if byte < 128 { return value < Int32.max ? value : nil }
        }
        return nil
    }
}
