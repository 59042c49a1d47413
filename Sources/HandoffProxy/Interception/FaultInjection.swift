internal import SessionTrace

/// The faults of one connection, and the actions that its plaintext has led to and nobody has carried out yet. Confined to
/// the connection that owns it.
final class FaultInjection {
    private var stage: FaultStage
    private var actions: [Side: [FaultStage.Action]] = [:]
    /// Takes what was injected, or could not be.
    let report: (FaultRecord) -> Void

    init(_ stage: FaultStage, report: @escaping (FaultRecord) -> Void) {
        self.stage = stage
        self.report = report
    }

    /// Plaintext that `side` sent.
    func take(_ plaintext: UnsafeRawBufferPointer, from side: Side, at time: Instant) {
        actions[side, default: []] +=
            side == .client ? stage.client(plaintext, at: time) : stage.server(plaintext, at: time)
    }

    /// `side` sends no more.
    func finished(_ side: Side) {
        actions[side, default: []] += side == .client ? stage.clientFinished() : stage.serverFinished()
    }

    /// What is to be done now for what `side` sent, in order.
    func takeActions(of side: Side) -> [FaultStage.Action] {
        actions.removeValue(forKey: side) ?? []
    }
}
