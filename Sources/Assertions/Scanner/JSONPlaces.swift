/// Where the strings of a JSON text, or of a sequence of JSON texts on lines, stand; made only when something was found
/// in one. Lenient: what is not JSON has no place, and the next line is tried.
struct JSONPlaces {
    /// Strings that are kept track of; beyond, no place is given.
    static let maximumStrings = 1 << 20
    /// Nesting that is followed.
    static let maximumDepth = 256

    private struct Node {
        var parent: Int32
        /// The key's range; empty for an array element, whose index is then `index`.
        var key: Range<Int>
        var index: Int32
    }

    private struct Span {
        var range: Range<Int>
        var node: Int32
        var document: Int32
    }

    private var nodes: [Node] = []
    private var spans: [Span] = []
    private var documentLines: [Int] = []

    /// Nil when `bytes` holds no JSON object or array that begins a line or the text (a short prefix is let pass).
    ///
    /// - Parameter isAmongOthers: whether bytes that are no text stand before, of which the first here may be one.
    init?(_ bytes: UnsafeRawBufferPointer, isAmongOthers: Bool = false) {
        guard var index = firstStart(in: bytes, isBehindText: !isAmongOthers) else { return nil }
        while let start = Self.nextDocument(in: bytes, from: index) {
            documentLines.append(start)
            let (end, isWhole) = parseDocument(bytes, from: start)
            // A string of which the length before it reads as a bracket.
            if !isWhole, spans.count == 1, spans[0].range.upperBound + 1 == end { return nil }
            index = max(start + 1, end)
            if spans.count >= Self.maximumStrings { break }
        }
        guard !spans.isEmpty else { return nil }
        // Offsets become line numbers, in one pass.
        var line = 1
        var offset = 0
        for number in documentLines.indices {
            while offset < documentLines[number] {
                if bytes[offset] == 0x0A { line += 1 }
                offset += 1
            }
            documentLines[number] = line
        }
    }

    /// Whether a text may be JSON's.
    static func mayBegin(_ text: [UInt8]) -> Bool { text.first == 0x7B || text.first == 0x5B }

    /// The steps that name the string at `offset` (`json:/a/b`, after `line:N` when there are several texts), and where it
    /// lies.
    func steps(at offset: Int, in bytes: UnsafeRawBufferPointer) -> (steps: [String], range: Range<Int>)? {
        var low = 0
        var high = spans.count
        while low < high {
            let middle = (low + high) / 2
            if spans[middle].range.upperBound < offset { low = middle + 1 } else { high = middle }
        }
        guard low < spans.count, spans[low].range.lowerBound <= offset else { return nil }
        let span = spans[low]
        var parts: [String] = []
        var number = span.node
        while number >= 0 {
            let node = nodes[Int(number)]
            if node.index >= 0 {
                parts.append(String(node.index))
            } else {
                let key = String(decoding: bytes[node.key], as: UTF8.self)
                let shown = TextMask.word(Substring(key))
                parts.append(
                    shown.split(separator: "~", omittingEmptySubsequences: false).joined(separator: "~0")
                        .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "~1"))
            }
            number = node.parent
        }
        let pointer = "json:" + parts.reversed().map { "/" + $0 }.joined()
        let line = documentLines.count > 1 ? ["line:\(documentLines[Int(span.document)])"] : []
        return (line + [pointer], span.range)
    }

    /// Where the first `{` or `[` stands, when nothing but a short prefix (event name, message number, `)]}'`) is before it.
    /// Behind a prefix that is no text (a length, a tag), what begins must also end: these bytes may be lengths themselves.
    private func firstStart(in bytes: UnsafeRawBufferPointer, isBehindText: Bool) -> Int? {
        var isBehindText = isBehindText
        for index in 0..<min(bytes.count, 64) {
            if bytes[index] == 0x7B || bytes[index] == 0x5B {
                if isBehindText { return index }
                var trial = self
                trial.documentLines.append(index)
                if trial.parseDocument(bytes, from: index).isWhole { return index }
            }
            if !ByteClass.isPrintable(bytes[index]), bytes[index] < 0x80 { isBehindText = false }
        }
        return nil
    }

    /// The next place from `index` on where a text begins: here, or at the start of a later line.
    private static func nextDocument(in bytes: UnsafeRawBufferPointer, from index: Int) -> Int? {
        var index = index
        var atStart = true
        while index < bytes.count {
            let byte = bytes[index]
            if byte == 0x0A {
                atStart = true
            } else if atStart, byte == 0x7B || byte == 0x5B {
                return index
            } else if byte != 0x20, byte != 0x0D, byte != 0x09, byte != 0x2C, byte != 0x1E {
                atStart = false
            }
            index += 1
        }
        return nil
    }

    private struct Level {
        var isObject: Bool
        var node: Int32
        var index: Int32 = 0
        var key: Range<Int>?
    }

    /// Walks one text and returns where it ends or stops being JSON, and whether it ended.
    private mutating func parseDocument(
        _ bytes: UnsafeRawBufferPointer, from start: Int
    ) -> (end: Int, isWhole: Bool) {
        let document = Int32(documentLines.count - 1)
        var levels: [Level] = []
        var index = start
        while index < bytes.count, spans.count < Self.maximumStrings {
            switch bytes[index] {
            case 0x7B, 0x5B:  // { [
                guard levels.count < Self.maximumDepth else { return (index, false) }
                let node = levels.last.map { nodeForValue(in: $0) } ?? -1
                levels.append(Level(isObject: bytes[index] == 0x7B, node: node))
                index += 1
            case 0x7D, 0x5D:  // } ]
                guard !levels.isEmpty else { return (index, false) }
                levels.removeLast()
                index += 1
                if levels.isEmpty { return (index, true) }
            case 0x2C:  // ,
                levels[levels.count - 1].index += 1
                levels[levels.count - 1].key = nil
                index += 1
            case 0x22:  // "
                let end = Self.stringEnd(bytes, from: index + 1)
                guard end < bytes.count else { return (end, false) }
                let range = index + 1..<end
                index = end + 1
                guard let level = levels.last else { return (index, false) }
                if level.isObject, level.key == nil {
                    levels[levels.count - 1].key = range
                }
                let node = nodeForValue(in: levels[levels.count - 1])
                spans.append(Span(range: range, node: node, document: document))
            case 0x20, 0x09, 0x0A, 0x0D, 0x3A, 0x2B, 0x2D, 0x2E, 0x30...0x39, 0x41...0x5A, 0x61...0x7A:
                index += 1
            default:
                return (index, false)
            }
        }
        return (index, false)
    }

    private mutating func nodeForValue(in level: Level) -> Int32 {
        if level.isObject {
            nodes.append(Node(parent: level.node, key: level.key ?? 0..<0, index: -1))
        } else {
            nodes.append(Node(parent: level.node, key: 0..<0, index: level.index))
        }
        return Int32(nodes.count - 1)
    }

    private static func stringEnd(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var index = start
        while index < bytes.count, bytes[index] != 0x22 { index += bytes[index] == 0x5C ? 2 : 1 }
        return min(index, bytes.count)
    }
}
