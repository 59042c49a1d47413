/// Just enough of SQLite's file format (sqlite.org/fileformat2.html) for one row that spills into overflow pages.
enum SQLitePages {
    static func database(holding value: [UInt8]) -> [UInt8] {
        let pageSize = 512
        var pages = [[UInt8](repeating: 0, count: pageSize), [UInt8](repeating: 0, count: pageSize)]
        pages[0].replaceSubrange(0..<18, with: Array("SQLite format 3\0".utf8) + [0x02, 0x00])
        pages[0][18] = 1
        pages[0][19] = 1
        pages[0][21] = 64
        pages[0][22] = 32
        pages[0][23] = 32
        // The schema page is left empty: a leaf without cells.
        pages[0][100] = 0x0D
        // A record of one text column.
        let type = varint(13 + 2 * value.count)
        let record = [UInt8(1 + type.count)] + type + value
        let usable = pageSize
        let largest = usable - 35
        let smallest = (usable - 12) * 32 / 255 - 23
        var local = record.count
        if record.count > largest {
            let kept = smallest + (record.count - smallest) % (usable - 4)
            local = kept <= largest ? kept : smallest
        }
        var cell = varint(record.count) + [1] + record[..<local]
        var rest = Array(record[local...])
        if !rest.isEmpty { cell += [0, 0, 0, 3] }
        let start = pageSize - cell.count
        pages[1].replaceSubrange(
            0..<10,
            with: [0x0D, 0, 0, 0, 1, UInt8(start >> 8), UInt8(start & 255), 0, UInt8(start >> 8), UInt8(start & 255)])
        pages[1].replaceSubrange(start..<pageSize, with: cell)
        while !rest.isEmpty {
            let part = Array(rest.prefix(usable - 4))
            rest.removeFirst(part.count)
            let next = rest.isEmpty ? 0 : pages.count + 2
            pages.append(
                [0, 0, UInt8(next >> 8), UInt8(next & 255)] + part
                    + [UInt8](repeating: 0, count: usable - 4 - part.count))
        }
        return pages.flatMap(\.self)
    }

    private static func varint(_ value: Int) -> [UInt8] {
        value < 128 ? [UInt8(value)] : [UInt8(value >> 7 & 127 | 128), UInt8(value & 127)]
    }
}
