/// CBC suites of TLS 1.0 to 1.2, with both orders of MAC and encryption.
internal import Crypto
internal import WireFormats

/// Opens CBC records (RFC 5246 §6.2.3.2; encrypt-then-MAC: RFC 7366; chained vectors: RFC 2246 §6.2.3.2).
final class CBCRecordOpener {
    private var cipher: CBCDecryptor
    private var authenticator: MessageAuthenticator
    private let macLength: Int
    private let encryptsThenAuthenticates: Bool
    /// Whether each record begins with its own vector (TLS 1.1 and 1.2); else it is the last block of the one before.
    let hasExplicitVectors: Bool
    /// The vector for the next record in TLS 1.0; empty when the record before it is lost.
    private var chained: [UInt8]

    init(
        _ algorithm: CBCAlgorithm, key: [UInt8], vector: [UInt8], mac: HashFunction, macKey: [UInt8], macLength: Int,
        encryptsThenAuthenticates: Bool, hasExplicitVectors: Bool
    ) throws(CryptoError) {
        cipher = try CBCDecryptor(algorithm, key: key)
        authenticator = try MessageAuthenticator(mac, key: macKey)
        self.macLength = macLength
        self.encryptsThenAuthenticates = encryptsThenAuthenticates
        self.hasExplicitVectors = hasExplicitVectors
        chained = vector
    }

    func open(
        _ record: TLSRecord, sequence: UInt64, into scratch: UnsafeMutableRawBufferPointer
    ) -> OpenedRecord? {
        let payload = record.payload
        let opened =
            encryptsThenAuthenticates
            ? openAuthenticated(payload, record.header, sequence, scratch)
            : openEncrypted(payload, record.header, sequence, scratch)
        guard let opened else { return nil }
        passOver(payload: payload)
        return OpenedRecord(
            type: record.header.type, plaintext: UnsafeRawBufferPointer(rebasing: scratch[..<opened]))
    }

    /// Keeps the last block for the next record, or forgets it when the record is lost.
    func passOver(payload: UnsafeRawBufferPointer?) {
        guard !hasExplicitVectors else { return }
        let block = cipher.algorithm.blockLength
        let end = payload.map { $0.count - (encryptsThenAuthenticates ? macLength : 0) } ?? 0
        guard let payload, end >= block else {
            chained = []
            return
        }
        chained = Array(payload[(end - block)..<end])
    }

    /// MAC over the ciphertext: verify, then decrypt (RFC 7366 §3).
    private func openAuthenticated(
        _ payload: UnsafeRawBufferPointer, _ header: TLSRecordHeader, _ sequence: UInt64,
        _ scratch: UnsafeMutableRawBufferPointer
    ) -> Int? {
        let length = payload.count - macLength
        guard length > 0 else { return nil }
        let sealed = UnsafeRawBufferPointer(rebasing: payload[..<length])
        let verifies = RecordPseudoHeader(sequence: sequence, header: header, length: length).withBytes {
            authenticator.verifies($0, sealed, expected: UnsafeRawBufferPointer(rebasing: payload[length...]))
        }
        guard verifies, let decrypted = decrypt(sealed, scratch) else { return nil }
        return removePadding(UnsafeRawBufferPointer(rebasing: scratch[..<decrypted]))
    }

    /// MAC over the plaintext: decrypt, take the padding off, verify.
    private func openEncrypted(
        _ payload: UnsafeRawBufferPointer, _ header: TLSRecordHeader, _ sequence: UInt64,
        _ scratch: UnsafeMutableRawBufferPointer
    ) -> Int? {
        guard let decrypted = decrypt(payload, scratch),
            let unpadded = removePadding(UnsafeRawBufferPointer(rebasing: scratch[..<decrypted])),
            unpadded >= macLength
        else { return nil }
        let length = unpadded - macLength
        let content = UnsafeRawBufferPointer(rebasing: scratch[..<length])
        let mac = UnsafeRawBufferPointer(rebasing: scratch[length..<unpadded])
        let verifies = RecordPseudoHeader(sequence: sequence, header: header, length: length).withBytes {
            authenticator.verifies($0, content, expected: mac)
        }
        return verifies ? length : nil
    }

    private func decrypt(_ sealed: UnsafeRawBufferPointer, _ scratch: UnsafeMutableRawBufferPointer) -> Int? {
        let block = cipher.algorithm.blockLength
        if hasExplicitVectors {
            guard sealed.count >= 2 * block else { return nil }
            return cipher.decrypt(
                UnsafeRawBufferPointer(rebasing: sealed[block...]),
                initialisationVector: UnsafeRawBufferPointer(rebasing: sealed[..<block]), into: scratch)
        }
        guard sealed.count >= block, !chained.isEmpty else { return nil }
        return chained.withUnsafeBytes { cipher.decrypt(sealed, initialisationVector: $0, into: scratch) }
    }

    /// The length without padding; nil when the padding is not as it must be (every byte holds the padding's length).
    /// Timing tells nobody anything here: this is a reader of records that were accepted long ago.
    private func removePadding(_ plaintext: UnsafeRawBufferPointer) -> Int? {
        guard let last = plaintext.last, plaintext.count > Int(last) else { return nil }
        let length = plaintext.count - Int(last) - 1
        return plaintext[length...].allSatisfy { $0 == last } ? length : nil
    }
}
