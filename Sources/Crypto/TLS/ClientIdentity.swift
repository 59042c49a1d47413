/// A client's certificate, for servers that ask for one.
internal import COpenSSL
internal import Glibc

/// A certificate with its key and chain, read from a file.
///
/// `@unchecked Sendable`: the objects are never changed after reading, and libcrypto counts references atomically.
public final class ClientIdentity: @unchecked Sendable {
    /// A file larger than this is not read (bytes).
    public static let fileLimit = 1 << 20

    /// The client's own certificate.
    public let certificate: Certificate
    /// How many certificates of the chain are sent after it.
    public let chainLength: Int
    private let leaf: X509Reference
    private let key: KeyReference
    private let chain: [X509Reference]

    /// Reads a PEM file (certificate, key, and further certificates of the chain, in any order), or PKCS #12 without a
    /// password.
    public init(file: String) throws(TLSFailure) {
        let bytes: [UInt8]
        do { bytes = try readFile(file, limit: Self.fileLimit) } catch {
            throw TLSFailure(.configuration, "\(file): \(error.words)")
        }
        let parts = bytes.first == 0x30 ? PKCS12Reader.read(bytes) : PEMReader.read(bytes)
        guard let key = parts.keys.first else {
            throw TLSFailure(.configuration, "\(file): holds no private key that can be read without a password")
        }
        guard let leaf = parts.certificates.first(where: { X509_check_private_key($0.pointer, key.pointer) == 1 }),
            let certificate = Certificate(x509: leaf.pointer)
        else {
            clearErrorQueue()
            throw TLSFailure(.configuration, "\(file): holds no certificate that belongs to its private key")
        }
        clearErrorQueue()
        self.certificate = certificate
        self.leaf = leaf
        self.key = key
        chain = parts.certificates.filter { $0 !== leaf }
        chainLength = chain.count
    }

    func use(on ssl: OpaquePointer) throws(TLSFailure) {
        let done = withCleanErrorQueue { () -> Bool in
            guard SSL_use_cert_and_key(ssl, leaf.pointer, key.pointer, nil, 1) == 1 else { return false }
            // SSL_CTRL_CHAIN_CERT with 1 takes a reference of its own (SSL_add1_chain_cert(3)).
            return chain.allSatisfy { SSL_ctrl(ssl, SSL_CTRL_CHAIN_CERT, 1, UnsafeMutableRawPointer($0.pointer)) == 1 }
        }
        guard done else { throw TLSFailure(.configuration, "the client certificate is not accepted by libssl") }
    }
}
