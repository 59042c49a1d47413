internal import SessionTrace

extension ProxiedConnection {
    /// Serves a client that asks in absolute form. `firstBytes`: its first request's whole head and what came with it,
    /// which is recorded already; credentials are blotted out of the recording as long as `socket.credentialMask` stays.
    func relayClearText(device: any DeviceStream, firstBytes: [UInt8]) async {
        await answer(device, status: 502, "Requests in clear text are not relayed.")
    }
}
