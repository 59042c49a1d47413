import CaptureAnalyzer
import Foundation
import SessionTrace
import Testing
import WireFormats

/// Whole captures through the network layer and the flow table, against what tshark counted and against readings of
/// single files by hand.
@Suite(.enabled(if: SharedCaptures.folder != nil, "the shared captures are not beside the repository"))
struct CaptureStreamsTests {
    static func read(_ name: String) throws -> (sink: RecordingSink, streams: PacketStreams) {
        var sink = RecordingSink()
        var streams = PacketStreams()
        var file = try CaptureFile(path: SharedCaptures.path(name))
        while let record = try file.next() {
            switch record {
            case .packet(let packet): streams.receive(packet, into: &sink)
            case .interface(let interface):
                if let text = interface.name { streams.name(interface: interface.index, text) }
            default: break
            }
        }
        streams.finish(into: &sink)
        return (sink, streams)
    }

    @Test(arguments: SharedCaptures.names)
    func countsAsTshark(_ name: String) throws {
        let facts = SharedCaptures.facts(name)
        let (sink, streams) = try Self.read(name)
        #expect(sink.faults.prefix(3).isEmpty, "\(sink.faults.prefix(3))")
        let ours = [
            "truncated_packets": streams.network.truncatedPackets,
            "tcp_streams": streams.transport.tcpConnections, "udp_streams": streams.transport.udpConversations,
            "ip_fragments": streams.network.ipFragments,
        ]
        for (key, value) in ours {
            #expect(String(value) == facts[key], "\(key)")
        }
        #expect(sink.records.allSatisfy { $0.end != nil })
        #expect(streams.transport.pendingBytes == 0)
    }
}
