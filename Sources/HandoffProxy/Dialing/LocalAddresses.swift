internal import Glibc
public import SessionTrace

/// The addresses of this host's interfaces.
public enum LocalAddresses {
    /// An interface that is up, and one of its addresses.
    public struct Entry: Hashable, Sendable {
        /// The interface's name.
        public var interface: String
        /// The address.
        public var address: IPAddress
        /// Whether other hosts can be on the link.
        public var isLoopback: Bool
        /// Whether it is one end of a tunnel (VPN) or the like.
        public var isPointToPoint: Bool
    }

    /// All addresses of interfaces that are up, in the kernel's order. Empty when the kernel does not say.
    public static func all() -> [Entry] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var entries: [Entry] = []
        var next = list
        while let entry = next {
            next = entry.pointee.ifa_next
            let flags = entry.pointee.ifa_flags
            guard flags & UInt32(IFF_UP) != 0, let socketAddress = entry.pointee.ifa_addr,
                let address = address(socketAddress)
            else { continue }
            entries.append(
                Entry(
                    interface: String(cString: entry.pointee.ifa_name), address: address,
                    isLoopback: flags & UInt32(IFF_LOOPBACK) != 0,
                    isPointToPoint: flags & UInt32(IFF_POINTOPOINT) != 0))
        }
        return entries
    }

    /// The address under which a phone on the same network most likely reaches this host (`--listen lan`): IPv4 before IPv6,
    /// private before public, no tunnel, no virtual bridge; nil when there is none.
    public static func lan(_ entries: [Entry] = all()) -> IPAddress? {
        let candidates = entries.filter { entry in
            !entry.isLoopback && !entry.isPointToPoint && !entry.address.isLinkLocal
                && !["docker", "veth", "virbr", "br-", "tun", "wg"].contains(where: entry.interface.hasPrefix)
        }
        func rank(_ address: IPAddress) -> Int {
            (address.isIPv4 ? 0 : 2) + (AddressRange.localNetworks.contains { $0.contains(address) } ? 0 : 1)
        }
        return candidates.min { rank($0.address) < rank($1.address) }?.address
    }

    private static func address(_ pointer: UnsafePointer<sockaddr>) -> IPAddress? {
        // `sa_family`, by its place: the first two bytes of every socket address of Linux.
        switch Int32(UnsafeRawPointer(pointer).load(as: UInt16.self)) {
        case AF_INET:
            return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                IPAddress(ipv4: UInt32(bigEndian: $0.pointee.sin_addr.s_addr))
            }
        case AF_INET6:
            return pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
                withUnsafeBytes(of: pointer.pointee.sin6_addr) { bytes in
                    IPAddress(
                        ipv6High: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                        low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
                }
            }
        default: return nil
        }
    }
}
