import SessionTrace
import Testing

@testable import HandoffProxy
@testable import WireFormats

@Suite struct BypassSorterTests {
    private static let time = Instant(nanoseconds: 1_790_000_000_000_000_000)
    private static let device = Endpoint.of("192.0.2.10", 50_000)
    private static let origin = Endpoint.of("198.51.100.7", 443)
    private static let key = DeviceKey.named("phone")

    private static func knowledge() -> BypassSorter.Knowledge {
        var knowledge = BypassSorter.Knowledge()
        knowledge.devices[device.address] = key
        return knowledge
    }

    /// An Ethernet frame with a TCP segment or a UDP datagram.
    private static func frame(
        from source: Endpoint, to destination: Endpoint, payload: [UInt8] = [], isUDP: Bool = false
    ) -> [UInt8] {
        var frames = FrameWriter()
        var bytes: [UInt8] = []
        payload.withUnsafeBytes { payload in
            if isUDP {
                frames.udp(payload: payload, from: source, to: destination, byDevice: true) { bytes = Array($0) }
            } else {
                let segment = FrameWriter.Segment(sequence: 1, acknowledgement: nil)
                frames.tcp(segment, payload: payload, from: source, to: destination, byDevice: true) {
                    bytes = Array($0)
                }
            }
        }
        return bytes + payload
    }

    /// The same packet as a cooked capture (version 2) shows it.
    private static func cooked(_ frame: [UInt8], isLeaving: Bool) -> [UInt8] {
        [frame[12], frame[13], 0, 0, 0, 0, 0, 2, 0, 1, isLeaving ? 4 : 0, 6, 0, 0, 0, 0, 0, 0, 0, 0] + frame[14...]
    }

    private static func take(
        _ packet: [UInt8], into sorter: inout BypassSorter, now: UInt64 = 0, _ knowledge: BypassSorter.Knowledge
    ) {
        packet.withUnsafeBytes {
            sorter.take($0, originalLength: packet.count, at: time, now: now, knowing: knowledge)
        }
    }

    @Test("what goes around the proxy is recorded after a second, and named once")
    func around() {
        var sorter = BypassSorter(interface: "wlan0", linkType: .ethernet)
        let knowledge = Self.knowledge()
        Self.take(Self.frame(from: Self.device, to: Self.origin), into: &sorter, now: 5, knowledge)
        Self.take(Self.frame(from: Self.origin, to: Self.device), into: &sorter, now: 6, knowledge)
        #expect(sorter.release(now: 4 + BypassSorter.hold, knowing: knowledge).isEmpty)
        let first = sorter.release(now: 5 + BypassSorter.hold, knowing: knowledge)
        #expect(first.count == 1 && first[0].bytes == Self.frame(from: Self.device, to: Self.origin))
        #expect(
            first[0].newFlow.map { "\($0)" } == "TCP 192.0.2.10:50000 to 198.51.100.7:443 on wlan0")
        let second = sorter.release(now: 6 + BypassSorter.hold, knowing: knowledge)
        #expect(second.count == 1 && second[0].newFlow == nil && second[0].device == Self.key)
        #expect(sorter.recordedPackets == 2 && sorter.proxiedPackets == 0)
    }

    @Test("packets of proxied connections are dropped and counted, also when the proxy is told of them late")
    func proxied() {
        var sorter = BypassSorter(interface: "wlan0", linkType: .ethernet)
        var knowledge = Self.knowledge()
        Self.take(Self.frame(from: Self.device, to: Self.origin), into: &sorter, knowledge)
        knowledge.proxied.insert(FlowKey(Self.device, Self.origin, protocolNumber: 6))
        Self.take(Self.frame(from: Self.origin, to: Self.device), into: &sorter, knowledge)
        #expect(sorter.releaseAll(knowing: knowledge).isEmpty)
        #expect(sorter.proxiedPackets == 2 && sorter.recordedPackets == 0)
        // The same addresses and ports over UDP are another conversation.
        Self.take(Self.frame(from: Self.device, to: Self.origin, isUDP: true), into: &sorter, knowledge)
        #expect(sorter.releaseAll(knowing: knowledge).count == 1)
    }

    @Test("a device that becomes known while its first packets wait has them in its trace")
    func lateDevice() {
        var sorter = BypassSorter(interface: "wlan0", linkType: .ethernet)
        Self.take(Self.frame(from: Self.device, to: Self.origin), into: &sorter, BypassSorter.Knowledge())
        Self.take(Self.frame(from: .of("192.0.2.99", 1), to: Self.origin), into: &sorter, BypassSorter.Knowledge())
        #expect(sorter.releaseAll(knowing: Self.knowledge()).map(\.device) == [Self.key])
    }

    @Test("our own listeners are left out, at one address or at all")
    func own() {
        var knowledge = Self.knowledge()
        knowledge.own = [.of("192.0.2.1", 4_773), .of("0.0.0.0", 4_774)]
        var sorter = BypassSorter(interface: "wlan0", linkType: .ethernet)
        Self.take(Self.frame(from: Self.device, to: .of("192.0.2.1", 4_773)), into: &sorter, knowledge)
        Self.take(Self.frame(from: .of("192.0.2.1", 4_773), to: Self.device), into: &sorter, knowledge)
        Self.take(Self.frame(from: Self.device, to: .of("192.0.2.3", 4_774), isUDP: true), into: &sorter, knowledge)
        #expect(sorter.releaseAll(knowing: knowledge).isEmpty)
        Self.take(Self.frame(from: Self.device, to: .of("192.0.2.2", 4_773)), into: &sorter, knowledge)
        #expect(sorter.releaseAll(knowing: knowledge).count == 1)
        #expect(
            BypassCapture.expression(knowledge)
                == "(ip or ip6) and not (port 4773 and host 192.0.2.1) and not (port 4774)")
        #expect(BypassCapture.expression(BypassSorter.Knowledge()) == "(ip or ip6)")
        knowledge.own = []
        knowledge.devices[Endpoint.of("127.0.0.9", 0).address] = .named("emulator")
        #expect(
            BypassCapture.expression(knowledge)
                == "(ip or ip6) and (not (net 127.0.0.0/8 or host ::1) or host 127.0.0.9)")
    }

    @Test("a network's own business is recorded without a line")
    func quiet() {
        var sorter = BypassSorter(interface: "wlan0", linkType: .ethernet)
        let remotes = [Endpoint.of("192.0.2.1", 53), .of("224.0.0.251", 5_353), .of("255.255.255.255", 67)]
        for remote in remotes {
            Self.take(Self.frame(from: Self.device, to: remote, isUDP: true), into: &sorter, Self.knowledge())
        }
        let packets = sorter.releaseAll(knowing: Self.knowledge())
        #expect(packets.count == 3 && packets.allSatisfy { $0.newFlow == nil })
    }

    @Test("a gateway that sees a packet come and go records it once")
    func forwarded() {
        var sorter = BypassSorter(interface: "any", linkType: .linuxCooked2)
        let there = Self.frame(from: Self.device, to: Self.origin)
        let back = Self.frame(from: Self.origin, to: Self.device)
        for isLeaving in [false, true] {
            Self.take(Self.cooked(there, isLeaving: isLeaving), into: &sorter, Self.knowledge())
            Self.take(Self.cooked(back, isLeaving: isLeaving), into: &sorter, Self.knowledge())
        }
        let packets = sorter.releaseAll(knowing: Self.knowledge())
        #expect(packets.map(\.bytes) == [Self.cooked(there, isLeaving: false), Self.cooked(back, isLeaving: true)])
    }

    @Test("packets that wait are bounded, and what finds no room is counted")
    func room() {
        var sorter = BypassSorter(interface: "wlan0", linkType: .ethernet)
        let packet = Self.frame(from: Self.device, to: Self.origin, payload: [UInt8](repeating: 0, count: 60_000))
        let most = BypassSorter.deviceBytesLimit / packet.count
        for _ in 0..<most + 10 { Self.take(packet, into: &sorter, Self.knowledge()) }
        #expect(sorter.droppedPackets >= 10)
        let released = sorter.releaseAll(knowing: Self.knowledge())
        #expect(released.count + Int(sorter.droppedPackets) == most + 10)
        Self.take(packet, into: &sorter, Self.knowledge())
        #expect(sorter.releaseAll(knowing: Self.knowledge()).count == 1)
    }

    @Test("hosts that are no device fill a space of their own, in which the oldest are forgotten")
    func strangers() {
        var sorter = BypassSorter(interface: "wlan0", linkType: .ethernet)
        let other = Self.frame(
            from: .of("192.0.2.99", 1), to: Self.origin, payload: [UInt8](repeating: 0, count: 60_000))
        Self.take(Self.frame(from: Self.device, to: Self.origin), into: &sorter, BypassSorter.Knowledge())
        for _ in 0...BypassSorter.strangerBytesLimit / other.count {
            Self.take(other, into: &sorter, BypassSorter.Knowledge())
        }
        Self.take(Self.frame(from: Self.origin, to: Self.device), into: &sorter, BypassSorter.Knowledge())
        #expect(sorter.droppedPackets == 0)
        let packets = sorter.releaseAll(knowing: Self.knowledge())
        #expect(packets.map(\.bytes) == [Self.frame(from: Self.origin, to: Self.device)])
    }

    @Test("a name in the ClientHello behind the first packet is told")
    func serverName() {
        // RFC 8446 §4.1.2 with one extension, server_name (RFC 6066 §3).
        let name = Array("api.partner.example".utf8)
        let list = [0] + [0, UInt8(name.count)] + name
        let names = [0, 0, 0, UInt8(list.count + 2), 0, UInt8(list.count)] + list
        let body =
            [3, 3] + [UInt8](repeating: 7, count: 32) + [0, 0, 2, 0x13, 0x01, 1, 0, 0, UInt8(names.count)] + names
        let hello = [0x16, 3, 1, 0, UInt8(body.count + 4), 1, 0, 0, UInt8(body.count)] + body
        var sorter = BypassSorter(interface: "wlan0", linkType: .ethernet)
        Self.take(Self.frame(from: Self.device, to: Self.origin), into: &sorter, Self.knowledge())
        Self.take(Self.frame(from: Self.device, to: Self.origin, payload: hello), into: &sorter, Self.knowledge())
        let packets = sorter.releaseAll(knowing: Self.knowledge())
        #expect(packets.first?.newFlow?.name == "api.partner.example")
    }

    @Test("proxied connections are remembered up to a limit, the oldest forgotten first")
    func memory() {
        var flows = ProxiedFlows()
        func flow(_ number: Int) -> FlowKey {
            FlowKey(
                Endpoint(address: IPAddress(ipv4: UInt32(number)), port: 1), Self.origin, protocolNumber: 6)
        }
        for number in 0..<ProxiedFlows.limit + 3 { flows.insert(flow(number)) }
        #expect(!flows.contains(flow(2)) && flows.contains(flow(3)))
        #expect(flows.contains(flow(ProxiedFlows.limit + 2)))
        #expect(
            FlowKey(Self.device, Self.origin, protocolNumber: 6) == FlowKey(Self.origin, Self.device, protocolNumber: 6)
        )
    }

    @Test("bytes that are no packet are passed over")
    func noise() {
        var sorter = BypassSorter(interface: "wlan0", linkType: .ethernet)
        let whole = Self.frame(from: Self.device, to: Self.origin, payload: [1, 2, 3])
        for length in 0..<whole.count {
            Self.take(Array(whole[..<length]), into: &sorter, Self.knowledge())
            var changed = whole
            changed[length] ^= 0xFF
            Self.take(changed, into: &sorter, Self.knowledge())
        }
        #expect(sorter.releaseAll(knowing: Self.knowledge()).count <= 2 * whole.count)
    }
}
