internal import SessionTrace
internal import WireFormats

/// Decides which captured packets are a device's traffic around the proxy. Packets in, after `hold` the packets that
/// belong into a trace out; no capture, clock or file in it.
///
/// A packet waits before it is decided upon, since the SYN of a proxied connection is seen before the proxy has accepted
/// it, and a packet of the proxy's own leg before the proxy has told of it.
struct BypassSorter {
    /// What the proxy knows that packets do not say.
    struct Knowledge {
        /// Addresses of devices.
        var devices: [IPAddress: DeviceKey] = [:]
        /// Our own listeners, control and mark ports; an unspecified address stands for every address of this host.
        var own: [Endpoint] = []
        /// Conversations of the proxy on either leg.
        var proxied = ProxiedFlows()
        /// Counts changes that the kernel's filter has to follow: our own ports, devices on this host.
        var version = 0
    }

    /// A packet that belongs into the trace of `device`.
    struct Packet {
        var device: DeviceKey
        var time: Instant
        var bytes: [UInt8]
        var originalLength: Int
        /// The flow, when this is its first packet.
        var newFlow: BypassFlow?
    }

    /// How long a packet waits, in nanoseconds.
    static let hold: UInt64 = 1_000_000_000
    /// Most bytes that wait of devices; beyond them packets are dropped and counted.
    static let deviceBytesLimit = 16 << 20
    /// Most bytes that wait of hosts that are no known device: one of them may turn out to be one, with its first
    /// connection through the proxy. Beyond them the oldest are forgotten, and nothing is lost of a device.
    static let strangerBytesLimit = 4 << 20
    /// Waiting packets that are searched for a flow's ClientHello.
    private static let nameSearchLimit = 256
    /// Flows that have been told of; a person reads no more lines.
    static let flowLimit = 4_096

    /// Packets of proxied connections, which are in the trace already.
    private(set) var proxiedPackets: UInt64 = 0
    /// Packets given for a trace.
    private(set) var recordedPackets: UInt64 = 0
    /// Packets that found no room.
    private(set) var droppedPackets: UInt64 = 0
    private let interface: String
    private let linkType: LinkType
    private var held = HeldPackets(byteLimit: deviceBytesLimit)
    private var strangers = HeldPackets(byteLimit: strangerBytesLimit)
    private var toldFlows: Set<FlowKey> = []

    init(interface: String, linkType: LinkType) {
        self.interface = interface
        self.linkType = linkType
    }

    /// Takes a captured packet; `now` is any clock that only goes forward, in nanoseconds.
    mutating func take(
        _ packet: UnsafeRawBufferPointer, originalLength: Int, at time: Instant, now: UInt64,
        knowing knowledge: borrowing Knowledge
    ) {
        guard let addresses = PacketAddresses(packet, linkType: linkType, wireLength: originalLength) else { return }
        if knowledge.proxied.contains(addresses.flow) {
            proxiedPackets += 1
            return
        }
        if Self.isOwn(addresses, knowledge) { return }
        let isDevice =
            knowledge.devices[addresses.source.address.unmapped] != nil
            || knowledge.devices[addresses.destination.address.unmapped] != nil
        if isDevice, !held.hasRoom(for: packet.count) {
            droppedPackets += 1
            return
        }
        let kept = HeldPackets.Packet(
            bytes: Array(packet), originalLength: originalLength, time: time, due: now &+ Self.hold)
        if isDevice {
            held.append(kept)
        } else {
            while !strangers.hasRoom(for: packet.count), strangers.next(due: .max) != nil {}
            strangers.append(kept)
        }
    }

    /// Gives the packets whose time has come.
    mutating func release(now: UInt64, knowing knowledge: borrowing Knowledge) -> [Packet] {
        var released: [Packet] = []
        // Strangers first: of a host that became a device they are the older ones.
        while let packet = strangers.next(due: now) {
            if let decided = decide(packet, knowledge) { released.append(decided) }
        }
        while let packet = held.next(due: now) {
            if let decided = decide(packet, knowledge) { released.append(decided) }
        }
        recordedPackets += UInt64(released.count)
        return released
    }

    /// Gives everything that waits: nothing more is going to be known.
    mutating func releaseAll(knowing knowledge: borrowing Knowledge) -> [Packet] {
        release(now: .max, knowing: knowledge)
    }

    private mutating func decide(_ packet: HeldPackets.Packet, _ knowledge: borrowing Knowledge) -> Packet? {
        packet.bytes.withUnsafeBytes { bytes in
            guard let addresses = PacketAddresses(bytes, linkType: linkType, wireLength: packet.originalLength) else {
                return nil
            }
            let flow = addresses.flow
            if knowledge.proxied.contains(flow) {
                proxiedPackets += 1
                return nil
            }
            let isFromDevice = knowledge.devices[addresses.source.address.unmapped] != nil
            guard
                let device = knowledge.devices[addresses.source.address.unmapped]
                    ?? knowledge.devices[addresses.destination.address.unmapped]
            else { return nil }
            // A gateway's "any" interface sees what it forwards twice: only the leg towards the device counts.
            if isForwardedCopy(addresses, isFromDevice: isFromDevice) { return nil }
            return Packet(
                device: device, time: packet.time, bytes: packet.bytes, originalLength: packet.originalLength,
                newFlow: newFlow(addresses, of: device, isFromDevice: isFromDevice))
        }
    }

    private func isForwardedCopy(_ packet: PacketAddresses, isFromDevice: Bool) -> Bool {
        guard linkType == .linuxCooked || linkType == .linuxCooked2, !packet.source.address.isLoopback else {
            return false
        }
        return packet.isLeaving == isFromDevice
    }

    private mutating func newFlow(
        _ packet: PacketAddresses, of device: DeviceKey, isFromDevice: Bool
    ) -> BypassFlow? {
        let local = isFromDevice ? packet.source : packet.destination
        let remote = isFromDevice ? packet.destination : packet.source
        guard !packet.isLaterFragment, Self.isWorthALine(packet, remote), toldFlows.count < Self.flowLimit else {
            return nil
        }
        // One line for each service that the device reaches, not for each of its connections there.
        let service = FlowKey(
            Endpoint(address: local.address, port: 0), remote, protocolNumber: packet.protocolNumber)
        guard toldFlows.insert(service).inserted else { return nil }
        let transport: String
        switch packet.protocolNumber {
        case 6: transport = "TCP"
        case 17: transport = "UDP"
        default: transport = "IP protocol \(packet.protocolNumber)"
        }
        return BypassFlow(
            device: device, transport: transport, local: local, remote: remote, name: serverName(in: packet.flow),
            interface: interface)
    }

    /// The name that a flow's packets so far show: they wait behind its first one.
    private func serverName(in flow: FlowKey) -> String? {
        for packet in strangers.waiting.prefix(Self.nameSearchLimit) + held.waiting.prefix(Self.nameSearchLimit) {
            let name = packet.bytes.withUnsafeBytes { bytes -> String? in
                guard let addresses = PacketAddresses(bytes, linkType: linkType, wireLength: packet.originalLength),
                    addresses.flow == flow
                else { return nil }
                return addresses.serverName
            }
            if let name { return name }
        }
        return nil
    }

    /// Everything is recorded, but a line is for what could carry the app's traffic: not for a network's own business
    /// (ICMP, multicast and broadcast, DHCP, DNS, NTP).
    private static func isWorthALine(_ packet: PacketAddresses, _ remote: Endpoint) -> Bool {
        if remote.address.isMulticast || remote.address == IPAddress(ipv4: .max) { return false }
        switch packet.protocolNumber {
        case 1, 2, 58: return false
        case 17: return ![53, 67, 68, 123, 546, 547, 5_353].contains(remote.port)
        default: return true
        }
    }

    private static func isOwn(_ packet: PacketAddresses, _ knowledge: borrowing Knowledge) -> Bool {
        guard packet.protocolNumber == 6 || packet.protocolNumber == 17, !packet.isLaterFragment else { return false }
        for end in [packet.source, packet.destination] {
            for own in knowledge.own where own.port == end.port {
                let isEvery = own.address.low == 0 && own.address.high == 0
                if isEvery || own.address.unmapped == end.address.unmapped { return true }
            }
        }
        return false
    }
}
