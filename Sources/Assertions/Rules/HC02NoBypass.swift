internal import SessionTrace

/// **HC-02 no-bypass.** Nothing of the device went around the place of capture: no QUIC unread, no relay or VPN, no
/// traffic beside the proxy.
///
/// A bypass that was seen makes every rule inconclusive that passes on absence; one that nobody looked for is an
/// assumption of theirs. Encrypted resolvers hide lookups, but not connections: an assumption.
enum NoBypass: Rule {
    static let description = RuleDescription(
        id: "HC-02", name: "no-bypass", severity: .warning,
        sentence: "No traffic of the device went around the place of capture.", heading: "The test matrix",
        inconclusiveWhen: "a bypass, a relay or unread QUIC was seen")

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.exercised()
        session.doubtBypass(&judgement)
        if let record = session.blindSpots.first(where: { $0.spot.reason == .quic }) {
            judgement.doubt(
                "quic",
                "a QUIC connection to \(record.names.first?.text ?? record.server?.description ?? "some host") could not be read",
                remedy: Session.remedy(.quic))
        }
        if session.usesEncryptedResolver {
            judgement.assume(
                "encrypted-dns", "the device resolved names out of sight; hosts are known by SNI and requests")
        }
        judgement.passSentence = "no bypass, relay or unread QUIC was seen"
    }
}
