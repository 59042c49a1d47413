internal import EventLoop
internal import SessionTrace

extension ProxiedConnection {
    /// Reads the TLS of a device on its way to `upstream`, or relays it unread. `firstBytes` begin with 0x16 and are the first
    /// that the device sent there; they are pending in the recording.
    func intercept(
        device: any DeviceStream, firstBytes: [UInt8], destination: Destination, upstream: TCPStream
    ) async {
        device.socket.keepsPending = false
        let interception = Interception(
            interceptor: proxy.interceptor, device: device, origin: upstream, destination: destination)
        switch await interception.prepare(first: firstBytes) {
        case .raw(let bytes): await relayRaw(device: device, firstBytes: bytes, upstream: upstream)
        case .ended: await lingerAfterAlert(device)
        case .relay(let relay): await run(relay, of: interception)
        }
    }

    /// Both directions, and beside them the words about a journey that is withheld.
    private func run(_ relay: DecryptedRelay, of interception: Interception) async {
        await telling(of: [interception.journey].compactMap(\.self), to: interception.device.recorded) {
            await self.together(
                { _ = await relay.run(.up) },
                { _ = await relay.run(.down) })
            if Task.isCancelled { relay.close() }
            interception.report(relay.reception, isSuspected: relay.isLeafSuspected)
            if let failure = relay.originFailure { interception.originRefused(failure) }
            interception.journey?.ended(.finished, at: WallClock.now())
        }
    }

    /// Takes what the device still sends after an alert of ours, since closing over unread bytes would make the kernel send
    /// RST, and the alert be lost.
    private func lingerAfterAlert(_ device: any DeviceStream) async {
        guard device.socket.stream.isOpen, device.socket.stream.isWritingFinished else { return }
        await closeLingering(device)
    }

    /// Ends the TLS of a device that came for one of the proxy's own names, with a leaf of ours; then `serveLocal`.
    func interceptLocal(device: any DeviceStream, firstBytes: [UInt8], destination: Destination) async {
        device.socket.keepsPending = false
        guard let name = HostName(destination.host) else { return device.close() }
        switch await proxy.interceptor.serveSecure(device, first: firstBytes, name: name) {
        case .ended, .unreadable: device.close()
        case .stream(let secure):
            let buffer = HeapBuffer(count: 16 << 10)
            defer { withExtendedLifetime(buffer) {} }
            guard let (count, _) = try? await secure.read(into: buffer.bytes), count > 0 else {
                return device.close()
            }
            secure.record(secrets: [])
            await serveLocal(
                device: secure, firstBytes: Array(buffer.prefix(count)), isSecure: true, host: destination.name?.text)
        }
    }
}
