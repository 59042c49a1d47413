/// Why a certificate was not accepted, in plain words.
internal import COpenSSL
internal import SessionTrace

enum VerificationWords {
    /// Names in a sentence, at most.
    static let namesShown = 4

    /// One sentence for libcrypto's `code` about `certificate`, which is the server's own when `isLeaf`.
    static func describe(code: Int32, certificate: Certificate?, isLeaf: Bool, name: String?) -> String {
        let subject = isLeaf ? "the certificate" : "the issuer certificate \(quoted(certificate?.subject))"
        switch code {
        case X509_V_ERR_CERT_HAS_EXPIRED:
            return "\(subject) expired on \(date(certificate?.notAfter))"
        case X509_V_ERR_CERT_NOT_YET_VALID:
            return "\(subject) is valid only from \(date(certificate?.notBefore)) on"
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
            return "a self-signed certificate that is not in the store: \(quoted(certificate?.subject))"
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
            return "the chain ends in a certificate that is not in the store: \(quoted(certificate?.subject))"
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
            return "unknown issuer \(quoted(certificate?.issuer)) (the server may not send the chain's middle)"
        case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            return "unknown issuer \(quoted(certificate?.issuer))"
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
            return mismatch(certificate, name)
        case X509_V_ERR_INVALID_PURPOSE:
            return "\(subject) is not meant for TLS servers"
        case X509_V_ERR_CERT_REVOKED:
            return "\(subject) was revoked"
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL:
            return "\(subject) has a key that is too short"
        case X509_V_ERR_CA_MD_TOO_WEAK:
            return "\(subject) is signed with a weak digest"
        default:
            let words = X509_verify_cert_error_string(Int(code)).map { String(cString: $0) } ?? "unknown reason"
            return "\(subject) was not accepted: \(words)"
        }
    }

    private static func mismatch(_ certificate: Certificate?, _ name: String?) -> String {
        let names = certificate?.subjectAlternativeNames ?? []
        let wanted = printable(name ?? "?")
        guard let first = names.first else { return "the certificate names no host, so not \(wanted) either" }
        if names.count == 1 { return "the certificate's name is \(first), not \(wanted)" }
        let shown = names.prefix(namesShown).map(\.description).joined(separator: ", ")
        let more = names.count > namesShown ? " and \(names.count - namesShown) more" : ""
        return "the certificate's names are \(shown)\(more), not \(wanted)"
    }

    private static func quoted(_ text: String?) -> String { "“\(text ?? "?")”" }

    private static func date(_ instant: Instant?) -> String {
        instant.map { String($0.rfc3339.prefix(10)) } ?? "an unreadable date"
    }
}
