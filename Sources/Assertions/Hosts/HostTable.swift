internal import SessionTrace

/// A table from domain to value in which a domain covers its subdomains, at label boundaries.
struct HostTable<Value: Sendable>: Sendable {
    private var values: [String: Value] = [:]

    /// Domains in the table.
    var count: Int { values.count }

    /// Enters a domain; one that is there already keeps its value (the first list wins). Returns whether it was new.
    @discardableResult
    mutating func insert(_ value: Value, for domain: HostName) -> Bool {
        guard values[domain.text] == nil else { return false }
        values[domain.text] = value
        return true
    }

    /// The value of the longest domain that covers `host`, and that domain.
    func lookup(_ host: HostName) -> (domain: String, value: Value)? {
        var rest = Substring(host.text)
        while !rest.isEmpty {
            let candidate = String(rest)
            if let value = values[candidate] { return (candidate, value) }
            guard let dot = rest.firstIndex(of: ".") else { return nil }
            rest = rest[rest.index(after: dot)...]
        }
        return nil
    }
}
