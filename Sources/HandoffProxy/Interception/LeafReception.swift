/// How a device received our leaf: a pure reading of what happened on its side of the handshake (DESIGN "Refusal and
/// passthrough").
///
/// ```
/// waiting ──our Certificate went out──▶ presented ──Finished came──▶ finished ──application byte──▶ accepted
///                                          │                            │
///    alert 42, 43, 45, 46, 48 ─────────────┼────────────────────────────┤──▶ refused(alert)
///    FIN or RST ───────────────────────────┴──▶ refused(close)          └──FIN, RST, close_notify──▶ suspected
/// ```
/// A close before our Certificate went out says nothing about it. An alert after the first application byte is the
/// application's affair.
struct LeafReception: Hashable, Sendable {
    /// Alerts by which a peer says that it does not accept a certificate: bad_certificate, unsupported_certificate,
    /// certificate_expired, certificate_unknown, unknown_ca (RFC 8446 §6.2).
    static let refusals: Set<UInt8> = [42, 43, 45, 46, 48]

    /// What the device did with the leaf.
    enum Outcome: Hashable, Sendable {
        /// Nothing that tells: it is not settled, or the connection ended before the leaf was shown.
        case open
        /// It went on to use the connection.
        case accepted
        /// It refused the leaf; `alert` is the last alert it sent, `byAlert` whether that alert was the refusal.
        case refused(byAlert: Bool, alert: UInt8?)
        /// It finished the handshake and closed without a byte, as an app's own pinning does.
        case suspected
    }

    /// What is seen of the device's side of a connection.
    enum Observation: Hashable, Sendable {
        case certificateSent
        case handshakeFinished
        case applicationByte
        case alert(UInt8)
        /// FIN, RST or close_notify.
        case closed
    }

    private enum State: Hashable {
        case waiting
        case presented
        case finished
        case settled(Outcome)
    }

    private var state = State.waiting
    private var lastAlert: UInt8?

    /// Before anything was sent.
    init() {}

    /// What is known so far.
    var outcome: Outcome {
        switch state {
        case .waiting, .presented, .finished: .open
        case .settled(let outcome): outcome
        }
    }

    /// Takes what happened next; what comes after an outcome changes nothing.
    mutating func observe(_ observation: Observation) {
        if case .alert(let code) = observation { lastAlert = code }
        switch (state, observation) {
        case (.settled, _):
            break
        case (.waiting, .certificateSent):
            state = .presented
        case (.waiting, .handshakeFinished), (.presented, .handshakeFinished):
            state = .finished
        case (.waiting, .applicationByte), (.presented, .applicationByte), (.finished, .applicationByte):
            state = .settled(.accepted)
        case (.presented, .alert(let code)), (.finished, .alert(let code)):
            if Self.refusals.contains(code) { state = .settled(.refused(byAlert: true, alert: code)) }
        case (.presented, .closed):
            state = .settled(.refused(byAlert: false, alert: lastAlert))
        case (.finished, .closed):
            state = .settled(.suspected)
        case (.waiting, .closed):
            state = .settled(.open)
        case (.waiting, .alert), (.presented, .certificateSent), (.finished, .certificateSent),
            (.finished, .handshakeFinished):
            break
        }
    }
}
