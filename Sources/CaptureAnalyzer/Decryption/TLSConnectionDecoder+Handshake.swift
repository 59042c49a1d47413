/// Records that are not encrypted, and handshake messages wherever they come from.
internal import Crypto
internal import SessionTrace
internal import WireFormats

extension TLSConnectionDecoder {
    /// Processes a record, or returns false when it has to wait.
    mutating func process(
        _ record: TLSRecord, from side: Side, started: PacketReference, at packet: PacketReference,
        context: inout DecryptionContext, into sink: inout some TLSSink
    ) -> Bool {
        switch self[side].protection {
        case .clear:
            return processClear(record, from: side, started: started, at: packet, context: &context, into: &sink)
        case .classic:
            return processClassic(record, from: side, started: started, at: packet, context: &context, into: &sink)
        case .early, .handshake, .application:
            return processModern(record, from: side, started: started, at: packet, context: &context, into: &sink)
        case .unreadable(let reason):
            if record.header.type == .applicationData {
                self[side].traffic.countClosed(record.header.payloadLength, at: packet, because: reason)
            }
            return true
        }
    }

    private mutating func processClear(
        _ record: TLSRecord, from side: Side, started: PacketReference, at packet: PacketReference,
        context: inout DecryptionContext, into sink: inout some TLSSink
    ) -> Bool {
        switch record.header.type {
        case .handshake:
            readHandshake(record.payload, from: side, started: started, at: packet, context: &context, into: &sink)
        case .alert:
            note(alert: record.payload, from: side, at: packet, into: &sink)
        case .heartbeat:
            break
        case .changeCipherSpec:
            // TLS 1.3 sends these for the sake of middleboxes, the client before the ServerHello even (RFC 8446 D.4).
            if let negotiation, negotiation.isModern { return true }
            if negotiation == nil, isRetried || offer?.offersEarlyData == true { return true }
            if offer == nil && negotiation == nil {
                self[side].enter(.unreadable(.handshakeNotSeen))
            } else {
                enterClassic(side, context: context)
            }
        case .applicationData:
            return processUnannounced(record, from: side, started: started, at: packet, context: &context, into: &sink)
        }
        return true
    }

    /// Encrypted data from a side of which no change of keys was seen: early data, or the change is lost or still to come.
    private mutating func processUnannounced(
        _ record: TLSRecord, from side: Side, started: PacketReference, at packet: PacketReference,
        context: inout DecryptionContext, into sink: inout some TLSSink
    ) -> Bool {
        if let negotiation {
            if negotiation.isModern {
                enterModern(side)
            } else {
                enterClassic(side, context: context)
                self[side].slack = 16
            }
            return process(record, from: side, started: started, at: packet, context: &context, into: &sink)
        }
        if offer != nil, canWait { return false }
        if offer == nil, startSeen, !client.lostClearBytes, side == .server, canWait { return false }
        let reason: SecureSession.UnreadableReason =
            client.lostClearBytes || server.lostClearBytes ? .hole : .handshakeNotSeen
        self[side].enter(.unreadable(reason))
        self[side].traffic.countClosed(record.header.payloadLength, at: packet, because: reason)
        return true
    }

    // MARK: Handshake messages

    /// Reads handshake messages out of a record's payload, encrypted before or not.
    mutating func readHandshake(
        _ payload: UnsafeRawBufferPointer, from side: Side, started: PacketReference, at packet: PacketReference,
        context: inout DecryptionContext, into sink: inout some TLSSink
    ) {
        var input = payload
        var firstByte = self[side].messageStart ?? started
        while true {
            let before = input
            let message = self[side].handshake.next(&input)
            let taken = UnsafeRawBufferPointer(rebasing: before[..<(before.count - input.count)])
            if transcript != nil { record(handshake: taken, message) }
            guard let message else { break }
            accept(message, from: side, started: firstByte, at: packet, context: &context, into: &sink)
            firstByte = started
        }
        self[side].messageStart = self[side].handshake.isInsideMessage ? firstByte : nil
    }

    private mutating func accept(
        _ message: HandshakeMessage, from side: Side, started: PacketReference, at packet: PacketReference,
        context: inout DecryptionContext, into sink: inout some TLSSink
    ) {
        switch (message.type, side) {
        case (HandshakeType.clientHello, .client):
            guard let hello = ClientHelloMessage(message.body) else { return }
            accept(hello, started: started, at: packet, context: &context, into: &sink)
            if transcript == nil, context.keys.hasPremasterSecrets { startTranscript(with: message) }
        case (HandshakeType.serverHello, .server):
            sink.serverHello(at: packet)
            guard let hello = ServerHelloMessage(message.body) else { return }
            accept(hello)
        case (HandshakeType.helloRetryRequest, .server):
            // Up to draft 21 a message of its own.
            isRetried = true
            acceptsEarlyData = false
        case (HandshakeType.encryptedExtensions, .server):
            guard let extensions = EncryptedExtensionsMessage(message.body) else { return }
            applicationProtocol = extensions.applicationProtocol
            acceptsEarlyData = extensions.acceptsEarlyData
            needsDrain = true
        case (HandshakeType.clientKeyExchange, .client):
            note(keyExchange: message.body)
        case (HandshakeType.newSessionTicket, .server):
            note(ticket: message.body)
        case (HandshakeType.endOfEarlyData, .client):
            if case .early = client.protection { client.enter(.handshake) }
        case (HandshakeType.finished, _):
            if case .handshake = self[side].protection {
                self[side].enter(.application)
                needsDrain = true
            }
        case (HandshakeType.keyUpdate, _):
            updateKeys(side)
        default:
            break
        }
    }

    private mutating func accept(
        _ hello: ClientHelloMessage, started: PacketReference, at packet: PacketReference,
        context: inout DecryptionContext, into sink: inout some TLSSink
    ) {
        let isRepeated = clientHellos > 0
        clientHellos += 1
        context.keys.claim(hello.random)
        offer = ClientOffer(hello)
        // A renegotiation begins: what the first handshake agreed on stays in each side's own copy.
        if isRepeated, !isRetried { negotiation = nil }
        if negotiation?.isModern == true { enterModern(.client) }
        needsDrain = true
        sink.secureEvent(
            .clientHello(
                hello.event(
                    connection: connection, seen: packet, started: started, transport: .tcp, isRepeated: isRepeated)))
    }

    private mutating func accept(_ hello: ServerHelloMessage) {
        needsDrain = true
        if hello.isHelloRetryRequest {
            isRetried = true
            acceptsEarlyData = false
            return
        }
        // Without the client's hello nothing can be looked up; a random of zeros is no key log's.
        let offer = self.offer ?? ClientOffer(random: .zero)
        let negotiation = Negotiation(hello, offer: offer)
        self.negotiation = negotiation
        if negotiation.isModern {
            enterModern(.server)
            if self.offer != nil { enterModern(.client) }
        } else {
            applicationProtocol = hello.applicationProtocol
        }
    }

    /// Goes over to TLS 1.3's keys.
    private mutating func enterModern(_ side: Side) {
        guard case .clear = self[side].protection else { return }
        if side == .client, let offer { negotiation?.offer = offer }
        let mayBeEarly = side == .client && offer?.offersEarlyData == true && !isRetried
        if mayBeEarly, negotiation?.usesPreSharedKey == false { acceptsEarlyData = false }
        let slack = self[side].slack
        self[side].enter(mayBeEarly ? .early : .handshake)
        self[side].slack = slack
    }

    /// Goes over to the keys of TLS 1.0 to 1.2 that the last handshake has agreed on.
    mutating func enterClassic(_ side: Side, context: DecryptionContext) {
        self[side].enter(.classic)
        if let offer { negotiation?.offer = offer }
        self[side].negotiation = negotiation
        self[side].trialBytes = context.limits.trialBytes
    }

    /// A hello whose end was not captured still tells its name, when the extension is whole.
    mutating func giveUnfinishedHello(
        from side: Side, at packet: PacketReference, context: inout DecryptionContext, into sink: inout some TLSSink
    ) {
        guard side == .client, case .clear = client.protection else { return }
        var start: [UInt8] = []
        client.handshake.withUnfinished { type, part in
            if type == HandshakeType.clientHello { start = [type, 0, 0, 0] + Array(part) }
        }
        client.records.withUnfinished { header, part in
            if header.type == .handshake { start += Array(part) }
        }
        guard start.count > 4, start[0] == HandshakeType.clientHello else { return }
        let parsed = start.withUnsafeBytes {
            ClientHelloMessage(UnsafeRawBufferPointer(rebasing: $0[4...]), allowingCut: true)
        }
        guard let hello = parsed, !hello.isWhole else { return }
        let isRepeated = clientHellos > 0
        clientHellos += 1
        context.keys.claim(hello.random)
        offer = ClientOffer(hello)
        needsDrain = true
        let started = client.messageStart ?? client.recordStart ?? packet
        sink.secureEvent(
            .clientHello(
                hello.event(
                    connection: connection, seen: packet, started: started, transport: .tcp, isRepeated: isRepeated)))
    }

    // MARK: Smaller messages

    private mutating func note(keyExchange body: UnsafeRawBufferPointer) {
        // RSA key exchange: a length, then the encrypted premaster secret. For others this finds nothing.
        guard body.count >= 10 else { return }
        negotiation?.encryptedPremaster = Array(body[2..<10])
    }

    private mutating func note(ticket body: UnsafeRawBufferPointer) {
        guard negotiation?.isModern == false, body.count > 6 else { return }
        negotiation?.newTicketDigest = HashFunction.sha256.digest(of: body[6...])
    }

    /// An alert that is readable: fatal ones are kept, close_notify ends the side's data (RFC 8446 §6).
    mutating func note(
        alert payload: UnsafeRawBufferPointer, from side: Side, at packet: PacketReference,
        into sink: inout some TLSSink
    ) {
        guard payload.count == 2, payload[0] == 1 || payload[0] == 2 else { return }
        let description = payload[1]
        if description == 0 {
            sink.plaintextFinished(from: side, at: packet)
        } else if description != 90, alert == nil, payload[0] == 2 || negotiation?.isModern == true {
            alert = SecureSession.Alert(description: description, by: side)
        }
    }

    // MARK: The handshake's own bytes (RFC 7627)

    private static let maximumTranscript = 256 << 10

    private mutating func startTranscript(with message: HandshakeMessage) {
        let length = message.body.count
        transcript =
            [message.type, UInt8(length >> 16 & 0xFF), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF)]
            + Array(message.body)
    }

    private mutating func record(handshake bytes: UnsafeRawBufferPointer, _ message: HandshakeMessage?) {
        guard message?.type != HandshakeType.helloRequest else { return }
        transcript?.append(contentsOf: bytes)
        if transcript?.count ?? 0 > Self.maximumTranscript { transcript = nil }
        if message?.type == HandshakeType.clientKeyExchange {
            let hash = transcript.flatMap { negotiation?.hashSession($0) }
            negotiation?.sessionHash = hash ?? []
            transcript = nil
        }
    }
}
