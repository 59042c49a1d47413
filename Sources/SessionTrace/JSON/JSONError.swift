/// Why a text is not JSON, and where.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong.
    public enum Code: Hashable, Sendable {
        /// The text ends inside a value.
        case endOfText
        /// Something else stands where this was due (in plain words: `a value`, `a comma or ]`).
        case expected(String)
        /// Text after the value.
        case trailingText
        /// A number of another form than RFC 8259 §6.
        case malformedNumber
        /// A backslash followed by something that is no escape.
        case malformedEscape
        /// A control character (below U+0020) inside a string.
        case controlCharacter
        /// Bytes in a string that are not UTF-8.
        case notUTF8
        /// More nesting than the limit (levels).
        case tooDeep(limit: Int)
        /// More text than the limit (bytes).
        case tooLong(limit: Int)
        /// More values than the limit.
        case tooManyValues(limit: Int)
    }

    /// What is wrong.
    public var code: Code
    /// Byte offset in the text, from 0.
    public var offset: Int
    /// Line, from 1.
    public var line: Int
    /// Column in Unicode scalars, from 1.
    public var column: Int

    /// Makes an error for a place in `text`; counts the line and column from its start.
    init(_ code: Code, at offset: Int, in text: UnsafeRawBufferPointer) {
        self.code = code
        self.offset = offset
        line = 1
        column = 1
        for byte in text.prefix(offset) {
            if byte == 0x0A {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
    }

    /// The fault in plain words, without its place.
    public var reason: String {
        switch code {
        case .endOfText: "the text ends inside a value"
        case .expected(let what): "expected \(what)"
        case .trailingText: "text after the value"
        case .malformedNumber: "malformed number"
        case .malformedEscape: "malformed escape in a string"
        case .controlCharacter: "control character in a string"
        case .notUTF8: "string is not UTF-8"
        case .tooDeep(let limit): "nested deeper than \(limit) levels"
        case .tooLong(let limit): "longer than \(limit) bytes"
        case .tooManyValues(let limit): "more than \(limit) values"
        }
    }

    /// `line:column: reason`.
    public var description: String { "\(line):\(column): \(reason)" }
}
