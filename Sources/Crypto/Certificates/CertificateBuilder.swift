/// Signed certificates from their parts: every name goes in as a value, never as text that libcrypto would parse.
internal import COpenSSL
internal import SessionTrace

/// What a certificate says.
struct CertificateBuilder {
    enum Role {
        case authority
        case server(names: [SubjectName])
    }

    var role: Role
    /// Parts of the subject (`CN`, `O`), in order; values at most 64 characters (RFC 5280, ub-common-name).
    var subject: [(field: String, value: String)]
    var notBefore: Instant
    var notAfter: Instant

    /// A certificate for `key`, signed by `issuerKey`; without an issuer it signs itself.
    func sign(
        key: KeyReference, issuer: X509Reference?, issuerKey: KeyReference
    ) throws(CryptoError) -> X509Reference {
        let serial = try randomBytes(16)
        let made = withCleanErrorQueue { () -> X509Reference? in
            guard let pointer = X509_new() else { return nil }
            let certificate = X509Reference(owning: pointer)
            guard X509_set_version(pointer, 2) == 1, set(serial: serial, of: pointer),
                ASN1_TIME_set(X509_getm_notBefore(pointer), Self.seconds(notBefore)) != nil,
                ASN1_TIME_set(X509_getm_notAfter(pointer), Self.seconds(notAfter)) != nil,
                X509_set_pubkey(pointer, key.pointer) == 1, setSubject(of: pointer),
                X509_set_issuer_name(pointer, X509_get_subject_name(issuer?.pointer ?? pointer)) == 1,
                addExtensions(to: pointer, issuer: issuer?.pointer ?? pointer),
                X509_sign(pointer, issuerKey.pointer, EVP_sha256()) > 0
            else { return nil }
            return certificate
        }
        guard let made else { throw .refused(call: "X509_sign") }
        return made
    }

    private static func seconds(_ instant: Instant) -> Int { Int(instant.nanoseconds / 1_000_000_000) }

    /// 128 random bits; a positive number of at most 20 bytes (RFC 5280 §4.1.2.2).
    private func set(serial: [UInt8], of certificate: OpaquePointer) -> Bool {
        guard let number = BN_bin2bn(serial, Int32(serial.count), nil) else { return false }
        defer { BN_free(number) }
        return BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nil
    }

    private func setSubject(of certificate: OpaquePointer) -> Bool {
        let name = X509_get_subject_name(certificate)
        return subject.allSatisfy { part in
            let value = Array(part.value.utf8)
            return X509_NAME_add_entry_by_txt(
                name, part.field, MBSTRING_UTF8, value, Int32(value.count), -1, 0) == 1
        }
    }

    private func addExtensions(to certificate: OpaquePointer, issuer: OpaquePointer) -> Bool {
        switch role {
        case .authority:
            return addConfigured(NID_basic_constraints, "critical,CA:TRUE,pathlen:0", certificate, issuer)
                && addConfigured(NID_key_usage, "critical,keyCertSign,cRLSign", certificate, issuer)
                && addConfigured(NID_subject_key_identifier, "hash", certificate, issuer)
        case .server(let names):
            return addConfigured(NID_basic_constraints, "critical,CA:FALSE", certificate, issuer)
                && addConfigured(NID_key_usage, "critical,digitalSignature", certificate, issuer)
                && addConfigured(NID_ext_key_usage, "serverAuth", certificate, issuer)
                && addConfigured(NID_subject_key_identifier, "hash", certificate, issuer)
                && addConfigured(NID_authority_key_identifier, "keyid:always", certificate, issuer)
                && add(names, to: certificate)
        }
    }

    /// Only constants go through libcrypto's text form of extensions.
    private func addConfigured(
        _ type: Int32, _ value: StaticString, _ certificate: OpaquePointer, _ issuer: OpaquePointer
    ) -> Bool {
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer, certificate, nil, nil, 0)
        guard let made = X509V3_EXT_conf_nid(nil, &context, type, "\(value)") else { return false }
        defer { X509_EXTENSION_free(made) }
        return X509_add_ext(certificate, made, -1) == 1
    }

    private func add(_ names: [SubjectName], to certificate: OpaquePointer) -> Bool {
        guard let stack = OPENSSL_sk_new_null() else { return false }
        // Frees the names in it, too; a name belongs to the stack once it was pushed.
        defer { GENERAL_NAMES_free(stack) }
        for name in names {
            guard let entry = GENERAL_NAME_new() else { return false }
            guard Self.fill(entry, with: name), OPENSSL_sk_push(stack, entry) > 0 else {
                GENERAL_NAME_free(entry)
                return false
            }
        }
        // RFC 5280 §4.2.1.6: critical when the subject says nothing.
        return X509_add1_ext_i2d(
            certificate, NID_subject_alt_name, UnsafeMutableRawPointer(stack), subject.isEmpty ? 1 : 0, 0) == 1
    }

    private static func fill(_ entry: UnsafeMutablePointer<GENERAL_NAME>, with name: SubjectName) -> Bool {
        let type: Int32
        let bytes: [UInt8]
        let value: UnsafeMutablePointer<ASN1_STRING>?
        switch name {
        case .dns(let text):
            type = GEN_DNS
            bytes = Array(text.utf8)
            value = ASN1_STRING_type_new(V_ASN1_IA5STRING)
        case .ip(let address):
            type = GEN_IPADD
            bytes = SubjectName.bytes(of: address)
            value = ASN1_STRING_type_new(V_ASN1_OCTET_STRING)
        }
        guard let value else { return false }
        guard ASN1_STRING_set(value, bytes, Int32(bytes.count)) == 1 else {
            ASN1_STRING_free(value)
            return false
        }
        // The string belongs to the name from here on.
        GENERAL_NAME_set0_value(entry, type, value)
        return true
    }
}
