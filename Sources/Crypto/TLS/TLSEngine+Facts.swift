/// What is known about a connection: what was agreed, who the peer is, what went wrong.
internal import COpenSSL

extension TLSEngine {
    /// What both sides agreed on; nil before the handshake is over.
    public var negotiated: TLSNegotiated? {
        guard isHandshakeComplete, let version = TLSVersion(rawValue: UInt16(truncatingIfNeeded: SSL_version(ssl)))
        else { return nil }
        let cipher = SSL_CIPHER_standard_name(SSL_get_current_cipher(ssl)).map { String(cString: $0) }
        var bytes: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &bytes, &length)
        let alpn = bytes.map { Array(UnsafeBufferPointer(start: $0, count: Int(length))) }
        return TLSNegotiated(version: version, cipher: cipher ?? "unknown", alpnBytes: alpn)
    }

    /// The certificate that the peer showed, whether it was accepted or not; nil when it showed none (yet).
    public var peerCertificate: Certificate? {
        // The session's reference; `Certificate` copies what it needs.
        if let certificate = SSL_get0_peer_certificate(ssl) { return Certificate(x509: certificate) }
        return state.pointee.refusedLeaf.flatMap { Certificate(x509: $0) }
    }

    /// Whether the handshake took up an earlier session (the server's certificate is the one that it showed then).
    public var hasResumed: Bool { isHandshakeComplete && SSL_session_reused(ssl) == 1 }

    /// The number of the last alert of the peer that says more than "I close" or "no renegotiation".
    public var peerAlert: UInt8? { state.pointee.receivedAlert }

    /// The number of the last fatal alert that was sent.
    public var sentAlert: UInt8? { state.pointee.sentAlert }

    /// Whether a Certificate message of ours was made (it may still wait among the output).
    public var hasSentCertificate: Bool { state.pointee.hasSentCertificate }

    /// Takes the lines of the NSS key log that are new, each with its line end: secrets that open what the peer sent
    /// are here before, or together with, the bytes that they open.
    public func takeSecrets() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &state.pointee.secrets)
        return taken
    }

    /// Why the server's certificate was not accepted, in plain words; nil when it was, or was not checked.
    public var verifyFailure: String? {
        let code = state.pointee.verificationCode
        guard code != X509_V_OK else { return nil }
        let certificate = state.pointee.refusedCertificate.flatMap { Certificate(x509: $0) }
        return VerificationWords.describe(
            code: code, certificate: certificate, isLeaf: state.pointee.refusedDepth == 0, name: verifyName)
    }
}
