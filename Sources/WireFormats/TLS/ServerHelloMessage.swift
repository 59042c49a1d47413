/// The server's half of the negotiation: ServerHello and EncryptedExtensions (RFC 8446 §4.1.3, §4.3.1; RFC 5246 §7.4.1.3).

/// A parsed ServerHello or HelloRetryRequest.
public struct ServerHelloMessage: Hashable, Sendable {
    /// The version that was chosen: 0x0304, 0x0303, …, a draft's 0x7Fxx.
    public var version: UInt16
    /// The server random.
    public var random: TLSRandom
    /// The session id: the client's own means resumption (up to TLS 1.2).
    public var sessionID: [UInt8] = []
    /// The suite that was chosen.
    public var cipherSuite: UInt16
    /// The compression method; 0 is none.
    public var compressionMethod: UInt8 = 0
    /// Extension numbers in order.
    public var extensions: [UInt16] = []
    /// The ALPN choice (up to TLS 1.2; later it is in EncryptedExtensions).
    public var applicationProtocol: String?

    /// Reads the body of a ServerHello; nil when it is malformed.
    public init?(_ body: UnsafeRawBufferPointer) {
        var reader = PresentationReader(body)
        guard let legacyVersion = reader.uint16(), let random = reader.bytes(TLSRandom.length).flatMap(TLSRandom.init)
        else { return nil }
        version = legacyVersion
        self.random = random
        // Drafts of TLS 1.3 up to 21 named themselves here and had neither session id nor compression method.
        let isOldDraft = legacyVersion >> 8 == 0x7F
        if !isOldDraft {
            guard let id = reader.vector8(), id.count <= 32 else { return nil }
            sessionID = Array(id)
        }
        guard let suite = reader.uint16() else { return nil }
        cipherSuite = suite
        if !isOldDraft {
            guard let method = reader.uint8() else { return nil }
            compressionMethod = method
        }
        if reader.isAtEnd { return }
        guard let list = reader.vector16() else { return nil }
        var extensionReader = PresentationReader(list)
        while !extensionReader.isAtEnd {
            guard let type = extensionReader.uint16(), let content = extensionReader.vector16() else { return nil }
            extensions.append(type)
            switch type {
            case TLSExtensionType.supportedVersions:
                var selected = PresentationReader(content)
                if let chosen = selected.uint16() { version = chosen }
            case TLSExtensionType.applicationProtocols:
                applicationProtocol = EncryptedExtensionsMessage.choice(content)
            default:
                break
            }
        }
    }

    /// Whether it asks for another ClientHello (RFC 8446 §4.1.4).
    public var isHelloRetryRequest: Bool { random == TLSRandom.helloRetryRequest }

    /// Whether an extension is there.
    public func has(_ type: UInt16) -> Bool { extensions.contains(type) }
}

/// A parsed EncryptedExtensions message.
public struct EncryptedExtensionsMessage: Hashable, Sendable {
    /// The ALPN choice.
    public var applicationProtocol: String?
    /// Whether the server takes the client's early data.
    public var acceptsEarlyData = false

    /// Reads the body; nil when it is malformed.
    public init?(_ body: UnsafeRawBufferPointer) {
        var reader = PresentationReader(body)
        guard let list = reader.vector16() else { return nil }
        var extensionReader = PresentationReader(list)
        while !extensionReader.isAtEnd {
            guard let type = extensionReader.uint16(), let content = extensionReader.vector16() else { return nil }
            switch type {
            case TLSExtensionType.earlyData: acceptsEarlyData = true
            case TLSExtensionType.applicationProtocols: applicationProtocol = Self.choice(content)
            default: break
            }
        }
    }

    /// The one name in a server's ALPN extension (RFC 7301 §3.1).
    static func choice(_ content: UnsafeRawBufferPointer) -> String? {
        var reader = PresentationReader(content)
        guard let list = reader.vector16() else { return nil }
        var names = PresentationReader(list)
        return names.vector8().map { String(decoding: $0, as: UTF8.self) }
    }
}
