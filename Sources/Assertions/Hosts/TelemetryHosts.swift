public import SessionTrace

/// Which hosts collect telemetry, what kind, and by whom; made of the built-in list and lists that the user names.
///
/// The list decides wording and severity only: what is neither partner nor Chia nor system is a third party anyway.
public struct TelemetryHosts: Sendable {
    /// What a list says of a host.
    public struct Entry: Hashable, Sendable {
        /// The listed domain that covers the host.
        public var domain: String
        /// `analytics`, `crash`, `attribution`, `shortener`, `redirector` …; `unclassified` from lists without categories.
        public var category: String
        /// The vendor's name; empty when the list gives none.
        public var vendor: String
        /// The list that it comes from: `builtin`, or the label given when it was loaded.
        public var source: String
    }

    private struct Attributes {
        var category: String
        var vendor: String
        var source: String
    }

    private var table = HostTable<Attributes>()

    /// No hosts.
    public init() {}

    /// The list that the product ships.
    public static let builtin: TelemetryHosts = {
        var hosts = TelemetryHosts()
        _ = hosts.load(telemetryHostListText, form: .tsv, source: "builtin")
        return hosts
    }()

    /// Listed domains.
    public var count: Int { table.count }

    /// What is known of a host: of the host itself, or of the nearest listed domain above it (label boundaries).
    public func entry(for host: HostName) -> Entry? {
        table.lookup(host).map { found in
            Entry(
                domain: found.domain, category: found.value.category, vendor: found.value.vendor,
                source: found.value.source)
        }
    }

    /// Domain, category and vendor of a host; see `entry(for:)`.
    public func category(of host: HostName) -> (domain: String, category: String, vendor: String)? {
        entry(for: host).map { ($0.domain, $0.category, $0.vendor) }
    }

    /// Lists one host, as a policy does (`telemetry: [logs.partner.example]`). The first entry for a domain stays.
    public mutating func add(
        _ domain: HostName, category: String = "unclassified", vendor: String = "", source: String
    ) {
        table.insert(Attributes(category: category, vendor: vendor, source: source), for: domain)
    }
}
