internal import Glibc
internal import SessionTrace

/// The kernel's neighbour table (ARP and NDP) as far as it tells which addresses are one network card: rtnetlink(7),
/// RTM_GETNEIGH. Enters: the messages of a dump; leaves: hardware addresses.
struct NeighbourTable {
    struct Entry: Hashable {
        var address: IPAddress
        /// Six bytes in the lower 48 bits.
        var hardwareAddress: UInt64
        /// Whether the kernel has heard of it lately.
        var isFresh: Bool
    }

    /// Most entries that are looked at; a lab's network has fewer.
    static let entryLimit = 4_096
    private static let bufferLength = 64 << 10
    private static let readLimit = 64
    /// Longest wait for the kernel, in milliseconds.
    private static let patience: Int32 = 200

    // linux/netlink.h, linux/rtnetlink.h, linux/neighbour.h.
    private static let netlinkFamily: Int32 = 16
    private static let doneType: UInt16 = 3
    private static let newNeighbour: UInt16 = 28
    private static let getNeighbour: UInt16 = 30
    private static let requestDump: UInt16 = 0x0301
    private static let destination: UInt16 = 1
    private static let linkLayerAddress: UInt16 = 2
    /// Reachable, delay, probe, permanent.
    private static let freshStates: UInt16 = 0x02 | 0x08 | 0x10 | 0x80
    private static let staleState: UInt16 = 0x04

    private(set) var entries: [Entry] = []

    /// A table of nothing.
    init() {}

    /// The table as it is now; empty when the kernel does not say.
    static func current() -> NeighbourTable {
        var table = NeighbourTable()
        let descriptor = socket(netlinkFamily, Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return table }
        defer { close(descriptor) }
        // nlmsghdr: length, type and flags, sequence, sender; then an ndmsg of zeros: every family, every interface.
        var request = [UInt32](repeating: 0, count: 7)
        request[0] = UInt32(request.count * 4)
        request[1] = UInt32(getNeighbour) | UInt32(requestDump) << 16
        guard send(descriptor, request, request.count * 4, 0) == request.count * 4 else { return table }
        var buffer = [UInt8](repeating: 0, count: bufferLength)
        for _ in 0..<readLimit {
            var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&watched, 1, patience) == 1 else { break }
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            if buffer.withUnsafeBytes({ table.take(UnsafeRawBufferPointer(rebasing: $0[..<count])) }) { break }
        }
        return table
    }

    /// Takes messages of a dump. Returns whether the dump is over.
    mutating func take(_ messages: UnsafeRawBufferPointer) -> Bool {
        var rest = messages
        while rest.count >= 16 {
            let length = Int(clamping: rest.loadUnaligned(as: UInt32.self))
            let type = rest.loadUnaligned(fromByteOffset: 4, as: UInt16.self)
            guard length >= 16, length <= rest.count else { return true }
            if type == Self.doneType { return true }
            if type == Self.newNeighbour { take(message: UnsafeRawBufferPointer(rebasing: rest[16..<length])) }
            rest = UnsafeRawBufferPointer(rebasing: rest[min((length + 3) & ~3, rest.count)...])
        }
        return entries.count >= Self.entryLimit
    }

    private mutating func take(message: UnsafeRawBufferPointer) {
        // ndmsg: family, padding, interface, state at 8.
        guard message.count >= 12, entries.count < Self.entryLimit else { return }
        let state = message.loadUnaligned(fromByteOffset: 8, as: UInt16.self)
        guard state & (Self.freshStates | Self.staleState) != 0 else { return }
        var address: IPAddress?
        var hardwareAddress: UInt64?
        var rest = UnsafeRawBufferPointer(rebasing: message[12...])
        while rest.count >= 4 {
            let length = Int(rest.loadUnaligned(as: UInt16.self))
            let type = rest.loadUnaligned(fromByteOffset: 2, as: UInt16.self)
            guard length >= 4, length <= rest.count else { break }
            let value = rest[4..<length]
            switch (type, value.count) {
            case (Self.destination, 4):
                address = IPAddress(ipv4: value.reduce(0) { $0 << 8 | UInt32($1) })
            case (Self.destination, 16):
                address = IPAddress(
                    ipv6High: value.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
                    low: value.suffix(8).reduce(0) { $0 << 8 | UInt64($1) })
            case (Self.linkLayerAddress, 6):
                hardwareAddress = value.reduce(0) { $0 << 8 | UInt64($1) }
            default: break
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[min((length + 3) & ~3, rest.count)...])
        }
        guard let address, let hardwareAddress, hardwareAddress != 0 else { return }
        entries.append(
            Entry(address: address, hardwareAddress: hardwareAddress, isFresh: state & Self.freshStates != 0))
    }

    /// The network card that an address belongs to; nil when the table does not know, or when the card does not tell a
    /// device: one that answers for several IPv4 addresses at a time is a router or an access point.
    func hardwareAddress(of address: IPAddress) -> UInt64? {
        let found = Set(entries.lazy.filter { $0.address == address }.map(\.hardwareAddress))
        guard found.count == 1, let card = found.first else { return nil }
        let others = entries.contains {
            $0.hardwareAddress == card && $0.isFresh && $0.address.isIPv4 && address.isIPv4 && $0.address != address
        }
        let several = Set(
            entries.lazy.filter { $0.hardwareAddress == card && $0.isFresh && $0.address.isIPv4 }
                .map(\.address))
        return others || several.count > 1 ? nil : card
    }
}
