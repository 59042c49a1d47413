/// A JSON value (RFC 8259) that keeps what comparisons need: the order of members, duplicate names, and numbers as written.
public enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    /// The number's text exactly as written: `1`, `1.0` and `1e0` are three different values here.
    case number(String)
    /// The text with its escapes undone; half a surrogate pair becomes U+FFFD.
    case string(String)
    case array([JSONValue])
    /// The members in the order of the text; a name may come several times.
    case object([JSONMember])
}

/// One `"name": value` of an object.
public struct JSONMember: Hashable, Sendable {
    /// The name with its escapes undone.
    public var name: String
    /// The value.
    public var value: JSONValue
    /// Byte offset of the name's opening quote in the text that was parsed; 0 for members made otherwise.
    /// Takes no part in comparisons.
    public var offset: Int

    /// Makes a member.
    public init(name: String, value: JSONValue, offset: Int = 0) {
        self.name = name
        self.value = value
        self.offset = offset
    }

    public static func == (lhs: JSONMember, rhs: JSONMember) -> Bool {
        lhs.name == rhs.name && lhs.value == rhs.value
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(value)
    }
}

/// How much a JSON text may hold. Time and memory are linear in what these let through.
public struct JSONLimits: Sendable {
    /// Bytes of text.
    public var bytes: Int
    /// Arrays and objects inside one another; the parser uses a stack frame for each.
    public var depth: Int
    /// Values in the whole text, containers included.
    public var values: Int

    /// Makes limits; the defaults are 16 MiB, 128 levels and 1,000,000 values.
    public init(bytes: Int = 16 << 20, depth: Int = 128, values: Int = 1_000_000) {
        self.bytes = bytes
        self.depth = depth
        self.values = values
    }
}

extension JSONValue {
    /// Parses one JSON text: exactly one value with nothing but white space around it, and perhaps a byte order mark.
    ///
    /// Strict: no comments, no trailing commas, no control characters in strings, no leading zeros, UTF-8 only.
    public static func parse(
        _ bytes: UnsafeRawBufferPointer, limits: JSONLimits = JSONLimits()
    ) throws(JSONError) -> JSONValue {
        var reader = JSONReader(bytes: bytes, limits: limits)
        return try reader.document()
    }

    /// Parses one JSON text held in an array; see `parse(_:limits:)`.
    public static func parse(_ bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) -> JSONValue {
        // `withUnsafeBytes` rethrows untyped, so the outcome is carried out as a value.
        try bytes.withUnsafeBytes { raw in
            Result { () throws(JSONError) -> JSONValue in try parse(raw, limits: limits) }
        }.get()
    }

    /// Parses one JSON text held in a string; see `parse(_:limits:)`.
    public static func parse(_ text: String, limits: JSONLimits = JSONLimits()) throws(JSONError) -> JSONValue {
        try parse(Array(text.utf8), limits: limits)
    }

    /// The value of the *last* member called `name`, which is the one that common parsers keep; nil if this is no
    /// object or has no such member.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name == name }?.value
    }

    /// The value at a JSON pointer (RFC 6901): `/items/0/catalogId`, or the empty text for the whole value.
    ///
    /// Of members with equal names the last counts. Nil when there is nothing there, or when it is no pointer.
    public func value(at pointer: String) -> JSONValue? {
        if pointer.isEmpty { return self }
        guard pointer.utf8.first == UInt8(ascii: "/") else { return nil }
        var current = self
        for token in pointer.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            switch current {
            case .object:
                guard let next = current[Self.unescaped(pointerToken: token)] else { return nil }
                current = next
            case .array(let elements):
                guard token == "0" || (token.first != "0" && token.utf8.allSatisfy { (0x30...0x39).contains($0) }),
                    let index = Int(token), index < elements.count
                else { return nil }
                current = elements[index]
            case .null, .bool, .number, .string:
                return nil
            }
        }
        return current
    }

    /// Whether any object in this value has two members with one name.
    public var hasDuplicateNames: Bool {
        switch self {
        case .null, .bool, .number, .string:
            return false
        case .array(let elements):
            return elements.contains { $0.hasDuplicateNames }
        case .object(let members):
            return Set(members.map(\.name)).count < members.count || members.contains { $0.value.hasDuplicateNames }
        }
    }

    /// The text, if this is a string.
    public var stringValue: String? {
        if case .string(let text) = self { return text }
        return nil
    }

    /// The number as an integer, if it is written as one and fits (`12`, not `12.0`).
    public var integerValue: Int? {
        if case .number(let text) = self { return Int(text) }
        return nil
    }

    /// The truth value, if this is one.
    public var boolValue: Bool? {
        if case .bool(let flag) = self { return flag }
        return nil
    }

    /// The elements, if this is an array.
    public var elements: [JSONValue]? {
        if case .array(let elements) = self { return elements }
        return nil
    }

    /// The members in order, if this is an object.
    public var members: [JSONMember]? {
        if case .object(let members) = self { return members }
        return nil
    }

    /// `null`, `boolean`, `number`, `string`, `array` or `object`, for messages.
    public var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "boolean"
        case .number: "number"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }

    private static func unescaped(pointerToken token: Substring) -> String {
        guard token.utf8.contains(UInt8(ascii: "~")) else { return String(token) }
        var text = ""
        var afterTilde = false
        for character in token.unicodeScalars {
            if afterTilde {
                afterTilde = false
                if character == "0" || character == "1" {
                    text += character == "0" ? "~" : "/"
                    continue
                }
                text += "~"
            }
            if character == "~" { afterTilde = true } else { text.unicodeScalars.append(character) }
        }
        return afterTilde ? text + "~" : text
    }
}
