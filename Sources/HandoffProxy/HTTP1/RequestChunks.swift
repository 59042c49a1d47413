internal import WireFormats

/// The chunked coding of a request (RFC 9112 §7.1) in its one unambiguous form, handed on byte for byte.
///
/// ```
/// size line ──► data ──► CR LF ──► size line …      size 0 ──► trailer lines ──empty line──► ended
/// ```
/// Extensions and trailers pass as they came. A line goes out when it is whole and right.
struct RequestChunks {
    private enum State {
        case size
        case data(remaining: Int)
        case dataEnd
        case trailers
        case ended
    }

    /// Bytes of one size line, extensions included.
    static let sizeLineLimit = 16 << 10
    /// Bytes of the trailer section.
    static let trailerLimit = RequestReader.headLimit

    private var state = State.size
    /// The line that is being read.
    private var line: [UInt8] = []
    /// Bytes of the trailer section so far.
    private var trailerBytes = 0
    /// What is wrong with the line that was read last; nothing is read after it.
    private(set) var fault: RequestRefusal?

    /// Whether the last chunk and the trailers are through.
    var isEnded: Bool {
        switch state {
        case .ended: true
        case .size, .data, .dataEnd, .trailers: false
        }
    }

    /// Bytes of a line that was not handed on.
    mutating func takeLine() -> [UInt8] {
        defer { line = [] }
        return line
    }

    /// Reads from `offset` on, up to the coding's end or a fault. What may be handed on is appended to `content`.
    mutating func read(_ input: UnsafeRawBufferPointer, from offset: inout Int, into content: inout [UInt8]) {
        while fault == nil, offset < input.count {
            switch state {
            case .ended:
                return
            case .data(let remaining):
                let count = min(remaining, input.count - offset)
                content.append(contentsOf: input[offset..<offset + count])
                offset += count
                state = remaining == count ? .dataEnd : .data(remaining: remaining - count)
            case .dataEnd, .size, .trailers:
                let isWhole: Bool
                do throws(RequestRefusal) {
                    isWhole = try gatherLine(input, from: &offset)
                    if isWhole { try take() }
                } catch {
                    fault = error
                    return
                }
                if isWhole {
                    content.append(contentsOf: line)
                    line.removeAll(keepingCapacity: true)
                }
            }
        }
    }

    /// Gathers up to and including a line feed; whether the line is whole.
    private mutating func gatherLine(
        _ input: UnsafeRawBufferPointer, from offset: inout Int
    ) throws(RequestRefusal) -> Bool {
        let limit: Int
        switch state {
        case .dataEnd: limit = 2
        case .trailers: limit = Self.trailerLimit - trailerBytes
        case .size, .data, .ended: limit = Self.sizeLineLimit
        }
        let room = min(input.count - offset, limit - line.count)
        let window = UnsafeRawBufferPointer(rebasing: input[..<(offset + room)])
        let lineFeed = ByteSearch.first(0x0A, in: window, from: offset)
        let end = lineFeed.map { $0 + 1 } ?? offset + room
        line.append(contentsOf: input[offset..<end])
        offset = end
        if lineFeed != nil { return true }
        guard line.count < limit else {
            switch state {
            case .dataEnd: throw RequestRefusal(sentence: "A chunk of the request does not end where its size says.")
            case .trailers: throw RequestRefusal(status: 431, sentence: "The request's trailers are too long.")
            case .size, .data, .ended: throw RequestRefusal(sentence: "A chunk's extensions are too long.")
            }
        }
        return false
    }

    /// Judges the whole line and goes on.
    private mutating func take() throws(RequestRefusal) {
        let end = line.count - 2
        guard end >= 0, line[end] == 0x0D, !line[..<end].contains(0x0D), !line.contains(0) else {
            throw RequestRefusal(sentence: "A line of the request's chunked coding does not end with CR LF.")
        }
        switch state {
        case .dataEnd:
            guard end == 0 else {
                throw RequestRefusal(sentence: "A chunk of the request does not end where its size says.")
            }
            state = .size
        case .size:
            let size = try Self.size(line[..<end])
            state = size == 0 ? .trailers : .data(remaining: size)
        case .trailers:
            trailerBytes += line.count
            if end == 0 {
                state = .ended
            } else {
                _ = try RequestHead.field(line, 0..<end)
            }
        case .data, .ended:
            break
        }
    }

    /// `1*HEXDIG [ BWS ";" … ]`
    private static func size(_ line: ArraySlice<UInt8>) throws(RequestRefusal) -> Int {
        var value = 0
        var at = line.startIndex
        while at < line.endIndex, let digit = hexadecimal(line[at]) {
            guard value <= Int.max >> 5 else { throw RequestRefusal(sentence: "A chunk of the request is too large.") }
            value = value << 4 | digit
            at += 1
        }
        guard at > line.startIndex else { throw RequestRefusal(sentence: "A chunk's size is no number.") }
        while at < line.endIndex, line[at] == 0x20 || line[at] == 0x09 { at += 1 }
        guard at == line.endIndex ? line.last.flatMap(hexadecimal) != nil : line[at] == 0x3B else {
            throw RequestRefusal(sentence: "A chunk's size is no number.")
        }
        return value
    }

    private static func hexadecimal(_ byte: UInt8) -> Int? {
        switch byte {
        case 0x30...0x39: Int(byte) - 0x30
        case 0x41...0x46: Int(byte) - 0x37
        case 0x61...0x66: Int(byte) - 0x57
        default: nil
        }
    }
}
