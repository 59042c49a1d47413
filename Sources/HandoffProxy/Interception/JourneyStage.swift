internal import SessionTrace

/// The watch over one connection whose content may have to be withheld, with the recording that it holds back. Confined to
/// the connection that owns it.
///
/// What it learns of a withheld connection goes out through `exchanges`, since its attributes may have to wait for the
/// judge while the relay must not.
final class JourneyStage {
    private var watch: JourneyWatch
    private let socket: RecordedSocket
    private let logSecrets: ([UInt8]) -> Void
    private var verdict = JourneyWatch.Verdict.wait
    /// Key log lines that wait for the verdict.
    private var heldSecrets: [UInt8] = []
    private var hasNotedLoss = false
    private let output: AsyncStream<Exchange>.Continuation

    /// Who sorts.
    let guide: any JourneyGuide
    /// What is sorted.
    var connection: JourneyConnection { watch.connection }
    /// The exchanges of the connection, once it is withheld; ends with the connection.
    let exchanges: AsyncStream<Exchange>

    /// A watch whose `socket` holds its recording back already. `logSecrets` gets the key log's lines once they may be
    /// written.
    init(
        guide: any JourneyGuide, connection: JourneyConnection, socket: RecordedSocket,
        logSecrets: @escaping ([UInt8]) -> Void
    ) {
        watch = JourneyWatch(guide: guide, connection: connection)
        self.guide = guide
        self.socket = socket
        self.logSecrets = logSecrets
        (exchanges, output) = AsyncStream.makeStream(
            bufferingPolicy: .bufferingOldest(JourneyWatch.exchangeLimit))
    }

    /// Keeps secrets from the key log while, and when, the connection's content must not be read. False when it may.
    func holdsSecrets(_ lines: [UInt8]) -> Bool {
        switch verdict {
        case .record: return false
        case .wait:
            heldSecrets += lines
            return true
        case .withhold: return true
        }
    }

    /// Whether it is known that the content is not recorded.
    var isWithheld: Bool { if case .withhold = verdict { true } else { false } }

    /// Plaintext that `side` sent.
    func saw(_ plaintext: UnsafeRawBufferPointer, from side: Side, at time: Instant) {
        take(watch.receive(plaintext, from: side, at: time), at: time)
    }

    /// `side` sends no more.
    func finished(_ side: Side, at time: Instant) {
        take(watch.finished(side, at: time), at: time)
    }

    /// The connection is over.
    func ended(_ cause: ConnectionEnd.Cause, at time: Instant) {
        take(watch.closed(cause, at: time), at: time)
        output.finish()
    }

    private func take(_ new: JourneyWatch.Verdict, at time: Instant) {
        var new = new
        if new == .wait, socket.isHoldOverLimit { new = watch.overLimit() }
        if verdict == .wait { settle(new, at: time) }
        var isAllKept = watch.lostExchanges == 0
        for exchange in watch.takeExchanges() {
            if case .dropped = output.yield(exchange) { isAllKept = false }
        }
        if !isAllKept { noteLoss(at: time) }
    }

    /// What was not kept can't be judged, so the recording must say that there was more.
    private func noteLoss(at time: Instant) {
        guard !hasNotedLoss else { return }
        hasNotedLoss = true
        socket.recorded.event(
            .limit, at: time, ["what": "withheld exchanges", "limit": "\(JourneyWatch.exchangeLimit)"])
    }

    private func settle(_ new: JourneyWatch.Verdict, at time: Instant) {
        verdict = new
        switch new {
        case .wait: return
        case .record:
            socket.releaseRecording()
            logSecrets(heldSecrets)
        case .withhold(let attributes):
            socket.withholdRecording()
            socket.recorded.event(.withheld, at: time, attributes)
        }
        heldSecrets = []
    }
}
