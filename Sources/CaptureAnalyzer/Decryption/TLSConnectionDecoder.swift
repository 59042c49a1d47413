/// The TLS of one connection: stream bytes of both sides in; hellos, plaintext and the fate of the encryption out.
public import SessionTrace
internal import WireFormats

/// Reads the TLS of one connection. One owner: a copy would share cipher state with the original.
///
/// Records that can't be read yet, because their keys or the other side's handshake have not come, wait in order within the
/// limits of `DecryptionLimits`; while one side waits, application data of the other waits behind it. A key is never
/// believed: a record counts as read only when its tag or MAC verifies.
public struct TLSConnectionDecoder {
    /// The connection.
    public let connection: ConnectionID
    let startSeen: Bool

    let client = TLSSideState()
    let server = TLSSideState()

    /// The last ClientHello and ServerHello.
    var offer: ClientOffer?
    var negotiation: Negotiation?
    var clientHellos = 0
    var isRetried = false
    /// Whether the server takes early data; nil while its EncryptedExtensions have not been read.
    var acceptsEarlyData: Bool?
    /// The random of the ClientHello inside an encrypted one, once its secrets have opened a record.
    var innerRandom: TLSRandom?
    /// The master secret that has opened a record, with the client random of its handshake; for the other side.
    var masters: [(random: TLSRandom, secret: [UInt8])] = []
    var applicationProtocol: String?
    var hasGivenProtocol = false
    var alert: SecureSession.Alert?
    /// Handshake bytes for a master secret that depends on them; nil when nobody needs them.
    var transcript: [UInt8]?
    /// Set by whatever may let a waiting record go on.
    var needsDrain = false

    /// The first bytes of a client that may speak SSL 2.0, until its hello is whole.
    var prelude: [UInt8]?
    var isSSLv2 = false

    var held: [HeldItem] = []
    var heldBytes = 0
    var heldGeneration = 0
    var hasGivenUp = false
    var isFinal = false

    /// A connection of which nothing has been seen. `startSeen` is false when it was joined in the middle.
    public init(connection: ConnectionID, startSeen: Bool = true) {
        self.connection = connection
        self.startSeen = startSeen
        prelude = startSeen ? [] : nil
    }

    subscript(side: Side) -> TLSSideState { side == .client ? client : server }

    /// The next stream bytes from `side`, cut anyhow; `packet` brought them.
    public mutating func receive(
        _ bytes: UnsafeRawBufferPointer, from side: Side, at packet: PacketReference,
        context: inout DecryptionContext, into sink: inout some TLSSink
    ) {
        if !held.isEmpty, context.keys.generation != heldGeneration { drain(context: &context, into: &sink) }
        if side == .client, prelude != nil {
            receiveStart(bytes, at: packet, context: &context, into: &sink)
        } else {
            readRecords(bytes, from: side, at: packet, context: &context, into: &sink)
        }
        if needsDrain { drain(context: &context, into: &sink) }
    }

    /// Stream bytes from `side` that will never come; `length` nil when nobody knows how many.
    public mutating func hole(
        length: Int?, from side: Side, at packet: PacketReference, context: inout DecryptionContext,
        into sink: inout some TLSSink
    ) {
        if side == .client { prelude = nil }
        if case .clear = self[side].protection {
            giveUnfinishedHello(from: side, at: packet, context: &context, into: &sink)
            self[side].handshake = HandshakeReader()
            self[side].messageStart = nil
            self[side].lostClearBytes = true
        }
        self[side].recordStart = nil
        self[side].records.hole(length: length)
        noteLost(side, at: packet, context: &context, into: &sink)
    }

    /// The connection has ended: what still waits is tried a last time, then come the `SecureSession` and the blind spots.
    public mutating func finish(
        at packet: PacketReference, context: inout DecryptionContext, into sink: inout some TLSSink
    ) {
        if let start = prelude, !start.isEmpty {
            prelude = nil
            start.withUnsafeBytes {
                readRecords($0, from: .client, at: client.recordStart ?? packet, context: &context, into: &sink)
            }
        }
        // First with what has come meanwhile, each record in its order; only then is what still waits given up.
        drain(context: &context, into: &sink)
        isFinal = true
        drain(context: &context, into: &sink)
        for side in Side.allCases {
            giveUnfinishedHello(from: side, at: packet, context: &context, into: &sink)
            noteLost(side, at: packet, context: &context, into: &sink)
            countCutRecord(side, at: packet)
            giveGap(from: side, at: packet, into: &sink)
        }
        report(at: packet, into: &sink)
    }

    // MARK: Records

    private mutating func readRecords(
        _ bytes: UnsafeRawBufferPointer, from side: Side, at packet: PacketReference,
        context: inout DecryptionContext, into sink: inout some TLSSink
    ) {
        if isSSLv2 {
            self[side].traffic.countClosed(bytes.count, at: packet, because: .unsupported("SSL 2.0"))
            return
        }
        var input = bytes
        while true {
            switch self[side].records.next(&input) {
            case .needsInput:
                if self[side].records.isInsideRecord, self[side].recordStart == nil { self[side].recordStart = packet }
                return
            case .record(let record):
                let started = self[side].recordStart ?? packet
                self[side].recordStart = nil
                accept(record, from: side, started: started, at: packet, context: &context, into: &sink)
            case .lostFraming:
                self[side].recordStart = nil
                self[side].slack = max(self[side].slack, 1)
                if case .clear = self[side].protection { self[side].lostClearBytes = true }
            case .resynchronised:
                noteLost(side, at: packet, context: &context, into: &sink)
            }
        }
    }

    /// The client's first bytes: a record, or a hello of SSL 2.0, whose two bytes of length have their top bit set.
    private mutating func receiveStart(
        _ bytes: UnsafeRawBufferPointer, at packet: PacketReference, context: inout DecryptionContext,
        into sink: inout some TLSSink
    ) {
        guard var start = prelude, let first = start.first ?? bytes.first else { return }
        guard first & 0x80 != 0 else {
            prelude = nil
            return readRecords(bytes, from: .client, at: packet, context: &context, into: &sink)
        }
        if start.isEmpty { client.recordStart = packet }
        start.append(contentsOf: bytes)
        let hello = start.withUnsafeBytes { SSLv2ClientHello($0) }
        if start.count < SSLv2ClientHello.headerLength || (hello.map { start.count < $0.recordLength } ?? false) {
            prelude = start
            return
        }
        prelude = nil
        guard let hello else {
            start.withUnsafeBytes { readRecords($0, from: .client, at: packet, context: &context, into: &sink) }
            return
        }
        start.withUnsafeBytes { bytes in
            let record = UnsafeRawBufferPointer(rebasing: bytes[..<hello.recordLength])
            accept(hello, record, at: packet, context: &context, into: &sink)
            let rest = UnsafeRawBufferPointer(rebasing: bytes[hello.recordLength...])
            readRecords(rest, from: .client, at: packet, context: &context, into: &sink)
        }
    }

    private mutating func accept(
        _ hello: SSLv2ClientHello, _ record: UnsafeRawBufferPointer, at packet: PacketReference,
        context: inout DecryptionContext, into sink: inout some TLSSink
    ) {
        let started = client.recordStart ?? packet
        client.recordStart = nil
        clientHellos += 1
        guard hello.version >= 0x0300, let random = hello.random(in: record) else {
            isSSLv2 = true
            return
        }
        offer = ClientOffer(random: random)
        context.keys.claim(random)
        sink.secureEvent(
            .clientHello(
                ClientHello(
                    connection: connection, seen: packet, started: started, serverName: nil,
                    applicationProtocols: [], highestVersion: hello.version, ja4: "", hasEncryptedClientHello: false,
                    isRepeated: false)))
    }

    private mutating func accept(
        _ record: TLSRecord, from side: Side, started: PacketReference, at packet: PacketReference,
        context: inout DecryptionContext, into sink: inout some TLSSink
    ) {
        let mustQueue = !held.isEmpty && held.contains { $0.side == side }
        if !mustQueue, process(record, from: side, started: started, at: packet, context: &context, into: &sink) {
            return
        }
        let item = HeldItem(
            side: side, content: .record(bytes: Array(record.bytes), started: started), packet: packet)
        hold(item, context: &context, into: &sink)
    }

    // MARK: Waiting

    private mutating func hold(
        _ item: HeldItem, context: inout DecryptionContext, into sink: inout some TLSSink
    ) {
        held.append(item)
        heldBytes += item.size
        context.heldBytes += item.size
        heldGeneration = context.keys.generation
        if heldBytes > context.limits.heldPerConnection || held.count > context.limits.heldRecordsPerConnection
            || context.heldBytes > context.limits.heldOverall
        {
            hasGivenUp = true
            drain(context: &context, into: &sink)
        }
    }

    /// Whether a record may still wait.
    var canWait: Bool { !isFinal && !hasGivenUp }

    /// Goes through what waits, in order, until nothing moves any more.
    mutating func drain(context: inout DecryptionContext, into sink: inout some TLSSink) {
        needsDrain = false
        heldGeneration = context.keys.generation
        var hasMoved = true
        while hasMoved, !held.isEmpty {
            hasMoved = false
            let items = held
            held = []
            for item in items {
                if held.contains(where: { $0.side == item.side }) || !process(item, context: &context, into: &sink) {
                    held.append(item)
                } else {
                    hasMoved = true
                    heldBytes -= item.size
                    context.heldBytes -= item.size
                }
            }
            needsDrain = false
        }
    }

    private mutating func process(
        _ item: HeldItem, context: inout DecryptionContext, into sink: inout some TLSSink
    ) -> Bool {
        switch item.content {
        case .lost(let lost):
            apply(lost, to: item.side, at: item.packet)
            return true
        case .record(let bytes, let started):
            return bytes.withUnsafeBytes { bytes in
                guard let header = TLSRecordHeader(bytes) else { return true }
                let record = TLSRecord(header: header, bytes: bytes)
                return process(
                    record, from: item.side, started: started, at: item.packet, context: &context, into: &sink)
            }
        }
    }

    // MARK: Loss

    /// Takes the reader's account of lost records, in its place among the records.
    private mutating func noteLost(
        _ side: Side, at packet: PacketReference, context: inout DecryptionContext, into sink: inout some TLSSink
    ) {
        let lost = self[side].records.takeLost(isFinal: isFinal)
        guard lost != LostRecords() else { return }
        if held.contains(where: { $0.side == side }) {
            hold(HeldItem(side: side, content: .lost(lost), packet: packet), context: &context, into: &sink)
        } else {
            apply(lost, to: side, at: packet)
        }
    }

    private mutating func apply(_ lost: LostRecords, to side: Side, at packet: PacketReference) {
        let longest = TLSRecordHeader.length + TLSRecordHeader.maximumPayload
        let certain = lost.certain.filter { isSealed($0, from: side) }
        for header in certain { self[side].opener?.passOver(payload: nil, length: header.payloadLength) }
        // The bytes between two headers that were seen are whole records, none longer than the longest, none shorter than
        // the shortest that is sealed.
        let fewest = (lost.unframedBytes + longest - 1) / longest
        let most = lost.isUnbounded ? Int(Int32.max) : lost.unframedBytes / 22
        if lost.unframedBytes > 0 || lost.isUnbounded { self[side].opener?.passOver(payload: nil, length: 0) }
        self[side].sequence &+= UInt64(certain.count + fewest)
        self[side].slack = min(self[side].slack &+ UInt64(max(most - fewest, 0)), UInt64(Int32.max))
        switch self[side].protection {
        case .clear:
            self[side].lostClearBytes = true
            if !lost.certain.contains(where: { $0.type == .applicationData }) { return }
        case .classic, .early, .handshake, .application, .unreadable: break
        }
        self[side].gap = .some(nil)
        self[side].traffic.hasLoss = true
        let bytes = certain.reduce(lost.unframedBytes) { $0 + $1.payloadLength }
        self[side].traffic.lostBytes = self[side].traffic.lostBytes.addingReportingOverflow(bytes).partialValue & .max
        self[side].traffic.firstClosed = self[side].traffic.firstClosed ?? packet
        self[side].traffic.lastClosed = packet
    }

    /// Whether a record of this kind has a number in the present epoch.
    private func isSealed(_ header: TLSRecordHeader, from side: Side) -> Bool {
        switch self[side].protection {
        case .clear: header.type == .applicationData
        case .classic, .unreadable: true
        case .early, .handshake, .application: header.type == .applicationData
        }
    }

    /// A record whose end never came.
    private mutating func countCutRecord(_ side: Side, at packet: PacketReference) {
        let cut = self[side].records.withUnfinished { header, part in (header, part.count) }
        guard let (header, count) = cut, header.type == .applicationData else { return }
        self[side].traffic.hasLoss = true
        self[side].traffic.lostBytes += count
        self[side].traffic.firstClosed = self[side].traffic.firstClosed ?? self[side].recordStart ?? packet
        self[side].traffic.lastClosed = packet
        self[side].gap = .some(nil)
    }

    // MARK: Output

    /// Tells of missing plaintext, once there is plaintext on either side of it.
    mutating func giveGap(from side: Side, at packet: PacketReference, into sink: inout some TLSSink) {
        guard let gap = self[side].gap else { return }
        self[side].gap = nil
        guard hasGivenProtocol else { return }
        sink.plaintextHole(length: gap, from: side, at: packet)
    }

    mutating func givePlaintext(
        _ bytes: UnsafeRawBufferPointer, sealed: Int, from side: Side, at packet: PacketReference,
        into sink: inout some TLSSink
    ) {
        self[side].traffic.countOpened(sealed, at: packet)
        if !hasGivenProtocol {
            hasGivenProtocol = true
            sink.applicationProtocol(applicationProtocol, at: packet)
        }
        giveGap(from: side, at: packet, into: &sink)
        if !bytes.isEmpty { sink.plaintext(bytes, from: side, at: packet) }
    }
}
