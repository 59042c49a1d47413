public import SessionTrace

/// Writes a trace (DESIGN "The trace file is a pcapng file"): what happened on connections in, blocks out.
///
/// Frames are synthesised: Ethernet, IP, TCP with the true addresses, contiguous sequence numbers, SYN, FIN, RST, right
/// checksums. Nothing is held back: after each call `takeBytes` gives whole blocks, so that a file cut between two
/// writes is whole. Order is the caller's: secrets before the bytes that need them.
public struct TraceWriter: Sendable {
    /// Most payload bytes of a frame; longer pieces become several frames with one time.
    public static let framePayloadLimit = 60_000
    /// The name of interface 0.
    public static let interfaceName = "handoff-proxy"
    /// How long after a connection's end the proxy may still speak of it, in nanoseconds: a reader that has forgotten the
    /// connection would take the frame for the start of another.
    public static let afterwordNanoseconds: Int64 = 60_000_000_000
    /// The port of marks.
    public static let markPort: UInt16 = 4_774

    /// An interface beside that of the proxy: a device's own link, captured as it is.
    public struct PassiveInterface: Hashable, Sendable {
        /// Its name in the file; not `interfaceName`.
        public var name: String
        /// What its packets start with.
        public var linkType: LinkType

        /// Describes an interface.
        public init(name: String, linkType: LinkType) {
            self.name = name
            self.linkType = linkType
        }
    }

    /// One connection in the file.
    private struct Flow {
        /// What one side has sent.
        struct Half {
            var endpoint: Endpoint
            var initialSequence: UInt32
            /// Bytes of payload sent.
            var sent: UInt64 = 0
            /// What this side acknowledges of the other's bytes.
            var acknowledged: UInt64 = 0
            var isFinished = false
            /// Whether this side acknowledges the other's FIN.
            var acknowledgesFinish = false
        }

        var client: Half
        var server: Half
        var isReset = false
        /// When the later of both FINs, or the RST, was written.
        var ended: Instant?

        subscript(side: Side) -> Half {
            get { side == .client ? client : server }
            set { if side == .client { client = newValue } else { server = newValue } }
        }
    }

    private var pcapng = PcapngWriter()
    private var frames = FrameWriter()
    private var flows: [ConnectionID: Flow] = [:]
    private var flowsOpened: UInt32 = 0
    private var packets: UInt64 = 0
    /// Packets of each passive interface.
    private var capturedPackets: [UInt64] = []
    private let started: Instant

    /// Starts a trace: section header and interface 0 are written at once.
    ///
    /// - Parameters:
    ///   - version: of the program, for `shb_userappl` = `handoff/VERSION`.
    ///   - started: when recording began.
    ///   - passive: interfaces 1 and up. That they are there says that somebody watched for traffic around the proxy,
    ///     even where none was seen.
    public init(version: String, started: Instant, passive: [PassiveInterface] = []) {
        self.started = started
        pcapng.section(userApplication: TraceText.applicationPrefix + version)
        pcapng.interface(linkType: .ethernet, name: Self.interfaceName)
        for interface in passive { pcapng.interface(linkType: interface.linkType, name: interface.name) }
        capturedPackets = Array(repeating: 0, count: passive.count)
    }

    /// Takes the bytes written since the last take: whole blocks.
    public mutating func takeBytes() -> [UInt8] {
        pcapng.takeBytes()
    }

    /// Gives the bytes written since the last take, and takes an empty array whose space is used for the next ones.
    public mutating func exchangeBytes(_ space: inout [UInt8]) {
        pcapng.exchangeBytes(&space)
    }

    /// Bytes written and not yet taken.
    public var byteCount: Int { pcapng.bytes.count }

    /// Packets written since the start.
    public var packetCount: UInt64 { capturedPackets.reduce(packets, &+) }

    /// Writes NSS key log lines, which must be in the file before the bytes that need them.
    public mutating func secrets(_ keyLog: [UInt8]) {
        pcapng.secrets(DecryptionSecrets(kind: .tlsKeyLog, bytes: keyLog))
    }

    /// Opens a connection: SYN, SYN-ACK and ACK, all at `time`.
    ///
    /// - Parameters:
    ///   - client: the device's end.
    ///   - server: explicit proxy: the accepted socket's own end; transparent: the original destination.
    ///   - events: what the proxy has to say of it; they become comments of the SYN.
    public mutating func open(
        _ id: ConnectionID, client: Endpoint, server: Endpoint, at time: Instant, events: [ProxyEvent] = []
    ) {
        // Far apart, so that a 4-tuple used again is not taken for the connection before.
        let sequence = flowsOpened &* 0x9E37_79B1 &+ 1
        flowsOpened &+= 1
        flows[id] = Flow(
            client: .init(endpoint: client, initialSequence: sequence),
            server: .init(endpoint: server, initialSequence: sequence ^ 0x8000_0000))
        handshake(id, from: .client, acknowledges: false, at: time, comments: events.map(TraceText.text(of:)))
        handshake(id, from: .server, acknowledges: true, at: time, comments: [])
        acknowledgement(id, from: .client, at: time, comments: [])
    }

    /// Writes bytes that a side sent, in frames of at most `framePayloadLimit`. Bytes after its FIN are not written.
    ///
    /// Frames from the server acknowledge all that the client has sent; frames from the client acknowledge what
    /// `acknowledge` was told.
    public mutating func send(
        _ bytes: UnsafeRawBufferPointer, from side: Side, on id: ConnectionID, at time: Instant,
        events: [ProxyEvent] = []
    ) {
        guard var flow = flows[id], !flow.isReset, !flow[side].isFinished else { return }
        var comments = events.map(TraceText.text(of:))
        var start = 0
        while start < bytes.count {
            let end = min(start + Self.framePayloadLimit, bytes.count)
            var segment = segment(flow, side)
            segment.isPush = end == bytes.count
            write(
                segment, payload: UnsafeRawBufferPointer(rebasing: bytes[start..<end]), flow, from: side, at: time,
                comments: comments)
            comments = []
            flow[side].sent += UInt64(end - start)
            flow[side.peer].acknowledged = side == .client ? flow.client.sent : flow[side.peer].acknowledged
            start = end
        }
        flows[id] = flow
    }

    /// Writes bytes held in an array; see `send(_:from:on:at:events:)`.
    public mutating func send(
        _ bytes: [UInt8], from side: Side, on id: ConnectionID, at time: Instant, events: [ProxyEvent] = []
    ) {
        bytes.withUnsafeBytes { send($0, from: side, on: id, at: time, events: events) }
    }

    /// The device has acknowledged `count` bytes of the server's stream, counted from its start, and perhaps its FIN.
    /// Written as an ACK frame when that is news.
    public mutating func acknowledge(
        upTo count: UInt64, includingFinish: Bool = false, on id: ConnectionID, at time: Instant
    ) {
        guard var flow = flows[id], !flow.isReset else { return }
        let acknowledged = min(max(count, flow.client.acknowledged), flow.server.sent)
        let finish =
            flow.client.acknowledgesFinish
            || (includingFinish && flow.server.isFinished && acknowledged == flow.server.sent)
        guard acknowledged > flow.client.acknowledged || finish != flow.client.acknowledgesFinish else { return }
        flow.client.acknowledged = acknowledged
        flow.client.acknowledgesFinish = finish
        flows[id] = flow
        acknowledgement(id, from: .client, at: time, comments: [])
    }

    /// A side has finished sending: FIN. The server acknowledges the client's at once.
    public mutating func finish(_ side: Side, on id: ConnectionID, at time: Instant) {
        guard var flow = flows[id], !flow.isReset, !flow[side].isFinished else { return }
        var segment = segment(flow, side)
        segment.isFin = true
        write(segment, payload: Self.nothing, flow, from: side, at: time, comments: [])
        flow[side].isFinished = true
        if side == .client { flow.server.acknowledgesFinish = true }
        if flow[side.peer].isFinished { flow.ended = time }
        flows[id] = flow
        if side == .client { acknowledgement(id, from: .server, at: time, comments: []) }
    }

    /// A side broke the connection off: RST. Nothing more is written of it.
    public mutating func reset(_ side: Side, on id: ConnectionID, at time: Instant) {
        guard var flow = flows[id], !flow.isReset else { return }
        var segment = segment(flow, side)
        segment.isReset = true
        write(segment, payload: Self.nothing, flow, from: side, at: time, comments: [])
        flow.isReset = true
        flow.ended = time
        flows[id] = flow
    }

    /// Forgets a connection; its frames stay. Memory follows open connections.
    public mutating func forget(_ id: ConnectionID) {
        flows[id] = nil
    }

    /// Forgets all connections and what was written but not taken: nobody is going to read on.
    public mutating func forgetAll() {
        flows = [:]
        pcapng.dropBytes()
    }

    /// Writes what the proxy has to say of a connection: the comment of a bare ACK towards the device, since the frame
    /// before has left already. Nothing is written of an unknown connection, or of one that ended longer than
    /// `afterwordNanoseconds` ago.
    public mutating func event(_ event: ProxyEvent, on id: ConnectionID, at time: Instant) {
        if let ended = flows[id]?.ended, time.nanoseconds(since: ended) > Self.afterwordNanoseconds { return }
        acknowledgement(id, from: .server, at: time, comments: [TraceText.text(of: event)])
    }

    /// Writes a mark: a datagram from the device to the listener, with the same text as its comment.
    public mutating func mark(_ mark: Mark, from device: Endpoint, to listener: Endpoint, at time: Instant) {
        let text = TraceText.text(of: mark)
        packets &+= 1
        Array(text.utf8).withUnsafeBytes { payload in
            frames.udp(payload: payload, from: device, to: listener, byDevice: true) {
                pcapng.packet($0, payload, at: time, comments: [text])
            }
        }
    }

    /// Writes a packet as a passive interface saw it.
    ///
    /// - Parameters:
    ///   - passive: counts the passive interfaces from 0.
    ///   - originalLength: its length on the wire.
    public mutating func captured(
        _ packet: UnsafeRawBufferPointer, on passive: Int, at time: Instant, originalLength: Int
    ) {
        guard capturedPackets.indices.contains(passive) else { return }
        capturedPackets[passive] &+= 1
        pcapng.packet(packet, interface: passive + 1, at: time, originalLength: originalLength)
    }

    /// Ends the trace: interface statistics, whose presence says that the recorder stopped in order.
    ///
    /// - Parameters:
    ///   - dropped: packets of our own interface that were lost.
    ///   - passiveDropped: the same for each passive interface, as far as it is known.
    ///   - endedEarly: passive interfaces, counted from 0, whose capture was over before: they get no statistics, which
    ///     tells the reader that nobody watched until the end.
    public mutating func end(
        at time: Instant, dropped: UInt64 = 0, passiveDropped: [UInt64] = [], endedEarly: Set<Int> = []
    ) {
        let counts =
            [(packets, dropped)]
            + capturedPackets.enumerated().map { index, count in
                (count, passiveDropped.indices.contains(index) ? passiveDropped[index] : 0)
            }
        for (interface, (packets, dropped)) in counts.enumerated() where !endedEarly.contains(interface - 1) {
            pcapng.statistics(
                InterfaceStatistics(
                    interface: interface, time: time, started: started, ended: time, received: packets &+ dropped,
                    droppedByInterface: dropped))
        }
    }

    // MARK: Frames

    private static var nothing: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

    private mutating func handshake(
        _ id: ConnectionID, from side: Side, acknowledges: Bool, at time: Instant, comments: [String]
    ) {
        guard let flow = flows[id] else { return }
        var segment = FrameWriter.Segment(sequence: flow[side].initialSequence)
        segment.isSyn = true
        if acknowledges { segment.acknowledgement = flow[side.peer].initialSequence &+ 1 }
        write(segment, payload: Self.nothing, flow, from: side, at: time, comments: comments)
    }

    private mutating func acknowledgement(
        _ id: ConnectionID, from side: Side, at time: Instant, comments: [String]
    ) {
        guard let flow = flows[id] else { return }
        write(segment(flow, side), payload: Self.nothing, flow, from: side, at: time, comments: comments)
    }

    /// A segment at the place that a side's stream has reached.
    private func segment(_ flow: Flow, _ side: Side) -> FrameWriter.Segment {
        let own = flow[side]
        let peer = flow[side.peer]
        // The SYN takes one number, and so does the FIN.
        let sequence = own.initialSequence &+ 1 &+ UInt32(truncatingIfNeeded: own.sent) &+ (own.isFinished ? 1 : 0)
        let acknowledgement =
            peer.initialSequence &+ 1 &+ UInt32(truncatingIfNeeded: own.acknowledged)
            &+ (own.acknowledgesFinish ? 1 : 0)
        return FrameWriter.Segment(sequence: sequence, acknowledgement: acknowledgement)
    }

    private mutating func write(
        _ segment: FrameWriter.Segment, payload: UnsafeRawBufferPointer, _ flow: Flow, from side: Side,
        at time: Instant, comments: [String]
    ) {
        packets &+= 1
        frames.tcp(
            segment, payload: payload, from: flow[side].endpoint, to: flow[side.peer].endpoint,
            byDevice: side == .client
        ) { pcapng.packet($0, payload, at: time, comments: comments) }
    }
}
