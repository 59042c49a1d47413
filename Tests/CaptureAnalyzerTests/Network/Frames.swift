import SessionTrace
import WireFormats

@testable import CaptureAnalyzer

/// Builds frames from the inside out.
enum Frames {
    static func big16(_ value: Int) -> [UInt8] {
        [UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value)]
    }
    static func big32(_ value: UInt32) -> [UInt8] { big16(Int(value >> 16)) + big16(Int(value & 0xFFFF)) }
    static func little16(_ value: Int) -> [UInt8] { big16(value).reversed() }
    static func little32(_ value: UInt32) -> [UInt8] { big32(value).reversed() }
    static func zeros(_ count: Int) -> [UInt8] { Array(repeating: 0, count: count) }

    static func udp(_ payload: [UInt8], from source: Int = 50_000, to destination: Int = 53) -> [UInt8] {
        big16(source) + big16(destination) + big16(payload.count + 8) + zeros(2) + payload
    }

    static func tcp(_ payload: [UInt8], sequence: UInt32 = 1, flags: UInt8 = 0x10, options: [UInt8] = []) -> [UInt8] {
        big16(50_000) + big16(80) + big32(sequence) + big32(1) + [UInt8((20 + options.count) * 4), flags]
            + big16(1024) + zeros(4) + options + payload
    }

    static func ipv4(
        _ payload: [UInt8], proto: UInt8 = 17, id: Int = 7, more: Bool = false, offset: Int = 0, length: Int? = nil,
        options: [UInt8] = []
    ) -> [UInt8] {
        let headerLength = 20 + options.count
        var header: [UInt8] =
            [UInt8(0x40 | headerLength / 4), 0] + big16(length ?? headerLength + payload.count) + big16(id)
            + big16((more ? 0x2000 : 0) | offset / 8) + [64, proto, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2] + options
        var sum = 0
        for index in stride(from: 0, to: header.count, by: 2) {
            sum += Int(header[index]) << 8 | Int(header[index + 1])
        }
        while sum > 0xFFFF { sum = sum & 0xFFFF + sum >> 16 }
        header.replaceSubrange(10..<12, with: big16(~sum & 0xFFFF))
        return header + payload
    }

    static func ipv6(_ payload: [UInt8], next: UInt8 = 17, length: Int? = nil) -> [UInt8] {
        [0x60, 0, 0, 0] + big16(length ?? payload.count) + [next, 64] + [0x20, 1, 0x0D, 0xB8] + zeros(11) + [1]
            + [0x20, 1, 0x0D, 0xB8] + zeros(11) + [2] + payload
    }

    static func ethernet(_ payload: [UInt8], type: Int = 0x0800) -> [UInt8] {
        [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2] + big16(type) + payload
    }

    static func snap(_ payload: [UInt8], type: Int = 0x0800) -> [UInt8] {
        [0xAA, 0xAA, 3, 0, 0, 0] + big16(type) + payload
    }

    /// An IPv6 fragment header and what follows it.
    static func fragment6(_ part: [UInt8], next: UInt8, offset: Int, more: Bool, id: UInt32 = 9) -> [UInt8] {
        [next, 0] + big16(offset | (more ? 1 : 0)) + big32(id) + part
    }

    static func pktap(
        _ frame: [UInt8], dlt: UInt32, name: String, process: UInt32, effective: String, effectiveProcess: UInt32
    ) -> [UInt8] {
        func text(_ text: String, _ length: Int) -> [UInt8] { Array(text.utf8) + zeros(length - text.utf8.count) }
        return little32(108) + little32(1) + little32(dlt) + text("en0", 24) + zeros(16) + little32(process)
            + text(name, 20) + zeros(8) + little32(effectiveProcess) + text(effective, 20) + frame
    }
}

/// Keeps what a network layer gives.
struct UnitCollector: TransportSink {
    struct Unit {
        var source: Endpoint
        var destination: Endpoint
        var isTCP: Bool
        var payload: [UInt8]
        var length: Int
        var process: ProcessIdentity?
        var isTunnel: Bool
    }

    var units: [Unit] = []
    var parts: [Unit] = []
    var spots: [BlindSpot] = []

    private func copy(_ unit: TransportUnit) -> Unit {
        Unit(
            source: unit.source, destination: unit.destination, isTCP: unit.segment != nil,
            payload: [UInt8](unit.payload), length: unit.payloadLength,
            process: unit.processRecord.identity ?? unit.process, isTunnel: unit.isTunnel)
    }

    mutating func received(_ unit: TransportUnit) { units.append(copy(unit)) }
    mutating func blind(_ spot: BlindSpot) { spots.append(spot) }
    mutating func receivedPart(_ unit: TransportUnit, spot: BlindSpot) {
        parts.append(copy(unit))
        spots.append(spot)
    }

    /// Payloads as text.
    var texts: [String] { units.filter { !$0.isTunnel }.map { String(decoding: $0.payload, as: UTF8.self) } }
}

extension NetworkLayer {
    /// Takes a frame given as an array.
    mutating func receive(
        _ frame: [UInt8], linkType: UInt32 = 1, originalLength: Int? = nil, number: Int = 1, seconds: Int64 = 0,
        into sink: inout UnitCollector
    ) {
        frame.withUnsafeBytes { bytes in
            receive(
                CapturedPacket(
                    reference: PacketReference(number: number, time: Instant(nanoseconds: seconds * 1_000_000_000)),
                    linkType: LinkType(rawValue: linkType), originalLength: originalLength ?? frame.count,
                    bytes: bytes),
                into: &sink)
        }
    }
}
