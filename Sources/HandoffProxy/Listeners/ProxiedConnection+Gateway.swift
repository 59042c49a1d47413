internal import EventLoop
internal import SessionTrace
internal import WireFormats

/// Devices that were redirected on their way to this host itself.
///
/// The gateway's DNS gives the proxy's own names (`mark.handoff.test`) the gateway's address, so that a redirected device
/// wants to go to port 80 or 443 of this host. The address alone does not tell it from a device that wants another server
/// here; the name in its ClientHello or Host field does. Both protocols let the client speak first.
extension ProxiedConnection {
    /// What a device on its way to this host said first.
    enum Greeting {
        /// It asks for one of our names.
        case ours(Destination, firstBytes: [UInt8])
        /// It wants something else here; these bytes go there.
        case foreign(firstBytes: [UInt8])
        /// It left, or said nothing in time.
        case ended
    }

    /// Whether the first bytes must be looked at before `original` is dialled.
    func mayNameUs(_ original: Endpoint) -> Bool {
        [80, 443].contains(original.port) && proxy.check.local.contains(original.address)
    }

    /// Reads as far as it takes to know the name that is asked for. What was read is pending in the recording.
    func greeting(of device: RecordedSocket, for original: Endpoint) async -> Greeting {
        device.keepsPending = true
        let received = Received()
        let buffer = HeapBuffer(count: 16 << 10)
        let name = Box<HostName?>(nil)
        var hello = ClientHelloGatherer()
        let limit = configuration.limits.headBytes
        let isInTime = await within(configuration.timeouts.preamble) {
            while !received.hasEnded, received.bytes.count < limit {
                let known = received.bytes.count
                await received.read(from: device, into: buffer)
                if received.bytes.first == 0x16 {
                    let piece = Array(received.bytes[known...])
                    switch piece.withUnsafeBytes({ hello.take($0) }) {
                    case .needsInput: continue
                    case .unreadable: return
                    case .hello(let message): name.value = message.serverName
                    }
                } else {
                    guard let request = ProxyRequest(received.bytes) else { continue }
                    guard case .local(let host) = request.aim else { return }
                    name.value = host.flatMap { HostName.parse(authority: $0)?.host }
                }
                return
            }
        }
        device.keepsPending = false
        if let name = name.value, Destination.localNames.contains(name.text) {
            return .ours(
                Destination(host: name, port: original.port, kind: .transparent), firstBytes: received.bytes)
        }
        if received.bytes.isEmpty || received.hasEnded || !isInTime {
            device.record(secrets: [])
            return .ended
        }
        return .foreign(firstBytes: received.bytes)
    }
}
