/// A certificate: DER in, facts out.
internal import COpenSSL
public import SessionTrace

/// An X.509 certificate (RFC 5280). Two are equal when their DER is.
public struct Certificate: Sendable, Hashable {
    /// The certificate as it is signed and sent.
    public let der: [UInt8]
    /// SHA-256 of the DER: what tools call the fingerprint (32 bytes).
    public let sha256: [UInt8]
    /// The DNS names and IP addresses that it is valid for, in its order; other kinds of names are left out.
    public let subjectAlternativeNames: [SubjectName]
    /// Who signed it, on one line (`CN=R11, O=Let's Encrypt, C=US`; RFC 2253 escapes).
    public let issuer: String
    /// Whom it is about, on one line; empty when it says so only in its alternative names.
    public let subject: String
    /// The first instant of its validity.
    public let notBefore: Instant
    /// The last instant of its validity.
    public let notAfter: Instant

    /// Reads DER; nil when it is not exactly one certificate.
    public init?(der: [UInt8]) {
        let pointer = withCleanErrorQueue { () -> OpaquePointer? in
            der.withUnsafeBufferPointer { bytes in
                var next = bytes.baseAddress
                guard let end = bytes.baseAddress.map({ $0 + bytes.count }),
                    let certificate = d2i_X509(nil, &next, bytes.count)
                else { return nil }
                guard next == end else {
                    X509_free(certificate)
                    return nil
                }
                return certificate
            }
        }
        guard let pointer else { return nil }
        defer { X509_free(pointer) }
        self.init(x509: pointer)
    }

    /// Reads the first certificate of a PEM text.
    public init?(pem: String) {
        guard let first = PEMReader.read(Array(pem.utf8)).certificates.first else { return nil }
        self.init(x509: first.pointer)
    }

    /// The certificate in PEM form, with a line end after its last line.
    public var pem: String {
        let text = Base64.encode(der)
        var lines = "-----BEGIN CERTIFICATE-----\n"
        var rest = text[...]
        while !rest.isEmpty {
            lines += rest.prefix(64) + "\n"
            rest = rest.dropFirst(64)
        }
        return lines + "-----END CERTIFICATE-----\n"
    }

    /// The fingerprint as tools print it: pairs of upper-case hexadecimal digits with colons.
    public var fingerprint: String {
        sha256.map { byte in
            let text = String(byte, radix: 16, uppercase: true)
            return text.count == 1 ? "0" + text : text
        }.joined(separator: ":")
    }

    public static func == (lhs: Certificate, rhs: Certificate) -> Bool { lhs.der == rhs.der }

    public func hash(into hasher: inout Hasher) { hasher.combine(sha256) }
}

extension Certificate {
    /// Copies everything out of `x509`, which stays the caller's.
    init?(x509: OpaquePointer) {
        let read = withCleanErrorQueue { () -> Certificate? in
            var encoded: UnsafeMutablePointer<UInt8>?
            let length = i2d_X509(x509, &encoded)
            guard length > 0, let encoded else { return nil }
            defer { CRYPTO_free(encoded, #file, #line) }
            guard let notBefore = Self.instant(X509_get0_notBefore(x509)),
                let notAfter = Self.instant(X509_get0_notAfter(x509))
            else { return nil }
            let der = Array(UnsafeBufferPointer(start: encoded, count: Int(length)))
            return Certificate(
                der: der, sha256: HashFunction.sha256.digest(of: der),
                subjectAlternativeNames: SubjectName.names(of: x509), issuer: Self.line(X509_get_issuer_name(x509)),
                subject: Self.line(X509_get_subject_name(x509)), notBefore: notBefore, notAfter: notAfter)
        }
        guard let read else { return nil }
        self = read
    }

    private init(
        der: [UInt8], sha256: [UInt8], subjectAlternativeNames: [SubjectName], issuer: String, subject: String,
        notBefore: Instant, notAfter: Instant
    ) {
        self.der = der
        self.sha256 = sha256
        self.subjectAlternativeNames = subjectAlternativeNames
        self.issuer = issuer
        self.subject = subject
        self.notBefore = notBefore
        self.notAfter = notAfter
    }

    private static func line(_ name: OpaquePointer?) -> String {
        let bytes = collectBytes { X509_NAME_print_ex($0, name, 0, HANDOFF_NAME_FLAGS) >= 0 }
        return String(decoding: bytes ?? [], as: UTF8.self)
    }

    private static func instant(_ time: UnsafePointer<ASN1_TIME>?) -> Instant? {
        guard let epoch = ASN1_TIME_set(nil, 0) else { return nil }
        defer { ASN1_STRING_free(epoch) }
        var days: Int32 = 0
        var seconds: Int32 = 0
        guard ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else { return nil }
        // The years 1677 to 2262 can be written; a certificate may say 9999.
        let total = Int64(days) * 86_400 + Int64(seconds)
        let (nanoseconds, overflow) = total.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? (total < 0 ? .distantPast : .distantFuture) : Instant(nanoseconds: nanoseconds)
    }
}

/// Base64 (RFC 4648 §4), for PEM and property lists.
enum Base64 {
    /// One line, padded.
    static func encode(_ bytes: [UInt8]) -> String {
        guard !bytes.isEmpty, let count = Int32(exactly: bytes.count) else { return "" }
        let text = [UInt8](unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4 + 1) { output, length in
            length = Int(max(0, EVP_EncodeBlock(output.baseAddress, bytes, count)))
        }
        return String(decoding: text, as: UTF8.self)
    }
}
