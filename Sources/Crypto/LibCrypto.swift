/// The one door to libcrypto's shared objects: algorithms fetched once, the error queue, parameter lists.
internal import COpenSSL

/// Runs one libcrypto call sequence with an empty error queue before it and an empty one after it.
///
/// libcrypto's queue belongs to the thread; what a failed call leaves there would be blamed on the next.
@inline(__always)
func withCleanErrorQueue<Result: ~Copyable, Failure: Error>(
    _ body: () throws(Failure) -> Result
) throws(Failure) -> Result {
    clearErrorQueue()
    defer { clearErrorQueue() }
    return try body()
}

/// Empties libcrypto's error queue of this thread. Looking first is what makes it cheap: emptying an empty queue
/// costs as much as a small record (it walks over all its places).
@inline(__always)
func clearErrorQueue() {
    if ERR_peek_error() != 0 { ERR_clear_error() }
}

/// A parameter list for one libcrypto call. The memory that the parameters point to must outlive the call; every user
/// here builds the list inside the `withUnsafeBytes` scopes of its operands.
struct Parameters {
    private var list: [OSSL_PARAM] = []

    /// Adds bytes. libcrypto only reads them, though its type is mutable.
    mutating func add(_ name: StaticString, bytes: UnsafeRawBufferPointer) {
        let pointer = bytes.baseAddress.map { UnsafeMutableRawPointer(mutating: $0) }
        list.append(OSSL_PARAM_construct_octet_string(Self.cString(name), pointer, bytes.count))
    }

    /// Adds the name of an algorithm.
    mutating func add(_ name: StaticString, text: StaticString) {
        let pointer = UnsafeMutablePointer(mutating: Self.cString(text))
        list.append(OSSL_PARAM_construct_utf8_string(Self.cString(name), pointer, text.utf8CodeUnitCount))
    }

    /// Hands the closed list to `body`.
    mutating func withList<Result>(_ body: (UnsafePointer<OSSL_PARAM>?) -> Result) -> Result {
        list.append(OSSL_PARAM_construct_end())
        defer { list.removeLast() }
        return list.withUnsafeBufferPointer { body($0.baseAddress) }
    }

    /// A static string's bytes live as long as the process and end with a zero.
    private static func cString(_ text: StaticString) -> UnsafePointer<CChar> {
        UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
    }
}

/// Objects that libcrypto counts references to and never changes after fetching: safe to share between threads
/// (OpenSSL 3 `crypto(7)`, "fetched algorithms"), and kept for the life of the process.
enum Fetched {
    nonisolated(unsafe) static let hkdf = EVP_KDF_fetch(nil, "HKDF", nil)
    nonisolated(unsafe) static let tls1PRF = EVP_KDF_fetch(nil, "TLS1-PRF", nil)
    nonisolated(unsafe) static let hmac = EVP_MAC_fetch(nil, "HMAC", nil)
    nonisolated(unsafe) static let md5 = EVP_MD_fetch(nil, "MD5", nil)
    nonisolated(unsafe) static let sha1 = EVP_MD_fetch(nil, "SHA1", nil)
    nonisolated(unsafe) static let sha256 = EVP_MD_fetch(nil, "SHA256", nil)
    nonisolated(unsafe) static let sha384 = EVP_MD_fetch(nil, "SHA384", nil)
    nonisolated(unsafe) static let sha224 = EVP_MD_fetch(nil, "SHA224", nil)
    nonisolated(unsafe) static let sha512 = EVP_MD_fetch(nil, "SHA512", nil)
    nonisolated(unsafe) static let sha3With256Bits = EVP_MD_fetch(nil, "SHA3-256", nil)
    nonisolated(unsafe) static let blake2b = EVP_MD_fetch(nil, "BLAKE2B-512", nil)

    /// A library context of our own with the legacy provider in it: loading that provider into the default context
    /// would switch off the automatic loading of the default provider for the whole process.
    nonisolated(unsafe) static let legacyContext: OpaquePointer? = {
        guard let context = OSSL_LIB_CTX_new() else { return nil }
        guard OSSL_PROVIDER_load(context, "legacy") != nil else {
            OSSL_LIB_CTX_free(context)
            return nil
        }
        return context
    }()
}
