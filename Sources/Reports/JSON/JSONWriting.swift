internal import SessionTrace

extension JSONValue {
    /// An object from members whose value is there; a nil value leaves its member out.
    static func object(_ members: KeyValuePairs<String, JSONValue?>) -> JSONValue {
        .object(members.compactMap { name, value in value.map { JSONMember(name: name, value: $0) } })
    }

    /// An integer.
    static func integer(_ value: some BinaryInteger) -> JSONValue { .number("\(value)") }

    /// The value as JSON text with two spaces of indentation and one member a line.
    func indented(by depth: Int = 0) -> String {
        let inner = String(repeating: "  ", count: depth + 1)
        let outer = String(repeating: "  ", count: depth)
        switch self {
        case .array(let elements) where !elements.isEmpty:
            let lines = elements.map { inner + $0.indented(by: depth + 1) }
            return "[\n" + lines.joined(separator: ",\n") + "\n\(outer)]"
        case .object(let members) where !members.isEmpty:
            let lines = members.map { member in
                inner + JSONValue.string(member.name).description + ": " + member.value.indented(by: depth + 1)
            }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(outer)}"
        case .null, .bool, .number, .string, .array, .object:
            return description
        }
    }
}
