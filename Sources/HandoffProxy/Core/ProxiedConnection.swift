internal import EventLoop
internal import SessionTrace

/// One accepted connection of a device, from its first byte to its last: what it asks for, the origin behind it, and
/// both directions between them.
///
/// Its executor is its loop, so the two directions run as child tasks of one actor without locks, and the sockets,
/// which are confined to that loop, never leave it. The parts of a connection's life are extensions in `Listeners`,
/// `Dialing`, `Relay`, `Interception`, `ClearText` and `Control`.
actor ProxiedConnection {
    /// The loop that everything of this connection runs on.
    nonisolated let loop: EventLoop
    /// The proxy that took it.
    nonisolated let proxy: HandoffProxy
    /// The device's end.
    nonisolated let client: Endpoint
    /// Our end of the accepted socket.
    nonisolated let local: Endpoint
    /// When it was accepted.
    nonisolated let accepted: Instant
    /// When bytes last passed.
    nonisolated let activity: ConnectionActivity

    /// The device's socket while the connection lives.
    var socket: RecordedSocket?
    /// Where the kernel says that the client was going; nil for a client of the proxy itself.
    var originalDestination: Endpoint?
    /// The name of the device, as the credential that it gave says.
    var credentialUser: String?

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// A connection that `accepted` brings; `run` serves it.
    init(_ accepted: AcceptedSocket, proxy: HandoffProxy, loop: EventLoop) {
        self.proxy = proxy
        self.loop = loop
        client = accepted.peer.unmapped
        local = accepted.local.unmapped
        self.accepted = accepted.accepted
        activity = ConnectionActivity(accepted.accepted)
    }

    /// How the proxy is to behave.
    nonisolated var configuration: ProxyConfiguration { proxy.configuration }

    /// What the device is called in recordings; nil to tell it by its address.
    var device: DeviceKey? { (configuration.device ?? credentialUser).map(DeviceKey.named) }

    // MARK: - Words of the proxy

    /// Writes a proxy event into the trace, on this connection.
    func event(_ kind: ProxyEvent.Kind, _ attributes: [String: String]) {
        guard let socket, !socket.isLeftOut else { return }
        socket.recorded.event(kind, at: WallClock.now(), attributes)
    }

    /// Tells the person at the terminal.
    nonisolated func post(_ kind: LiveEvent.Kind, host: String? = nil, _ text: String, isAlarm: Bool = false) {
        proxy.live.post(
            LiveEvent(kind, at: WallClock.now(), client: client, host: host, text: text, isAlarm: isAlarm))
    }

    /// A named limit was crossed: an event in the trace and at the terminal.
    func limitReached(_ what: String, _ limit: String, _ text: String) {
        event(.limit, ["what": what, "limit": limit])
        post(.limit, text)
    }
}
