/// A node of a YAML document with the place where it begins.
struct YAMLNode: Sendable {
    /// Line and column of a node's first character, both counted from 1.
    struct Place: Hashable, Sendable {
        var line: Int
        var column: Int
    }

    /// One `key: value` of a mapping.
    struct Pair: Sendable {
        var key: YAMLNode
        var value: YAMLNode
    }

    /// What the node is.
    enum Content: Sendable {
        /// A scalar; `isPlain` is false when it was quoted, so that `"true"` stays a string.
        case scalar(String, isPlain: Bool)
        case sequence([YAMLNode])
        case mapping([Pair])
    }

    var content: Content
    var place: Place

    /// The scalar's text; nil for a sequence or mapping.
    var text: String? {
        if case .scalar(let text, _) = content { return text }
        return nil
    }

    /// An empty value (`key:` with nothing behind it, `~` or `null`).
    var isNull: Bool {
        if case .scalar(let text, true) = content { return ["", "~", "null"].contains(text) }
        return false
    }

    /// What the node is, in the words of an error message.
    var kind: String {
        switch content {
        case .scalar: isNull ? "nothing" : "text"
        case .sequence: "a list"
        case .mapping: "a mapping"
        }
    }
}

extension YAMLNode {
    /// Whether this is a mapping with a key.
    func hasKey(_ name: String) -> Bool {
        guard case .mapping(let pairs) = content else { return false }
        return pairs.contains { $0.key.text == name }
    }
}
