internal import SessionTrace
public import WireFormats

/// Frames in, segments and datagrams out: link headers off, fragments together, tunnels opened.
///
/// One frame gives none, one or several units (an A-MSDU; the outside and the inside of VXLAN). What could not be read
/// is counted as it comes and told as blind spots at the end, one for each kind.
public struct NetworkLayer {
    /// What the frames were.
    public private(set) var counters = NetworkCounters()
    private let limits: NetworkLimits
    private var fragments: FragmentTable
    private var unread = UnreadPackets()

    /// Makes a layer without memory of any packet.
    public init(limits: NetworkLimits = .init()) {
        self.limits = limits
        fragments = FragmentTable(limits: limits)
    }

    /// What all layers of one frame share.
    private struct Frame {
        let end: UnsafeRawPointer?
        /// Bytes on the wire beyond the captured ones.
        let cutLength: Int
        let reference: PacketReference
        let interface: Int
        let record: ProcessRecord
        let process: ProcessIdentity?
    }

    /// Takes a packet of the capture.
    public mutating func receive(_ packet: borrowing CapturedPacket, into sink: inout some TransportSink) {
        let frame = packet.bytes
        let reference = packet.reference
        counters.packets += 1
        let wireLength = max(packet.originalLength, frame.count)
        if wireLength > frame.count { counters.truncatedPackets += 1 }
        expireFragments(at: reference, into: &sink)
        let link = LinkLayer.read(frame, linkType: packet.linkType.rawValue, wireLength: wireLength)
        let context = Frame(
            end: frame.baseAddress.map { $0 + frame.count }, cutLength: wireLength - frame.count,
            reference: reference, interface: packet.interface, record: link.process, process: packet.process)
        var sawFragment = false
        switch link.payload {
        case .unsupported:
            counters.unsupportedLinkType += 1
            unread.add(.linkType(packet.linkType.rawValue), at: reference, bytes: wireLength)
        case .notIP:
            counters.notIP += 1
        default:
            take(link.payload, of: context, depth: 0, sawFragment: &sawFragment, into: &sink)
        }
        if sawFragment { counters.ipFragments += 1 }
    }

    /// Ends the capture: incomplete datagrams are given up, unread packets told.
    public mutating func finish(into sink: inout some TransportSink) {
        while let datagram = fragments.nextRemaining() { giveUp(datagram, into: &sink) }
        for spot in unread.spots { sink.blind(spot) }
        unread = UnreadPackets()
    }

    private mutating func take(
        _ payload: LinkPayload, of frame: Frame, depth: Int, sawFragment: inout Bool,
        into sink: inout some TransportSink
    ) {
        switch payload {
        case .ip(let bytes):
            takeIP(bytes, of: frame, depth: depth, sawFragment: &sawFragment, into: &sink)
        case .aggregate(let bytes):
            var rest = bytes
            while let subframe = WirelessFrame.nextSubframe(&rest) {
                if case .aggregate = subframe { continue }
                take(subframe, of: frame, depth: depth + 1, sawFragment: &sawFragment, into: &sink)
            }
        case .notIP:
            counters.otherProtocols += 1
        case .encrypted:
            counters.encryptedOnAir += 1
            unread.add(.encryptedOnAir, at: frame.reference, bytes: nil)
        case .cutShort, .unsupported:
            counters.headersCutShort += 1
            if frame.cutLength > 0 { unread.add(.cutShort, at: frame.reference, bytes: nil) }
        }
    }

    private mutating func takeIP(
        _ bytes: UnsafeRawBufferPointer, of frame: Frame, depth: Int, sawFragment: inout Bool,
        into sink: inout some TransportSink
    ) {
        guard depth <= limits.tunnelDepth, let start = bytes.baseAddress else {
            counters.malformed += 1
            return
        }
        let reachesFrameEnd = start + bytes.count == frame.end
        let packet: IPHeader
        do throws(IPHeader.Fault) {
            packet = try IPHeader.read(
                bytes, wireLength: bytes.count + (reachesFrameEnd ? frame.cutLength : 0), isBounded: !reachesFrameEnd)
        } catch {
            switch error {
            case .malformed:
                counters.malformed += 1
            case .cutShort:
                counters.headersCutShort += 1
                if bytes.count >= 8, bytes[0] >> 4 == 4, bytes[6] & 0x20 != 0 { sawFragment = true }
                if frame.cutLength > 0 { unread.add(.cutShort, at: frame.reference, bytes: nil) }
            }
            return
        }
        if packet.hasMoreFragmentsBit { sawFragment = true }
        guard let fragment = packet.fragment else {
            takeTransport(packet, of: frame, depth: depth, sawFragment: &sawFragment, into: &sink)
            return
        }
        if fragment.offset == 0, packet.payload.count < packet.payloadLength {
            // Cut when it was captured, so it will never be whole: what there is of it is read now.
            takeJoined(packet, of: frame, depth: depth, sawFragment: &sawFragment, into: &sink)
        }
        let conflicts = fragments.conflicts
        switch fragments.add(packet, fragment: fragment, at: frame.reference) {
        case .waiting:
            break
        case .repeated:
            counters.repeatedFragments += 1
        case .complete(let datagram):
            counters.reassembledDatagrams += 1
            datagram.bytes.withUnsafeBytes { whole in
                var joined = packet
                joined.protocolNumber = datagram.protocolNumber
                joined.payload = whole
                joined.payloadLength = whole.count
                takeJoined(joined, of: frame, depth: depth, sawFragment: &sawFragment, into: &sink)
            }
            fragments.remember(datagram)
        }
        counters.fragmentConflicts += fragments.conflicts - conflicts
    }

    /// A datagram put together: its first fragment may begin with extension headers (IPv6).
    private mutating func takeJoined(
        _ packet: IPHeader, of frame: Frame, depth: Int, sawFragment: inout Bool, into sink: inout some TransportSink
    ) {
        var packet = packet
        packet.fragment = nil
        if !packet.source.isIPv4 {
            do throws(IPHeader.Fault) {
                try packet.takeExtensionHeaders()
            } catch {
                counters.malformed += 1
                return
            }
            guard packet.fragment == nil else {
                counters.malformed += 1
                return
            }
        }
        takeTransport(packet, of: frame, depth: depth, sawFragment: &sawFragment, into: &sink)
    }

    private mutating func takeTransport(
        _ packet: IPHeader, of frame: Frame, depth: Int, sawFragment: inout Bool, into sink: inout some TransportSink
    ) {
        switch packet.protocolNumber {
        case 6, 17:
            guard var unit = Self.unit(of: packet, frame: frame) else {
                if packet.payload.count < packet.payloadLength {
                    counters.headersCutShort += 1
                    unread.add(.cutShort, at: frame.reference, bytes: packet.payloadLength)
                } else {
                    counters.malformed += 1
                }
                return
            }
            if unit.segment == nil, unit.destination.port == TunnelHeader.vxlanPort,
                let inner = TunnelHeader.vxlanPayload(of: unit.payload)
            {
                counters.tunnelLayers += 1
                unit.isTunnel = true
                sink.received(unit)
                take(inner, of: frame, depth: depth + 1, sawFragment: &sawFragment, into: &sink)
                return
            }
            sink.received(unit)
        case 4, 41:
            counters.tunnelLayers += 1
            takeIP(packet.payload, of: frame, depth: depth + 1, sawFragment: &sawFragment, into: &sink)
        case 47:
            counters.tunnelLayers += 1
            let inner = TunnelHeader.grePayload(of: packet.payload)
            take(inner, of: frame, depth: depth + 1, sawFragment: &sawFragment, into: &sink)
        case 137:
            counters.tunnelLayers += 1
            let inner = EtherType.payload(of: packet.payload, type: EtherType.mpls)
            take(inner, of: frame, depth: depth + 1, sawFragment: &sawFragment, into: &sink)
        default:
            counters.otherProtocols += 1
        }
    }

    private static func unit(of packet: IPHeader, frame: Frame) -> TransportUnit? {
        if packet.protocolNumber == 6 {
            guard let header = TCPHeader.read(packet.payload, length: packet.payloadLength) else { return nil }
            return TransportUnit(
                source: Endpoint(address: packet.source, port: header.sourcePort),
                destination: Endpoint(address: packet.destination, port: header.destinationPort),
                segment: .init(
                    sequence: header.sequence, acknowledgement: header.acknowledgement, flags: header.flags),
                payload: header.payload, payloadLength: header.payloadLength, reference: frame.reference,
                interface: frame.interface, processRecord: frame.record, process: frame.process)
        }
        guard let header = UDPHeader.read(packet.payload, length: packet.payloadLength) else { return nil }
        return TransportUnit(
            source: Endpoint(address: packet.source, port: header.sourcePort),
            destination: Endpoint(address: packet.destination, port: header.destinationPort), segment: nil,
            payload: header.payload, payloadLength: header.payloadLength, reference: frame.reference,
            interface: frame.interface, processRecord: frame.record, process: frame.process)
    }

    private mutating func expireFragments(at reference: PacketReference, into sink: inout some TransportSink) {
        guard !fragments.isEmpty else { return }
        while let datagram = fragments.nextExpired(at: reference.time) { giveUp(datagram, into: &sink) }
    }

    private mutating func giveUp(_ datagram: FragmentTable.Datagram, into sink: inout some TransportSink) {
        counters.incompleteDatagrams += 1
        let missing = datagram.missingBytes
        let isLengthKnown = datagram.totalLength != nil
        let spot = BlindSpot(
            reason: datagram.cutBytes > 0 ? .truncatedPacket : .fragmentMissing,
            span: TimeSpan(datagram.first.time, datagram.last.time), bytes: isLengthKnown ? missing : nil,
            noticed: datagram.last,
            detail: "datagram \(datagram.key.identification) from \(datagram.key.source) to \(datagram.key.destination)"
        )
        let length = max(datagram.totalLength ?? 0, datagram.bytes.count)
        let frame = Frame(
            end: nil, cutLength: 0, reference: datagram.last, interface: 0, record: .none, process: nil)
        let isTold =
            !datagram.isRead
            && datagram.bytes.withUnsafeBytes { bytes -> Bool in
                var packet = IPHeader(
                    source: datagram.key.source, destination: datagram.key.destination,
                    protocolNumber: datagram.protocolNumber,
                    payload: UnsafeRawBufferPointer(rebasing: bytes[..<datagram.leadingLength]), payloadLength: length)
                do throws(IPHeader.Fault) {
                    if !packet.source.isIPv4 { try packet.takeExtensionHeaders() }
                } catch {
                    return false
                }
                guard packet.protocolNumber == 6 || packet.protocolNumber == 17,
                    let unit = Self.unit(of: packet, frame: frame)
                else { return false }
                sink.receivedPart(unit, spot: spot)
                return true
            }
        if !isTold { sink.blind(spot) }
    }
}
