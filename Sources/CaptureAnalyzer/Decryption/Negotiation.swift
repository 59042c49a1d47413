/// What two hellos agreed on, and the keys of TLS 1.0 to 1.2 that follow from it and a master secret.
internal import Crypto
internal import WireFormats

/// What is kept of a ClientHello.
struct ClientOffer {
    var random: TLSRandom
    var sessionID: [UInt8]
    /// SHA-256 of the ticket that it wants to resume; empty without one.
    var ticketDigest: [UInt8]
    var offersEarlyData: Bool
    var hasEncryptedClientHello: Bool

    /// The offer of a hello of which no more is known than its random.
    init(random: TLSRandom) {
        self.random = random
        sessionID = []
        ticketDigest = []
        offersEarlyData = false
        hasEncryptedClientHello = false
    }

    init(_ hello: ClientHelloMessage) {
        random = hello.random
        sessionID = hello.sessionID
        ticketDigest = hello.sessionTicket.isEmpty ? [] : HashFunction.sha256.digest(of: hello.sessionTicket)
        offersEarlyData = hello.offersEarlyData
        hasEncryptedClientHello = hello.hasEncryptedClientHello
    }
}

/// The outcome of one handshake.
struct Negotiation {
    var offer: ClientOffer
    var version: UInt16
    var suite: UInt16
    var serverRandom: TLSRandom
    var sessionID: [UInt8]
    var compressionMethod: UInt8
    var encryptsThenAuthenticates: Bool
    var truncatesMAC: Bool
    var extendsMasterSecret: Bool
    var usesPreSharedKey: Bool
    /// The start of the premaster secret in its encrypted form (RSA key exchange), as in the key log's `RSA` lines.
    var encryptedPremaster: [UInt8] = []
    /// Hash of the handshake up to the ClientKeyExchange (RFC 7627), where it was asked for.
    var sessionHash: [UInt8] = []
    /// SHA-256 of a ticket that the server gave in this handshake.
    var newTicketDigest: [UInt8] = []

    init(_ hello: ServerHelloMessage, offer: ClientOffer) {
        self.offer = offer
        version = hello.version
        suite = hello.cipherSuite
        serverRandom = hello.random
        sessionID = hello.sessionID
        compressionMethod = hello.compressionMethod
        encryptsThenAuthenticates = hello.has(TLSExtensionType.encryptThenMAC)
        truncatesMAC = hello.has(TLSExtensionType.truncatedHMAC)
        extendsMasterSecret = hello.has(TLSExtensionType.extendedMasterSecret)
        usesPreSharedKey = hello.has(TLSExtensionType.preSharedKey)
    }

    /// Whether it is TLS 1.3, or one of the drafts that differ from it in no more than labels and additional data.
    var isModern: Bool { version == 0x0304 || Self.drafts.contains(version) }

    /// Drafts 18 to 28.
    private static let drafts: ClosedRange<UInt16> = 0x7F12...0x7F1C
    /// The first draft with `tls13 ` before its labels, and the first whose records authenticate their header.
    private static let firstWithFinalLabels: UInt16 = 0x7F14
    private static let firstWithAdditionalData: UInt16 = 0x7F19

    private var labelPrefix: String {
        Self.drafts.contains(version) && version < Self.firstWithFinalLabels ? "TLS 1.3, " : "tls13 "
    }

    /// Why the records can't be read whatever the keys; nil when they can.
    var unsupported: String? {
        switch version {
        case 0x0304, Self.drafts, 0x0301...0x0303: break
        case 0x0300: return "SSL 3.0"
        case 0x7F00...0x7FFF: return "TLS 1.3 draft \(version & 0xFF)"
        default: return "version 0x" + String(version, radix: 16)
        }
        guard compressionMethod == 0 else { return "compression method \(compressionMethod)" }
        let name = "cipher suite 0x" + String(suite, radix: 16)
        guard let protection = SuiteProtection(suite: suite) else { return name }
        if isModern, case .aead = protection { return nil }
        if isModern { return name }
        if case .aead = protection, version != 0x0303 { return name }
        return nil
    }

    private var pseudorandomFunction: TLSPseudorandomFunction {
        if version < 0x0303 { return .md5AndSHA1 }
        return SuiteProtection(suite: suite)?.scheduleHash == .sha384 ? .sha384 : .sha256
    }

    /// The hash that RFC 7627 takes over the handshake.
    func hashSession(_ transcript: [UInt8]) -> [UInt8] {
        switch pseudorandomFunction {
        case .md5AndSHA1:
            HashFunction.md5.isAvailable && HashFunction.sha1.isAvailable
                ? HashFunction.md5.digest(of: transcript) + HashFunction.sha1.digest(of: transcript) : []
        case .sha256: HashFunction.sha256.digest(of: transcript)
        case .sha384: HashFunction.sha384.digest(of: transcript)
        }
    }

    /// The master secret from a premaster secret (RFC 5246 §8.1, RFC 7627 §4); nil when the handshake's hash is needed and
    /// was not taken.
    func masterSecret(premaster: [UInt8]) -> [UInt8]? {
        if extendsMasterSecret {
            guard !sessionHash.isEmpty else { return nil }
            return try? pseudorandomFunction.derive(
                secret: premaster, label: "extended master secret", seed: sessionHash, count: 48)
        }
        return try? pseudorandomFunction.derive(
            secret: premaster, label: "master secret", seed: offer.random.bytes + serverRandom.bytes, count: 48)
    }

    /// The opener for the records of one side (RFC 5246 §6.3); nil when libcrypto lacks an algorithm.
    func classicOpener(master: [UInt8], fromClient: Bool) -> RecordOpener? {
        guard let protection = SuiteProtection(suite: suite) else { return nil }
        let lengths = keyLengths(protection)
        let total = 2 * (lengths.mac + lengths.key + lengths.vector)
        guard
            let block = try? pseudorandomFunction.derive(
                secret: master, label: "key expansion", seed: serverRandom.bytes + offer.random.bytes, count: total)
        else { return nil }
        // client MAC, server MAC, client key, server key, client vector, server vector
        func part(_ start: Int, _ length: Int) -> [UInt8] {
            let begin = start + (fromClient ? 0 : length)
            return Array(block[begin..<(begin + length)])
        }
        let macKey = part(0, lengths.mac)
        let key = part(2 * lengths.mac, lengths.key)
        let vector = part(2 * (lengths.mac + lengths.key), lengths.vector)
        do {
            switch protection {
            case .aead(let algorithm, _):
                return .aead(try AEADRecordOpener(algorithm, key: key, vector: vector))
            case .cbc(let algorithm, let mac):
                return .cbc(
                    try CBCRecordOpener(
                        algorithm, key: key, vector: vector, mac: mac, macKey: macKey, macLength: macLength(mac),
                        encryptsThenAuthenticates: encryptsThenAuthenticates, hasExplicitVectors: version > 0x0301))
            case .rc4(let mac):
                return .rc4(try RC4RecordOpener(key: key, mac: mac, macKey: macKey, macLength: macLength(mac)))
            case .clear(let mac):
                return .clear(try ClearRecordOpener(mac: mac, key: macKey, macLength: macLength(mac)))
            }
        } catch {
            return nil
        }
    }

    private func macLength(_ mac: HashFunction) -> Int { truncatesMAC ? 10 : mac.digestLength }

    private func keyLengths(_ protection: SuiteProtection) -> (mac: Int, key: Int, vector: Int) {
        switch protection {
        case .aead(let algorithm, _): (0, algorithm.keyLength, AEADRecordOpener.vectorLength(algorithm))
        case .cbc(let algorithm, let mac): (mac.digestLength, algorithm.keyLength, algorithm.blockLength)
        case .rc4(let mac): (mac.digestLength, 16, 0)
        case .clear(let mac): (mac.digestLength, 0, 0)
        }
    }

    /// The opener under a traffic secret of TLS 1.3; nil when the secret's length is another hash's.
    func modernOpener(secret: [UInt8]) -> RecordOpener? {
        guard case .aead(let algorithm, let hash)? = SuiteProtection(suite: suite), secret.count == hash.digestLength,
            let opener = try? ModernRecordOpener(
                algorithm, hash: hash, secret: secret, labelPrefix: labelPrefix,
                authenticatesHeader: !Self.drafts.contains(version) || version >= Self.firstWithAdditionalData)
        else { return nil }
        return .modern(opener)
    }

    /// The traffic secret after a KeyUpdate (RFC 8446 §7.2).
    func nextSecret(_ secret: [UInt8]) -> [UInt8]? {
        guard case .aead(_, let hash)? = SuiteProtection(suite: suite) else { return nil }
        return try? hash.hkdfExpandLabel(
            secret: secret, label: "traffic upd", count: hash.digestLength, prefix: labelPrefix)
    }

    /// Payload length of a record that holds a Finished message and nothing else (TLS 1.3).
    var finishedRecordLength: Int {
        guard case .aead(let algorithm, let hash)? = SuiteProtection(suite: suite) else { return 0 }
        return 4 + hash.digestLength + 1 + algorithm.tagLength
    }
}
