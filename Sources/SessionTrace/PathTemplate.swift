/// A path with named holes: `/catalog/{id}/handoff`. A hole stands for exactly one non-empty segment.
public struct PathTemplate: Hashable, Sendable, CustomStringConvertible {
    /// One segment between slashes.
    enum Segment: Hashable, Sendable {
        case literal(String)
        case hole(String)
    }

    /// The text as written.
    public let text: String
    let segments: [Segment]
    /// What stands before the first hole: most paths are told apart by it.
    private let prefix: String

    /// Reads a template. Nil when it does not begin with `/`, has a query or fragment, or a brace that is not a whole
    /// segment `{name}`.
    public init?(_ text: String) {
        guard text.hasPrefix("/"), !text.contains(where: { $0 == "?" || $0 == "#" || $0 == " " }) else { return nil }
        var segments: [Segment] = []
        for part in text.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            if part.hasPrefix("{"), part.hasSuffix("}"), part.count > 2 {
                let name = String(part.dropFirst().dropLast())
                guard !name.contains(where: { $0 == "{" || $0 == "}" }) else { return nil }
                segments.append(.hole(name))
            } else if part.contains("{") || part.contains("}") {
                return nil
            } else {
                segments.append(.literal(String(part)))
            }
        }
        self.text = text
        self.segments = segments
        prefix = String(text.prefix { $0 != "{" })
    }

    /// A template without holes, for text that is known to hold none.
    package init(segments text: String) {
        self.text = text
        prefix = text
        segments = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map { .literal(String($0)) }
    }

    /// The values of the holes when `path` (without query) has this shape; nil when it has not.
    public func match(_ path: some StringProtocol) -> [String: String]? {
        guard path.hasPrefix(prefix) else { return nil }
        let parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == segments.count else { return nil }
        var values: [String: String] = [:]
        for (part, segment) in zip(parts, segments) {
            switch segment {
            case .literal(let literal):
                guard part == literal else { return nil }
            case .hole(let name):
                guard !part.isEmpty else { return nil }
                values[name] = String(part)
            }
        }
        return values
    }

    /// Whether `path` has this shape.
    public func matches(_ path: some StringProtocol) -> Bool { match(path) != nil }

    public var description: String { text }
}

/// A method (or any) and a path template: `GET /handoff-session/{id}`, `/orders`.
public struct RequestTemplate: Hashable, Sendable, CustomStringConvertible {
    /// The method in upper case; nil for any.
    public var method: String?
    /// The path.
    public var path: PathTemplate

    /// Makes a template.
    public init(method: String?, path: PathTemplate) {
        self.method = method
        self.path = path
    }

    /// Reads `METHOD /path` or `/path`.
    public init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard let last = words.last, words.count <= 2, let path = PathTemplate(String(last)) else { return nil }
        if words.count == 2 {
            guard words[0].allSatisfy({ $0.isLetter && $0.isASCII }) else { return nil }
            method = words[0].uppercased()
        }
        self.path = path
    }

    /// Whether a request has this method and path.
    public func matches(method: String, path: some StringProtocol) -> Bool {
        (self.method == nil || self.method == method) && self.path.matches(path)
    }

    public var description: String { method.map { "\($0) \(path)" } ?? path.text }
}
