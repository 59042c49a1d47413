/// An IPv4 or IPv6 address.
public struct IPAddress: Hashable, Sendable {
    /// The upper 64 bits in host order; 0 for IPv4.
    public let high: UInt64
    /// The lower 64 bits in host order; for IPv4 the address in the lowest 32.
    public let low: UInt64
    /// Whether this is an IPv4 address.
    public let isIPv4: Bool

    /// An IPv4 address from its 32 bits in host order (`127.0.0.1` is 0x7F000001).
    public init(ipv4 bits: UInt32) {
        high = 0
        low = UInt64(bits)
        isIPv4 = true
    }

    /// An IPv6 address from its two halves in host order.
    public init(ipv6High high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
        isIPv4 = false
    }

    /// 127.0.0.0/8, ::1, and the IPv4-mapped forms of the former.
    public var isLoopback: Bool {
        if isIPv4 { return low >> 24 == 127 }
        return high == 0 && (low == 1 || (low >> 32 == 0xFFFF && (low & 0xFFFF_FFFF) >> 24 == 127))
    }

    /// 224.0.0.0/4 and ff00::/8.
    public var isMulticast: Bool {
        isIPv4 ? low >> 28 == 0xE : high >> 56 == 0xFF
    }
}

extension IPAddress: CustomStringConvertible {
    /// Dotted decimal, or RFC 5952 text for IPv6.
    public var description: String {
        if isIPv4 { return (0..<4).map { String(low >> UInt64(24 - 8 * $0) & 0xFF) }.joined(separator: ".") }
        let groups = (0..<8).map { UInt16(truncatingIfNeeded: ($0 < 4 ? high : low) >> UInt64(48 - 16 * ($0 % 4))) }
        var best = 0..<0
        var start = 0
        while start < 8 {
            var end = start
            while end < 8, groups[end] == 0 { end += 1 }
            if end - start > max(best.count, 1) { best = start..<end }
            start = max(end, start + 1)
        }
        func hex(_ range: Range<Int>) -> String {
            groups[range].map { String($0, radix: 16) }.joined(separator: ":")
        }
        return best.isEmpty ? hex(0..<8) : hex(0..<best.lowerBound) + "::" + hex(best.upperBound..<8)
    }
}

extension IPAddress: LosslessStringConvertible {
    /// Reads dotted decimal or any RFC 4291 text (no zone, no brackets).
    public init?(_ text: String) {
        if let ipv4 = Self.dotted(text[...]) {
            self.init(ipv4: ipv4)
            return
        }
        guard text.contains(":") else { return nil }
        let halves = text.split(separator: "::", maxSplits: 1, omittingEmptySubsequences: false)
        var groups: [[UInt16]] = []
        for half in halves {
            var parsed: [UInt16] = []
            for part in half.isEmpty ? [] : half.split(separator: ":", omittingEmptySubsequences: false) {
                if let ipv4 = Self.dotted(part) {
                    parsed += [UInt16(ipv4 >> 16), UInt16(ipv4 & 0xFFFF)]
                } else if part.count <= 4, !part.hasPrefix("+"), let group = UInt16(part, radix: 16) {
                    parsed.append(group)
                } else {
                    return nil
                }
            }
            groups.append(parsed)
        }
        let count = groups.reduce(0) { $0 + $1.count }
        guard groups.count == 2 ? count <= 7 : count == 8 else { return nil }
        let all = groups.count == 2 ? groups[0] + Array(repeating: 0, count: 8 - count) + groups[1] : groups[0]
        let bits = all.map(UInt64.init)
        self.init(
            ipv6High: bits[0] << 48 | bits[1] << 32 | bits[2] << 16 | bits[3],
            low: bits[4] << 48 | bits[5] << 32 | bits[6] << 16 | bits[7])
    }

    private static func dotted(_ text: Substring) -> UInt32? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bits: UInt32 = 0
        for part in parts {
            guard part.count <= 3, part.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let byte = UInt8(part) else {
                return nil
            }
            bits = bits << 8 | UInt32(byte)
        }
        return bits
    }
}

/// One end of a transport connection: address and port.
public struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// The network address.
    public let address: IPAddress
    /// The TCP or UDP port.
    public let port: UInt16

    /// Makes an endpoint.
    public init(address: IPAddress, port: UInt16) {
        self.address = address
        self.port = port
    }

    /// `192.0.2.1:443` or `[2001:db8::1]:443`.
    public var description: String {
        address.isIPv4 ? "\(address):\(port)" : "[\(address)]:\(port)"
    }
}
