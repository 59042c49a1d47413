internal import SessionTrace

/// **HC-01 plaintext-coverage.** How much of the traffic of each role could be read.
///
/// No violation of the app: what stayed dark makes the rules that need its content inconclusive. Pinned, passed through
/// and refused connections are counted like those without keys.
enum PlaintextCoverage: Rule {
    static let description = RuleDescription(
        id: "HC-01", name: "plaintext-coverage", severity: .warning,
        sentence: "The connections whose content rules need could be read.", heading: "The test matrix",
        inconclusiveWhen: "connections of Chia, the partner, telemetry or an unknown host stayed unread")

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no encrypted connection"
        var secure: [HostRole: Int] = [:]
        var read: [HostRole: Int] = [:]
        for (host, tally) in session.tallies {
            let role = session.roles.role(of: host)
            secure[role, default: 0] += tally.secure
            read[role, default: 0] += tally.decrypted
            if tally.secure > 0 || tally.dark > 0 { judgement.exercised() }
        }
        let roles: [HostRole] = [
            .partner, .partnerAssets, .chia, .chiaAPI, .chiaAssets, .telemetry, .thirdParty, .returnHost,
        ]
        for role in roles {
            let dark = session.dark.filter { session.roles.role(of: $0.key) == role }
            guard let host = dark.keys.min(by: { $0.text < $1.text }), let traffic = dark[host] else { continue }
            let count = dark.values.reduce(0) { $0 + $1.connections }
            judgement.doubt(
                traffic.reason.rawValue,
                "\(role.rawValue): \(count) of \(max(count, secure[role] ?? 0)) connections unread, the first to \(host) (\(traffic.reason.rawValue))"
                    + (traffic.samples.first?.darkDetail.map { ": \($0)" } ?? ""),
                remedy: Session.remedy(traffic.reason))
            for sample in traffic.samples {
                judgement.looked(
                    at: Evidence(
                        label: "unread connection", packets: [sample.opened.number], span: sample.span,
                        connection: sample.id, endpoints: sample.endpoints, subject: "connection to \(host)"))
            }
        }
        countUnsent(roles, session, &judgement)
        let system = session.dark.filter { session.roles.role(of: $0.key) == .osNoise }.count
        if system > 0 { judgement.assume("os-services", "OS services not inspected: \(counted(system, "host"))") }
        let parts = secure.filter { $0.value > 0 }.sorted { $0.key.rawValue < $1.key.rawValue }
            .map { "\($0.key.rawValue) \(read[$0.key] ?? 0) of \($0.value)" }
        judgement.passSentence = "connections read: \(parts.isEmpty ? "none encrypted" : parts.joined(separator: ", "))"
        if session.withheldConnections > 0 {
            judgement.passSentence +=
                "; of \(counted(session.withheldConnections, "connection")) of the person's journey the heads alone, as the policy says"
        }
    }

    /// Connections that nobody answered beyond the proxy: nothing was sent on them, so nothing could be read.
    private static func countUnsent(_ roles: [HostRole], _ session: Session, _ judgement: inout Judgement) {
        let unsent = session.proxyFailures.filter { $0.isUnsent && !$0.isOfOthers }
        for role in roles {
            let ofRole = unsent.filter { session.role(of: $0.host) == role }
            guard let first = ofRole.first else { continue }
            judgement.doubt(
                first.kind.rawValue,
                "\(role.rawValue): \(counted(ofRole.count, "connection")) came to nothing, the first since \(first.sentence)",
                remedy: first.remedy)
        }
    }
}
