/// The ClientHello handshake message (RFC 8446 §4.1.2): bytes in, what it offers out.
public import SessionTrace

/// Numbers of hello extensions that are read here (IANA "TLS ExtensionType Values").
public enum TLSExtensionType {
    public static let serverName: UInt16 = 0x0000
    public static let truncatedHMAC: UInt16 = 0x0004
    public static let signatureAlgorithms: UInt16 = 0x000D
    public static let applicationProtocols: UInt16 = 0x0010
    public static let encryptThenMAC: UInt16 = 0x0016
    public static let extendedMasterSecret: UInt16 = 0x0017
    public static let sessionTicket: UInt16 = 0x0023
    public static let preSharedKey: UInt16 = 0x0029
    public static let earlyData: UInt16 = 0x002A
    public static let supportedVersions: UInt16 = 0x002B
    public static let encryptedClientHello: UInt16 = 0xFE0D
}

/// A parsed ClientHello.
public struct ClientHelloMessage: Hashable, Sendable {
    /// The version field; 0x0303 since TLS 1.2.
    public var legacyVersion: UInt16
    /// The client random.
    public var random: TLSRandom
    /// The session to resume, or padding of TLS 1.3's compatibility mode.
    public var sessionID: [UInt8]
    /// Suites in order, GREASE included.
    public var cipherSuites: [UInt16] = []
    /// Extension numbers in order, GREASE included.
    public var extensions: [UInt16] = []
    /// The host name of the server_name extension, when it has one that can be a host's name.
    public var serverName: HostName?
    /// ALPN names in order; bytes outside UTF-8 are replaced.
    public var applicationProtocols: [String] = []
    /// The first ALPN name as it stood on the wire.
    public var firstApplicationProtocol: [UInt8] = []
    /// The ALPN names as they stood on the wire: each after its length byte, without the two bytes of the list's own
    /// length (RFC 7301 §3.1). Empty without the extension.
    public var applicationProtocolList: [UInt8] = []
    /// Versions of the supported_versions extension in order, GREASE included; empty without the extension.
    public var supportedVersions: [UInt16] = []
    /// Signature algorithms in order, GREASE included.
    public var signatureAlgorithms: [UInt16] = []
    /// The ticket to resume (RFC 5077); empty when support for tickets is all that the extension says.
    public var sessionTicket: [UInt8] = []
    /// Whether all of the message was there. A hello that the capture cut holds what came before the cut: extensions
    /// that are whole.
    public var isWhole = true

    /// Reads the body of a ClientHello (without the four bytes of the handshake header).
    ///
    /// Nil when it is malformed. With `allowingCut`, bytes may end anywhere after the suites' start; only what is whole is
    /// taken, and `isWhole` tells.
    public init?(_ body: UnsafeRawBufferPointer, allowingCut: Bool = false) {
        var reader = PresentationReader(body)
        guard let version = reader.uint16(), let random = reader.bytes(TLSRandom.length).flatMap(TLSRandom.init),
            let sessionID = reader.vector8(), sessionID.count <= 32
        else { return nil }
        legacyVersion = version
        self.random = random
        self.sessionID = Array(sessionID)
        guard let suites = reader.vector16(), let compression = reader.vector8(), !compression.isEmpty else {
            isWhole = false
            if !allowingCut { return nil }
            return
        }
        cipherSuites = PresentationReader.uint16List(suites)
        // A hello without extensions may end here (RFC 5246 §7.4.1.2).
        if reader.isAtEnd { return }
        guard let length = reader.uint16() else {
            isWhole = false
            if !allowingCut { return nil }
            return
        }
        isWhole = Int(length) <= reader.rest.count
        guard isWhole || allowingCut else { return nil }
        var list = PresentationReader(UnsafeRawBufferPointer(rebasing: reader.rest.prefix(Int(length))))
        while !list.isAtEnd {
            guard let type = list.uint16(), let content = list.vector16() else {
                isWhole = false
                if !allowingCut { return nil }
                return
            }
            read(extension: type, content)
        }
    }

    private mutating func read(extension type: UInt16, _ content: UnsafeRawBufferPointer) {
        extensions.append(type)
        var reader = PresentationReader(content)
        switch type {
        case TLSExtensionType.serverName:
            var names = PresentationReader(reader.vector16() ?? UnsafeRawBufferPointer(start: nil, count: 0))
            while let kind = names.uint8(), let name = names.vector16() {
                if kind == 0, serverName == nil { serverName = HostName(String(decoding: name, as: UTF8.self)) }
            }
        case TLSExtensionType.applicationProtocols:
            let list = reader.vector16() ?? UnsafeRawBufferPointer(start: nil, count: 0)
            applicationProtocolList = Array(list)
            var names = PresentationReader(list)
            while let name = names.vector8() {
                if applicationProtocols.isEmpty { firstApplicationProtocol = Array(name) }
                applicationProtocols.append(String(decoding: name, as: UTF8.self))
            }
        case TLSExtensionType.supportedVersions:
            if let versions = reader.vector8() { supportedVersions = PresentationReader.uint16List(versions) }
        case TLSExtensionType.signatureAlgorithms:
            if let list = reader.vector16() { signatureAlgorithms = PresentationReader.uint16List(list) }
        case TLSExtensionType.sessionTicket:
            sessionTicket = Array(content)
        default:
            break
        }
    }

    /// The highest version offered, GREASE left out.
    public var highestVersion: UInt16 {
        supportedVersions.filter { !Self.isGrease($0) }.max() ?? legacyVersion
    }

    /// Whether it offers early data (RFC 8446 §4.2.10).
    public var offersEarlyData: Bool { extensions.contains(TLSExtensionType.earlyData) }

    /// Whether an encrypted_client_hello extension is there; alone that proves nothing.
    public var hasEncryptedClientHello: Bool { extensions.contains(TLSExtensionType.encryptedClientHello) }

    /// Whether a 16-bit value is one of those that clients sprinkle in so that servers stay tolerant (RFC 8701).
    public static func isGrease(_ value: UInt16) -> Bool {
        value & 0x0F0F == 0x0A0A && value >> 8 == value & 0xFF
    }

    /// The event that tells of this hello.
    public func event(
        connection: ConnectionID, seen: PacketReference, started: PacketReference, transport: JA4.Transport,
        isRepeated: Bool
    ) -> ClientHello {
        ClientHello(
            connection: connection, seen: seen, started: started, serverName: serverName,
            applicationProtocols: applicationProtocols, highestVersion: highestVersion,
            ja4: isWhole ? JA4.fingerprint(of: self, over: transport) : "",
            hasEncryptedClientHello: hasEncryptedClientHello, isRepeated: isRepeated)
    }
}
