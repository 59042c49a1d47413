internal import EventLoop
internal import SessionTrace

extension ProxiedConnection {
    /// Answers requests that are meant for the proxy itself: the set-up page, the trust host, marks in band. `firstBytes`:
    /// what has been read, already recorded. `isSingle`: the connection ends with the first answer.
    func serveLocal(
        device: any DeviceStream, firstBytes: [UInt8], isSecure: Bool, host: String?, isSingle: Bool = false
    ) async {
        guard let control = proxy.control else {
            await answer(device, status: 404, "Nothing is here.")
            return
        }
        // A redirected device had dialled an address that is the page's own name, as far as it knows.
        let connection = LocalConnection(
            plane: control, site: .device, client: client, local: originalDestination ?? local, isSecure: isSecure,
            isSingle: isSingle)
        await connection.serve(LocalDevice(device), firstBytes: firstBytes, arrival: activity.last)
        await closeLingering(device)
    }
}

/// A device's connection as the local services need it. Silence is bounded by the proxy's own idle limit.
private final class LocalDevice: LocalStream {
    private let device: any DeviceStream

    init(_ device: any DeviceStream) {
        self.device = device
    }

    nonisolated(nonsending) func read(
        into buffer: UnsafeMutableRawBufferPointer
    ) async throws(SocketError) -> (count: Int, arrival: Instant) {
        try await device.read(into: buffer)
    }

    nonisolated(nonsending) func write(_ bytes: UnsafeRawBufferPointer) async throws(SocketError) {
        try await device.write(bytes)
    }

    func finishWriting() { device.finishWriting() }
}
