internal import SessionTrace
internal import WireFormats

/// What stands on plaintext, of TLS or of the connection itself: an observer that is chosen when the first byte comes.
///
/// An object, so that handing it on costs a pointer: its state is large, and it is entered for every segment.
final class PlaintextLayer {
    private let connection: ConnectionID
    private let isSecure: Bool
    private let startSeen: Bool
    private let limits: ConversationLimits
    private var protocolName: String?
    private var serverName: HostName?
    private var observer: ConversationObserver?
    private var output: [ConversationOutput] = []
    /// ServerHello messages that TLS below has reported and nobody has collected.
    private(set) var serverHellos = 0

    init(
        connection: ConnectionID, isSecure: Bool, startSeen: Bool, limits: ConversationLimits
    ) {
        self.connection = connection
        self.isSecure = isSecure
        self.startSeen = startSeen
        self.limits = limits
    }

    /// What other analysers would count of the conversation so far.
    var counts: ConversationCounts? { observer?.counts }

    /// What there is to say since the last call.
    func takeOutput() -> [ConversationOutput] {
        guard !output.isEmpty else { return [] }
        let taken = output
        output.removeAll(keepingCapacity: false)
        return taken
    }

    func takeServerHellos() -> Int {
        defer { serverHellos = 0 }
        return serverHellos
    }

    func finished(side: Side, at packet: PacketReference) {
        observer?.finished(side: side, at: packet, into: &output)
    }

    func close(_ cause: ConnectionEnd.Cause, at packet: PacketReference) {
        observer?.closed(cause: cause, at: packet, into: &output)
    }

    /// Makes the observer when the first byte or hole comes: only then is the application protocol known.
    private func begin() {
        guard observer == nil else { return }
        observer = ConversationObserver(
            connection: connection, isSecure: isSecure, applicationProtocol: protocolName, serverName: serverName,
            limits: limits, startSeen: startSeen)
    }
}

extension PlaintextLayer: TLSSink {
    func secureEvent(_ event: SessionEvent) {
        if case .clientHello(let hello) = event, let name = hello.serverName { serverName = name }
        output.append(.event(event))
    }

    func serverHello(at packet: PacketReference) {
        serverHellos += 1
    }

    func applicationProtocol(_ name: String?, at packet: PacketReference) {
        protocolName = name
    }

    func plaintext(_ bytes: UnsafeRawBufferPointer, from side: Side, at packet: PacketReference) {
        guard !bytes.isEmpty else { return }
        begin()
        observer?.receive(bytes, from: side, at: packet, into: &output)
    }

    func plaintextHole(length: Int?, from side: Side, at packet: PacketReference) {
        begin()
        observer?.hole(length: length, from: side, at: packet, into: &output)
    }

    func plaintextFinished(from side: Side, at packet: PacketReference) {
        finished(side: side, at: packet)
    }
}
