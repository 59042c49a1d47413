internal import SessionTrace

extension ProxiedConnection {
    /// Answers requests that are meant for the proxy itself. `firstBytes`: what has been read, already recorded.
    func serveLocal(device: any DeviceStream, firstBytes: [UInt8], isSecure: Bool, host: String?) async {
        await answer(device, status: 404, "Nothing is here.")
    }
}
