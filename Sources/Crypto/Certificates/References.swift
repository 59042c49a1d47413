/// Counted references to libcrypto's certificates and keys, and how they are read from bytes.
internal import COpenSSL

/// One reference to an `X509`, released with the object.
///
/// `@unchecked Sendable`: the certificate is not changed once it is wrapped; what libcrypto caches in it later it
/// guards with a lock of its own, and its reference count is atomic.
final class X509Reference: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes over the caller's reference.
    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        X509_free(pointer)
    }
}

/// One reference to an `EVP_PKEY`, released with the object.
///
/// `@unchecked Sendable`: as for `X509Reference`.
final class KeyReference: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes over the caller's reference.
    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        EVP_PKEY_free(pointer)
    }

    /// A fresh key on P-256.
    static func makeP256() throws(CryptoError) -> KeyReference {
        let key = withCleanErrorQueue { () -> OpaquePointer? in
            guard let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { return nil }
            defer { EVP_PKEY_CTX_free(context) }
            var key: OpaquePointer?
            guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_CTX_set_group_name(context, "P-256") == 1,
                EVP_PKEY_generate(context, &key) == 1
            else { return nil }
            return key
        }
        guard let key else { throw .refused(call: "EVP_PKEY_generate") }
        return KeyReference(owning: key)
    }

    /// Whether this is a key on P-256.
    var isP256: Bool {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { name in
            var length = 0
            guard EVP_PKEY_get_group_name(pointer, name.baseAddress, name.count, &length) == 1,
                let base = name.baseAddress
            else { return false }
            return String(cString: base) == "prime256v1"
        }
    }

    /// PKCS #8 in PEM form, unencrypted.
    func pem() throws(CryptoError) -> [UInt8] {
        let bytes = collectBytes { PEM_write_bio_PrivateKey($0, pointer, nil, nil, 0, nil, nil) == 1 }
        guard let bytes else { throw .refused(call: "PEM_write_bio_PrivateKey") }
        return bytes
    }
}

/// What was found in a file of certificates and keys.
struct KeyMaterial {
    var certificates: [X509Reference] = []
    var keys: [KeyReference] = []
}

/// PEM blocks.
enum PEMReader {
    /// Reads every certificate and every unencrypted private key, in order; other blocks are skipped.
    static func read(_ bytes: [UInt8]) -> KeyMaterial {
        withCleanErrorQueue {
            var found = KeyMaterial()
            withReadingBIO(bytes) { bio in
                // A password is never asked for: the callback has none.
                while let certificate = PEM_read_bio_X509(bio, nil, { _, _, _, _ in -1 }, nil) {
                    found.certificates.append(X509Reference(owning: certificate))
                }
            }
            withReadingBIO(bytes) { bio in
                while let key = PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in -1 }, nil) {
                    found.keys.append(KeyReference(owning: key))
                }
            }
            return found
        }
    }
}

/// PKCS #12 without a password.
enum PKCS12Reader {
    /// Reads the certificates and the key; nothing when a password is needed.
    static func read(_ bytes: [UInt8]) -> KeyMaterial {
        withCleanErrorQueue {
            var found = KeyMaterial()
            withReadingBIO(bytes) { bio in
                guard let container = d2i_PKCS12_bio(bio, nil) else { return }
                defer { PKCS12_free(container) }
                var key: OpaquePointer?
                var certificate: OpaquePointer?
                var others: OpaquePointer?
                // "No password" and "an empty password" are two encodings: writers use either.
                guard
                    PKCS12_parse(container, "", &key, &certificate, &others) == 1
                        || PKCS12_parse(container, nil, &key, &certificate, &others) == 1
                else { return }
                if let key { found.keys.append(KeyReference(owning: key)) }
                if let certificate { found.certificates.append(X509Reference(owning: certificate)) }
                guard let others else { return }
                // Each certificate's reference moves from the stack to an object of ours; then the stack itself goes.
                for index in 0..<max(0, OPENSSL_sk_num(others)) {
                    if let other = OPENSSL_sk_value(others, index) {
                        found.certificates.append(X509Reference(owning: OpaquePointer(other)))
                    }
                }
                OPENSSL_sk_free(others)
            }
            return found
        }
    }
}

/// Lends `bytes` to libcrypto as a read-only memory BIO, which is gone before they are.
func withReadingBIO(_ bytes: [UInt8], _ body: (OpaquePointer) -> Void) {
    bytes.withUnsafeBytes { bytes in
        guard let length = Int32(exactly: bytes.count), let bio = BIO_new_mem_buf(bytes.baseAddress, length) else {
            return
        }
        defer { BIO_free(bio) }
        body(bio)
    }
}

/// What `body` writes to a memory BIO; nil when it says false.
func collectBytes(_ body: (OpaquePointer) -> Bool) -> [UInt8]? {
    withCleanErrorQueue {
        guard let bio = BIO_new(BIO_s_mem()) else { return nil }
        defer { BIO_free(bio) }
        guard body(bio) else { return nil }
        var start: UnsafeMutablePointer<CChar>?
        let count = BIO_ctrl(bio, BIO_CTRL_INFO, 0, &start)
        guard count > 0, let start else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: count))
    }
}
