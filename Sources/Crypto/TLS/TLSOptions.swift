/// What a TLS connection is asked to do, on either side.

/// A version of TLS, as its code point.
public enum TLSVersion: UInt16, Hashable, Sendable, Comparable, CaseIterable, CustomStringConvertible {
    case tls10 = 0x0301
    case tls11 = 0x0302
    case tls12 = 0x0303
    case tls13 = 0x0304

    public static func < (lhs: TLSVersion, rhs: TLSVersion) -> Bool { lhs.rawValue < rhs.rawValue }

    /// `TLS 1.3`.
    public var description: String {
        switch self {
        case .tls10: "TLS 1.0"
        case .tls11: "TLS 1.1"
        case .tls12: "TLS 1.2"
        case .tls13: "TLS 1.3"
        }
    }
}

/// How a client checks the certificate of its server.
public enum TLSVerification: Hashable, Sendable {
    /// Against the system's store (`SSL_CERT_FILE` and `SSL_CERT_DIR` are honoured), and the certificates of a PEM file
    /// besides.
    case system(extraCAFile: String?)
    /// Not at all.
    case none
}

/// The client's side of a connection.
public struct TLSClientOptions: Sendable {
    /// The name that goes into the SNI extension; nil: no extension.
    public var serverName: String?
    /// The DNS name or IP address that the certificate must be valid for; nil: any.
    public var verifyName: String?
    /// How the certificate is checked.
    public var verification: TLSVerification
    /// The protocols to offer, as the list inside the ALPN extension without its outer length: each name after one byte
    /// of its length (RFC 7301 §3.1). Sent byte for byte; empty: no extension.
    public var alpn: [UInt8]
    /// What to answer with when the server asks for a certificate.
    public var clientCertificate: ClientIdentity?
    /// The oldest version to offer.
    public var minimumVersion: TLSVersion
    /// The newest version to offer.
    public var maximumVersion: TLSVersion
    /// Where sessions are kept to be taken up again; nil: every handshake is a full one.
    public var resumption: TLSSessionStore?
    /// Where the server is (`192.0.2.1:443`): sessions are only taken up again at the same place.
    public var place = ""

    /// Makes options.
    public init(
        serverName: String? = nil, verifyName: String? = nil,
        verification: TLSVerification = .system(extraCAFile: nil), alpn: [UInt8] = [],
        clientCertificate: ClientIdentity? = nil, minimumVersion: TLSVersion = .tls12,
        maximumVersion: TLSVersion = .tls13
    ) {
        self.serverName = serverName
        self.verifyName = verifyName
        self.verification = verification
        self.alpn = alpn
        self.clientCertificate = clientCertificate
        self.minimumVersion = minimumVersion
        self.maximumVersion = maximumVersion
    }

    /// The list of RFC 7301 §3.1 for some names (`["h2", "http/1.1"]`); names that are empty or longer than 255 bytes
    /// are left out.
    public static func alpnList(_ names: [String]) -> [UInt8] {
        names.reduce(into: []) { list, name in
            guard let length = UInt8(exactly: name.utf8.count), length > 0 else { return }
            list.append(length)
            list += name.utf8
        }
    }
}

/// The server's side of a connection.
///
/// Any version from TLS 1.0 on, no resumption and no early data: every connection shows its certificate.
public struct TLSServerOptions: Sendable {
    /// The certificate to show, and its key.
    public var identity: ServerIdentity
    /// The protocol to choose, as the bytes of its name: exactly this one, whatever the client's list says; nil: the
    /// extension is not answered.
    public var alpn: [UInt8]?
    /// The oldest version to accept.
    public var minimumVersion: TLSVersion
    /// The newest version to accept.
    public var maximumVersion: TLSVersion

    /// Makes options with a protocol's bytes.
    public init(
        identity: ServerIdentity, alpn: [UInt8]?, minimumVersion: TLSVersion = .tls10,
        maximumVersion: TLSVersion = .tls13
    ) {
        self.identity = identity
        self.alpn = alpn
        self.minimumVersion = minimumVersion
        self.maximumVersion = maximumVersion
    }

    /// Makes options with a protocol's name (`h2`).
    public init(
        identity: ServerIdentity, alpn: String? = nil, minimumVersion: TLSVersion = .tls10,
        maximumVersion: TLSVersion = .tls13
    ) {
        self.init(
            identity: identity, alpn: alpn.map { Array($0.utf8) }, minimumVersion: minimumVersion,
            maximumVersion: maximumVersion)
    }
}

/// What both sides agreed on.
public struct TLSNegotiated: Hashable, Sendable {
    /// The version.
    public var version: TLSVersion
    /// The cipher suite, as IANA names it (`TLS_AES_128_GCM_SHA256`).
    public var cipher: String
    /// The bytes of the protocol that the server chose; nil when it chose none.
    public var alpnBytes: [UInt8]?

    /// The name of the protocol that the server chose (`h2`); nil when it chose none.
    public var alpn: String? { alpnBytes.map { String(decoding: $0, as: UTF8.self) } }
}

/// What a read from an engine gave.
public enum TLSReadResult: Hashable, Sendable {
    /// So many bytes of plaintext (at least one).
    case bytes(Int)
    /// Nothing more without more ciphertext.
    case needsInput
    /// The peer said that it sends no more (close_notify). Writing goes on working.
    case closed
    /// The peer's bytes ended without its saying so. Writing goes on working.
    case truncated
}
