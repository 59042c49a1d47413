internal import SessionTrace

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Where the network can reach this host.
enum HostAddress {
    /// The address that this host has on the network: the one by which it would reach another (no packet is sent). Nil
    /// without a network.
    static var onNetwork: IPAddress? {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // An address of TEST-NET-1 (RFC 5737): the route to it is the default route.
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(9).bigEndian
        address.sin_addr.s_addr = UInt32(0xC000_0201).bigEndian
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, length) == 0 }
        }
        guard isConnected else { return nil }
        var own = sockaddr_in()
        var ownLength = length
        let isKnown = withUnsafeMutablePointer(to: &own) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &ownLength) == 0 }
        }
        let bits = UInt32(bigEndian: own.sin_addr.s_addr)
        return isKnown && bits != 0 ? IPAddress(ipv4: bits) : nil
    }
}
