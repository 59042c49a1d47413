import Foundation
import SessionTrace
import Synchronization
import Testing

@testable import WireFormats

/// Real HTTP/2 connections of the shared captures, put together (and decrypted) by tshark, against the facts beside them.
///
/// tshark's `follow` gives each direction in order, but not the order between the two; an observer has to bear that.
@Suite(.enabled(if: HTTP2Fixtures.hasCaptures, "tshark or the shared captures are not there"))
struct HTTP2CaptureTests {
    struct Stream: Sendable {
        var file: String
        var stream = 0
        var isSecure = false
        var keys: String?
        var isUpgrade = false
        var requests: Int
        var responses: Int
        /// Request lines: method, authority, path without query.
        var first: String?
    }

    static let streams = [
        Stream(file: "arkime_http2-nghttp2.pcap", requests: 2, responses: 2, first: "GET nghttp2.org /"),
        Stream(
            file: "scapy_http2_h2c.pcap", isUpgrade: true, requests: 1, responses: 2,
            first: "GET nghttp2.org /robots.txt"),
        Stream(file: "suricata_dns_over_https.pcap", requests: 4, responses: 4, first: "GET dns.google /dns-query"),
        Stream(
            file: "suricata_http2-continuation_input.pcap", requests: 1, responses: 1, first: "GET 127.0.0.1:8080 /tata"
        ),
        Stream(
            file: "suricata_http2_deflate.pcap", isUpgrade: true, requests: 0, responses: 1,
            first: "GET 127.0.0.1:8080 /"),
        Stream(
            file: "wireshark_grpc_stream_reassembly_sample.pcapng.gz", requests: 1, responses: 0,
            first: "POST 192.168.65.10:50051 /streamtest.StreamTest/StreamCall"),
        Stream(
            file: "wireshark_grpc_stream_reassembly_sample.pcapng.gz", stream: 1, requests: 1, responses: 1,
            first: "POST foo.test.google.fr /TestService/Unary"),
        Stream(
            file: "wireshark_http2-data-reassembly.pcap", isSecure: true, keys: "wireshark_http2-data-reassembly.keys",
            requests: 1, responses: 1, first: "GET 172.16.5.10:8443 /wireshark.png"),
        Stream(
            file: "wireshark_http2_follow_multistream.pcapng", isSecure: true, requests: 19, responses: 19,
            first: "GET www.mozilla.org /en-US/firefox/52.0.1/firstrun/"),
        Stream(
            file: "wireshark_packet-h2-14_headers.pcapng", requests: 6, responses: 1,
            first: "GET localhost:3000 /doc/manual/html/index.html"),
        Stream(
            file: "ja4_chrome-cloudflare-quic-with-secrets.pcapng", isSecure: true, requests: 1, responses: 1,
            first: "GET cloudflare-quic.com /"),
    ]

    @Test(arguments: streams)
    func agreesWithTheFacts(_ stream: Stream) throws {
        let whole = try events(stream, cut: .whole)
        let exchanges = HTTP2Fixtures.exchanges(whole)
        let upgraded = stream.isUpgrade ? 1 : 0
        #expect(exchanges.count { $0.request != nil } == stream.requests + upgraded)
        #expect(exchanges.count { $0.response != nil } == stream.responses)
        let lines = exchanges.sorted { $0.id < $1.id }.compactMap { exchange in
            exchange.request.map { "\($0.method) \($0.authority ?? "") \($0.path)" }
        }
        #expect(lines.first == stream.first)
        #expect(exchanges.allSatisfy { $0.anomalies.isEmpty }, "\(exchanges.flatMap(\.anomalies))")
        #expect(HTTP2Fixtures.spots(whole).isEmpty, "\(HTTP2Fixtures.spots(whole))")
        for seed in 1...3 as ClosedRange<UInt64> { #expect(try events(stream, cut: .random(seed: seed)) == whole) }
        #expect(try events(stream, cut: .octets) == whole)
    }

    /// Joined after the first kilobyte of each direction: nothing is guessed. What is known of a stream is what the
    /// whole connection says of it.
    @Test(arguments: streams.filter { $0.requests > 1 })
    func joinedInTheMiddle(_ stream: Stream) throws {
        let whole = Dictionary(
            HTTP2Fixtures.exchanges(try events(stream, cut: .whole)).map { ($0.streamID, $0) },
            uniquingKeysWith: { one, _ in one })
        var cut: [HTTP2Fixtures.Input] = []
        var skipped: [Side: Int] = [:]
        for input in try inputs(stream) {
            guard case .bytes(let side, let bytes) = input else { continue }
            let left = max(0, 700 - (skipped[side] ?? 0))
            skipped[side, default: 0] += min(left, bytes.count)
            if bytes.count > left { cut.append(.bytes(side, Array(bytes.dropFirst(left)))) }
        }
        var heads = 0
        for exchange in HTTP2Fixtures.exchanges(HTTP2Fixtures.events(cut, startSeen: false)) {
            let truth = try #require(whole[exchange.streamID])
            heads += try compare(exchange.request?.fields, truth.request?.fields)
            heads += try compare(exchange.response?.fields, truth.response?.fields)
            if let body = exchange.response?.body, body.isWhole { #expect(body == truth.response?.body) }
        }
        #expect(heads > 0, "nothing was compared")
    }

    /// Holds what was read against the truth; how many heads that were, for one that was not read can't be.
    private func compare(_ read: FieldSection?, _ truth: FieldSection?) throws -> Int {
        guard let read else { return 0 }
        let truth = try #require(truth)
        for field in read.fields where field.isKnown {
            #expect(truth.values(read.name(field)).contains(read.value(field)), "\(read.name(field))")
        }
        return 1
    }

    /// The same counts as tshark's fields `http2.headers.method` and `http2.headers.status` give.
    @Test(arguments: streams)
    func countsHeads(_ stream: Stream) throws {
        let (counts, webSocketFrames) = try counts(stream)
        #expect(counts == [stream.requests, stream.responses] && webSocketFrames == 0)
    }

    private func counts(_ stream: Stream) throws -> ([Int], Int) {
        var observer = HTTP2Observer(
            connection: ConnectionID(7), scheme: "http", startSeen: true, limits: ConversationLimits(),
            firstExchangeIndex: 0)
        var inputs = try inputs(stream)
        if stream.isUpgrade {
            var output: [ConversationOutput] = []
            let request = takeHead(of: .client, &inputs)
            _ = takeHead(of: .server, &inputs)
            observer.adoptUpgrade(request: request, at: HTTP2Fixtures.packet(0), into: &output)
        }
        _ = HTTP2Fixtures.feed(&observer, inputs)
        return ([observer.requestCount, observer.responseCount], observer.webSocketFrameCount)
    }

    // MARK: tshark

    private func events(_ stream: Stream, cut: HTTP2Fixtures.Cut) throws -> [SessionEvent] {
        var observer = HTTP2Observer(
            connection: ConnectionID(7), scheme: "http", startSeen: true, limits: ConversationLimits(),
            firstExchangeIndex: 0)
        var inputs = try inputs(stream)
        guard stream.isUpgrade else { return HTTP2Fixtures.feed(&observer, inputs, cut: cut) }
        // The HTTP/1 part is another observer's: the request and the 101 are taken off here.
        var output: [ConversationOutput] = []
        let request = takeHead(of: .client, &inputs)
        _ = takeHead(of: .server, &inputs)
        observer.adoptUpgrade(request: request, at: HTTP2Fixtures.packet(0), into: &output)
        return HTTP2Fixtures.feed(&observer, inputs, cut: cut)
    }

    private func takeHead(of side: Side, _ inputs: inout [HTTP2Fixtures.Input]) -> Request {
        var request = Request(
            method: "", target: "", scheme: "http", authority: nil, fields: FieldSection(),
            started: HTTP2Fixtures.packet(0),
            ended: HTTP2Fixtures.packet(0))
        for (index, input) in inputs.enumerated() {
            guard case .bytes(side, let bytes) = input else { continue }
            let text = String(decoding: bytes, as: UTF8.self)
            let lines = text.components(separatedBy: "\r\n")
            let words = lines[0].split(separator: " ").map(String.init)
            request.method = words[0]
            request.target = words[1]
            request.authority = lines.first { $0.lowercased().hasPrefix("host: ") }.map { String($0.dropFirst(6)) }
            let end = text.range(of: "\r\n\r\n").map { text[..<$0.upperBound].utf8.count } ?? 0
            inputs[index] = .bytes(side, Array(bytes.dropFirst(end)))
            break
        }
        return request
    }

    /// What tshark puts together, once for each stream: it takes seconds to start.
    private static let cache = Mutex<[String: [HTTP2Fixtures.Input]]>([:])

    private func inputs(_ stream: Stream) throws -> [HTTP2Fixtures.Input] {
        try Self.cache.withLock { cache in
            if let known = cache["\(stream.file) \(stream.stream)"] { return known }
            let read = try follow(stream)
            cache["\(stream.file) \(stream.stream)"] = read
            return read
        }
    }

    private func follow(_ stream: Stream) throws -> [HTTP2Fixtures.Input] {
        let folder = try #require(HTTP2Fixtures.shared).appendingPathComponent("captures")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: HTTP2Fixtures.tshark)
        process.arguments =
            [
                "-n", "-q", "-o", "tcp.reassemble_out_of_order:TRUE", "-r",
                folder.appendingPathComponent(stream.file).path, "-z",
                "follow,\(stream.isSecure ? "tls" : "tcp"),raw,\(stream.stream)",
            ] + (stream.keys.map { ["-o", "tls.keylog_file:\(folder.appendingPathComponent($0).path)"] } ?? [])
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let lines = text.split(separator: "\n").filter { line in
            line.allSatisfy { $0.isHexDigit || $0 == "\t" } && line.contains { $0.isHexDigit }
        }
        // Node 0 is who sent first, which may be the server: the client is who sends a preface or a request.
        let firstLineOf0 = lines.first { !$0.hasPrefix("\t") }.map { HTTP2Fixtures.bytes(String($0)) } ?? []
        let isNode0Client =
            firstLineOf0.starts(with: HTTP2Direction.preface) || firstLineOf0.starts(with: Array("GET ".utf8))
        return lines.map { line in
            .bytes(line.hasPrefix("\t") == isNode0Client ? .server : .client, HTTP2Fixtures.bytes(String(line)))
        }
    }
}
