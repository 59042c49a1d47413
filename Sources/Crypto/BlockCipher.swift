/// Unauthenticated ciphers of TLS 1.0 to 1.2 and of QUIC header protection.
internal import COpenSSL

/// A block cipher in CBC mode.
public enum CBCAlgorithm: Hashable, Sendable, CaseIterable {
    case aes128, aes256
    case tripleDES
    case camellia128, camellia256
    case aria128, aria256
    /// From libcrypto's legacy provider, where installed.
    case seed, idea, des

    /// Length of a key in bytes.
    public var keyLength: Int {
        switch self {
        case .aes128, .camellia128, .aria128, .seed, .idea: 16
        case .aes256, .camellia256, .aria256: 32
        case .tripleDES: 24
        case .des: 8
        }
    }

    /// Length of a block, and of an initialisation vector, in bytes.
    public var blockLength: Int {
        switch self {
        case .aes128, .aes256, .camellia128, .camellia256, .aria128, .aria256, .seed: 16
        case .tripleDES, .idea, .des: 8
        }
    }

    fileprivate var isLegacy: Bool { self == .seed || self == .idea || self == .des }

    fileprivate var libraryName: String {
        switch self {
        case .aes128: "AES-128-CBC"
        case .aes256: "AES-256-CBC"
        case .tripleDES: "DES-EDE3-CBC"
        case .camellia128: "CAMELLIA-128-CBC"
        case .camellia256: "CAMELLIA-256-CBC"
        case .aria128: "ARIA-128-CBC"
        case .aria256: "ARIA-256-CBC"
        case .seed: "SEED-CBC"
        case .idea: "IDEA-CBC"
        case .des: "DES-CBC"
        }
    }
}

/// Decrypts whole blocks in CBC mode under one key; padding is left in place.
public struct CBCDecryptor: ~Copyable {
    /// The cipher.
    public let algorithm: CBCAlgorithm
    private let context: OpaquePointer

    /// Prepares a key of `algorithm.keyLength` bytes.
    public init(_ algorithm: CBCAlgorithm, key: [UInt8]) throws(CryptoError) {
        guard key.count == algorithm.keyLength else {
            throw .wrongLength(of: "CBC key", expected: algorithm.keyLength, actual: key.count)
        }
        let provider = algorithm.isLegacy ? Fetched.legacyContext : nil
        if algorithm.isLegacy, provider == nil { throw .unavailable(algorithm: algorithm.libraryName) }
        let context = try cipherContext(named: algorithm.libraryName, from: provider) { context, cipher in
            EVP_DecryptInit_ex(context, cipher, nil, key, nil) == 1 && EVP_CIPHER_CTX_set_padding(context, 0) == 1
        }
        self.algorithm = algorithm
        self.context = context
    }

    deinit {
        EVP_CIPHER_CTX_free(context)
    }

    /// Decrypts `ciphertext` (a whole number of blocks) into `output` and returns the length written; nil when lengths
    /// do not fit. `output` must not overlap `ciphertext`.
    public mutating func decrypt(
        _ ciphertext: UnsafeRawBufferPointer, initialisationVector: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) -> Int? {
        guard ciphertext.count % algorithm.blockLength == 0, ciphertext.count <= output.count,
            initialisationVector.count == algorithm.blockLength, let count = Int32(exactly: ciphertext.count)
        else { return nil }
        guard count > 0 else { return 0 }
        let context = context
        return withCleanErrorQueue { () -> Int? in
            var written: Int32 = 0
            guard
                EVP_DecryptInit_ex(
                    context, nil, nil, nil, initialisationVector.bindMemory(to: UInt8.self).baseAddress) == 1,
                EVP_DecryptUpdate(
                    context, output.bindMemory(to: UInt8.self).baseAddress, &written,
                    ciphertext.bindMemory(to: UInt8.self).baseAddress, count) == 1, written == count
            else { return nil }
            return Int(written)
        }
    }
}

/// RC4, from libcrypto's legacy provider where installed: each call goes on where the last one stopped.
public struct RC4Decryptor: ~Copyable {
    private let context: OpaquePointer

    /// Prepares a key of 5 to 16 bytes.
    public init(key: [UInt8]) throws(CryptoError) {
        guard let provider = Fetched.legacyContext else { throw .unavailable(algorithm: "RC4") }
        guard (5...16).contains(key.count) else {
            throw .wrongLength(of: "RC4 key", expected: 16, actual: key.count)
        }
        context = try cipherContext(named: "RC4", from: provider) { context, cipher in
            EVP_DecryptInit_ex(context, cipher, nil, nil, nil) == 1
                && EVP_CIPHER_CTX_set_key_length(context, Int32(key.count)) == 1
                && EVP_DecryptInit_ex(context, nil, nil, key, nil) == 1
        }
    }

    deinit {
        EVP_CIPHER_CTX_free(context)
    }

    /// Decrypts `ciphertext` into `output`, which must be at least as long; false when it is not.
    public mutating func decrypt(
        _ ciphertext: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard ciphertext.count <= output.count, let count = Int32(exactly: ciphertext.count) else { return false }
        guard count > 0 else { return true }
        let context = context
        return withCleanErrorQueue {
            var written: Int32 = 0
            return EVP_DecryptUpdate(
                context, output.bindMemory(to: UInt8.self).baseAddress, &written,
                ciphertext.bindMemory(to: UInt8.self).baseAddress, count) == 1 && written == count
        }
    }
}

/// AES on single blocks: the mask of QUIC header protection (RFC 9001 §5.4.3).
public struct AESBlockEncryptor: ~Copyable {
    private let context: OpaquePointer

    /// Prepares a key of 16 or 32 bytes.
    public init(key: [UInt8]) throws(CryptoError) {
        guard key.count == 16 || key.count == 32 else {
            throw .wrongLength(of: "AES key", expected: 16, actual: key.count)
        }
        context = try cipherContext(named: key.count == 16 ? "AES-128-ECB" : "AES-256-ECB") { context, cipher in
            EVP_EncryptInit_ex(context, cipher, nil, key, nil) == 1 && EVP_CIPHER_CTX_set_padding(context, 0) == 1
        }
    }

    deinit {
        EVP_CIPHER_CTX_free(context)
    }

    /// Encrypts the first 16 bytes of `block`; nil when it is shorter.
    public mutating func encrypt(_ block: UnsafeRawBufferPointer) -> [UInt8]? {
        guard block.count >= 16 else { return nil }
        var output = [UInt8](repeating: 0, count: 16)
        let context = context
        let done = withCleanErrorQueue {
            var written: Int32 = 0
            return EVP_EncryptUpdate(
                context, &output, &written, block.bindMemory(to: UInt8.self).baseAddress, 16) == 1 && written == 16
        }
        return done ? output : nil
    }
}
