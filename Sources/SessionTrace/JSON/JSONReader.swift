/// The recursive descent behind `JSONValue.parse`: bytes in, one value or one error out, each byte looked at once.
struct JSONReader {
    private let bytes: UnsafeRawBufferPointer
    private let limits: JSONLimits
    private var index = 0
    private var depth = 0
    private var values = 0

    init(bytes: UnsafeRawBufferPointer, limits: JSONLimits) {
        self.bytes = bytes
        self.limits = limits
    }

    mutating func document() throws(JSONError) -> JSONValue {
        guard bytes.count <= limits.bytes else { throw fault(.tooLong(limit: limits.bytes)) }
        if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { index = 3 }
        skipSpace()
        let value = try value()
        skipSpace()
        guard index == bytes.count else { throw fault(.trailingText) }
        return value
    }

    private mutating func value() throws(JSONError) -> JSONValue {
        values += 1
        guard values <= limits.values else { throw fault(.tooManyValues(limit: limits.values)) }
        guard let byte = peek() else { throw fault(.endOfText) }
        switch byte {
        case UInt8(ascii: "{"): return try object()
        case UInt8(ascii: "["): return try array()
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "-"), 0x30...0x39: return .number(try number())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: throw fault(.expected("a value"))
        }
    }

    private mutating func object() throws(JSONError) -> JSONValue {
        try enter()
        var members: [JSONMember] = []
        skipSpace()
        if peek() == UInt8(ascii: "}") {
            leave()
            return .object(members)
        }
        while true {
            skipSpace()
            let offset = index
            try expect(UInt8(ascii: "\""), "a member name", consume: false)
            let name = try string()
            skipSpace()
            try expect(UInt8(ascii: ":"), "a colon")
            skipSpace()
            members.append(JSONMember(name: name, value: try value(), offset: offset))
            skipSpace()
            if peek() == UInt8(ascii: ",") {
                index += 1
                continue
            }
            try expect(UInt8(ascii: "}"), "a comma or }", consume: false)
            leave()
            return .object(members)
        }
    }

    private mutating func array() throws(JSONError) -> JSONValue {
        try enter()
        var elements: [JSONValue] = []
        skipSpace()
        if peek() == UInt8(ascii: "]") {
            leave()
            return .array(elements)
        }
        while true {
            skipSpace()
            elements.append(try value())
            skipSpace()
            if peek() == UInt8(ascii: ",") {
                index += 1
                continue
            }
            try expect(UInt8(ascii: "]"), "a comma or ]", consume: false)
            leave()
            return .array(elements)
        }
    }

    /// Steps over the opening bracket.
    private mutating func enter() throws(JSONError) {
        guard depth < limits.depth else { throw fault(.tooDeep(limit: limits.depth)) }
        depth += 1
        index += 1
    }

    /// Steps over the closing bracket.
    private mutating func leave() {
        depth -= 1
        index += 1
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
        for offset in 0..<word.utf8CodeUnitCount {
            guard let byte = peek() else { throw fault(.endOfText) }
            guard byte == word.utf8Start[offset] else { throw fault(.expected("a value")) }
            index += 1
        }
        return value
    }

    private mutating func number() throws(JSONError) -> String {
        let start = index
        if peek() == UInt8(ascii: "-") { index += 1 }
        if peek() == UInt8(ascii: "0") { index += 1 } else { try digits() }
        if peek() == UInt8(ascii: ".") {
            index += 1
            try digits()
        }
        if peek() == UInt8(ascii: "e") || peek() == UInt8(ascii: "E") {
            index += 1
            if peek() == UInt8(ascii: "+") || peek() == UInt8(ascii: "-") { index += 1 }
            try digits()
        }
        if let next = peek(), (0x30...0x39).contains(next) { throw fault(.malformedNumber) }  // a leading zero
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    private mutating func digits() throws(JSONError) {
        let start = index
        while let byte = peek(), (0x30...0x39).contains(byte) { index += 1 }
        guard index > start else { throw fault(peek() == nil ? .endOfText : .malformedNumber) }
    }

    /// Reads a string from its opening quote to behind its closing one.
    private mutating func string() throws(JSONError) -> String {
        index += 1
        var text = ""
        while true {
            let start = index
            while index < bytes.count, bytes[index] != 0x22, bytes[index] != 0x5C, bytes[index] >= 0x20 { index += 1 }
            if index > start {
                let run = UnsafeRawBufferPointer(rebasing: bytes[start..<index])
                guard let piece = String(validating: run, as: UTF8.self) else { throw fault(.notUTF8, at: start) }
                if text.isEmpty { text = piece } else { text += piece }
            }
            guard let byte = peek() else { throw fault(.endOfText) }
            switch byte {
            case UInt8(ascii: "\""):
                index += 1
                return text
            case UInt8(ascii: "\\"):
                text.unicodeScalars.append(try escape())
            default:
                throw fault(.controlCharacter)
            }
        }
    }

    private mutating func escape() throws(JSONError) -> Unicode.Scalar {
        let start = index
        index += 1
        guard let byte = peek() else { throw fault(.endOfText) }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): break
        default: throw fault(.malformedEscape, at: start)
        }
        let unit = try hex(escapeStart: start)
        if let scalar = Unicode.Scalar(unit) { return scalar }
        // A surrogate: the upper half needs its lower half in the next escape, else both stand for nothing.
        guard unit < 0xDC00, index + 1 < bytes.count, bytes[index] == 0x5C, bytes[index + 1] == UInt8(ascii: "u") else {
            return "\u{FFFD}"
        }
        let second = index
        index += 2
        let low = try hex(escapeStart: second)
        guard (0xDC00...0xDFFF).contains(low) else {
            index = second
            return "\u{FFFD}"
        }
        return Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)) ?? "\u{FFFD}"
    }

    private mutating func hex(escapeStart: Int) throws(JSONError) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek() else { throw fault(.endOfText) }
            let digit: UInt8
            switch byte {
            case 0x30...0x39: digit = byte - 0x30
            case 0x41...0x46: digit = byte - 0x37
            case 0x61...0x66: digit = byte - 0x57
            default: throw fault(.malformedEscape, at: escapeStart)
            }
            unit = unit << 4 | UInt32(digit)
            index += 1
        }
        return unit
    }

    private mutating func expect(_ byte: UInt8, _ what: String, consume: Bool = true) throws(JSONError) {
        guard let next = peek() else { throw fault(.endOfText) }
        guard next == byte else { throw fault(.expected(what)) }
        if consume { index += 1 }
    }

    private func peek() -> UInt8? {
        index < bytes.count ? bytes[index] : nil
    }

    private mutating func skipSpace() {
        while index < bytes.count {
            switch bytes[index] {
            case 0x20, 0x09, 0x0A, 0x0D: index += 1
            default: return
            }
        }
    }

    private func fault(_ code: JSONError.Code, at offset: Int? = nil) -> JSONError {
        JSONError(code, at: offset ?? index, in: bytes)
    }
}
