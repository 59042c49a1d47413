import CaptureAnalyzer
import Foundation
import SessionTrace
import WireFormats

/// What a trace file holds, read back through the capture reader.
struct TraceContent: StreamSink {
    struct Stream: Equatable {
        var bytes: [UInt8] = []
        var acknowledged: UInt64 = 0
        var isFinished = false
    }

    struct Flow {
        var connection: Connection
        var client = Stream()
        var server = Stream()
        var end: ConnectionEnd?
        /// Comments of its packets.
        var events: [ProxyEvent] = []
        var interface: String?
    }

    var flows: [Flow] = []
    var holes = 0
    var spots: [BlindSpot] = []
    var marks: [Mark] = []
    var secrets: [UInt8] = []
    var statistics: [InterfaceStatistics] = []
    /// Names of the file's interfaces.
    var interfaces: [String] = []
    var packets = 0
    var summary = CaptureFileSummary()
    private var datagrams: [[UInt8]] = []

    /// Reads the file at `path`, as far as it goes.
    init(path: String) throws {
        var streams = PacketStreams()
        var file = try CaptureFile(path: path)
        while let record = try file.next() {
            switch record {
            case .packet(let packet):
                packets += 1
                let owner = streams.receive(packet, into: &self)
                for comment in packet.comments {
                    guard case .event(let event) = TraceText.read(comment: comment, on: packet.reference) else {
                        continue
                    }
                    if let owner { flows[owner.number].events.append(event) }
                }
                for datagram in datagrams {
                    let reading = datagram.withUnsafeBytes { TraceText.read(datagram: $0, at: packet.reference) }
                    if case .mark(let mark) = reading { marks.append(mark.mark) }
                }
                datagrams = []
            case .secrets(let block): secrets += block.bytes
            case .statistics(let block): statistics.append(block)
            case .interface(let interface):
                streams.name(interface: interface.index, interface.name ?? "")
                interfaces.append(interface.name ?? "")
            default: break
            }
        }
        streams.finish(into: &self)
        summary = file.summary
    }

    /// The TCP connections.
    var connections: [Flow] { flows.filter { $0.connection.transport == .tcp } }

    mutating func nextConnectionID() -> ConnectionID { ConnectionID(flows.count) }

    mutating func opened(_ connection: Connection) {
        flows.append(Flow(connection: connection, interface: connection.interface))
    }

    mutating func received(
        _ bytes: UnsafeRawBufferPointer, from side: Side, endOffset: UInt64, at: PacketReference, on id: ConnectionID
    ) {
        if side == .client {
            flows[id.number].client.bytes.append(contentsOf: bytes)
        } else {
            flows[id.number].server.bytes.append(contentsOf: bytes)
        }
    }

    mutating func hole(
        length: Int?, from side: Side, endOffset: UInt64, noticed: PacketReference, span: TimeSpan, cause: HoleCause,
        on id: ConnectionID
    ) { holes += 1 }

    mutating func acknowledged(by side: Side, upTo offset: UInt64, at: PacketReference, on id: ConnectionID) {
        if side == .client {
            flows[id.number].server.acknowledged = max(flows[id.number].server.acknowledged, offset)
        } else {
            flows[id.number].client.acknowledged = max(flows[id.number].client.acknowledged, offset)
        }
    }

    mutating func overlapConflict(from side: Side, at: PacketReference, on id: ConnectionID) { holes += 1 }

    mutating func finished(side: Side, at: PacketReference, on id: ConnectionID) {
        if side == .client {
            flows[id.number].client.isFinished = true
        } else {
            flows[id.number].server.isFinished = true
        }
    }

    mutating func closed(_ end: ConnectionEnd) { flows[end.id.number].end = end }

    mutating func datagram(
        _ bytes: UnsafeRawBufferPointer, length: Int, from side: Side, at: PacketReference, on id: ConnectionID
    ) { datagrams.append(Array(bytes)) }

    mutating func identified(_ process: ProcessIdentity, of id: ConnectionID) {}

    mutating func blind(_ spot: BlindSpot) { spots.append(spot) }
}

/// A folder of its own for a test, gone with the value.
final class ScratchFolder: Sendable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "handoff-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// A path in it.
    subscript(name: String) -> String { path + "/" + name }
}

extension Endpoint {
    /// An endpoint from text that a test knows to be right.
    static func of(_ address: String, _ port: UInt16) -> Endpoint {
        Endpoint(address: IPAddress(address) ?? IPAddress(ipv4: 0), port: port)
    }
}
