/// HMAC under one key for many messages: parts in, digest out.
internal import COpenSSL

/// Computes HMACs under one key; the key schedule is computed once, a message costs no allocation.
public struct MessageAuthenticator: ~Copyable {
    /// The hash function.
    public let function: HashFunction
    private let context: OpaquePointer

    /// Prepares a key of any length but zero.
    public init(_ function: HashFunction, key: [UInt8]) throws(CryptoError) {
        guard !key.isEmpty else { throw .wrongLength(of: "HMAC key", expected: function.digestLength, actual: 0) }
        guard function.isAvailable, let mac = Fetched.hmac else {
            throw .unavailable(algorithm: "HMAC \(function.staticName)")
        }
        let context = try withCleanErrorQueue { () throws(CryptoError) -> OpaquePointer in
            guard let context = EVP_MAC_CTX_new(mac) else { throw .refused(call: "EVP_MAC_CTX_new") }
            var parameters = Parameters()
            parameters.add("digest", text: function.staticName)
            guard parameters.withList({ EVP_MAC_init(context, key, key.count, $0) }) == 1 else {
                EVP_MAC_CTX_free(context)
                throw .refused(call: "EVP_MAC_init")
            }
            return context
        }
        self.function = function
        self.context = context
    }

    deinit {
        EVP_MAC_CTX_free(context)
    }

    /// Whether the HMAC of `first` followed by `second` starts with `expected` (a truncated MAC is compared as far as it goes).
    public mutating func verifies(
        _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, expected: UnsafeRawBufferPointer
    ) -> Bool {
        guard !expected.isEmpty, expected.count <= function.digestLength else { return false }
        let context = context
        return withUnsafeTemporaryAllocation(byteCount: 64, alignment: 8) { output in
            let digest = output.bindMemory(to: UInt8.self).baseAddress
            let done = withCleanErrorQueue { () -> Bool in
                var written = 0
                // Without a key the context starts anew under the one it has (EVP_MAC_init(3)).
                return EVP_MAC_init(context, nil, 0, nil) == 1
                    && EVP_MAC_update(context, first.bindMemory(to: UInt8.self).baseAddress, first.count) == 1
                    && (second.isEmpty
                        || EVP_MAC_update(context, second.bindMemory(to: UInt8.self).baseAddress, second.count) == 1)
                    && EVP_MAC_final(context, digest, &written, 64) == 1
            }
            guard done, let expectedStart = expected.baseAddress else { return false }
            return CRYPTO_memcmp(digest, expectedStart, expected.count) == 0
        }
    }
}
