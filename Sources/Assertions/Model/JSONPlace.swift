internal import SessionTrace

/// A place in a JSON text, member by member from its root (RFC 6901).
struct JSONPlace: Hashable, Sendable {
    /// One step: a member's name or an element's index.
    enum Step: Hashable, Sendable {
        case name(String)
        case index(Int)
    }

    private(set) var steps: [Step] = []

    /// The whole text.
    static let root = JSONPlace()

    func member(_ name: String) -> JSONPlace { JSONPlace(steps: steps + [.name(name)]) }
    func element(_ index: Int) -> JSONPlace { JSONPlace(steps: steps + [.index(index)]) }

    /// The pointer itself, for comparing with one of the policy's: never printed.
    var text: String {
        steps.reduce(into: "") { text, step in
            switch step {
            case .name(let name): text += "/" + Self.escaped(name)
            case .index(let index): text += "/\(index)"
            }
        }
    }

    /// The pointer for people; names that look like values are masked, the whole text reads `(root)`.
    var shown: String { shown { "/\($0)" } }

    /// The same without positions, for fingerprints (`/items/*/handoff/url`).
    var template: String { shown { _ in "/*" } }

    private func shown(_ index: (Int) -> String) -> String {
        guard !steps.isEmpty else { return "(root)" }
        return steps.reduce(into: "") { text, step in
            switch step {
            case .name(let name): text += "/" + Self.shown(name: name)
            case .index(let number): text += index(number)
            }
        }
    }

    /// The contract's own names as they are, others masked where they look like values.
    private static func shown(name: String) -> String {
        if DecisionSchema.names.contains(name) || isWords(name) { return name }
        return escaped(TextMask.word(name.prefix(80)))
    }

    /// Words of three letters or more written as one: no value looks like that.
    private static func isWords(_ name: String) -> Bool {
        name.utf8.count <= 40 && name.allSatisfy { $0.isASCII && $0.isLetter }
            && KeyWords(name).words.allSatisfy { $0.utf8.count >= 3 }
    }

    private static func escaped(_ name: String) -> String {
        guard name.utf8.contains(0x7E) || name.utf8.contains(0x2F) else { return name }
        return name.reduce(into: "") { text, character in
            switch character {
            case "~": text += "~0"
            case "/": text += "~1"
            default: text.append(character)
            }
        }
    }

    /// Whether this is `other` or lies below it.
    func isWithin(_ other: JSONPlace) -> Bool { steps.starts(with: other.steps) }

    /// The place that a pointer of the policy names, counted from here; nil when it is no pointer.
    func following(pointer: String) -> JSONPlace? {
        guard pointer.hasPrefix("/") else { return pointer.isEmpty ? self : nil }
        let names = pointer.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        return JSONPlace(
            steps: steps
                + names.map { name in
                    .name(
                        name.split(separator: "~1", omittingEmptySubsequences: false).map {
                            $0.split(separator: "~0", omittingEmptySubsequences: false).joined(separator: "~")
                        }.joined(separator: "/"))
                })
    }
}

extension JSONValue {
    /// What kind of value it is, in words.
    var kindWords: String {
        switch self {
        case .null: "null"
        case .bool: "a truth value"
        case .number: "a number"
        case .string: "text"
        case .array: "a list"
        case .object: "an object"
        }
    }
}
