/// The QUIC of one UDP conversation: datagrams in; hellos and, at the end, the blind spot for all that stays closed out.
public import SessionTrace

/// What a QUIC conversation gives.
public enum QUICOutput: Hashable, Sendable {
    /// A ClientHello, or at the end the blind spot.
    case event(SessionEvent)
    /// The client random of the hello that was just given: the name by which a key log knows the connection.
    case clientRandom(TLSRandom)
    /// A ServerHello was read.
    case serverHello(PacketReference)
}

/// Reads the QUIC of one UDP conversation as far as it is open to anyone: its Initial packets (RFC 9001 §5.2).
public struct QUICConnectionObserver {
    /// Sets of Initial keys that are kept: one for each version and each connection id that a client has started with.
    static let maximumKeySets = 8

    private struct KeySet {
        var version: QUICVersion
        var connectionID: [UInt8]
        var client: QUICInitialKeys
        var server: QUICInitialKeys
    }

    /// One direction's Initial packets.
    private struct Direction {
        var crypto = QUICCryptoStream()
        var handshake = HandshakeReader()
        /// How much of the contiguous handshake bytes has been read.
        var readLength = 0
        /// The packet number after the largest one seen.
        var expected: UInt64 = 0
        var started: PacketReference?
    }

    /// The connection.
    public let connection: ConnectionID

    private var keySets: [KeySet] = []
    /// The connection id that the present handshake's keys are from.
    private var original: [UInt8]?
    private var client = Direction()
    private var server = Direction()
    private var hellos = 0
    /// The random of the last hello; after a Retry the same hello comes again (RFC 9000 §17.2.5.3) and is no other one.
    private var lastRandom: TLSRandom?
    private var isFirstOfHandshake = true
    /// The conversation was joined so that its sides are the wrong way round.
    private var isReversed = false
    private var version: QUICVersion?
    private var closedBytes = 0
    private var closedDatagrams = 0
    private var firstClosed: PacketReference?
    private var lastClosed: PacketReference?

    /// A conversation of which nothing has been seen.
    public init(connection: ConnectionID) {
        self.connection = connection
    }

    /// Whether a conversation that starts with this datagram is QUIC: a long header of a version that is known, or one that
    /// is not in a datagram as long as a client's first must be (RFC 9000 §14.1).
    public static func recognises(_ datagram: UnsafeRawBufferPointer) -> Bool {
        guard datagram.count >= 21, datagram[0] & 0x80 != 0, let header = QUICLongHeader(datagram) else { return false }
        if header.version == .negotiation {
            // A list of versions, and nothing else.
            let ids = header.destination.count + header.source.count
            return (datagram.count - 7 - ids) % 4 == 0 && datagram.count > 7 + ids
        }
        guard datagram[0] & 0x40 != 0, header.destination.count <= QUICLongHeader.maximumConnectionID,
            header.source.count <= QUICLongHeader.maximumConnectionID
        else { return false }
        return header.version.isKnown || (datagram.count >= 1_200 && header.destination.count >= 8)
    }

    /// The next datagram from `side`.
    public mutating func receive(
        _ datagram: UnsafeRawBufferPointer, from side: Side, at packet: PacketReference,
        into output: inout [QUICOutput]
    ) {
        var rest = datagram
        var closed = 0
        while let first = rest.first {
            guard first & 0x80 != 0, let header = QUICLongHeader(rest) else {
                // A short header reaches to the datagram's end; zeros after the last packet are padding.
                if rest.contains(where: { $0 != 0 }) { closed += rest.count }
                break
            }
            if header.version != .negotiation { version = header.version }
            let bytes = UnsafeRawBufferPointer(rebasing: rest[..<header.packetLength])
            switch header.kind {
            case .initial:
                if !open(bytes, header, from: side, at: packet, into: &output) { closed += bytes.count }
            case .zeroRTT, .handshake, .unknown:
                closed += bytes.count
            case .retry, .versionNegotiation:
                break
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[header.packetLength...])
        }
        guard closed > 0 else { return }
        closedBytes += closed
        closedDatagrams += 1
        firstClosed = firstClosed ?? packet
        lastClosed = packet
    }

    /// The conversation has ended: gives one blind spot for what was not read, if there was anything.
    public mutating func finish(at packet: PacketReference, into output: inout [QUICOutput]) {
        guard let firstClosed, let lastClosed else { return }
        let name = version.map { "version 0x" + String($0.rawValue, radix: 16) } ?? "version not seen"
        output.append(
            .event(
                .blindSpot(
                    BlindSpot(
                        reason: .quic, connection: connection, span: TimeSpan(firstClosed.time, lastClosed.time),
                        bytes: closedBytes, noticed: firstClosed,
                        detail: "\(name), \(closedDatagrams) datagrams"))))
    }

    // MARK: Initial packets

    /// Opens an Initial packet and reads its frames; false when it stays closed.
    private mutating func open(
        _ bytes: UnsafeRawBufferPointer, _ header: QUICLongHeader, from side: Side, at packet: PacketReference,
        into output: inout [QUICOutput]
    ) -> Bool {
        let sender = isReversed ? side.peer : side
        if let frames = open(bytes, header, as: sender) {
            return read(frames, from: sender, at: packet, into: &output)
        }
        // A client's first packet, after Retry, after version negotiation, or of another connection on the same ports,
        // has keys from its own destination id. From what seemed to be the server it shows that the sides are reversed.
        let isFirst = keySets.isEmpty
        guard sender == .client || isFirst,
            let keys = QUICInitialKeys.derive(version: header.version, connectionID: header.destination),
            let opened = keys.client.open(bytes, packetNumberOffset: header.packetNumberOffset, expected: 0)
        else { return false }
        if sender == .server { isReversed.toggle() }
        remember(
            KeySet(
                version: header.version, connectionID: header.destination, client: keys.client, server: keys.server))
        original = header.destination
        client = Direction()
        server = Direction()
        isFirstOfHandshake = true
        client.expected = opened.number &+ 1
        return read(opened.frames, from: .client, at: packet, into: &output)
    }

    /// Tries the keys that are known for the packet's version, the latest first.
    private mutating func open(
        _ bytes: UnsafeRawBufferPointer, _ header: QUICLongHeader, as sender: Side
    ) -> [UInt8]? {
        // Keys follow the negotiated version: a server may answer in another one under the same id (RFC 9369 §4).
        if let original, !keySets.contains(where: { $0.version == header.version && $0.connectionID == original }),
            let keys = QUICInitialKeys.derive(version: header.version, connectionID: original)
        {
            remember(
                KeySet(version: header.version, connectionID: original, client: keys.client, server: keys.server))
        }
        for set in keySets.reversed() where set.version == header.version && set.connectionID == original {
            let keys = sender == .client ? set.client : set.server
            let expected = sender == .client ? client.expected : server.expected
            if let opened = keys.open(bytes, packetNumberOffset: header.packetNumberOffset, expected: expected) {
                let next = max(expected, opened.number &+ 1)
                if sender == .client { client.expected = next } else { server.expected = next }
                return opened.frames
            }
        }
        return nil
    }

    private mutating func remember(_ set: KeySet) {
        if keySets.count == Self.maximumKeySets { keySets.removeFirst() }
        keySets.append(set)
    }

    // MARK: Frames

    private mutating func read(
        _ frames: [UInt8], from sender: Side, at packet: PacketReference, into output: inout [QUICOutput]
    ) -> Bool {
        var direction = sender == .client ? client : server
        let isWhole = frames.withUnsafeBytes { Self.readFrames($0, into: &direction, at: packet) }
        let bytes = direction.crypto.contiguous
        if bytes.count > direction.readLength {
            let fresh = Array(bytes.dropFirst(direction.readLength))
            direction.readLength = bytes.count
            fresh.withUnsafeBytes { fresh in
                var input = fresh
                while let message = direction.handshake.next(&input) {
                    accept(message, from: sender, started: direction.started ?? packet, at: packet, into: &output)
                }
            }
        }
        if sender == .client { client = direction } else { server = direction }
        return isWhole
    }

    /// The frames that an Initial packet may hold (RFC 9000 §12.4); false at one that does not belong there.
    private static func readFrames(
        _ frames: UnsafeRawBufferPointer, into direction: inout Direction, at packet: PacketReference
    ) -> Bool {
        var reader = PresentationReader(frames)
        while let type = reader.uint8() {
            switch type {
            case 0x00, 0x01:
                continue
            case 0x02, 0x03:
                guard skipAcknowledgement(&reader, hasCounts: type == 0x03) else { return false }
            case 0x06:
                guard let offset = reader.variableLengthInteger(),
                    let length = reader.variableLengthInteger().flatMap({ Int(exactly: $0) }),
                    let piece = reader.bytes(length)
                else { return false }
                direction.started = direction.started ?? packet
                guard direction.crypto.insert(piece, at: offset) else { return false }
            case 0x1C:
                return true
            default:
                return false
            }
        }
        return true
    }

    private static func skipAcknowledgement(_ reader: inout PresentationReader, hasCounts: Bool) -> Bool {
        guard reader.variableLengthInteger() != nil, reader.variableLengthInteger() != nil,
            let ranges = reader.variableLengthInteger(), reader.variableLengthInteger() != nil,
            ranges <= UInt64(reader.rest.count)
        else { return false }
        let numbers = Int(ranges) * 2 + (hasCounts ? 3 : 0)
        for _ in 0..<numbers where reader.variableLengthInteger() == nil { return false }
        return true
    }

    private mutating func accept(
        _ message: HandshakeMessage, from sender: Side, started: PacketReference, at packet: PacketReference,
        into output: inout [QUICOutput]
    ) {
        switch (message.type, sender) {
        case (HandshakeType.clientHello, .client):
            guard let hello = ClientHelloMessage(message.body) else { return }
            let isRepeatOfSame = isFirstOfHandshake && hello.random == lastRandom
            isFirstOfHandshake = false
            lastRandom = hello.random
            if isRepeatOfSame { return }
            hellos += 1
            output.append(
                .event(
                    .clientHello(
                        hello.event(
                            connection: connection, seen: packet, started: started, transport: .quic,
                            isRepeated: hellos > 1))))
            output.append(.clientRandom(hello.random))
        case (HandshakeType.serverHello, .server):
            output.append(.serverHello(packet))
        default:
            break
        }
    }
}
