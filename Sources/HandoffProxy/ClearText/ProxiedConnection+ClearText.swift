internal import EventLoop
internal import SessionTrace

extension ProxiedConnection {
    /// Serves a client that asks in absolute form. `firstBytes`: its first request's whole head and what came with it,
    /// still pending in the recording; credentials are blotted out of the recording as long as `socket.credentialMask` stays.
    ///
    /// The device's side is recorded as it is on the wire, `Proxy-Authorization` masked; what the origin gets is in no
    /// recording. What the proxy itself answers is the event `answered` (`status`, `sentence`).
    func relayClearText(device: any DeviceStream, firstBytes: [UInt8]) async {
        let session = ClearTextSession(device: device)
        let (tellings, recorded) = (session.tellings, device.recorded)
        async let told: Void = Self.record(tellings, to: recorded)
        await race(
            { await self.together({ await self.relayUp(session, firstBytes) }, { await self.relayDown(session) }) },
            { await self.watchClient(session) },
            { try? await session.isOverSignal.wait(on: self.loop) })
        session.journey?.ended(.finished, at: WallClock.now())
        session.newTelling.finish()
        await told
        switch session.ending {
        case nil, .reset:
            // Both sides have finished, or the connection broke: an origin that is still sending must not go on.
            if session.ending == .reset || !session.hasFinishedBothWays { session.upstream?.reset() }
            session.upstream?.close()
            if session.ending == .reset { device.reset() }
        case .close:
            session.upstream?.close()
            await closeLingering(device)
        case .local(let bytes, let host):
            session.upstream?.close()
            await serveLocal(device: device, firstBytes: bytes, isSecure: device !== device.socket, host: host.text)
        }
    }

    /// Takes the client's bytes to origins, one after the other.
    private func relayUp(_ session: ClearTextSession, _ firstBytes: [UInt8]) async {
        // Whoever waits for another origin learns that none comes.
        defer { session.upstreamSignal.raise() }
        let buffer = HeapBuffer(count: configuration.limits.relayBufferBytes)
        defer { withExtendedLifetime(buffer) {} }
        do throws(SocketError) {
            try await passUp(firstBytes.withUnsafeBytes { session.relay.client($0) }, session)
            while !session.isOver {
                while session.relay.isClientPaused || session.relay.canResume {
                    if session.relay.canResume {
                        try await passUp(session.relay.resume(), session)
                    } else if (try? await session.resumeSignal.wait(on: loop)) == nil {
                        return
                    }
                    if session.isOver { return }
                }
                if session.isClientFinished { return }
                let (count, _) = try await session.device.read(into: buffer.bytes)
                if count == 0 {
                    session.isClientFinished = true
                    try await passUp(session.relay.clientFinished(), session)
                } else {
                    try await passUp(session.relay.client(buffer.prefix(count)), session)
                }
            }
        } catch {
            session.fail(error)
        }
    }

    /// Does what the client's bytes led to, once it is known whether they may be recorded.
    private func passUp(_ actions: [ProxyFormRelay.Action], _ session: ClearTextSession) async throws(SocketError) {
        for action in actions {
            switch action {
            case .dial(let target): beginJourney(to: target, session)
            case .toOrigin(let bytes):
                bytes.withUnsafeBytes { session.journey?.saw($0, from: .client, at: activity.last) }
            default: break
            }
        }
        session.device.record(secrets: [])
        try await perform(actions, session)
    }

    /// A request to another origin begins. What has been withheld once stays so: its bytes are missing in the recording.
    private func beginJourney(to target: ProxyFormTarget, _ session: ClearTextSession) {
        guard session.journey?.isWithheld != true else { return }
        session.journey?.ended(.finished, at: WallClock.now())
        session.journey = clearTextJourney(on: session.device, to: target.host)
        if let journey = session.journey { session.newTelling.yield(JourneyTelling(journey)) }
    }

    private nonisolated static func record(
        _ tellings: AsyncStream<JourneyTelling>, to recorded: RecordedConnection
    ) async {
        for await telling in tellings { await telling.run(to: recorded) }
    }

    /// Takes the bytes of each origin to the client, as long as it is the one that is connected.
    private func relayDown(_ session: ClearTextSession) async {
        let buffer = HeapBuffer(count: configuration.limits.relayBufferBytes)
        defer { withExtendedLifetime(buffer) {} }
        while !session.isOver {
            guard let upstream = session.upstream, upstream !== session.finished else {
                if session.isClientFinished, !session.relay.isClientPaused, !session.relay.canResume { return }
                guard (try? await session.upstreamSignal.wait(on: loop)) != nil else { return }
                continue
            }
            let read: Result<Int, SocketError>
            do throws(SocketError) {
                read = .success(try await upstream.read(into: buffer.bytes).count)
            } catch {
                read = .failure(error)
            }
            guard session.upstream === upstream, !session.isOver else { continue }
            do throws(SocketError) {
                switch read {
                case .success(let count) where count > 0:
                    activity.note(WallClock.now())
                    try await fromOrigin(buffer.prefix(count), session)
                case .success:
                    session.finished = upstream
                    try await originEnded(session, inOrder: true)
                case .failure(let error):
                    if error.isCancelled { return }
                    session.finished = upstream
                    try await originEnded(session, inOrder: false)
                }
            } catch {
                session.fail(error)
            }
            session.wakeClientSide()
        }
    }

    /// A client that breaks off ends everything, also what waits for an origin.
    private func watchClient(_ session: ClearTextSession) async {
        if (try? await session.device.socket.stream.waitFailed()) != nil {
            session.end(.reset)
        } else {
            // Closed by ourselves, or cancelled: others decide.
            try? await session.neverSignal.wait(on: loop)
        }
    }

    // MARK: - Between relay, faults and sockets

    private func fromOrigin(_ bytes: UnsafeRawBufferPointer, _ session: ClearTextSession) async throws(SocketError) {
        if session.stage == nil {
            session.journey?.saw(bytes, from: .server, at: WallClock.now())
            try await perform(session.relay.server(bytes), session)
        } else {
            let actions = session.stage?.server(bytes, at: WallClock.now()) ?? []
            try await perform(actions, session)
        }
    }

    private func originEnded(_ session: ClearTextSession, inOrder: Bool) async throws(SocketError) {
        if inOrder, session.stage != nil {
            let actions = session.stage?.serverFinished() ?? []
            try await perform(actions, session)
        } else {
            try await perform(inOrder ? session.relay.serverFinished() : session.relay.serverFailed(), session)
        }
    }

    private func perform(
        _ actions: [ProxyFormRelay.Action], _ session: ClearTextSession
    ) async throws(SocketError) {
        for action in actions {
            if session.isOver { return }
            switch action {
            case .dial(let target):
                guard try await connect(to: target, session) else { return }
            case .toOrigin(let bytes):
                if session.stage == nil {
                    try await session.toOrigin(bytes, on: loop)
                } else {
                    let now = WallClock.now()
                    let actions = bytes.withUnsafeBytes { session.stage?.client($0, at: now) ?? [] }
                    try await perform(actions, session)
                }
            case .toClient(let bytes):
                try await session.toClient(bytes, on: loop)
            case .finishOrigin:
                if let actions = session.stage?.clientFinished() {
                    try await perform(actions, session)
                } else {
                    session.upstream?.finishWriting()
                }
            case .finishClient:
                session.device.finishWriting()
            case .closeOrigin(let reset):
                session.leaveOrigin(reset: reset)
            case .closeClient:
                session.end(.close)
            case .resetClient:
                session.end(.reset)
            case .answered(let status, let sentence):
                event(.other("answered"), ["status": "\(status)", "sentence": sentence])
            case .serveLocally(let bytes, let host):
                session.end(.local(bytes, host))
            }
            if case .raw = session.relay.state { session.device.socket.credentialMask = nil }
        }
    }

    private func perform(_ actions: [FaultStage.Action], _ session: ClearTextSession) async throws(SocketError) {
        for action in actions {
            if session.isOver { return }
            switch action {
            case .toOrigin(let bytes):
                try await session.toOrigin(bytes, on: loop)
            case .toClient(let bytes):
                // The device's journey is what it was sent, not what the origin said.
                bytes.withUnsafeBytes { session.journey?.saw($0, from: .server, at: WallClock.now()) }
                try await perform(bytes.withUnsafeBytes { session.relay.server($0) }, session)
                session.wakeClientSide()
            case .wait(let duration):
                do {
                    try await LoopTimer.sleep(duration)
                } catch {
                    return
                }
            case .fault(let record):
                event(.fault, record.attributes)
                post(.fault, host: record.host.text, record.sentence, isAlarm: record.exchange == nil)
            case .finishOrigin:
                session.upstream?.finishWriting()
            case .finishClient:
                try await perform(session.relay.serverFinished(), session)
            case .close:
                session.leaveOrigin(reset: true)
                session.end(.close)
            case .reset:
                session.leaveOrigin(reset: true)
                session.end(.reset)
            }
        }
    }

    /// Connects to another origin; false when that failed and the client has been told.
    private func connect(to target: ProxyFormTarget, _ session: ClearTextSession) async throws(SocketError) -> Bool {
        session.leaveOrigin(reset: false)
        let destination = Destination(host: target.host, port: target.port, kind: .clearText)
        do throws(DialFailure) {
            let upstream = try await dial(destination)
            session.stage = proxy.faults.stage(host: target.host, port: target.port)
            session.upstream = upstream
            session.upstreamSignal.raise()
            return true
        } catch {
            guard error.kind != .cancelled else {
                session.end(.reset)
                return false
            }
            let actions = session.relay.dialFailed(status: error.status, sentence: error.sentence)
            try await perform(actions, session)
            return false
        }
    }
}
