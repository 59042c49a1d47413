import Foundation
import SessionTrace
import Testing

@testable import WireFormats

/// The DNS of the shared captures (payloads by tshark) against the facts beside them.
@Suite(.enabled(if: HTTP2Fixtures.hasCaptures, "tshark or the shared captures are not there"))
struct DNSCaptureTests {
    /// Files whose `dns_*` facts count ports 53 and 5353 alone. In `suricata_dns_over_https` they are bodies of HTTP/2
    /// responses, in `ndpi_doq` tshark takes bytes of encrypted QUIC streams for queries.
    static let files = [
        "ndpi_android.pcap", "ndpi_dns_fragmented.pcap", "pcapdroid_invalid_or_unsupported.pcap",
        "pcapdroid_metadata.pcap",
        "pcapplusplus_null_loopback.pcap", "pcapplusplus_packet_trailer.pcap", "pcapplusplus_sll.pcap",
        "tcpdump_LINKTYPE_PKTAP.pcap", "tcpdump_dns-badlabel.pcap", "wireshark_many_interfaces_2.pcapng",
        "zeek_dns-https.pcap",
        "zeek_mdns.pcap", "zeek_pcapng-multi-interface.pcapng", "zeek_radiotap.pcap", "zeek_raw_packets.pcap",
    ]

    /// The first response ends inside its question, after the name (a lost fragment): tshark gives the name up, we keep it.
    static let furtherNames = ["pcapdroid_invalid_or_unsupported.pcap": 1]

    @Test(arguments: files)
    func agreesWithTheFacts(_ file: String) throws {
        let folder = try #require(HTTP2Fixtures.shared).appendingPathComponent("captures")
        let facts = try Self.facts(folder.appendingPathComponent("facts/\(file).tsv"))
        var messages: [DNSMessage] = []
        var multicast = 0
        var streams: [String: DNSStream] = [:]
        for row in try Self.payloads(folder.appendingPathComponent(file)) {
            if row.isTCP {
                row.payload.withUnsafeBytes {
                    streams[row.conversation, default: DNSStream()].receive($0, into: &messages)
                }
            } else if let message = row.payload.withUnsafeBytes({ DNSMessage.parse($0) }) {
                messages.append(message)
                if row.isMulticast { multicast += 1 }
            }
        }
        #expect(messages.count { !$0.isResponse } == facts["dns_queries"])
        #expect(messages.count { $0.isResponse } == facts["dns_responses"])
        #expect(multicast == facts["mdns_packets"])
        let names = Set(messages.flatMap { $0.questions.map(\.rawName) })
        #expect(names.count == facts["dns_query_names", default: 0] + Self.furtherNames[file, default: 0])
        if file == "zeek_dns-https.pcap" {
            #expect(messages.flatMap(\.answers).contains { if case .service = $0.data { true } else { false } })
        }
    }

    private struct Row {
        var isTCP: Bool
        var isMulticast: Bool
        var conversation: String
        var payload: [UInt8]
    }

    private static func payloads(_ capture: URL) throws -> [Row] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: HTTP2Fixtures.tshark)
        process.arguments = [
            "-n", "-r", capture.path, "-Y", "udp.port in {53, 5353} || tcp.port == 53", "-T", "fields", "-e",
            "udp.port",
            "-e", "udp.payload", "-e", "tcp.stream", "-e", "tcp.srcport", "-e", "tcp.payload",
        ]
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard fields.count == 5 else { return nil }
            let isTCP = fields[1].isEmpty
            return Row(
                isTCP: isTCP, isMulticast: fields[0].split(separator: ",").contains("5353"),
                conversation: "\(fields[2]) \(fields[3])", payload: HTTP2Fixtures.bytes(isTCP ? fields[4] : fields[1]))
        }
    }

    private static func facts(_ file: URL) throws -> [String: Int] {
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        return Dictionary(
            lines.compactMap { line in
                let pair = line.split(separator: "\t")
                guard pair.count == 2, let value = Int(pair[1]) else { return nil }
                return (String(pair[0]), value)
            }, uniquingKeysWith: { one, _ in one })
    }
}
