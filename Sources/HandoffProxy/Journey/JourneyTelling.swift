internal import EventLoop
internal import SessionTrace

/// What a withheld connection may show, on its way into the recording: one event an exchange.
struct JourneyTelling: Sendable {
    let exchanges: AsyncStream<Exchange>
    let guide: any JourneyGuide
    let connection: JourneyConnection

    /// The words of `stage`, to be taken once.
    init(_ stage: JourneyStage) {
        exchanges = stage.exchanges
        guide = stage.guide
        connection = stage.connection
    }

    /// Records the exchanges until the stage has ended.
    func run(to recorded: RecordedConnection) async {
        for await exchange in exchanges {
            let attributes = await guide.attributes(of: exchange, on: connection)
            let at = exchange.request?.started.time ?? WallClock.now()
            recorded.event(.exchange, at: at, attributes)
        }
    }
}

extension ProxiedConnection {
    /// Does `work`, and beside it records what the stages tell, each of which `work` must end.
    func telling(of stages: [JourneyStage], to recorded: RecordedConnection, _ work: Work) async {
        let tellings = stages.map(JourneyTelling.init)
        async let told: Void = Self.record(tellings, to: recorded)
        await work()
        await told
    }

    private nonisolated static func record(_ tellings: [JourneyTelling], to recorded: RecordedConnection) async {
        for telling in tellings { await telling.run(to: recorded) }
    }

    /// The watch over a clear-text connection to `host` (nil: nothing tells before its first request), whose recording is
    /// held back from here on; nil when all of it may be recorded.
    func clearTextJourney(on device: any DeviceStream, to host: HostName?) -> JourneyStage? {
        guard let guide = proxy.journey else { return nil }
        let connection = JourneyConnection(client: client, requestedHost: host, isSecure: false)
        guard connection.names.isEmpty || guide.mayWithhold(connection) else { return nil }
        device.socket.holdRecording()
        // There is no handshake that could be written in any case.
        device.socket.handshakeEnded()
        return JourneyStage(guide: guide, connection: connection, socket: device.socket) { _ in }
    }
}
