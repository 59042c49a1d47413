/// What a TLS server shows.
internal import COpenSSL

/// A server's certificate and its key, as an authority issued them.
public final class ServerIdentity: Sendable {
    /// The certificate that is shown.
    public let certificate: Certificate
    /// The certificate of the authority, for whoever must trust it; it is not sent.
    public let issuer: Certificate
    let leaf: X509Reference
    let key: KeyReference

    init(leaf: X509Reference, key: KeyReference, certificate: Certificate, issuer: Certificate) {
        self.leaf = leaf
        self.key = key
        self.certificate = certificate
        self.issuer = issuer
    }

    /// An identity for `names` under an authority made for the occasion, known to nobody else.
    public static func selfMade(names: [SubjectName]) throws(AuthorityError) -> ServerIdentity {
        try CertificateAuthority.inMemory(hostName: "memory").leaf(for: names)
    }
}
