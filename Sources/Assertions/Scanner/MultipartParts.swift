/// The parts of a multipart body (RFC 2046 §5.1, RFC 7578), found by its boundary lines.
struct MultipartParts {
    /// Parts that are told apart; what follows belongs to the last one.
    static let maximumParts = 1_024

    /// One part.
    struct Part {
        /// From the first header line to the line break before the next boundary.
        var range: Range<Int>
        /// The content.
        var content: Range<Int>
        /// `name` of Content-Disposition, if given.
        var name: String?
        /// Content-Transfer-Encoding, lower case.
        var transferEncoding: String?
        /// Tokens of Content-Encoding.
        var contentEncoding: [String]
    }

    var parts: [Part] = []

    /// Nil when `bytes` is no multipart body. Without a declared `boundary`, a first line `--…` that is followed by a
    /// `Content-` line gives it.
    init?(_ bytes: UnsafeRawBufferPointer, boundary: [UInt8]?) {
        guard let delimiter = boundary.map({ [0x2D, 0x2D] + $0 }) ?? Self.sniffedDelimiter(bytes) else { return nil }
        var delimiters: [Int] = []
        var index = 0
        while let found = Self.find(delimiter, in: bytes, from: index), delimiters.count <= Self.maximumParts {
            if found == 0 || bytes[found - 1] == 0x0A { delimiters.append(found) }
            index = found + delimiter.count
        }
        for (number, start) in delimiters.enumerated() {
            guard let lineEnd = Self.find([0x0A], in: bytes, from: start + delimiter.count) else { break }
            if bytes.count > start + delimiter.count + 1, bytes[start + delimiter.count] == 0x2D,
                bytes[start + delimiter.count + 1] == 0x2D
            {
                break
            }
            var end = number + 1 < delimiters.count ? delimiters[number + 1] : bytes.count
            if number + 1 < delimiters.count {
                if end > lineEnd + 1, bytes[end - 1] == 0x0A { end -= 1 }
                if end > lineEnd + 1, bytes[end - 1] == 0x0D { end -= 1 }
            }
            parts.append(Self.part(bytes, from: lineEnd + 1, to: max(end, lineEnd + 1)))
        }
        if parts.isEmpty { return nil }
    }

    /// The boundary parameter of a Content-Type value.
    static func boundary(ofContentType value: String) -> [UInt8]? {
        let lower = value.lowercased()
        guard lower.hasPrefix("multipart/") else { return nil }
        for parameter in value.split(separator: ";").dropFirst() {
            let words = parameter.split(separator: "=", maxSplits: 1)
            guard words.count == 2, words[0].lowercased().filter({ $0 != " " && $0 != "\t" }) == "boundary" else {
                continue
            }
            let text = words[1].filter { $0 != "\"" && $0 != " " }
            return text.isEmpty || text.utf8.count > 200 ? nil : Array(text.utf8)
        }
        return nil
    }

    private static func part(_ bytes: UnsafeRawBufferPointer, from start: Int, to end: Int) -> Part {
        var part = Part(range: start..<end, content: start..<end, name: nil, transferEncoding: nil, contentEncoding: [])
        var index = start
        while index < end {
            let lineEnd = bytes[index..<end].firstIndex(of: 0x0A) ?? end
            let line = String(decoding: bytes[index..<lineEnd].filter { $0 != 0x0D }, as: UTF8.self)
            index = min(end, lineEnd + 1)
            part.content = index..<end
            if line.isEmpty { break }
            guard let colon = line.firstIndex(of: ":") else {
                // No head after all: the content begins with the part.
                part.content = start..<end
                break
            }
            let value = String(line[line.index(after: colon)...].drop { $0 == " " })
            switch line[..<colon].lowercased() {
            case "content-disposition": part.name = parameter("name", of: value)
            case "content-transfer-encoding": part.transferEncoding = value.lowercased()
            case "content-encoding":
                part.contentEncoding = value.lowercased().split { $0 == "," || $0 == " " }.map(String.init)
            default: break
            }
        }
        return part
    }

    private static func parameter(_ name: String, of value: String) -> String? {
        for piece in value.split(separator: ";").dropFirst() {
            let trimmed = piece.drop { $0 == " " }
            guard trimmed.lowercased().hasPrefix(name + "=") else { continue }
            return trimmed.dropFirst(name.count + 1).filter { $0 != "\"" }
        }
        return nil
    }

    private static func sniffedDelimiter(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        guard bytes.count > 8, bytes[0] == 0x2D, bytes[1] == 0x2D,
            let lineEnd = bytes.prefix(210).firstIndex(of: 0x0A), lineEnd > 3,
            String(decoding: bytes[(lineEnd + 1)...].prefix(8), as: UTF8.self).lowercased() == "content-"
        else { return nil }
        return bytes[..<lineEnd].filter { $0 != 0x0D }
    }

    private static func find(_ pattern: [UInt8], in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard let first = pattern.first else { return nil }
        var index = start
        while index + pattern.count <= bytes.count {
            if bytes[index] == first, bytes[index..<index + pattern.count].elementsEqual(pattern) { return index }
            index += 1
        }
        return nil
    }
}
