public import SessionTrace

/// A block of IPv4 or IPv6 addresses in CIDR notation (RFC 4632, RFC 4291 §2.3).
public struct AddressRange: Hashable, Sendable, CustomStringConvertible {
    /// The first address of the block.
    public let base: IPAddress
    /// Leading bits that all addresses of the block share: 0 to 32, or 0 to 128.
    public let prefixLength: Int

    /// Makes a block; bits of `address` beyond the prefix are cleared. Nil when the length does not fit the family.
    public init?(address: IPAddress, prefixLength: Int) {
        guard (0...(address.isIPv4 ? 32 : 128)).contains(prefixLength) else { return nil }
        self.prefixLength = prefixLength
        base = Self.masked(address, to: prefixLength)
    }

    /// Reads `10.0.0.0/8`, `fd00::/8`, or an address alone, which is a block of one.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(String(first)) else { return nil }
        guard parts.count == 2 else {
            self.init(address: address, prefixLength: address.isIPv4 ? 32 : 128)
            return
        }
        guard !parts[1].isEmpty, parts[1].utf8.allSatisfy({ $0 &- 0x30 < 10 }), let length = Int(parts[1]) else {
            return nil
        }
        self.init(address: address, prefixLength: length)
    }

    /// Whether the block holds `address`. An IPv4-mapped IPv6 address is looked up as the IPv4 address in it.
    public func contains(_ address: IPAddress) -> Bool {
        let address = base.isIPv4 ? address.unmapped : address
        guard address.isIPv4 == base.isIPv4 else { return false }
        return Self.masked(address, to: prefixLength) == base
    }

    /// The block as it is written.
    public var description: String { "\(base)/\(prefixLength)" }

    /// Who may use the proxy unless told otherwise: loopback, private, carrier-grade NAT, link-local and unique local
    /// addresses (RFC 1918, RFC 6598, RFC 3927, RFC 4193, RFC 4291).
    public static let localNetworks: [AddressRange] = [
        "127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16", "::1",
        "fc00::/7", "fe80::/10",
    ].compactMap { AddressRange($0) }

    private static func masked(_ address: IPAddress, to prefixLength: Int) -> IPAddress {
        if address.isIPv4 {
            return IPAddress(ipv4: UInt32(truncatingIfNeeded: address.low) & mask(UInt32.self, prefixLength))
        }
        return IPAddress(
            ipv6High: address.high & mask(UInt64.self, prefixLength),
            low: address.low & mask(UInt64.self, prefixLength - 64))
    }

    /// The leading `bits` ones; none when negative, all when there are more than the word has. Shifts saturate.
    private static func mask<Word: FixedWidthInteger & UnsignedInteger>(_: Word.Type, _ bits: Int) -> Word {
        bits <= 0 ? 0 : Word.max << Word(max(0, Word.bitWidth - bits))
    }
}

extension IPAddress {
    /// The IPv4 address in an IPv4-mapped one (`::ffff:192.0.2.1`, RFC 4291 §2.5.5.2); any other address as it is.
    var unmapped: IPAddress {
        guard !isIPv4, high == 0, low >> 32 == 0xFFFF else { return self }
        return IPAddress(ipv4: UInt32(truncatingIfNeeded: low))
    }
}

extension Endpoint {
    /// The endpoint with an IPv4-mapped address written as IPv4.
    var unmapped: Endpoint { Endpoint(address: address.unmapped, port: port) }
}
