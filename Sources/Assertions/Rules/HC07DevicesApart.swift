internal import SessionTrace

/// **HC-07 devices-apart.** The session requests and the contacts with Chia come from one device.
///
/// A trace with several client addresses of one family holds several devices, and no mark says which one it is about:
/// attempts of different addresses are never held against each other. One device may have an IPv4 and an IPv6 address.
enum DevicesApart: Rule {
    static let description = RuleDescription(
        id: "HC-07", name: "devices-apart", severity: .warning,
        sentence: "The session comes from one device.", heading: "The test matrix",
        inconclusiveWhen: "session requests come from several addresses of one family")

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no session request and no contact with Chia"
        let addresses = Set(
            session.attempts.compactMap(\.client) + session.chiaRequests.compactMap { $0.client?.address })
        if !addresses.isEmpty { judgement.exercised() }
        for isIPv4 in [true, false] {
            let family = addresses.filter { $0.isIPv4 == isIPv4 }.map(\.description).sorted()
            if family.count > 1 {
                judgement.doubt(
                    "several-devices",
                    "session traffic comes from \(family.count) addresses: \(family.prefix(4).joined(separator: ", "))",
                    remedy: "judge one device at a time: --filter 'host \(family[0])'")
            }
        }
        judgement.passSentence =
            "session traffic comes from \(addresses.map(\.description).sorted().joined(separator: ", "))"
    }
}
