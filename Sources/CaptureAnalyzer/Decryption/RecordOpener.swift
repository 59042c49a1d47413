/// Opens the records of one side under one set of keys: a sealed record and its number in, type and plaintext out.
internal import Crypto
internal import WireFormats

/// What a record holds once it is open.
struct OpenedRecord {
    /// The type inside the encryption, which in TLS 1.3 is the true one.
    var type: TLSRecordHeader.ContentType
    /// The plaintext, in the memory that was passed in.
    var plaintext: UnsafeRawBufferPointer
}

/// The record protection of one side and epoch. Classes inside: cipher contexts are shared C objects with one owner, and
/// the connection that owns them must be free to move.
enum RecordOpener {
    case modern(ModernRecordOpener)
    case aead(AEADRecordOpener)
    case cbc(CBCRecordOpener)
    case rc4(RC4RecordOpener)
    case clear(ClearRecordOpener)

    /// Whether a record can be opened without those before it.
    var isSeekable: Bool {
        switch self {
        case .modern, .aead, .clear: true
        case .cbc(let opener): opener.hasExplicitVectors
        case .rc4: false
        }
    }

    /// Opens `record` as number `sequence` of its epoch into `scratch`; nil when it does not verify.
    func open(
        _ record: TLSRecord, sequence: UInt64, into scratch: UnsafeMutableRawBufferPointer
    ) -> OpenedRecord? {
        switch self {
        case .modern(let opener): opener.open(record, sequence: sequence, into: scratch)
        case .aead(let opener): opener.open(record, sequence: sequence, into: scratch)
        case .cbc(let opener): opener.open(record, sequence: sequence, into: scratch)
        case .rc4(let opener): opener.open(record, sequence: sequence, into: scratch)
        case .clear(let opener): opener.open(record, sequence: sequence, into: scratch)
        }
    }

    /// Steps over a record whose payload, of known length, is lost or did not verify.
    func passOver(payload: UnsafeRawBufferPointer?, length: Int) {
        switch self {
        case .modern, .aead, .clear: break
        case .cbc(let opener): opener.passOver(payload: payload)
        case .rc4(let opener): opener.passOver(length: length)
        }
    }
}

/// The sequence number and header that every MAC and AEAD of TLS up to 1.2 covers (RFC 5246 §6.2.3).
struct RecordPseudoHeader {
    private var words: (UInt64, UInt64) = (0, 0)

    init(sequence: UInt64, header: TLSRecordHeader, length: Int) {
        words.0 = sequence.bigEndian
        let rest =
            UInt64(header.type.rawValue) << 56 | UInt64(header.version) << 40
            | UInt64(UInt16(truncatingIfNeeded: length)) << 24
        words.1 = rest.bigEndian
    }

    /// The 13 bytes.
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withUnsafeBytes(of: words) { body(UnsafeRawBufferPointer(rebasing: $0[..<13])) }
    }
}

/// A nonce of 12 bytes.
struct RecordNonce {
    private var words: (UInt64, UInt64) = (0, 0)

    /// The static vector with the sequence number xored into its last eight bytes (RFC 8446 §5.3, RFC 7905 §2).
    init(vector: RecordNonce, sequence: UInt64) {
        self = vector
        withUnsafeMutableBytes(of: &words) { bytes in
            for index in 0..<8 { bytes[4 + index] ^= UInt8(truncatingIfNeeded: sequence >> (56 - 8 * UInt64(index))) }
        }
    }

    /// Four bytes of salt, eight of the record's own (RFC 5288 §3).
    init(salt: RecordNonce, explicit: UnsafeRawBufferPointer) {
        self = salt
        withUnsafeMutableBytes(of: &words) { bytes in
            for index in 0..<min(8, explicit.count) { bytes[4 + index] = explicit[index] }
        }
    }

    /// Up to twelve bytes; the rest are zero.
    init(_ bytes: [UInt8]) {
        withUnsafeMutableBytes(of: &words) { target in
            for index in 0..<min(12, bytes.count) { target[index] = bytes[index] }
        }
    }

    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withUnsafeBytes(of: words) { body(UnsafeRawBufferPointer(rebasing: $0[..<12])) }
    }
}

/// TLS 1.3 (RFC 8446 §5.2).
final class ModernRecordOpener {
    private var opener: AEADOpener
    private let vector: RecordNonce
    private let authenticatesHeader: Bool

    init(
        _ algorithm: AEADAlgorithm, hash: HashFunction, secret: [UInt8], labelPrefix: String, authenticatesHeader: Bool
    ) throws(CryptoError) {
        let key = try hash.hkdfExpandLabel(
            secret: secret, label: "key", count: algorithm.keyLength, prefix: labelPrefix)
        let vector = try hash.hkdfExpandLabel(
            secret: secret, label: "iv", count: AEADAlgorithm.nonceLength, prefix: labelPrefix)
        self.vector = RecordNonce(vector)
        self.authenticatesHeader = authenticatesHeader
        opener = try AEADOpener(algorithm, key: key)
    }

    func open(
        _ record: TLSRecord, sequence: UInt64, into scratch: UnsafeMutableRawBufferPointer
    ) -> OpenedRecord? {
        let header = UnsafeRawBufferPointer(
            rebasing: record.bytes[..<(authenticatesHeader ? TLSRecordHeader.length : 0)])
        let length = RecordNonce(vector: vector, sequence: sequence).withBytes { nonce in
            opener.open(record.payload, nonce: nonce, additionalData: header, into: scratch)
        }
        // The content ends at the last byte that is not zero; that byte is its type (RFC 8446 §5.4).
        guard var end = length else { return nil }
        while end > 0, scratch[end - 1] == 0 { end -= 1 }
        guard end > 0, let type = TLSRecordHeader.ContentType(rawValue: scratch[end - 1]) else { return nil }
        return OpenedRecord(type: type, plaintext: UnsafeRawBufferPointer(rebasing: scratch[..<(end - 1)]))
    }
}

/// AEAD suites of TLS 1.2 (RFC 5246 §6.2.3.3).
final class AEADRecordOpener {
    private var opener: AEADOpener
    private let vector: RecordNonce
    /// Bytes of the nonce that each record carries: 8 for GCM and CCM, none for ChaCha20-Poly1305.
    private let explicitLength: Int

    /// Length of the part of the nonce that comes from the key block.
    static func vectorLength(_ algorithm: AEADAlgorithm) -> Int { algorithm == .chaCha20Poly1305 ? 12 : 4 }

    init(_ algorithm: AEADAlgorithm, key: [UInt8], vector: [UInt8]) throws(CryptoError) {
        self.vector = RecordNonce(vector)
        explicitLength = algorithm == .chaCha20Poly1305 ? 0 : 8
        opener = try AEADOpener(algorithm, key: key)
    }

    func open(
        _ record: TLSRecord, sequence: UInt64, into scratch: UnsafeMutableRawBufferPointer
    ) -> OpenedRecord? {
        let payload = record.payload
        let length = payload.count - explicitLength - opener.algorithm.tagLength
        guard length >= 0 else { return nil }
        let sealed = UnsafeRawBufferPointer(rebasing: payload[explicitLength...])
        let nonce =
            explicitLength == 0
            ? RecordNonce(vector: vector, sequence: sequence)
            : RecordNonce(salt: vector, explicit: UnsafeRawBufferPointer(rebasing: payload[..<explicitLength]))
        let opened = RecordPseudoHeader(sequence: sequence, header: record.header, length: length).withBytes { header in
            nonce.withBytes { opener.open(sealed, nonce: $0, additionalData: header, into: scratch) }
        }
        guard let opened else { return nil }
        return OpenedRecord(
            type: record.header.type, plaintext: UnsafeRawBufferPointer(rebasing: scratch[..<opened]))
    }
}

/// Suites without encryption: the MAC is checked where there is a key for it.
final class ClearRecordOpener {
    private var authenticator: MessageAuthenticator
    private let macLength: Int

    init(mac: HashFunction, key: [UInt8], macLength: Int) throws(CryptoError) {
        authenticator = try MessageAuthenticator(mac, key: key)
        self.macLength = macLength
    }

    func open(
        _ record: TLSRecord, sequence: UInt64, into scratch: UnsafeMutableRawBufferPointer
    ) -> OpenedRecord? {
        let payload = record.payload
        let length = payload.count - macLength
        guard length >= 0, length <= scratch.count else { return nil }
        let content = UnsafeRawBufferPointer(rebasing: payload[..<length])
        let verifies = RecordPseudoHeader(sequence: sequence, header: record.header, length: length).withBytes {
            authenticator.verifies($0, content, expected: UnsafeRawBufferPointer(rebasing: payload[length...]))
        }
        guard verifies else { return nil }
        scratch.copyMemory(from: content)
        return OpenedRecord(
            type: record.header.type, plaintext: UnsafeRawBufferPointer(rebasing: scratch[..<length]))
    }
}

/// RC4 suites: one key stream for the whole epoch, so records must come in order.
final class RC4RecordOpener {
    private var cipher: RC4Decryptor
    private var authenticator: MessageAuthenticator
    private let macLength: Int
    /// Whether the record that is being opened has already moved the key stream.
    private var hasMoved = false

    init(key: [UInt8], mac: HashFunction, macKey: [UInt8], macLength: Int) throws(CryptoError) {
        cipher = try RC4Decryptor(key: key)
        authenticator = try MessageAuthenticator(mac, key: macKey)
        self.macLength = macLength
    }

    func open(
        _ record: TLSRecord, sequence: UInt64, into scratch: UnsafeMutableRawBufferPointer
    ) -> OpenedRecord? {
        let payload = record.payload
        let length = payload.count - macLength
        guard length >= 0, cipher.decrypt(payload, into: scratch) else { return nil }
        hasMoved = true
        let content = UnsafeRawBufferPointer(rebasing: scratch[..<length])
        let mac = UnsafeRawBufferPointer(rebasing: scratch[length..<payload.count])
        let verifies = RecordPseudoHeader(sequence: sequence, header: record.header, length: length).withBytes {
            authenticator.verifies($0, content, expected: mac)
        }
        guard verifies else { return nil }
        hasMoved = false
        return OpenedRecord(type: record.header.type, plaintext: content)
    }

    func passOver(length: Int) {
        if !hasMoved {
            withUnsafeTemporaryAllocation(byteCount: max(length, 1), alignment: 1) { zeros in
                zeros.initializeMemory(as: UInt8.self, repeating: 0)
                withUnsafeTemporaryAllocation(byteCount: max(length, 1), alignment: 1) { output in
                    _ = cipher.decrypt(UnsafeRawBufferPointer(rebasing: zeros[..<max(length, 0)]), into: output)
                }
            }
        }
        hasMoved = false
    }
}
