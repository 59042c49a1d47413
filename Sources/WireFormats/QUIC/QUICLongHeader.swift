/// Long header packets (RFC 9000 §17.2): the first bytes of a packet in, what they say in clear out.

/// The readable part of a long header, and how long its packet is.
struct QUICLongHeader {
    enum Kind: Equatable {
        case initial, zeroRTT, handshake, retry, versionNegotiation
        /// A version whose packets have another form.
        case unknown
    }

    var kind: Kind
    var version: QUICVersion
    var destination: [UInt8]
    var source: [UInt8]
    /// Where the packet number is, from the packet's first byte.
    var packetNumberOffset = 0
    /// The whole packet's length; Retry and version negotiation fill the rest of their datagram.
    var packetLength: Int

    /// The longest connection id of the versions that are opened.
    static let maximumConnectionID = 20

    /// Reads the packet at the start of `bytes`; nil when it has no long header, or is not whole.
    init?(_ bytes: UnsafeRawBufferPointer) {
        var reader = PresentationReader(bytes)
        guard let first = reader.uint8(), first & 0x80 != 0, let number = reader.uint32(),
            let destination = reader.vector8(), let source = reader.vector8()
        else { return nil }
        version = QUICVersion(rawValue: number)
        self.destination = Array(destination)
        self.source = Array(source)
        packetLength = bytes.count
        if version == .negotiation {
            kind = .versionNegotiation
            return
        }
        guard version.initialSalt != nil else {
            kind = .unknown
            return
        }
        kind = Self.kind(first >> 4 & 0x03, version)
        if kind == .retry { return }
        if kind == .initial {
            guard let length = reader.variableLengthInteger().flatMap({ Int(exactly: $0) }), reader.bytes(length) != nil
            else { return nil }
        }
        guard let length = reader.variableLengthInteger().flatMap({ Int(exactly: $0) }), length <= reader.rest.count
        else {
            return nil
        }
        packetNumberOffset = bytes.count - reader.rest.count
        packetLength = packetNumberOffset + length
    }

    /// Version 2 counts the types from another start (RFC 9369 §3.2).
    private static func kind(_ type: UInt8, _ version: QUICVersion) -> Kind {
        switch (type, version == .two) {
        case (0, false), (1, true): .initial
        case (1, false), (2, true): .zeroRTT
        case (2, false), (3, true): .handshake
        default: .retry
        }
    }
}
