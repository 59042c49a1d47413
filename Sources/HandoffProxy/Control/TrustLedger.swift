public import SessionTrace
internal import Synchronization

/// What is known about whether a device trusts our certificate authority.
///
/// A browser can be asked: it fetches `https://trust.handoff.test/` or it does not. An app can't; what its handshakes came
/// to is all there is, so apps are "seen" or "not yet".
public struct DeviceTrust: Hashable, Sendable {
    /// What the browser's fetch of the trust host came to.
    public enum Browser: Hashable, Sendable {
        /// Never tried.
        case unknown
        /// The fetch succeeded.
        case trusted(at: Instant)
        /// The browser refused our leaf for the trust host.
        case refused(at: Instant)
    }

    /// What the handshakes with clients that are no browser came to.
    public enum Apps: Hashable, Sendable {
        /// No app has tried.
        case notYet
        /// An app finished a handshake with our leaf.
        case seen(at: Instant)
        /// Apps tried, and all refused our leaf.
        case refused(at: Instant)
        /// Some finished, others refused: the latter pin, or ignore user certificates.
        case mixed(seen: Instant, refused: Instant)
    }

    /// The browser.
    public var browser: Browser
    /// The apps.
    public var apps: Apps
    /// The name for which a leaf was refused last.
    public var lastRefusedName: String?
}

/// Which of a device's TLS clients finished a handshake with our leaf, and which refused it. Thread-safe.
public final class TrustLedger: Sendable {
    /// Most devices remembered; beyond that the one heard of longest ago is forgotten.
    public static let deviceLimit = 256
    /// Most TLS clients (by JA4) remembered a device; further ones are left out.
    public static let clientLimit = 64
    /// Bytes kept of a refused name.
    static let nameLimit = 255

    /// The host whose fetch by a page proves that a browser trusts us.
    public static let trustHost = "trust.handoff.test"
    /// The host of the set-up page and of marks in band.
    public static let markHost = "mark.handoff.test"

    private struct Client {
        var isBrowser: Bool?
        var finished: Instant?
        var refused: Instant?
    }

    private struct Device {
        var clients: [String: Client] = [:]
        var pageFetched: Instant?
        var lastRefusedName: String?
        var latest: Instant
    }

    private let devices = Mutex<[IPAddress: Device]>([:])

    /// An empty ledger.
    public init() {}

    /// A client finished the handshake with our leaf.
    ///
    /// - Parameters:
    ///   - ja4: the fingerprint of its hello.
    ///   - isBrowser: whether it is known to be a browser, or not to be; nil when nothing tells.
    ///   - name: the name in the leaf. Only browsers ask for the trust host, so that it tells one by its fingerprint.
    public func finished(device: IPAddress, ja4: String, isBrowser: Bool? = nil, name: String? = nil, at now: Instant) {
        note(device, ja4, isBrowser: isBrowser, name: name, at: now) { $0.finished = now }
    }

    /// A client refused our leaf.
    public func refused(device: IPAddress, ja4: String, isBrowser: Bool? = nil, name: String? = nil, at now: Instant) {
        note(device, ja4, isBrowser: isBrowser, name: name, at: now) { $0.refused = now }
        guard let name, name != Self.trustHost else { return }
        devices.withLock {
            $0[device]?.lastRefusedName = String(decoding: name.utf8.prefix(Self.nameLimit), as: UTF8.self)
        }
    }

    /// A page's script in the device's browser has fetched the trust host.
    public func pageFetched(device: IPAddress, at now: Instant) {
        devices.withLock { devices in
            Self.makeRoom(&devices, for: device)
            devices[device, default: Device(latest: now)].pageFetched = now
            devices[device]?.latest = now
        }
    }

    /// What is known of a device.
    public func trust(of device: IPAddress) -> DeviceTrust {
        devices.withLock { Self.trust($0[device]) }
    }

    /// What is known of every device, in the order of their addresses' text.
    public var all: [(device: IPAddress, trust: DeviceTrust)] {
        devices.withLock { devices in
            devices.map { ($0.key, Self.trust($0.value)) }
        }.sorted { "\($0.0)" < "\($1.0)" }.map { (device: $0.0, trust: $0.1) }
    }

    private func note(
        _ device: IPAddress, _ ja4: String, isBrowser: Bool?, name: String?, at now: Instant,
        _ change: (inout Client) -> Void
    ) {
        devices.withLock { devices in
            Self.makeRoom(&devices, for: device)
            var entry = devices[device] ?? Device(latest: now)
            entry.latest = now
            if entry.clients[ja4] != nil || entry.clients.count < Self.clientLimit {
                var client = entry.clients[ja4] ?? Client()
                if let isBrowser { client.isBrowser = isBrowser }
                if name == Self.trustHost { client.isBrowser = true }
                change(&client)
                entry.clients[ja4] = client
            }
            devices[device] = entry
        }
    }

    private static func makeRoom(_ devices: inout [IPAddress: Device], for device: IPAddress) {
        guard devices[device] == nil, devices.count >= deviceLimit else { return }
        if let oldest = devices.min(by: { $0.value.latest < $1.value.latest }) { devices[oldest.key] = nil }
    }

    private static func trust(_ device: Device?) -> DeviceTrust {
        guard let device else { return DeviceTrust(browser: .unknown, apps: .notYet) }
        var browser = DeviceTrust.Browser.unknown
        let refusedByBrowser = device.clients.values.filter { $0.isBrowser == true }.compactMap(\.refused).max()
        switch (device.pageFetched, refusedByBrowser) {
        case (let fetched?, let refused?): browser = fetched > refused ? .trusted(at: fetched) : .refused(at: refused)
        case (let fetched?, nil): browser = .trusted(at: fetched)
        case (nil, let refused?): browser = .refused(at: refused)
        case (nil, nil): break
        }
        let apps = device.clients.values.filter { $0.isBrowser != true }
        let finished = apps.compactMap(\.finished).max()
        // A client that refused and finished later has learnt to trust us since.
        let refused = apps.filter { ($0.refused ?? .distantPast) > ($0.finished ?? .distantPast) }
            .compactMap(\.refused).max()
        let state: DeviceTrust.Apps
        switch (finished, refused) {
        case (let finished?, let refused?): state = .mixed(seen: finished, refused: refused)
        case (let finished?, nil): state = .seen(at: finished)
        case (nil, let refused?): state = .refused(at: refused)
        case (nil, nil): state = .notYet
        }
        return DeviceTrust(browser: browser, apps: state, lastRefusedName: device.lastRefusedName)
    }
}

extension DeviceTrust {
    /// `{"browser":"trusted","apps":"not yet"}`, with the times where there are any.
    public var json: JSONValue {
        func member(_ name: String, _ text: String) -> JSONMember { JSONMember(name: name, value: .string(text)) }
        var members: [JSONMember]
        switch browser {
        case .unknown: members = [member("browser", "unknown")]
        case .trusted(let at): members = [member("browser", "trusted"), member("browser-at", at.rfc3339)]
        case .refused(let at): members = [member("browser", "refused"), member("browser-at", at.rfc3339)]
        }
        switch apps {
        case .notYet: members.append(member("apps", "not yet"))
        case .seen(let at): members += [member("apps", "seen"), member("apps-at", at.rfc3339)]
        case .refused(let at): members += [member("apps", "refused"), member("apps-at", at.rfc3339)]
        case .mixed(let seen, let refused):
            members += [
                member("apps", "mixed"), member("apps-at", seen.rfc3339), member("apps-refused-at", refused.rfc3339),
            ]
        }
        if let lastRefusedName { members.append(member("refused-name", lastRefusedName)) }
        return .object(members)
    }
}
