internal import CLinuxSockets
internal import Glibc
internal import SessionTrace

extension Endpoint {
    /// Reads a kernel address; an IPv4-mapped one becomes IPv4. Nil for other families.
    init?(_ address: UnsafePointer<sockaddr>) {
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            let ipv4 = UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in.self)
            self.init(
                address: IPAddress(ipv4: UInt32(bigEndian: ipv4.sin_addr.s_addr)),
                port: UInt16(bigEndian: ipv4.sin_port))
        case AF_INET6:
            var ipv6 = UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in6.self)
            let (high, low) = withUnsafeBytes(of: &ipv6.sin6_addr) {
                (
                    UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                    UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
                )
            }
            let isMapped = high == 0 && low >> 32 == 0xFFFF
            self.init(
                address: isMapped
                    ? IPAddress(ipv4: UInt32(truncatingIfNeeded: low)) : IPAddress(ipv6High: high, low: low),
                port: UInt16(bigEndian: ipv6.sin6_port))
        default: return nil
        }
    }

    init?(_ storage: sockaddr_storage) {
        let endpoint = withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Endpoint($0) }
        }
        guard let endpoint else { return nil }
        self = endpoint
    }

    /// Calls `body` with the kernel's form of the address; IPv4 as IPv4-mapped IPv6 when `asIPv6`.
    func withSocketAddress<Result>(
        asIPv6: Bool = false, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    )
        -> Result
    {
        if address.isIPv4, !asIPv6 {
            var ipv4 = sockaddr_in()
            ipv4.sin_family = sa_family_t(AF_INET)
            ipv4.sin_port = port.bigEndian
            ipv4.sin_addr.s_addr = UInt32(truncatingIfNeeded: address.low).bigEndian
            return withUnsafePointer(to: &ipv4) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
        var ipv6 = sockaddr_in6()
        ipv6.sin6_family = sa_family_t(AF_INET6)
        ipv6.sin6_port = port.bigEndian
        withUnsafeMutableBytes(of: &ipv6.sin6_addr) {
            $0.storeBytes(of: address.high.bigEndian, as: UInt64.self)
            let low = address.isIPv4 ? 0xFFFF_0000_0000 | address.low : address.low
            $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        return withUnsafePointer(to: &ipv6) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in6>.size))
            }
        }
    }
}
