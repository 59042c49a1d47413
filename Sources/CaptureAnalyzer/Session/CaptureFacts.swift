public import SessionTrace
internal import WireFormats

/// What any analyser would count in a capture, so that two can be compared (`handoff show --facts`).
public struct CaptureFacts: Hashable, Sendable {
    /// One request as a line of the facts.
    public struct RequestLine: Hashable, Sendable {
        /// The packet that completed the head.
        public var packet: Int
        /// `http1` or `http2`.
        public var family: String
        /// The method as sent.
        public var method: String
        /// The authority as sent, or empty.
        public var host: String
        /// The target without its query.
        public var path: String
    }

    /// Packets in the file.
    public var packets = 0
    /// Time of the earliest and latest packet.
    public var span: TimeSpan?
    /// Bytes kept of all packets.
    public var capturedBytes = 0
    /// Bytes that were on the wire.
    public var wireBytes = 0
    /// Packets kept only in part.
    public var truncatedPackets = 0
    /// TCP connections, tunnels not counted.
    public var tcpStreams = 0
    /// UDP conversations.
    public var udpStreams = 0
    /// QUIC connections.
    public var quicConnections = 0
    /// Requests and final or informational responses in HTTP/0.9 to HTTP/1.1.
    public var http1Requests = 0
    public var http1Responses = 0
    /// Requests and responses in HTTP/2.
    public var http2Requests = 0
    public var http2Responses = 0
    /// ClientHello and ServerHello messages, in TLS and in QUIC.
    public var clientHellos = 0
    public var serverHellos = 0
    /// DNS messages, multicast included.
    public var dnsQueries = 0
    public var dnsResponses = 0
    /// Packets of multicast DNS.
    public var multicastDNSPackets = 0
    /// WebSocket frames.
    public var webSocketFrames = 0
    /// Retransmitted segments: packets whose payload had all been seen.
    public var retransmissions = 0
    /// Segments that came before an earlier one was seen.
    public var outOfOrder = 0
    /// Holes in streams that nothing filled.
    public var lostSegments = 0
    /// IP packets with the More Fragments flag.
    public var ipFragments = 0
    /// Messages and packets that break their format's rules.
    public var malformed = 0
    /// Distinct names in DNS questions.
    public var queryNames: Set<[UInt8]> = []
    /// Server names in order of first sight.
    public var serverNames: [String] = []
    /// JA4 fingerprints in order of first sight.
    public var fingerprints: [String] = []
    /// QUIC versions seen.
    public var quicVersions: Set<UInt32> = []
    /// Why the file could not be read to its end.
    public var readError: String?
    /// All requests in the order in which their heads were complete.
    public var requests: [RequestLine] = []

    /// Whether requests and names are kept: they grow with the file, so only `--facts` asks for them.
    var keepsRequests = false
    private var knownServerNames: Set<String> = []
    private var knownFingerprints: Set<String> = []

    /// Nothing counted.
    public init() {}

    /// The facts as `key<TAB>value` lines, then one `request` line a request.
    public func lines(version: String) -> [String] {
        var lines = ["handoff\t\(version)", "packets\t\(packets)"]
        lines.append("first_time\t\(span.map { Self.seconds($0.earliest) } ?? "")")
        lines.append("last_time\t\(span.map { Self.seconds($0.latest) } ?? "")")
        let counts: KeyValuePairs<String, Int> = [
            "tcp_streams": tcpStreams, "udp_streams": udpStreams, "quic_connections": quicConnections,
            "captured_bytes": capturedBytes, "wire_bytes": wireBytes, "truncated_packets": truncatedPackets,
            "http1_requests": http1Requests, "http1_responses": http1Responses, "http2_requests": http2Requests,
            "http2_responses": http2Responses, "client_hellos": clientHellos, "server_hellos": serverHellos,
            "dns_queries": dnsQueries, "dns_responses": dnsResponses, "mdns_packets": multicastDNSPackets,
            "websocket_frames": webSocketFrames, "retransmissions": retransmissions, "out_of_order": outOfOrder,
            "lost_segments": lostSegments, "ip_fragments": ipFragments, "malformed": malformed,
            "dns_query_names": queryNames.count,
        ]
        lines += counts.map { "\($0.key)\t\($0.value)" }
        lines.append("sni\t\(serverNames.joined(separator: ","))")
        lines.append("ja4\t\(fingerprints.joined(separator: ","))")
        let versions = quicVersions.sorted().map { version in
            let digits = String(version, radix: 16)
            return "0x" + String(repeating: "0", count: 8 - digits.count) + digits
        }
        lines.append("quic_versions\t\(versions.joined(separator: ","))")
        if let readError { lines.append("read_error\t\(readError)") }
        lines += requests.map { "request\t\($0.packet)\t\($0.family)\t\($0.method)\t\($0.host)\t\($0.path)" }
        return lines
    }

    private static func seconds(_ instant: Instant) -> String {
        let nanoseconds = instant.nanoseconds.magnitude
        let fraction = String(nanoseconds % 1_000_000_000 + 1_000_000_000).dropFirst()
        return "\(instant.nanoseconds < 0 ? "-" : "")\(nanoseconds / 1_000_000_000).\(fraction)"
    }
}

extension CaptureFacts {
    /// Counts what an event says.
    mutating func count(_ event: SessionEvent) {
        switch event {
        case .clientHello(let hello):
            clientHellos += 1
            guard keepsRequests else { return }
            if let name = hello.serverName?.text, knownServerNames.insert(name).inserted { serverNames.append(name) }
            if !hello.ja4.isEmpty, knownFingerprints.insert(hello.ja4).inserted { fingerprints.append(hello.ja4) }
        case .nameLookup(let lookup):
            if lookup.isResponse { dnsResponses += 1 } else { dnsQueries += 1 }
            guard keepsRequests else { return }
            if !lookup.rawName.isEmpty { queryNames.insert(lookup.rawName) }
            for question in lookup.furtherQuestions { queryNames.insert(question.rawName) }
        case .requestStarted(_, let version, let request):
            keep(request, isHTTP2: version == .http2)
        case .exchange(let exchange):
            // A promise is a request that nobody sent; other analysers list its header block as one.
            if exchange.isPushed, let request = exchange.request { keep(request, isHTTP2: exchange.version == .http2) }
            malformed += exchange.anomalies.count
        case .blindSpot(let spot):
            if spot.reason == .tcpHole { lostSegments += 1 }
        case .connectionOpened, .processIdentified, .delivery, .message, .mark, .activityStarted, .proxyEvent,
            .secureSession,
            .connectionClosed,
            .traceEnded:
            break
        }
    }

    /// Adds what one conversation counted.
    mutating func count(_ counts: ConversationCounts?) {
        guard let counts else { return }
        http1Requests += counts.http1Requests
        http1Responses += counts.http1Responses
        http2Requests += counts.http2Requests
        http2Responses += counts.http2Responses
        webSocketFrames += counts.webSocketFrames
    }

    private mutating func keep(_ request: Request, isHTTP2: Bool) {
        guard keepsRequests else { return }
        let host = isHTTP2 ? request.authority : request.fields.first("host")
        requests.append(
            RequestLine(
                packet: request.ended.number, family: isHTTP2 ? "http2" : "http1", method: request.method,
                host: host ?? "", path: String(request.target.prefix { $0 != "?" })))
    }
}
