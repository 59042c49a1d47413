/// Opens Initial packets: their keys follow from a connection id that stands in clear (RFC 9001 §5.2).
internal import Crypto

/// Keys of the Initial packets of one direction. A class: cipher contexts have one owner.
final class QUICInitialKeys {
    private var opener: AEADOpener
    private var mask: AESBlockEncryptor
    private let vector: [UInt8]

    private init(_ secret: [UInt8], _ version: QUICVersion) throws(CryptoError) {
        let labels = version.labels
        let hash = HashFunction.sha256
        opener = try AEADOpener(
            .aes128GCM, key: try hash.hkdfExpandLabel(secret: secret, label: labels.key, count: 16))
        mask = try AESBlockEncryptor(
            key: try hash.hkdfExpandLabel(secret: secret, label: labels.headerProtection, count: 16))
        vector = try hash.hkdfExpandLabel(secret: secret, label: labels.vector, count: 12)
    }

    /// Keys of both directions from the destination connection id of the client's first Initial; nil for versions that
    /// can't be opened.
    static func derive(version: QUICVersion, connectionID: [UInt8]) -> (
        client: QUICInitialKeys, server: QUICInitialKeys
    )? {
        guard let salt = version.initialSalt else { return nil }
        let hash = HashFunction.sha256
        do {
            let secret = try hash.hkdfExtract(salt: salt, secret: connectionID)
            let client = try hash.hkdfExpandLabel(secret: secret, label: "client in", count: hash.digestLength)
            let server = try hash.hkdfExpandLabel(secret: secret, label: "server in", count: hash.digestLength)
            return (try QUICInitialKeys(client, version), try QUICInitialKeys(server, version))
        } catch {
            return nil
        }
    }

    /// The frames of a packet and its number; nil when it does not verify.
    ///
    /// `expected` is the number after the largest one seen, from which the full number follows (RFC 9000 appendix A.3).
    func open(
        _ packet: UnsafeRawBufferPointer, packetNumberOffset: Int, expected: UInt64
    ) -> (number: UInt64, frames: [UInt8])? {
        // Header protection (RFC 9001 §5.4): the mask comes from a sample that starts where the longest number would end.
        let sampleStart = packetNumberOffset + 4
        guard packetNumberOffset > 0, packet.count >= sampleStart + 16,
            let mask = mask.encrypt(UnsafeRawBufferPointer(rebasing: packet[sampleStart..<sampleStart + 16]))
        else { return nil }
        let first = packet[0] ^ (mask[0] & 0x0F)
        let numberLength = Int(first & 0x03) + 1
        let headerLength = packetNumberOffset + numberLength
        var header = Array(packet[..<headerLength])
        header[0] = first
        var truncated: UInt64 = 0
        for index in 0..<numberLength {
            header[packetNumberOffset + index] ^= mask[1 + index]
            truncated = truncated << 8 | UInt64(header[packetNumberOffset + index])
        }
        let number = Self.fullNumber(truncated, bits: UInt64(numberLength) * 8, expected: expected)
        var nonce = vector
        for index in 0..<8 { nonce[4 + index] ^= UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64(index))) }
        let sealed = UnsafeRawBufferPointer(rebasing: packet[headerLength...])
        guard sealed.count > 16 else { return nil }
        var frames = [UInt8](repeating: 0, count: sealed.count - 16)
        let opened = frames.withUnsafeMutableBytes { output in
            header.withUnsafeBytes { header in
                nonce.withUnsafeBytes { opener.open(sealed, nonce: $0, additionalData: header, into: output) }
            }
        }
        return opened == nil ? nil : (number, frames)
    }

    private static func fullNumber(_ truncated: UInt64, bits: UInt64, expected: UInt64) -> UInt64 {
        let window: UInt64 = 1 << bits
        let candidate = (expected & ~(window - 1)) | truncated
        if candidate &+ window / 2 <= expected, candidate < (1 << 62) - window { return candidate + window }
        if candidate > expected &+ window / 2, candidate >= window { return candidate - window }
        return candidate
    }
}
