public import SessionTrace

/// Which hosts an option means: one name, a domain with what is below it, or all.
public struct HostNamePattern: Hashable, Sendable, CustomStringConvertible {
    private enum Scope: Hashable {
        case all
        case exactly(HostName)
        case below(HostName)
    }

    private let scope: Scope

    /// Reads `api.example.com` (that host), `*.example.com` (every host below it, not itself), or `*`. Nil when it is none.
    public init?(_ text: some StringProtocol) {
        if text == "*" {
            scope = .all
        } else if text.hasPrefix("*.") {
            guard let domain = HostName(text.dropFirst(2)), !domain.text.contains("*") else { return nil }
            scope = .below(domain)
        } else {
            guard let name = HostName(text), !name.text.contains("*") else { return nil }
            scope = .exactly(name)
        }
    }

    /// A pattern for one host.
    public init(_ name: HostName) {
        scope = .exactly(name)
    }

    /// Whether the pattern means `name`. Names are compared at label boundaries.
    public func matches(_ name: HostName) -> Bool {
        switch scope {
        case .all: true
        case .exactly(let own): own == name
        case .below(let domain): name != domain && name.isWithin(domain)
        }
    }

    /// The pattern as it is written.
    public var description: String {
        switch scope {
        case .all: "*"
        case .exactly(let name): name.text
        case .below(let domain): "*.\(domain.text)"
        }
    }
}
