/// Encrypted records: keys are looked up, tried, and followed through their epochs.
internal import Crypto
internal import SessionTrace
internal import WireFormats

/// What became of a sealed record.
private enum Opening {
    case opened(OpenedRecord)
    case closed(SecureSession.UnreadableReason)
    /// Early data that the server has refused: the client sends it again (RFC 8446 §4.2.10).
    case refusedEarlyData
}

extension TLSConnectionDecoder {
    // MARK: TLS 1.0 to 1.2

    mutating func processClassic(
        _ record: TLSRecord, from side: Side, started: PacketReference, at packet: PacketReference,
        context: inout DecryptionContext, into sink: inout some TLSSink
    ) -> Bool {
        if self[side].negotiation == nil {
            if side == .client, negotiation == nil, isSecondHello(record) {
                // What preceded was the middlebox form of TLS 1.3: a HelloRetryRequest is missing from the capture.
                client.enter(.clear)
                isRetried = true
                return process(record, from: side, started: started, at: packet, context: &context, into: &sink)
            }
            // ChangeCipherSpec came before the ServerHello: it may still come, when the other side is reordered.
            if negotiation == nil, canWait { return false }
            self[side].negotiation = negotiation
        }
        if record.header.type == .applicationData, mustFollow(side) { return false }
        switch openClassic(record, from: side, context: &context) {
        case .opened(let opened):
            accept(
                opened, record, from: side, started: started, at: packet, context: &context, into: &sink)
        case .closed(let reason):
            if mayBeOpenedLater(reason, context) { return false }
            close(record, from: side, because: reason, at: packet, context: context)
        case .refusedEarlyData:
            break
        }
        return true
    }

    /// Whether a record after ChangeCipherSpec is a ClientHello in clear.
    private func isSecondHello(_ record: TLSRecord) -> Bool {
        let payload = record.payload
        guard record.header.type == .handshake, payload.count > 4, payload[0] == HandshakeType.clientHello else {
            return false
        }
        let length = Int(payload[1]) << 16 | Int(payload[2]) << 8 | Int(payload[3])
        return length == payload.count - 4
            && ClientHelloMessage(UnsafeRawBufferPointer(rebasing: payload[4...])) != nil
    }

    private mutating func openClassic(
        _ record: TLSRecord, from side: Side, context: inout DecryptionContext
    ) -> Opening {
        guard let negotiation = self[side].negotiation else {
            return .closed(client.lostClearBytes || server.lostClearBytes ? .hole : .handshakeNotSeen)
        }
        if let unsupported = negotiation.unsupported { return .closed(.unsupported(unsupported)) }
        if let opener = self[side].opener {
            if let opened = attempt(opener, record, from: side, context: context) { return .opened(opened) }
            return .closed(self[side].slack > 0 ? .hole : .keysDoNotFit)
        }
        if self[side].searchedGeneration == context.keys.generation, self[side].peerMasterCount == masters.count {
            return .closed(self[side].searchFailure)
        }
        self[side].searchedGeneration = context.keys.generation
        self[side].peerMasterCount = masters.count
        self[side].searchFailure = .noKeys
        for candidate in masterSecrets(negotiation, context) {
            guard let opener = negotiation.classicOpener(master: candidate.secret, fromClient: side == .client) else {
                self[side].searchFailure = .unsupported(
                    "cipher suite 0x" + String(negotiation.suite, radix: 16) + " is not in the installed libcrypto")
                continue
            }
            if let opened = attempt(opener, record, from: side, context: context) {
                self[side].opener = opener
                self[side].isProven = true
                use(candidate, negotiation, &context)
                return .opened(opened)
            }
            self[side].searchFailure = .keysDoNotFit
        }
        return .closed(self[side].searchFailure)
    }

    // MARK: TLS 1.3

    mutating func processModern(
        _ record: TLSRecord, from side: Side, started: PacketReference, at packet: PacketReference,
        context: inout DecryptionContext, into sink: inout some TLSSink
    ) -> Bool {
        switch record.header.type {
        case .changeCipherSpec, .heartbeat:
            return true
        case .alert:
            note(alert: record.payload, from: side, at: packet, into: &sink)
            return true
        case .handshake:
            readHandshake(record.payload, from: side, started: started, at: packet, context: &context, into: &sink)
            return true
        case .applicationData:
            break
        }
        if case .application = self[side].protection, mustFollow(side) { return false }
        if case .early = self[side].protection {
            // Whether early data count is said in the server's EncryptedExtensions.
            if acceptsEarlyData == nil, canWait { return false }
            if mustFollow(side) { return false }
        }
        switch openModern(record, from: side, context: &context) {
        case .opened(let opened):
            accept(opened, record, from: side, started: started, at: packet, context: &context, into: &sink)
        case .closed(let reason):
            if mayBeOpenedLater(reason, context) { return false }
            closeModern(record, from: side, because: reason, at: packet, context: context)
        case .refusedEarlyData:
            break
        }
        return true
    }

    private mutating func openModern(
        _ record: TLSRecord, from side: Side, context: inout DecryptionContext
    ) -> Opening {
        guard let negotiation else { return .closed(.handshakeNotSeen) }
        if let unsupported = negotiation.unsupported { return .closed(.unsupported(unsupported)) }
        if let opener = self[side].opener, let opened = attempt(opener, record, from: side, context: context) {
            return .opened(opened)
        }
        // Past this point: no keys of this epoch yet, or the record belongs to a later one (its predecessors are lost, or
        // lack keys). Proven keys without a loss before the record are right, so the record is wrong.
        if self[side].isProven, self[side].slack == 0, case .application = self[side].protection {
            return .closed(.keysDoNotFit)
        }
        if self[side].opener == nil, self[side].searchedGeneration == context.keys.generation,
            self[side].failures > 0, self[side].searchFailure == .noKeys
        {
            return .closed(.noKeys)
        }
        self[side].searchedGeneration = context.keys.generation
        var failure = SecureSession.UnreadableReason.noKeys
        for epoch in laterEpochs(side) {
            for candidate in trafficSecrets(epoch, side, negotiation, context) {
                failure = self[side].slack > 0 ? .hole : .keysDoNotFit
                guard let opener = negotiation.modernOpener(secret: candidate.secret) else { continue }
                let saved = (self[side].sequence, self[side].slack)
                if epoch.isLater {
                    // A later epoch counts from 0; what may be missing bounds how far it has come.
                    self[side].slack = saved.1 &+ saved.0
                    self[side].sequence = 0
                }
                if let opened = attempt(opener, record, from: side, context: context) {
                    self[side].protection = epoch.protection
                    self[side].opener = opener
                    self[side].secret = candidate.secret
                    self[side].isProven = true
                    use(candidate, &context)
                    return .opened(opened)
                }
                (self[side].sequence, self[side].slack) = saved
            }
        }
        self[side].searchFailure = failure
        if case .early = self[side].protection, acceptsEarlyData == false, failure != .noKeys {
            return .refusedEarlyData
        }
        return .closed(failure)
    }

    /// The present epoch of a side, when its keys are not known, and those that can follow it.
    private func laterEpochs(_ side: Side) -> [ModernEpoch] {
        switch self[side].protection {
        case .early:
            let early = acceptsEarlyData == false || self[side].opener != nil ? [] : [ModernEpoch.early(isLater: false)]
            return early + [.handshake(isLater: true), .application(isLater: true)]
        case .handshake:
            let present = self[side].opener == nil ? [ModernEpoch.handshake(isLater: false)] : []
            return present + [.application(isLater: true)]
        case .application:
            return self[side].opener == nil ? [.application(isLater: false)] : [.updated]
        case .clear, .classic, .unreadable:
            return []
        }
    }

    private func trafficSecrets(
        _ epoch: ModernEpoch, _ side: Side, _ negotiation: Negotiation, _ context: DecryptionContext
    ) -> [SecretCandidate] {
        let label: KeyLog.Label
        switch epoch {
        case .early: label = .clientEarly
        case .handshake: label = side == .client ? .clientHandshake : .serverHandshake
        case .application: label = side == .client ? .clientTraffic : .serverTraffic
        case .updated:
            return negotiation.nextSecret(self[side].secret).map { [SecretCandidate(secret: $0, source: .derived)] }
                ?? []
        }
        guard let offer else { return [] }
        // With an accepted encrypted ClientHello some secrets are logged under the inner random, some under the outer.
        var found = candidates(label, [offer.random] + (innerRandom.map { [$0] } ?? []), context)
        if found.isEmpty, innerRandom == nil, offer.hasEncryptedClientHello, self[side].failures < 4 {
            let unclaimed = context.keys.unclaimedRandoms(limit: context.limits.innerRandomCandidates)
            found = candidates(label, unclaimed, context)
        }
        return found
    }

    private func candidates(
        _ label: KeyLog.Label, _ randoms: [TLSRandom], _ context: DecryptionContext
    ) -> [SecretCandidate] {
        randoms.flatMap { random in
            context.keys.secrets(label, for: random).map { SecretCandidate(secret: $0, source: .random(random)) }
        }
    }

    private mutating func use(_ candidate: SecretCandidate, _ context: inout DecryptionContext) {
        guard case .random(let random) = candidate.source else { return }
        context.keys.markUsed(random)
        guard random != offer?.random, random != innerRandom else { return }
        innerRandom = random
        client.searchedGeneration = -1
        server.searchedGeneration = -1
        needsDrain = true
    }

    /// The sender's keys change after this message (RFC 8446 §4.6.3).
    mutating func updateKeys(_ side: Side) {
        guard case .application = self[side].protection, let negotiation,
            let secret = negotiation.nextSecret(self[side].secret),
            let opener = negotiation.modernOpener(secret: secret)
        else { return }
        self[side].secret = secret
        self[side].opener = opener
        self[side].sequence = 0
    }

    // MARK: Trying

    /// Tries the numbers that the record can have, the lowest first; on success the next record's number is known.
    private mutating func attempt(
        _ opener: RecordOpener, _ record: TLSRecord, from side: Side, context: DecryptionContext
    ) -> OpenedRecord? {
        let first = self[side].sequence
        let last = opener.isSeekable || self[side].slack < 64 ? first &+ self[side].slack : first &+ 64
        var number = first
        while true {
            if let opened = opener.open(record, sequence: number, into: context.scratch.memory) {
                self[side].sequence = number &+ 1
                self[side].slack = 0
                self[side].failures = 0
                self[side].trialBytes = context.limits.trialBytes
                return opened
            }
            guard number < last, self[side].trialBytes > 0 else { return nil }
            self[side].trialBytes -= max(record.bytes.count, 1_024)
            number &+= 1
        }
    }

    /// Whether waiting can help: keys may come.
    private func mayBeOpenedLater(_ reason: SecureSession.UnreadableReason, _ context: DecryptionContext) -> Bool {
        guard canWait, !context.keysAreComplete else { return false }
        switch reason {
        case .noKeys, .keysDoNotFit: return true
        case .handshakeNotSeen, .hole, .unsupported: return false
        }
    }

    /// Whether the other side has earlier records that wait, so that this side's data would overtake them.
    private func mustFollow(_ side: Side) -> Bool {
        !held.isEmpty && canWait && held.contains { $0.side != side }
    }

    // MARK: After the attempt

    private mutating func accept(
        _ opened: OpenedRecord, _ record: TLSRecord, from side: Side, started: PacketReference,
        at packet: PacketReference, context: inout DecryptionContext, into sink: inout some TLSSink
    ) {
        switch opened.type {
        case .applicationData:
            givePlaintext(
                opened.plaintext, sealed: record.header.payloadLength, from: side, at: packet, into: &sink)
        case .handshake:
            // The scratch memory holds the messages; nothing is opened while they are read.
            readHandshake(opened.plaintext, from: side, started: started, at: packet, context: &context, into: &sink)
        case .alert:
            note(alert: opened.plaintext, from: side, at: packet, into: &sink)
        case .changeCipherSpec:
            if case .classic = self[side].protection { enterClassic(side, context: context) }
        case .heartbeat:
            break
        }
    }

    private mutating func close(
        _ record: TLSRecord, from side: Side, because reason: SecureSession.UnreadableReason,
        at packet: PacketReference, context: DecryptionContext
    ) {
        if self[side].opener == nil {
            self[side].sequence &+= 1
        } else {
            self[side].opener?.passOver(payload: record.payload, length: record.header.payloadLength)
            fail(side, because: reason, context: context)
        }
        switch record.header.type {
        case .applicationData:
            countClosed(record.header.payloadLength, from: side, because: reason, at: packet)
        case .changeCipherSpec:
            // A renegotiation that could not be read has changed the keys.
            if self[side].opener == nil { self[side].enter(.unreadable(reason)) }
        case .alert, .handshake, .heartbeat:
            break
        }
    }

    /// A record did not verify though there are keys: the stream is damaged, or the number is off by what is missing.
    private mutating func fail(_ side: Side, because reason: SecureSession.UnreadableReason, context: DecryptionContext)
    {
        self[side].slack = min(self[side].slack &+ 1, UInt64(Int32.max))
        self[side].failures += 1
        if self[side].failures > context.limits.failuresInARow { self[side].enter(.unreadable(reason)) }
    }

    private mutating func closeModern(
        _ record: TLSRecord, from side: Side, because reason: SecureSession.UnreadableReason,
        at packet: PacketReference, context: DecryptionContext
    ) {
        if self[side].opener == nil {
            // Which epoch it belongs to is unknown, so the number is only bounded.
            self[side].slack = min(self[side].slack &+ 1, UInt64(Int32.max))
            self[side].failures += 1
            let isHopeless = if case .unsupported = reason { true } else { reason != .noKeys }
            if isHopeless, self[side].failures > context.limits.failuresInARow {
                self[side].enter(.unreadable(reason))
            }
        } else {
            fail(side, because: reason, context: context)
        }
        let length = record.header.payloadLength
        guard !self[side].isProven else {
            return countClosed(length, from: side, because: reason, at: packet)
        }
        if isPresumedHandshake(length, from: side) {
            self[side].traffic.presumedHandshake += 1
            return
        }
        if let pending = self[side].traffic.presumedAlert {
            self[side].traffic.presumedAlert = nil
            countClosed(pending.bytes, from: side, because: reason, at: pending.packet)
        }
        // An alert's two bytes, a type and a tag: data only if something follows.
        if length == 2 + 1 + 16 {
            self[side].traffic.presumedAlert = (length, packet)
        } else {
            countClosed(length, from: side, because: reason, at: packet)
        }
    }

    /// In TLS 1.3 every record looks like data. The client's first is its Finished, by its length; what the server sends
    /// before it is the server's half of the handshake.
    private func isPresumedHandshake(_ length: Int, from side: Side) -> Bool {
        let maximum = 8
        switch side {
        case .client:
            return client.traffic.presumedHandshake == 0 && client.traffic.closedRecords == 0
                && length == negotiation?.finishedRecordLength
        case .server:
            return client.traffic.presumedHandshake == 0 && client.traffic.closedRecords == 0
                && !client.isProven && server.traffic.presumedHandshake < maximum
        }
    }

    private mutating func countClosed(
        _ bytes: Int, from side: Side, because reason: SecureSession.UnreadableReason, at packet: PacketReference
    ) {
        self[side].traffic.countClosed(bytes, at: packet, because: reason)
        self[side].gap = .some(nil)
    }
}

/// An epoch of TLS 1.3 that a record may belong to; `isLater` when it follows the present one.
private enum ModernEpoch {
    case early(isLater: Bool)
    case handshake(isLater: Bool)
    case application(isLater: Bool)
    /// The application epoch after a KeyUpdate that was lost.
    case updated

    var isLater: Bool {
        switch self {
        case .early(let isLater), .handshake(let isLater), .application(let isLater): isLater
        case .updated: true
        }
    }

    var protection: Protection {
        switch self {
        case .early: .early
        case .handshake: .handshake
        case .application, .updated: .application
        }
    }
}
