internal import SessionTrace

/// Which addresses a client may reach through the proxy: not this host itself, not its link, not everybody at once.
///
/// Asked after a name has been resolved, so that a name can't smuggle an address in. Forms of IPv6 that carry an IPv4
/// address are judged by both.
struct DestinationCheck: Sendable {
    /// Destinations that are always allowed (`--allow-destination`).
    var allowed: [AddressRange]
    /// Where the proxy itself listens. A wildcard stands for every address of this host.
    var own: [Endpoint] = []
    /// The addresses of this host.
    var local: Set<IPAddress> = []

    /// Why `destination` is refused to `client`, in words that follow "because it is"; nil when it is not.
    func refusal(of destination: Endpoint, for client: IPAddress) -> String? {
        let forms = Self.forms(of: destination.address)
        if client.unmapped.isLoopback || local.contains(client.unmapped)
            || allowed.contains(where: { range in forms.contains(where: range.contains) })
        {
            return nil
        }
        for form in forms {
            if let kind = Self.kind(of: form) { return kind }
            if isOwn(Endpoint(address: form, port: destination.port)) { return "the proxy itself" }
            if local.contains(form) { return "an address of this host" }
        }
        return nil
    }

    /// Whether the proxy itself listens at `endpoint`.
    func isOwn(_ endpoint: Endpoint) -> Bool {
        own.contains { listener in
            guard listener.port == endpoint.port else { return false }
            return listener.address == endpoint.address
                || (listener.address.isUnspecified
                    && (local.contains(endpoint.address) || endpoint.address.isLoopback))
        }
    }

    /// The address itself, and the IPv4 addresses that it carries.
    static func forms(of address: IPAddress) -> [IPAddress] {
        guard !address.isIPv4 else { return [address] }
        func ipv4(_ bits: UInt64) -> IPAddress { IPAddress(ipv4: UInt32(truncatingIfNeeded: bits)) }
        let (high, low) = (address.high, address.low)
        var forms = [address]
        if high == 0, low >> 32 == 0xFFFF || (low >> 32 == 0 && low > 1) {
            forms.append(ipv4(low))  // IPv4-mapped, and IPv4-compatible (RFC 4291 §2.5.5)
        }
        if high == 0, low >> 32 == 0xFFFF_0000 { forms.append(ipv4(low)) }  // IPv4-translated (RFC 2765 §2.1)
        if high == 0x0064_FF9B_0000_0000, low >> 32 == 0 { forms.append(ipv4(low)) }  // NAT64 (RFC 6052 §2.1)
        if high >> 16 == 0x0064_FF9B_0001 {
            // Local NAT64 (RFC 8215) may have a prefix of 48 to 96 bits: RFC 6052 §2.2 says where the address then lies.
            forms.append(ipv4(low))
            forms.append(ipv4((high & 0xFFFF) << 16 | (low >> 40) & 0xFFFF))
            forms.append(ipv4((high & 0xFF) << 24 | (low >> 32) & 0xFF_FFFF))
            forms.append(ipv4(low >> 24))
        }
        if high >> 48 == 0x2002 { forms.append(ipv4(high >> 16)) }  // 6to4 (RFC 3056 §2)
        if high >> 32 == 0x2001_0000 { forms.append(ipv4(~low)) }  // Teredo: the client's, inverted (RFC 4380 §4)
        if low >> 32 & 0xFDFF_FFFF == 0x0000_5EFE { forms.append(ipv4(low)) }  // ISATAP (RFC 5214 §6.1)
        return forms
    }

    /// What kind of address nobody may reach this is; nil when it is an ordinary one.
    static func kind(of address: IPAddress) -> String? {
        if address.isLoopback { return "a loopback address" }
        if address.isUnspecified { return "an unspecified address" }
        if address.isLinkLocal { return "a link-local address" }
        if address.isMulticast { return "a multicast address" }
        if address.isIPv4, address.low == 0xFFFF_FFFF { return "the broadcast address" }
        return nil
    }
}

extension IPAddress {
    /// 0.0.0.0/8 (RFC 6890) and `::`.
    var isUnspecified: Bool { isIPv4 ? low >> 24 == 0 : high == 0 && low == 0 }

    /// 169.254.0.0/16 (RFC 3927) and fe80::/10 (RFC 4291 §2.5.6).
    var isLinkLocal: Bool { isIPv4 ? low >> 16 == 0xA9FE : high >> 54 == 0x3FA }
}
