import Testing

@testable import HandoffProxy

@Suite struct LeafReceptionTests {
    typealias Outcome = LeafReception.Outcome
    typealias Observation = LeafReception.Observation

    static func outcome(_ observations: [Observation]) -> Outcome {
        var reception = LeafReception()
        for observation in observations { reception.observe(observation) }
        return reception.outcome
    }

    static let table: [(String, [Observation], Outcome)] = [
        ("in use", [.certificateSent, .handshakeFinished, .applicationByte, .closed], .accepted),
        ("early application byte", [.certificateSent, .applicationByte], .accepted),
        ("closed before the leaf", [.closed], .open),
        ("alert before the leaf", [.alert(48), .closed], .open),
        ("plain close", [.certificateSent, .closed], .refused(byAlert: false, alert: nil)),
        ("close after another alert", [.certificateSent, .alert(80), .closed], .refused(byAlert: false, alert: 80)),
        (
            "user_canceled and close", [.certificateSent, .alert(90), .alert(0), .closed],
            .refused(byAlert: false, alert: 0)
        ),
        (
            "alert after Finished", [.certificateSent, .handshakeFinished, .alert(46), .closed],
            .refused(byAlert: true, alert: 46)
        ),
        ("pinned in the app", [.certificateSent, .handshakeFinished, .closed], .suspected),
        ("nothing yet", [.certificateSent, .handshakeFinished], .open),
        (
            "alert in the middle of data",
            [.certificateSent, .handshakeFinished, .applicationByte, .alert(46), .closed],
            .accepted
        ),
        (
            "settled", [.certificateSent, .alert(48), .handshakeFinished, .applicationByte],
            .refused(byAlert: true, alert: 48)
        ),
    ]

    @Test(arguments: table.indices)
    func observationsSettle(row: Int) {
        let (name, observations, expected) = Self.table[row]
        #expect(Self.outcome(observations) == expected, "\(name)")
    }

    @Test(arguments: UInt8.min...UInt8.max)
    func onlyTheFiveAlertsAreARefusal(code: UInt8) {
        let outcome = Self.outcome([.certificateSent, .alert(code)])
        let isRefusal = [42, 43, 45, 46, 48].contains(code)
        #expect(outcome == (isRefusal ? .refused(byAlert: true, alert: code) : .open))
    }
}
