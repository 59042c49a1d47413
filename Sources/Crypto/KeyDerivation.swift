/// Key schedules of TLS and QUIC: secrets in, keys out. Everything is libcrypto's; only labels are put together here.
internal import COpenSSL

extension HashFunction {
    /// HKDF-Extract (RFC 5869 §2.2): a pseudorandom key of `digestLength` bytes.
    public func hkdfExtract(salt: [UInt8], secret: [UInt8]) throws(CryptoError) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: digestLength)
        let done = salt.withUnsafeBytes { salt in
            secret.withUnsafeBytes { secret in
                var parameters = Parameters()
                parameters.add("mode", text: "EXTRACT_ONLY")
                parameters.add("digest", text: staticName)
                parameters.add("key", bytes: secret)
                if !salt.isEmpty { parameters.add("salt", bytes: salt) }
                return derive(Fetched.hkdf, &parameters, into: &output)
            }
        }
        guard done else { throw .refused(call: "HKDF-Extract") }
        return output
    }

    /// HKDF-Expand (RFC 5869 §2.3): `count` bytes of output keying material, at most 255 digests' worth.
    public func hkdfExpand(secret: [UInt8], info: [UInt8], count: Int) throws(CryptoError) -> [UInt8] {
        guard count > 0 else { return [] }
        guard count <= 255 * digestLength else {
            throw .wrongLength(of: "HKDF output", expected: 255 * digestLength, actual: count)
        }
        var output = [UInt8](repeating: 0, count: count)
        let done = info.withUnsafeBytes { info in
            secret.withUnsafeBytes { secret in
                var parameters = Parameters()
                parameters.add("mode", text: "EXPAND_ONLY")
                parameters.add("digest", text: staticName)
                parameters.add("key", bytes: secret)
                if !info.isEmpty { parameters.add("info", bytes: info) }
                return derive(Fetched.hkdf, &parameters, into: &output)
            }
        }
        guard done else { throw .refused(call: "HKDF-Expand") }
        return output
    }

    /// HKDF-Expand-Label (RFC 8446 §7.1): `count` bytes; `context` is a hash value or empty, `prefix` what
    /// stands before the label (drafts of TLS 1.3 up to 19 had another).
    public func hkdfExpandLabel(
        secret: [UInt8], label: String, context: [UInt8] = [], count: Int, prefix: String = "tls13 "
    ) throws(CryptoError) -> [UInt8] {
        let fullLabel = Array(prefix.utf8) + Array(label.utf8)
        guard fullLabel.count <= 255, context.count <= 255, let length = UInt16(exactly: count) else {
            throw .wrongLength(of: "HKDF label", expected: 255, actual: max(fullLabel.count, context.count))
        }
        var info = [UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length)]
        info.reserveCapacity(4 + fullLabel.count + context.count)
        info.append(UInt8(fullLabel.count))
        info += fullLabel
        info.append(UInt8(context.count))
        info += context
        return try hkdfExpand(secret: secret, info: info, count: count)
    }
}

/// The pseudorandom function of TLS 1.0 to 1.2.
public enum TLSPseudorandomFunction: Hashable, Sendable {
    /// TLS 1.0 and 1.1: MD5 and SHA-1 combined (RFC 2246 §5).
    case md5AndSHA1
    /// TLS 1.2 (RFC 5246 §5), with the hash that the suite names.
    case sha256
    /// TLS 1.2 with SHA-384.
    case sha384

    /// `count` bytes from `PRF(secret, label, seed)`.
    public func derive(secret: [UInt8], label: String, seed: [UInt8], count: Int) throws(CryptoError) -> [UInt8] {
        guard count > 0 else { return [] }
        let name: StaticString =
            switch self {
            case .md5AndSHA1: "MD5-SHA1"
            case .sha256: "SHA256"
            case .sha384: "SHA384"
            }
        guard Fetched.tls1PRF != nil else { throw .unavailable(algorithm: "TLS1-PRF") }
        var output = [UInt8](repeating: 0, count: count)
        let done = (Array(label.utf8) + seed).withUnsafeBytes { seed in
            secret.withUnsafeBytes { secret in
                var parameters = Parameters()
                parameters.add("digest", text: name)
                parameters.add("secret", bytes: secret)
                parameters.add("seed", bytes: seed)
                return Crypto.derive(Fetched.tls1PRF, &parameters, into: &output)
            }
        }
        guard done else { throw .refused(call: "TLS1-PRF") }
        return output
    }
}

/// One derivation with a context of its own.
private func derive(_ function: OpaquePointer?, _ parameters: inout Parameters, into output: inout [UInt8]) -> Bool {
    withCleanErrorQueue {
        guard let context = EVP_KDF_CTX_new(function) else { return false }
        defer { EVP_KDF_CTX_free(context) }
        return output.withUnsafeMutableBufferPointer { output in
            parameters.withList { EVP_KDF_derive(context, output.baseAddress, output.count, $0) == 1 }
        }
    }
}
