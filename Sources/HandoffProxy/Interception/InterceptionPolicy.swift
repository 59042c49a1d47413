internal import SessionTrace

/// Which hosts are read and which are let through untouched: the options of a run, and what devices have refused.
struct InterceptionPolicy: Sendable {
    /// Why a host is let through.
    enum Reason: Hashable, Sendable {
        /// `--passthrough` names it.
        case asked
        /// The device refused our leaf for it; let through until then.
        case refused(until: Instant)
        /// A service of the phone's own.
        case defaultList
        /// `--intercept-only` names others.
        case notInInterceptOnly

        /// The word in the `passthrough` event.
        var word: String {
            switch self {
            case .asked: "asked"
            case .refused: "refused"
            case .defaultList: "default-list"
            case .notInInterceptOnly: "not-in-intercept-only"
            }
        }
    }

    /// `--passthrough`.
    var passthrough: [HostNamePattern] = []
    /// `--intercept-only`; empty: every host.
    var interceptOnly: [HostNamePattern] = []
    /// Whether the built-in list is used (`--no-default-passthrough` turns it off).
    var usesDefaultList = true
    /// Whether a host has a partner, telemetry or Chia role, so that it is not let through unless told.
    var matters: @Sendable (HostName) -> Bool = { _ in false }

    /// Why `name` is let through; nil when it is to be read. `refusedUntil`: what the table of refusals says.
    ///
    /// What was asked for by name comes first, then what devices showed, then what the product assumes.
    func reasonToPass(_ name: HostName, refusedUntil: Instant?) -> Reason? {
        if passthrough.match(name) { return .asked }
        if !interceptOnly.isEmpty, !interceptOnly.match(name) { return .notInInterceptOnly }
        if matters(name) { return nil }
        if let refusedUntil { return .refused(until: refusedUntil) }
        if interceptOnly.isEmpty, usesDefaultList, DefaultPassthroughHosts.builtin.contains(name) {
            return .defaultList
        }
        return nil
    }

    /// Whether the next connection of a device that refused our leaf for `name` is let through.
    func letsThroughAfterRefusal(_ name: HostName) -> Bool { !matters(name) }
}
