/// One line of a log, without its end and without colours.
struct LogLine: Sendable {
    /// Its number in the file, from 1.
    var number: Int
    /// Its bytes.
    var bytes: [UInt8]
}

/// Cuts the bytes of a log into lines, wherever the pieces end that they come in.
///
/// A line ends with LF; a CR before it belongs to the end, as terminals of `adb shell` write it. A byte order mark before
/// the first line and the escape sequences of colours (ECMA-48 `ESC [ … m`) are left out.
struct LogLines: Sendable {
    /// Most bytes of a line that are kept; what is longer is no line that a mark can be read from.
    static let lineLimit = 256 << 10

    private var pending: [UInt8] = []
    private var isTooLong = false
    private(set) var count = 0

    /// What comes of a piece: its whole lines; a line that was too long is nil.
    mutating func receive(_ piece: ArraySlice<UInt8>) -> [(number: Int, line: LogLine?)] {
        var lines: [(number: Int, line: LogLine?)] = []
        var rest = piece
        while let end = rest.firstIndex(of: 0x0A) {
            keep(rest[rest.startIndex..<end])
            lines.append(take())
            rest = rest[rest.index(after: end)...]
        }
        keep(rest)
        return lines
    }

    /// The last line, if the log does not end with a line's end.
    mutating func finish() -> (number: Int, line: LogLine?)? {
        pending.isEmpty && !isTooLong ? nil : take()
    }

    private mutating func keep(_ bytes: ArraySlice<UInt8>) {
        guard !isTooLong, pending.count + bytes.count <= Self.lineLimit else {
            isTooLong = true
            pending = []
            return
        }
        pending += bytes
    }

    private mutating func take() -> (number: Int, line: LogLine?) {
        defer {
            pending = []
            isTooLong = false
        }
        count += 1
        guard !isTooLong else { return (count, nil) }
        var bytes = pending[...]
        if count == 1, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
        while bytes.last == 0x0D { bytes = bytes.dropLast() }
        return (count, LogLine(number: count, bytes: Self.withoutColours(bytes)))
    }

    private static func withoutColours(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        guard bytes.contains(0x1B) else { return Array(bytes) }
        var plain: [UInt8] = []
        var index = bytes.startIndex
        while index < bytes.endIndex {
            if bytes[index] == 0x1B, index + 1 < bytes.endIndex, bytes[index + 1] == UInt8(ascii: "[") {
                var end = index + 2
                while end < bytes.endIndex, !(0x40...0x7E).contains(bytes[end]) { end += 1 }
                if end < bytes.endIndex {
                    index = end + 1
                    continue
                }
            }
            plain.append(bytes[index])
            index += 1
        }
        return plain
    }
}

/// Reads a line from left to right; a read that fails leaves the place where it was, if it says so.
struct LineCursor: Sendable {
    let bytes: [UInt8]
    /// The next byte to read.
    var index = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { index >= bytes.count }
    var next: UInt8? { index < bytes.count ? bytes[index] : nil }
    /// What has not been read.
    var rest: ArraySlice<UInt8> { bytes[min(index, bytes.count)...] }

    /// The column of the next byte: scalars, from 1.
    var column: Int { String(decoding: bytes.prefix(index), as: UTF8.self).unicodeScalars.count + 1 }

    mutating func skipSpaces() {
        while let byte = next, byte == 0x20 || byte == 0x09 { index += 1 }
    }

    /// Takes the text if it comes next.
    mutating func take(_ text: StaticString) -> Bool {
        let word = text.withUTF8Buffer { Array($0) }
        guard rest.starts(with: word) else { return false }
        index += word.count
        return true
    }

    /// Takes the bytes up to the next space or the end; nil when there are none.
    mutating func word() -> ArraySlice<UInt8>? {
        let start = index
        while let byte = next, byte != 0x20, byte != 0x09 { index += 1 }
        return start == index ? nil : bytes[start..<index]
    }

    /// Takes exactly `count` decimal digits; nothing is taken if they are not there.
    mutating func digits(_ count: Int) -> Int? {
        guard bytes.count - index >= count else { return nil }
        var value = 0
        for byte in bytes[index..<(index + count)] {
            guard (0x30...0x39).contains(byte) else { return nil }
            value = value * 10 + Int(byte - 0x30)
        }
        index += count
        return value
    }

    /// Takes a point and one to nine digits of a fraction of a second: its nanoseconds, and those of its last digit.
    mutating func fraction(after points: [UInt8]) -> (nanoseconds: Int64, unit: Int64)? {
        guard let point = next, points.contains(point), index + 1 < bytes.count,
            (0x30...0x39).contains(bytes[index + 1])
        else { return nil }
        index += 1
        var nanoseconds: Int64 = 0
        var unit: Int64 = 1_000_000_000
        while let byte = next, (0x30...0x39).contains(byte) {
            index += 1
            // Digits beyond nanoseconds say nothing that is kept.
            guard unit > 1 else { continue }
            unit /= 10
            nanoseconds += Int64(byte - 0x30) * unit
        }
        return (nanoseconds, unit)
    }

    /// The place of `text` at or behind the next byte.
    func find(_ text: StaticString) -> Int? {
        let word = text.withUTF8Buffer { Array($0) }
        guard let first = word.first, bytes.count >= word.count else { return nil }
        var place = index
        while place <= bytes.count - word.count {
            if bytes[place] == first, bytes[place...].starts(with: word) { return place }
            place += 1
        }
        return nil
    }
}
