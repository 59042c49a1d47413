/// The authority's certificate in the forms that devices take.
internal import COpenSSL

extension CertificateAuthority {
    /// A form of the certificate.
    public enum ExportFormat: String, Hashable, Sendable, CaseIterable {
        /// PEM.
        case pem
        /// DER, as Android's and iOS's own installers take it.
        case der
        /// PEM under the name that Android's system store wants: `XXXXXXXX.0`.
        case android
        /// An iOS configuration profile, unsigned.
        case mobileconfig
    }

    /// The certificate in one of its forms; never a key.
    public func export(_ format: ExportFormat) -> [UInt8] {
        switch format {
        case .pem, .android: Array(certificate.pem.utf8)
        case .der: certificate.der
        case .mobileconfig: Array(MobileConfiguration(certificate: certificate).text.utf8)
        }
    }

    /// The name under which a device expects that form.
    public func fileName(_ format: ExportFormat) -> String {
        switch format {
        case .pem: "handoff-ca.pem"
        case .der: "handoff-ca.cer"
        case .android: "\(certificate.androidHash).0"
        case .mobileconfig: "handoff-ca.mobileconfig"
        }
    }
}

extension Certificate {
    /// The hash of the subject by which Android's system store names its files (`openssl x509 -subject_hash_old`).
    public var androidHash: String {
        let hash = withCleanErrorQueue { () -> UInt in
            let pointer = der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
                var next = bytes.baseAddress
                return d2i_X509(nil, &next, bytes.count)
            }
            guard let pointer else { return 0 }
            defer { X509_free(pointer) }
            return X509_NAME_hash_old(X509_get_subject_name(pointer))
        }
        let text = String(hash & 0xFFFF_FFFF, radix: 16)
        return String(repeating: "0", count: 8 - text.count) + text
    }
}

/// An iOS configuration profile with one root certificate (Apple, "Configuration Profile Reference",
/// `com.apple.security.root`).
struct MobileConfiguration {
    let certificate: Certificate

    /// A property list in XML. The same certificate always gives the same text, so that installing it twice replaces it.
    var text: String {
        let name = Self.escape(certificate.subject)
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            <dict>
            \t<key>PayloadContent</key>
            \t<array>
            \t\t<dict>
            \t\t\t<key>PayloadCertificateFileName</key>
            \t\t\t<string>handoff-ca.cer</string>
            \t\t\t<key>PayloadContent</key>
            \t\t\t<data>\(Base64.encode(certificate.der))</data>
            \t\t\t<key>PayloadDescription</key>
            \t\t\t<string>The certificate authority of the test proxy</string>
            \t\t\t<key>PayloadDisplayName</key>
            \t\t\t<string>\(name)</string>
            \t\t\t<key>PayloadIdentifier</key>
            \t\t\t<string>handoff.ca.certificate</string>
            \t\t\t<key>PayloadType</key>
            \t\t\t<string>com.apple.security.root</string>
            \t\t\t<key>PayloadUUID</key>
            \t\t\t<string>\(uuid(label: "certificate"))</string>
            \t\t\t<key>PayloadVersion</key>
            \t\t\t<integer>1</integer>
            \t\t</dict>
            \t</array>
            \t<key>PayloadDescription</key>
            \t<string>Lets the handoff test proxy read this device's TLS traffic. For test devices only.</string>
            \t<key>PayloadDisplayName</key>
            \t<string>\(name)</string>
            \t<key>PayloadIdentifier</key>
            \t<string>handoff.ca</string>
            \t<key>PayloadRemovalDisallowed</key>
            \t<false/>
            \t<key>PayloadType</key>
            \t<string>Configuration</string>
            \t<key>PayloadUUID</key>
            \t<string>\(uuid(label: "profile"))</string>
            \t<key>PayloadVersion</key>
            \t<integer>1</integer>
            </dict>
            </plist>

            """
    }

    /// A UUID of version 8 (RFC 9562 §5.8) out of the certificate.
    private func uuid(label: String) -> String {
        var bytes = HashFunction.sha256.digest(of: Array(label.utf8) + certificate.sha256)
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = bytes.prefix(16).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
        let groups = [digits[0..<4], digits[4..<6], digits[6..<8], digits[8..<10], digits[10..<16]]
        return groups.map { $0.joined() }.joined(separator: "-")
    }

    private static func escape(_ text: String) -> String {
        text.reduce(into: "") { escaped, character in
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            default: escaped.append(character)
            }
        }
    }
}
