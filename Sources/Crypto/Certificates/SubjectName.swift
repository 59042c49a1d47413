/// A name that a certificate is valid for.
internal import COpenSSL
public import SessionTrace

/// A DNS name or an IP address, as in a certificate's subjectAltName (RFC 5280 §4.2.1.6).
public enum SubjectName: Hashable, Sendable, CustomStringConvertible {
    /// A DNS name in ASCII; the first label may be `*`.
    case dns(String)
    /// An IP address.
    case ip(IPAddress)

    /// The name of a host as a client wrote it: an address literal (brackets allowed) becomes an address, everything
    /// else a DNS name in lower case without its trailing dot. Nil when a certificate can't name it: empty, longer than
    /// 253 bytes, a label of none or more than 63, or characters other than letters, digits, `-`, `_` and a leading `*.`.
    public init?(_ text: some StringProtocol) {
        guard let host = HostName(text) else { return nil }
        if let address = host.address {
            self = .ip(address)
            return
        }
        guard Self.isDNSName(host.text) else { return nil }
        self = .dns(host.text)
    }

    public var description: String {
        switch self {
        case .dns(let name): printable(name)
        case .ip(let address): address.description
        }
    }

    private static func isDNSName(_ text: String) -> Bool {
        guard text.utf8.count <= 253 else { return false }
        let labels = text.utf8.split(separator: 0x2E, omittingEmptySubsequences: false)
        return labels.enumerated().allSatisfy { index, label in
            if index == 0, labels.count > 1, label.elementsEqual("*".utf8) { return true }
            return (1...63).contains(label.count)
                && label.allSatisfy { byte in
                    switch byte {
                    case 0x30...0x39, 0x61...0x7A, 0x2D, 0x5F: true
                    default: false
                    }
                }
        }
    }
}

extension SubjectName {
    /// The names in `x509`; none when it has no such extension or a malformed one.
    static func names(of x509: OpaquePointer) -> [SubjectName] {
        guard let stack = X509_get_ext_d2i(x509, NID_subject_alt_name, nil, nil) else { return [] }
        let names = OpaquePointer(stack)
        defer { GENERAL_NAMES_free(names) }
        return (0..<max(0, OPENSSL_sk_num(names))).compactMap { index in
            guard let name = OPENSSL_sk_value(names, index) else { return nil }
            var type: Int32 = -1
            let value = GENERAL_NAME_get0_value(
                name.assumingMemoryBound(to: GENERAL_NAME.self), &type)?.assumingMemoryBound(to: ASN1_STRING.self)
            guard type == GEN_DNS || type == GEN_IPADD, let value, let data = ASN1_STRING_get0_data(value) else {
                return nil
            }
            let bytes = UnsafeBufferPointer(start: data, count: Int(ASN1_STRING_length(value)))
            return type == GEN_DNS ? .dns(String(decoding: bytes, as: UTF8.self)) : address(bytes).map { .ip($0) }
        }
    }

    private static func address(_ bytes: UnsafeBufferPointer<UInt8>) -> IPAddress? {
        func number(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
        switch bytes.count {
        case 4: return IPAddress(ipv4: UInt32(number(0..<4)))
        case 16: return IPAddress(ipv6High: number(0..<8), low: number(8..<16))
        default: return nil
        }
    }

    /// The address in network order: 4 or 16 bytes.
    static func bytes(of address: IPAddress) -> [UInt8] {
        func bytes(_ value: UInt64, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - $0))) }
        }
        return address.isIPv4 ? bytes(address.low, 4) : bytes(address.high, 8) + bytes(address.low, 8)
    }
}
