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

/// What a reading of the packets by hand says about single captures.
@Suite(.enabled(if: SharedCaptures.folder != nil, "the shared captures are not beside the repository"))
struct CaptureReadings {
    struct Reading: CustomTestStringConvertible, Sendable {
        var name: String
        /// Lengths of the holes of all connections.
        var clientHoles: [Int] = []
        var serverHoles: [Int] = []
        var conflicts = 0
        /// How often a text must be there in all client streams together, or in all server streams.
        var clientTexts: [String: Int] = [:]
        var serverTexts: [String: Int] = [:]

        var testDescription: String { name }
    }

    static let readings: [Reading] = [
        .init(name: "wireshark_challenge01_ooo_stream.pcapng.gz"),
        .init(name: "wireshark_http2_follow_multistream.pcapng"),
        .init(
            name: "scapy_http_chunk.pcap.gz", clientTexts: [" HTTP/1.1\r\n": 1], serverTexts: ["HTTP/1.1 200": 1]),
        // One-sided TLS, the server's bytes known by their acknowledgement only. (The twelve requests that tshark counts
        // are SSDP datagrams.)
        .init(name: "zeek_raw_packets.pcap", serverHoles: [60]),
        .init(name: "suricata_tcp-leading-gap.pcap", clientHoles: [4]),
        .init(name: "suricata_tcp-overlap2.pcap", conflicts: 1),
        .init(
            name: "zeek_entity_gap.pcap", serverHoles: [1448], clientTexts: ["GET ": 1],
            serverTexts: ["HTTP/1.1 200": 1]),
        .init(name: "zeek_missing-syn.pcap", clientTexts: ["GET ": 1], serverTexts: ["HTTP/1.1 200": 1]),
        .init(name: "zeek_get_nosyn.pcap", clientTexts: ["GET ": 1], serverTexts: ["HTTP/1.1 200": 1]),
        .init(name: "zeek_handshake-reorder.pcap", clientTexts: ["GET ": 1], serverTexts: ["HTTP/1.1 200": 1]),
        // Five requests, in pieces that come out of order and twice.
        .init(name: "wireshark_http-ooo.pcap", clientTexts: ["PUT /": 4, "GET /2": 1]),
        // Bytes 193, 257, 274 and 288 to the next piece are in no packet; two segments contradict earlier ones.
        .init(name: "wireshark_tcp-badsegments.pcap", clientHoles: [32, 16, 13, 1], conflicts: 2),
        .init(
            name: "pcapplusplus_one_tcp_stream_max_seq.pcap", clientTexts: ["POST ": 2], serverTexts: ["HTTP/1.1 ": 2]),
        .init(name: "pcapplusplus_frag_http_req.pcap", clientTexts: ["GET ": 1]),
        .init(name: "zeek_tcp-fast-open.pcap", clientTexts: ["GET ": 2], serverTexts: ["HTTP/1.1 ": 2]),
        .init(name: "ja4_socks4-https.pcap", clientHoles: [201]),
        // The ClientHello's second segment, and the server's last bytes (acknowledged by the client's FIN), are missing.
        .init(name: "ndpi_tls_missing_ch_frag.pcap", clientHoles: [481], serverHoles: [1306]),
        .init(name: "zeek_pppoe-over-qinq.pcap"),
    ]

    @Test(arguments: readings)
    func isAsRead(_ reading: Reading) throws {
        let (sink, _) = try CaptureStreamsTests.read(reading.name)
        #expect(sink.records.flatMap { $0.client.holes.compactMap(\.length) } == reading.clientHoles)
        #expect(sink.records.flatMap { $0.server.holes.compactMap(\.length) } == reading.serverHoles)
        #expect(sink.records.reduce(0) { $0 + $1.client.conflicts + $1.server.conflicts } == reading.conflicts)
        for (text, count) in reading.clientTexts {
            #expect(Self.count(text, in: sink.records.flatMap(\.client.bytes)) == count, "\(text)")
        }
        for (text, count) in reading.serverTexts {
            #expect(Self.count(text, in: sink.records.flatMap(\.server.bytes)) == count, "\(text)")
        }
    }

    /// Truncated by the snapshot length: all payload is told as missing, at the right offsets, and the reset makes no gap.
    @Test func cutSegments() throws {
        let (sink, _) = try CaptureStreamsTests.read("zeek_retransmit-fast009.pcap")
        let record = try #require(sink.records.first)
        #expect(record.client.holes.reduce(0) { $0 + ($1.length ?? 0) } == 474)
        #expect(record.server.holes.reduce(0) { $0 + ($1.length ?? 0) } == 23_783)
        #expect((record.client.holes + record.server.holes).allSatisfy { $0.cause == .truncatedPacket })
        #expect(record.end?.cause == .reset(by: .client))
    }

    /// Five fragments of a TCP segment whose last one is missing: no connection, but it is said which ports it concerns.
    @Test func fragmentsWithoutTheLast() throws {
        let (sink, _) = try CaptureStreamsTests.read("zeek_fragmented-3.pcap")
        #expect(sink.records.isEmpty)
        #expect(sink.spots.map(\.reason) == [.fragmentMissing])
        #expect(sink.spots.first?.detail.contains("TCP 1265 to 21") == true)
    }

    /// Real packets with changed bytes and lengths: nothing traps, and every promise to the sink holds.
    @Test(arguments: SharedCaptures.names)
    func survivesChangedBytes(_ name: String) throws {
        var generator = SeededGenerator(UInt64(name.utf8.count))
        var sink = RecordingSink()
        sink.keepsBytes = false
        var streams = PacketStreams()
        var file = try CaptureFile(path: SharedCaptures.path(name))
        var packets = 0
        while packets < 300, let record = try file.next() {
            switch record {
            case .packet(let packet):
                packets += 1
                for _ in 0..<4 {
                    var bytes = [UInt8](packet.bytes)
                    guard !bytes.isEmpty else { continue }
                    for _ in 0..<Int.random(in: 0...4, using: &generator) {
                        bytes[Int.random(in: 0..<min(bytes.count, 90), using: &generator)] = .random(
                            in: 0...255, using: &generator)
                    }
                    if Bool.random(using: &generator) {
                        bytes.removeLast(.random(in: 0..<bytes.count, using: &generator))
                    }
                    bytes.withUnsafeBytes { changed in
                        var copy = packet
                        copy.bytes = changed
                        streams.receive(copy, into: &sink)
                    }
                }
            default: break
            }
        }
        streams.finish(into: &sink)
        #expect(sink.faults.isEmpty, "\(sink.faults.prefix(3))")
        #expect(streams.transport.pendingBytes == 0)
    }

    private static func count(_ text: String, in bytes: [UInt8]) -> Int {
        String(decoding: bytes, as: UTF8.self).replacingOccurrences(of: "\r\n", with: "\u{1}")
            .components(separatedBy: text.replacingOccurrences(of: "\r\n", with: "\u{1}")).count - 1
    }
}
