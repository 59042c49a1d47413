internal import SessionTrace

/// What some hosts of the telemetry list are for, where that is more than counting: rules ask about contacts with them.
enum VendorKind: String, Hashable, Sendable, CaseIterable {
    case attribution, deepLink = "deep-link", shortener, redirector, linkPreview = "link-preview"
    case sessionReplay = "session-replay"

    /// Whether links are made shorter, longer or into pictures there.
    var isAboutLinks: Bool { self == .shortener || self == .redirector || self == .linkPreview }
    /// Whether clicks and installs are counted there.
    var isAboutClicks: Bool { self == .attribution || self == .deepLink }
}

/// A connection to, or a lookup of, a host of such a kind.
struct VendorContact: Hashable, Sendable {
    var kind: VendorKind
    var host: HostName
    /// When it began, and when the device may last have sent something on it.
    var span: TimeSpan
    var actor: ActorReading
    var client: IPAddress?
    var isLookup: Bool
    /// Set when its content could not be read.
    var darkness: BlindSpot.Reason?
    /// Bytes of the device that could not be read.
    var darkBytes: Int
    var hasRequests: Bool
    var evidence: Evidence

    /// Contacts kept.
    static let limit = 5_000
}

/// Contacts with hosts of such kinds, and what was sent there.
struct VendorLog: Sendable {
    private(set) var contacts: [VendorContact] = []
    private(set) var isFull = false
    /// The first bytes of what was sent to hosts that are about links or clicks, content codings undone.
    private(set) var contents: [ExchangeID: [UInt8]] = [:]

    /// Bytes kept of one request, and requests.
    static let contentLength = 8 << 10
    static let contentLimit = 500
    /// Ids of items that are looked for in it.
    static let itemLimit = 200

    mutating func append(_ contact: VendorContact) {
        guard contacts.count < VendorContact.limit else { return isFull = true }
        contacts.append(contact)
    }

    mutating func keep(_ content: [UInt8], of id: ExchangeID) {
        guard contents.count < Self.contentLimit else { return isFull = true }
        contents[id] = Array(content.prefix(Self.contentLength))
    }

    mutating func sort() {
        contacts.sort { ($0.span.earliest, $0.host.text) < ($1.span.earliest, $1.host.text) }
    }
}

extension HostRoles {
    /// What a host is for, if that is of the kinds above.
    func vendorKind(of host: HostName) -> VendorKind? { category(of: host).flatMap { VendorKind(rawValue: $0) } }
}

/// The kinds of hosts, each worked out once: rules ask for that of every request of a session.
struct VendorKinds {
    private let roles: HostRoles
    private var known: [HostName: VendorKind?] = [:]

    init(_ roles: HostRoles) {
        self.roles = roles
    }

    /// What a host is for; nil when that is of no kind, or when there is no host.
    mutating func kind(of host: HostName?) -> VendorKind? {
        guard let host else { return nil }
        if let kind = known[host] { return kind }
        let kind = roles.vendorKind(of: host)
        known[host] = .some(kind)
        return kind
    }
}

extension SessionModel {
    /// The kind of a host, as far as captured answers tell now.
    func vendorKind(of host: HostName) -> VendorKind? {
        var roles = roles
        roles.aliases = names.aliases
        return roles.vendorKind(of: host)
    }

    /// Keeps a connection that has ended, if it went to such a host.
    mutating func keepVendorContact(_ flow: FlowSummary) {
        guard let host = flow.names.first(where: { vendorKind(of: $0) != nil }), let kind = vendorKind(of: host) else {
            return
        }
        var packets = [flow.opened.number]
        if let hello = flow.hello, hello.number != flow.opened.number { packets.append(hello.number) }
        vendors.append(
            VendorContact(
                kind: kind, host: host,
                span: TimeSpan(flow.opened.time, flow.lastDarkData ?? flow.opened.time), actor: flow.actor,
                client: flow.client.address, isLookup: false,
                darkness: flow.lastDarkData == nil ? nil : flow.darkness, darkBytes: flow.darkBytes,
                hasRequests: flow.requests > 0,
                evidence: Evidence(
                    label: "contact with a \(kind.rawValue) host", packets: packets, span: flow.span,
                    connection: flow.id, endpoints: flow.endpoints,
                    subject: "connection to \(redactor.host(host.text)) (\(flow.nameSource))")))
    }

    mutating func keepVendorLookup(_ lookup: NameLookup, _ evidence: Evidence) {
        guard !lookup.isResponse, let name = lookup.name, let kind = vendorKind(of: name) else { return }
        vendors.append(
            VendorContact(
                kind: kind, host: name, span: TimeSpan(lookup.seen.time),
                actor: ActorReading(process: lookup.process ?? flows[lookup.connection]?.connection.process)
                    ?? .nothing,
                client: flows[lookup.connection]?.connection.client.address, isLookup: true, darkness: nil,
                darkBytes: 0, hasRequests: false, evidence: evidence))
    }
}

extension Session {
    /// Times of handoffs: from the tap on the call to action, else the first that acts, until a mark of `ends`.
    func handoffTimes(until ends: Set<Mark.Kind>) -> [TimeSpan] {
        var times: [TimeSpan] = []
        var start: Instant?
        for mark in marks(ends.union([.tap])) {
            if mark.kind == .tap {
                guard mark.target != .return, mark.target != .other else { continue }
                start = start ?? mark.span.earliest
            } else if let begun = start {
                times.append(TimeSpan(begun, mark.span.earliest))
                start = nil
            }
        }
        if let begun = start { times.append(TimeSpan(begun, max(begun, span.latest))) }
        if times.isEmpty, taps.isEmpty, let first = attempts.map(\.started).min() {
            times.append(TimeSpan(first, max(first, span.latest)))
        }
        return times
    }

    /// Contacts with hosts of some kinds that began, or may have carried something, in a time.
    func vendorContacts(in time: TimeSpan, where isMeant: (VendorKind) -> Bool) -> [VendorContact] {
        vendors.contacts.filter { contact in
            isMeant(contact.kind) && contact.span.earliest <= time.latest && contact.span.latest >= time.earliest
                && !contact.actor.actor.isElsewhere && !isOfAnotherDevice(contact.client)
        }
    }
}
