internal import SessionTrace

/// Reads numbers and compressed names from a DNS message; never beyond its end, and never twice around (RFC 1035 §4.1.4).
struct DNSReader {
    /// A domain name as it was sent.
    struct Name {
        /// Labels joined by dots, without the last dot; empty for the root.
        var bytes: [UInt8]
        /// Whether it was read to its end.
        var isWhole: Bool

        /// The name for comparing; nil for the root and for names that are none.
        var host: HostName? { isWhole ? HostName(String(decoding: bytes, as: UTF8.self)) : nil }
    }

    /// Octets of a name on the wire (RFC 1035 §2.3.4).
    static let nameLimit = 255

    private let message: UnsafeRawBufferPointer
    private(set) var offset = 0

    init(_ message: UnsafeRawBufferPointer) {
        self.message = message
    }

    /// The next octet.
    mutating func octet() -> UInt8? {
        guard offset < message.count else { return nil }
        defer { offset += 1 }
        return message[offset]
    }

    /// The next two octets as a number.
    mutating func word() -> UInt16? {
        guard message.count - offset >= 2 else { return nil }
        defer { offset += 2 }
        return UInt16(message[offset]) << 8 | UInt16(message[offset + 1])
    }

    /// The next four octets as a number.
    mutating func doubleWord() -> UInt32? {
        guard let high = word(), let low = word() else { return nil }
        return UInt32(high) << 16 | UInt32(low)
    }

    /// The next `count` octets.
    mutating func bytes(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count >= 0, count <= message.count - offset else { return nil }
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: message[offset..<offset + count])
    }

    /// Steps over `count` octets; false when there are fewer.
    mutating func skip(_ count: Int) -> Bool { bytes(count) != nil }

    /// The offset that lies `count` octets on; nil beyond the message.
    func end(after count: Int) -> Int? {
        count <= message.count - offset ? offset + count : nil
    }

    /// Goes to an offset that `end(after:)` gave.
    mutating func move(to offset: Int) {
        self.offset = min(offset, message.count)
    }

    /// A name. Each compression pointer has to point before the place where the last jump landed, so that there is no loop.
    mutating func name() -> Name {
        var bytes: [UInt8] = []
        var position = offset
        var floor = offset
        var hasJumped = false
        while position < message.count {
            let length = Int(message[position])
            switch length & 0xC0 {
            case 0 where length == 0:
                if !hasJumped { offset = position + 1 }
                return Name(bytes: bytes, isWhole: true)
            case 0:
                let end = position + 1 + length
                // As text a name is two octets shorter: no first length, no root.
                let joined = bytes.count + length + (bytes.isEmpty ? 0 : 1)
                guard end <= message.count, joined <= Self.nameLimit - 2 else {
                    return Name(bytes: bytes, isWhole: false)
                }
                if !bytes.isEmpty { bytes.append(0x2E) }
                bytes.append(contentsOf: message[position + 1..<end])
                position = end
            case 0xC0:
                guard position + 1 < message.count else { return Name(bytes: bytes, isWhole: false) }
                let target = (length & 0x3F) << 8 | Int(message[position + 1])
                guard target < floor else { return Name(bytes: bytes, isWhole: false) }
                if !hasJumped { offset = position + 2 }
                hasJumped = true
                floor = target
                position = target
            default:
                return Name(bytes: bytes, isWhole: false)
            }
        }
        return Name(bytes: bytes, isWhole: false)
    }
}
