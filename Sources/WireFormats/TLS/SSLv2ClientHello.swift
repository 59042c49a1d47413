/// The hello of SSL 2.0 (draft-hickman-netscape-ssl-00), which old clients send to servers of every version
/// (RFC 5246 appendix E.2). It names no server; it is told apart, counted, and not read further.
public struct SSLv2ClientHello: Hashable, Sendable {
    /// Highest version offered: 0x0002, or 0x0300 and up for a client that can do better.
    public var version: UInt16
    /// Length of the whole record in bytes, header included.
    public var recordLength: Int

    /// Bytes that tell whether there is one.
    public static let headerLength = 11

    /// Reads a hello off the start of a stream; nil when it is something else or its header is not whole (`headerLength` bytes).
    public init?(_ bytes: UnsafeRawBufferPointer) {
        guard Self.hasHeader(bytes) else { return nil }
        version = UInt16(bytes[3]) << 8 | UInt16(bytes[4])
        recordLength = (Int(bytes[0] & 0x7F) << 8 | Int(bytes[1])) + 2
    }

    /// The client random that its challenge stands for in a newer handshake: right-aligned, after zeros (RFC 5246 E.2).
    /// Nil when `record` is not whole.
    public func random(in record: UnsafeRawBufferPointer) -> TLSRandom? {
        guard record.count == recordLength else { return nil }
        let challenge = record.suffix(min(Int(record[9]) << 8 | Int(record[10]), TLSRandom.length))
        return TLSRandom([UInt8](repeating: 0, count: TLSRandom.length - challenge.count) + Array(challenge))
    }

    static func hasHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= headerLength, bytes[0] & 0x80 != 0, bytes[2] == 1 else { return false }
        let version = UInt16(bytes[3]) << 8 | UInt16(bytes[4])
        guard version == 2 || (0x0300...0x0304).contains(version) else { return false }
        let length = Int(bytes[0] & 0x7F) << 8 | Int(bytes[1])
        let suites = Int(bytes[5]) << 8 | Int(bytes[6])
        let session = Int(bytes[7]) << 8 | Int(bytes[8])
        let challenge = Int(bytes[9]) << 8 | Int(bytes[10])
        return suites > 0 && suites % 3 == 0 && (session == 0 || session == 16) && (16...32).contains(challenge)
            && length == 9 + suites + session + challenge
    }
}
