import CaptureAnalyzer
import Foundation
import SessionTrace
import Testing
import WireFormats

/// HTTP/1 and WebSocket in real captures, against what tshark saw in them.
@Suite(
    "Clear-text captures",
    .enabled(if: SharedCaptures.folder != nil, "the shared captures are not beside the repository"))
struct ClearTextCaptureTests {
    static let names = SharedCaptures.names.filter { name in
        let facts = SharedCaptures.facts(name)
        let messages = ["http1_requests", "http1_responses", "websocket_frames"].compactMap {
            facts[$0].flatMap { Int($0) }
        }
        return facts["client_hellos"] == "0" && messages.contains { $0 > 0 }
    }

    /// Where we differ from tshark, and why ours is right.
    static let differences: [String: (requests: String?, responses: String?)] = [
        // One-sided, and only the first packet of each request was kept: 385 packets with payload, 381 different ones,
        // each begins with a method. tshark finds requests after a hole only when nothing waits for the hole.
        "pcapplusplus_4KHttpRequests.pcap": ("381", nil),
        // The response's head is there, only a part of its body is missing. Suricata counts it too.
        "zeek_entity_gap.pcap": (nil, "1"),
        // SSDP over UDP: no TCP connection carries it.
        "zeek_raw_packets.pcap": ("0", nil),
        // Inside a SOCKS tunnel, which is opened elsewhere.
        "arkime_socks5-http-302-frag.pcap": ("0", "0"),
    ]

    static func read(_ name: String, piece: Int? = nil) throws -> ConversationSink {
        var sink = ConversationSink(piece: piece)
        var streams = PacketStreams()
        var file = try CaptureFile(path: SharedCaptures.path(name))
        while let record = try file.next() {
            if case .packet(let packet) = record { streams.receive(packet, into: &sink) }
        }
        streams.finish(into: &sink)
        return sink
    }

    static func lines(_ name: String) throws -> [String] {
        let path = try #require(SharedCaptures.folder).appendingPathComponent("facts/\(name).tsv")
        return try String(contentsOf: path, encoding: .utf8).split(separator: "\n").compactMap { line in
            let parts = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard parts.count == 6, parts[0] == "request", parts[2] == "http1" else { return nil }
            return parts[3...5].joined(separator: " ")
        }.sorted()
    }

    @Test("requests, responses and frames", arguments: names)
    func facts(_ name: String) throws {
        let facts = SharedCaptures.facts(name)
        let sink = try Self.read(name)
        let other = Self.differences[name]
        #expect(String(sink.counts.http1Requests) == other?.requests ?? facts["http1_requests"])
        #expect(String(sink.counts.http1Responses) == other?.responses ?? facts["http1_responses"])
        #expect(String(sink.counts.webSocketFrames) == facts["websocket_frames"])
        let requests = sink.output.compactMap { output -> String? in
            guard case .event(.requestStarted(_, let version, let request)) = output, version != .http2 else {
                return nil
            }
            return "\(request.method) \(request.fields.first("host") ?? "") \(request.target.prefix { $0 != "?" })"
        }
        guard other?.requests == nil else { return }
        #expect(try requests.sorted() == Self.lines(name))
    }

    @Test("the same however the bytes are split", arguments: names)
    func splits(_ name: String) throws {
        let whole = try Self.read(name).output.filter { if case .tunnelled = $0 { false } else { true } }
        let split = try Self.read(name, piece: SharedCaptures.bytes(name).count < 100_000 ? 1 : 61).output.filter {
            if case .tunnelled = $0 { false } else { true }
        }
        let isEqual = whole == split
        #expect(isEqual)
    }
}
