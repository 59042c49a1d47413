/// Authenticated decryption: a sealed message, its nonce and additional data in, the plaintext or nil out.
internal import COpenSSL

/// An AEAD algorithm of TLS and QUIC (RFC 5116, RFC 6655, RFC 7905, RFC 6209). Nonces have 12 bytes.
public enum AEADAlgorithm: Hashable, Sendable, CaseIterable {
    case aes128GCM, aes256GCM
    case aes128CCM, aes256CCM
    /// CCM with a tag of 8 bytes.
    case aes128CCM8, aes256CCM8
    case chaCha20Poly1305
    case aria128GCM, aria256GCM

    /// Length of a key in bytes.
    public var keyLength: Int {
        switch self {
        case .aes128GCM, .aes128CCM, .aes128CCM8, .aria128GCM: 16
        case .aes256GCM, .aes256CCM, .aes256CCM8, .chaCha20Poly1305, .aria256GCM: 32
        }
    }

    /// Length of a nonce in bytes.
    public static let nonceLength = 12

    /// Length of the tag that follows the ciphertext, in bytes.
    public var tagLength: Int {
        switch self {
        case .aes128CCM8, .aes256CCM8: 8
        case .aes128GCM, .aes256GCM, .aes128CCM, .aes256CCM, .chaCha20Poly1305, .aria128GCM, .aria256GCM: 16
        }
    }

    fileprivate var isCCM: Bool {
        switch self {
        case .aes128CCM, .aes256CCM, .aes128CCM8, .aes256CCM8: true
        case .aes128GCM, .aes256GCM, .chaCha20Poly1305, .aria128GCM, .aria256GCM: false
        }
    }

    fileprivate var libraryName: String {
        switch self {
        case .aes128GCM: "AES-128-GCM"
        case .aes256GCM: "AES-256-GCM"
        case .aes128CCM, .aes128CCM8: "AES-128-CCM"
        case .aes256CCM, .aes256CCM8: "AES-256-CCM"
        case .chaCha20Poly1305: "ChaCha20-Poly1305"
        case .aria128GCM: "ARIA-128-GCM"
        case .aria256GCM: "ARIA-256-GCM"
        }
    }
}

/// Opens messages that were sealed under one key. The key schedule is computed once; a message costs no allocation.
public struct AEADOpener: ~Copyable {
    /// The algorithm.
    public let algorithm: AEADAlgorithm
    private let context: OpaquePointer

    /// Prepares a key of `algorithm.keyLength` bytes.
    public init(_ algorithm: AEADAlgorithm, key: [UInt8]) throws(CryptoError) {
        guard key.count == algorithm.keyLength else {
            throw .wrongLength(of: "AEAD key", expected: algorithm.keyLength, actual: key.count)
        }
        let context = try cipherContext(named: algorithm.libraryName) { context, cipher in
            guard EVP_DecryptInit_ex(context, cipher, nil, nil, nil) == 1,
                EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, Int32(AEADAlgorithm.nonceLength), nil) == 1
            else { return false }
            if algorithm.isCCM,
                EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(algorithm.tagLength), nil) != 1
            {
                return false
            }
            return EVP_DecryptInit_ex(context, nil, nil, key, nil) == 1
        }
        self.algorithm = algorithm
        self.context = context
    }

    deinit {
        EVP_CIPHER_CTX_free(context)
    }

    /// Opens `sealed` (ciphertext and then the tag) into `output` and returns the length of the plaintext; nil when it
    /// does not verify, is shorter than a tag, or `output` is shorter than the plaintext. After nil the contents of
    /// `output` mean nothing.
    ///
    /// `nonce` has 12 bytes. `output` must not overlap `sealed`.
    public mutating func open(
        _ sealed: UnsafeRawBufferPointer, nonce: UnsafeRawBufferPointer, additionalData: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) -> Int? {
        let tagLength = algorithm.tagLength
        let length = sealed.count - tagLength
        guard length >= 0, length <= output.count, nonce.count == AEADAlgorithm.nonceLength,
            let count = Int32(exactly: length), let additionalCount = Int32(exactly: additionalData.count),
            let input = sealed.bindMemory(to: UInt8.self).baseAddress,
            let destination = output.bindMemory(to: UInt8.self).baseAddress
        else { return nil }
        // libcrypto reads the expected tag, though its parameter is mutable.
        let tag = UnsafeMutableRawPointer(mutating: input + length)
        let nonceBytes = nonce.bindMemory(to: UInt8.self).baseAddress
        let additional = additionalData.bindMemory(to: UInt8.self).baseAddress
        let context = context
        let isCCM = algorithm.isCCM
        let opened = withCleanErrorQueue { () -> Bool in
            var written: Int32 = 0
            if isCCM {
                // CCM wants tag, nonce and length before the data, and verifies in the one update (RFC 3610 §2.2).
                return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagLength), tag) == 1
                    && EVP_DecryptInit_ex(context, nil, nil, nil, nonceBytes) == 1
                    && EVP_DecryptUpdate(context, nil, &written, nil, count) == 1
                    && EVP_DecryptUpdate(context, nil, &written, additional, additionalCount) == 1
                    && EVP_DecryptUpdate(context, destination, &written, input, count) == 1
            }
            guard EVP_DecryptInit_ex(context, nil, nil, nil, nonceBytes) == 1,
                additionalCount == 0
                    || EVP_DecryptUpdate(context, nil, &written, additional, additionalCount) == 1,
                count == 0 || EVP_DecryptUpdate(context, destination, &written, input, count) == 1,
                EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagLength), tag) == 1
            else { return false }
            var tail: UInt8 = 0  // counter modes hold nothing back, so nothing is written here
            return EVP_DecryptFinal_ex(context, &tail, &written) == 1
        }
        return opened ? length : nil
    }
}

/// A new cipher context, set up by `body`; `provider` is the library context that has the algorithm (nil: the default).
func cipherContext(
    named name: String, from provider: OpaquePointer? = nil, _ body: (OpaquePointer, OpaquePointer) -> Bool
) throws(CryptoError) -> OpaquePointer {
    try withCleanErrorQueue { () throws(CryptoError) -> OpaquePointer in
        guard let cipher = EVP_CIPHER_fetch(provider, name, nil) else { throw .unavailable(algorithm: name) }
        defer { EVP_CIPHER_free(cipher) }  // the context keeps its own reference
        guard let context = EVP_CIPHER_CTX_new() else { throw .refused(call: "EVP_CIPHER_CTX_new") }
        guard body(context, cipher) else {
            EVP_CIPHER_CTX_free(context)
            throw .refused(call: name)
        }
        return context
    }
}
