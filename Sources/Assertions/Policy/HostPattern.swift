public import SessionTrace

/// A host of the policy: a domain that covers its subdomains at label boundaries, or `*.domain` for the subdomains alone.
public struct HostPattern: Hashable, Sendable, CustomStringConvertible {
    /// The domain.
    public let domain: HostName
    /// Whether the domain itself is left out (`*.domain`).
    public let subdomainsOnly: Bool

    /// Covers `domain` and what is below it.
    public init(_ domain: HostName) {
        self.domain = domain
        subdomainsOnly = false
    }

    /// Reads a pattern. Nil for a URL, a port, a path, an inner `*`, an empty label.
    public init?(_ text: String) {
        subdomainsOnly = text.hasPrefix("*.")
        let rest = subdomainsOnly ? String(text.dropFirst(2)) : text
        guard let domain = HostName(rest) else { return nil }
        let isAddress = domain.address != nil
        let labels = domain.text.split(separator: ".", omittingEmptySubsequences: false)
        guard isAddress || !domain.text.contains(":"), !domain.text.contains("*"), labels.allSatisfy({ !$0.isEmpty })
        else { return nil }
        guard !(isAddress && subdomainsOnly) else { return nil }
        self.domain = domain
    }

    /// Whether `host` is covered.
    public func covers(_ host: HostName) -> Bool {
        host.isWithin(domain) && !(subdomainsOnly && host == domain)
    }

    public var description: String { (subdomainsOnly ? "*." : "") + domain.text }
}

extension [HostPattern] {
    /// Whether one of the patterns covers `host`.
    func covers(_ host: HostName) -> Bool { contains { $0.covers(host) } }
}
