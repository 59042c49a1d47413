internal import EventLoop
internal import SessionTrace

/// From accept to close.
extension ProxiedConnection {
    /// Serves the connection to its end. First the destination, then the bytes: a client that the kernel redirected here
    /// knows nothing of a proxy.
    func run(_ accepted: AcceptedSocket, isTransparentListener: Bool) async {
        let stream: TCPStream
        do throws(SocketError) {
            stream = try TCPStream(adopting: accepted, on: loop)
        } catch {
            return
        }
        originalDestination = destination(of: stream, isTransparentListener: isTransparentListener)
        guard configuration.allowedClients.contains(where: { $0.contains(client.address) }) else {
            await refuseClient(stream)
            return
        }
        let limit = proxy.table.enter(activity, of: client.address)
        let server = originalDestination ?? local
        let socket = RecordedSocket(stream, activity: activity) { [self] in
            proxy.recording.open(client: client, server: server, at: accepted.accepted, device: device)
        }
        self.socket = socket
        // With a credential, whose file it is becomes known with the preamble only. A client that was never seen is a device
        // from its first byte on: who only looks whether the port is open is none.
        if isOfKnownDevice || limit != nil { _ = socket.recorded }
        if let limit {
            refuse(for: limit)
        } else {
            await race(
                { await self.serve(socket) },
                { await self.watchAcknowledgements(of: socket) },
                { await self.watchIdleness() })
            proxy.table.leave(activity, of: client.address)
        }
        // What ended by cancellation is closed here, as late as that.
        _ = socket.recordAcknowledgement()
        socket.close()
        socket.recordClosed(at: WallClock.now())
        self.socket = nil
    }

    /// Whether the address says whose file the connection belongs to.
    var isOfKnownDevice: Bool {
        configuration.credential == nil
            && (originalDestination != nil || proxy.recording.knows(client.address))
    }

    private func serve(_ socket: RecordedSocket) async {
        if let originalDestination {
            await serveTransparent(socket, to: originalDestination)
        } else {
            await readPreamble(of: socket, isSecure: false)
        }
        await settle(socket)
    }

    /// Where the kernel says that the client was going; nil when it was coming to us.
    private func destination(of stream: TCPStream, isTransparentListener: Bool) -> Endpoint? {
        let local = stream.local.unmapped
        if isTransparentListener, !proxy.isOwn(local) { return local }
        guard let original = stream.originalDestination?.unmapped, !proxy.isOwn(original) else { return nil }
        return original
    }

    // MARK: - Turned away

    /// A client that `--allow` does not name. It is not recorded: it is no device of ours.
    private func refuseClient(_ stream: TCPStream) async {
        post(
            .clientRefused,
            "\(client.address) is not allowed to use the proxy; --allow \(client.address) would let it.", isAlarm: true)
        guard originalDestination == nil, proxy.table.beginRefusal() else {
            stream.reset()
            return
        }
        defer { proxy.table.endRefusal() }
        let answer = HeapBuffer(
            PlainAnswer.bytes(status: 403, sentence: "This address is not allowed to use the proxy."))
        defer { withExtendedLifetime(answer) {} }
        let head = HeapBuffer(count: 4_096)
        defer { withExtendedLifetime(head) {} }
        _ = await within(configuration.timeouts.preamble) {
            guard let first = try? await stream.read(into: head.bytes), first.count > 0,
                (0x41...0x5A).contains(head.bytes[0])
            else { return }
            try? await stream.write(UnsafeRawBufferPointer(answer.bytes))
            stream.finishWriting()
            // What the client still sends is taken, or the kernel would answer it with RST and the sentence be lost.
            for _ in 0..<64 {
                guard let more = try? await stream.read(into: head.bytes), more.count > 0 else { return }
            }
        }
        if stream.isWritingFinished { stream.close() } else { stream.reset() }
    }

    private func refuse(for limit: ConnectionTable.Limit) {
        switch limit {
        case .connections(let count):
            limitReached(
                "connections", "\(count)", "\(count) connections are open; one of \(client.address) was turned away.")
        case .connectionsPerDevice(let count):
            limitReached(
                "connections-per-device", "\(count)",
                "\(client.address) has \(count) connections open; another was turned away.")
        }
        socket?.reset()
    }

    // MARK: - Beside the relay

    /// Ends when no byte has passed for as long as the idle limit.
    private func watchIdleness() async {
        let idle = configuration.timeouts.idle
        while true {
            let silence = Duration.nanoseconds(WallClock.now().nanoseconds(since: activity.last))
            if silence >= idle { break }
            // Both ends of the sum are bounded by `idle`, which is far from the range's end.
            do { try await LoopTimer.sleep(max(idle - max(silence, .zero), .milliseconds(1))) } catch { return }
        }
        limitReached(
            "idle", "\(idle.components.seconds) s",
            "A connection of \(client.address) was idle for too long and was closed.")
    }

    /// Looks, after each burst towards the device, for what its kernel has acknowledged.
    private func watchAcknowledgements(of socket: RecordedSocket) async {
        while (try? await socket.sentSignal.wait(on: loop)) != nil {
            var delay = Duration.milliseconds(20)
            repeat {
                do { try await LoopTimer.sleep(delay) } catch { return }
                delay = min(delay * 2, .milliseconds(500))
            } while !socket.recordAcknowledgement()
        }
    }

    /// At the end, waits a moment for the device to acknowledge what it was sent, so that the recording tells a last response
    /// that arrived from one that did not.
    func settle(_ socket: RecordedSocket) async {
        let clock = ContinuousClock()
        let deadline = clock.now + configuration.timeouts.delivery
        var delay = Duration.milliseconds(1)
        while !socket.recordAcknowledgement(), clock.now < deadline {
            do { try await LoopTimer.sleep(delay) } catch { return }
            delay = min(delay * 2, .milliseconds(100))
        }
    }

    /// Ends an answer of ours: FIN, and what the device still sends is taken and recorded for a moment, since closing over
    /// unread bytes would make the kernel send RST and the answer be lost.
    func closeLingering(_ device: any DeviceStream) async {
        device.finishWriting()
        let buffer = HeapBuffer(count: 16 << 10)
        defer { withExtendedLifetime(buffer) {} }
        _ = await within(.seconds(2)) {
            for _ in 0..<256 {
                guard let more = try? await device.read(into: buffer.bytes), more.count > 0 else { return }
            }
        }
        device.record(secrets: [])
    }
}
