/// Hash functions and HMAC: bytes in, digest out.
internal import COpenSSL

/// A hash function.
public enum HashFunction: Hashable, Sendable, CaseIterable {
    /// MD5 (16 bytes): only for TLS 1.0/1.1 and for suites that authenticate with it.
    case md5
    /// SHA-1 (20 bytes).
    case sha1
    /// SHA-224 (28 bytes).
    case sha224
    /// SHA-256 (32 bytes).
    case sha256
    /// SHA-384 (48 bytes).
    case sha384
    /// SHA-512 (64 bytes).
    case sha512
    /// SHA3-256 (32 bytes).
    case sha3With256Bits
    /// BLAKE2b with its longest digest (64 bytes, RFC 7693).
    case blake2b

    /// Length of a digest in bytes.
    public var digestLength: Int {
        switch self {
        case .md5: 16
        case .sha1: 20
        case .sha224: 28
        case .sha256, .sha3With256Bits: 32
        case .sha384: 48
        case .sha512, .blake2b: 64
        }
    }

    /// Whether the installed libcrypto offers it; false for MD5 and SHA-1 under some policies (FIPS).
    public var isAvailable: Bool { algorithm != nil }

    /// The digest of `bytes`; `digestLength` bytes long.
    ///
    /// - Precondition: `isAvailable`. SHA-256 and SHA-384 always are.
    public func digest(of bytes: some Sequence<UInt8>) -> [UInt8] {
        contiguous(bytes) { digest(of: $0) }
    }

    /// The digest of `bytes`; `digestLength` bytes long.
    ///
    /// - Precondition: `isAvailable`.
    public func digest(of bytes: UnsafeRawBufferPointer) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: digestLength) { output, count in
            let done = withCleanErrorQueue {
                EVP_Digest(bytes.baseAddress, bytes.count, output.baseAddress, nil, algorithm, nil)
            }
            precondition(done == 1, "libcrypto offers no \(self)")
            count = digestLength
        }
    }

    /// HMAC of `message` under `key` (RFC 2104); `digestLength` bytes long. Keys of any length, the empty one too.
    ///
    /// - Precondition: `isAvailable`.
    public func hmac(_ message: some Sequence<UInt8>, key: some Sequence<UInt8>) -> [UInt8] {
        contiguous(key) { key in contiguous(message) { hmac($0, key: key) } }
    }

    /// HMAC of `message` under `key` (RFC 2104); `digestLength` bytes long.
    ///
    /// - Precondition: `isAvailable`.
    public func hmac(_ message: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: digestLength) { output, count in
            // A key pointer of nil would mean "keep the old key": an empty key needs an address of its own.
            let empty: UInt8 = 0
            let done = withUnsafeBytes(of: empty) { placeholder in
                withCleanErrorQueue {
                    var written = 0
                    let result = EVP_Q_mac(
                        nil, "HMAC", nil, libraryName, nil, key.baseAddress ?? placeholder.baseAddress, key.count,
                        message.baseAddress, message.count, output.baseAddress, digestLength, &written)
                    return result != nil && written == digestLength
                }
            }
            precondition(done, "libcrypto offers no HMAC with \(self)")
            count = digestLength
        }
    }

    /// The fetched algorithm; nil where libcrypto has none.
    var algorithm: OpaquePointer? {
        switch self {
        case .md5: Fetched.md5
        case .sha1: Fetched.sha1
        case .sha224: Fetched.sha224
        case .sha256: Fetched.sha256
        case .sha384: Fetched.sha384
        case .sha512: Fetched.sha512
        case .sha3With256Bits: Fetched.sha3With256Bits
        case .blake2b: Fetched.blake2b
        }
    }

    /// libcrypto's name for it.
    var staticName: StaticString {
        switch self {
        case .md5: "MD5"
        case .sha1: "SHA1"
        case .sha224: "SHA224"
        case .sha256: "SHA256"
        case .sha384: "SHA384"
        case .sha512: "SHA512"
        case .sha3With256Bits: "SHA3-256"
        case .blake2b: "BLAKE2B-512"
        }
    }

    var libraryName: String { "\(staticName)" }

    private func contiguous<Result>(
        _ bytes: some Sequence<UInt8>, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        if let result = bytes.withContiguousStorageIfAvailable({ body(UnsafeRawBufferPointer($0)) }) { return result }
        return Array(bytes).withUnsafeBytes(body)
    }
}
