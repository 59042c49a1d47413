internal import EventLoop
internal import SessionTrace

extension ProxiedConnection {
    /// Reads the TLS of a device on its way to `upstream`, or relays it unread. `firstBytes` begin with 0x16 and are the first
    /// that the device sent there; they are pending in the recording.
    func intercept(
        device: any DeviceStream, firstBytes: [UInt8], destination: Destination, upstream: TCPStream
    ) async {
        await relayRaw(device: device, firstBytes: firstBytes, upstream: upstream)
    }

    /// Ends the TLS of a device that came for one of the proxy's own names, with a leaf of ours; then `serveLocal`.
    func interceptLocal(device: any DeviceStream, firstBytes: [UInt8], destination: Destination) async {
        device.close()
    }
}
