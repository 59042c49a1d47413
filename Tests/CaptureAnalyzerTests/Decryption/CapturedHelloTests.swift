import CaptureAnalyzer
import Foundation
import SessionTrace
import Testing
import WireFormats

/// Hellos of all shared captures, over TCP and QUIC, against what tshark saw; JA4 also against the published values.
@Suite(.enabled(if: SharedCaptures.folder != nil, "the shared captures are not here"))
struct CapturedHelloTests {
    /// Captures whose hellos are inside a CONNECT or SOCKS tunnel, which nobody opens here.
    static let tunnelled: Set<String> = [
        "ja4_https-connect.pcap", "ja4_socks4-https.pcap", "pcapplusplus_pcapng-example.pcapng",
        "zeek_connect-with-header.pcap", "zeek_socks-with-ssl.pcap",
    ]

    @Test(arguments: SharedCaptures.names.filter { !tunnelled.contains($0) })
    func hellos(name: String) throws {
        let facts = SharedCaptures.facts(name)
        try #require(facts["open_error"] == nil && !facts.isEmpty, "no facts of it")
        let seen = try Self.read(name)
        // A hello that the capture cut has a name and no fingerprint; tshark shows neither.
        let whole = seen.hellos.filter { !$0.ja4.isEmpty }
        #expect("\(whole.count)" == facts["client_hellos"] ?? "0")
        #expect("\(seen.serverHellos)" == facts["server_hellos"] ?? "0")
        #expect(Self.unique(whole.map { $0.serverName?.text ?? "" }) == facts["sni"] ?? "")
        #expect(Self.unique(whole.map(\.ja4)) == facts["ja4"] ?? "")
        if let published = facts["ja4_published"] {
            #expect(Set(whole.map(\.ja4)) == Set(published.split(separator: ",").map(String.init)))
        }
    }

    @Test func quicHellosStayWhenDatagramsComeTwice() throws {
        let (streams, _) = try RecordedStreams.read(SharedCaptures.path("suricata_quic-frag-unordered_input.pcap"))
        for stream in streams where stream.isQUIC {
            let twice = stream.steps.flatMap { [$0, $0] }
            #expect(stream.playQUIC().filter(\.isHello).count == 1)
            var repeated = stream
            repeated.steps = twice
            #expect(repeated.playQUIC().filter(\.isHello).count == 1)
        }
    }

    @Test func quicIsABlindSpotOfWhatStaysClosed() throws {
        let (streams, _) = try RecordedStreams.read(SharedCaptures.path("zeek_quicv2-http3-443.pcap"))
        let output = try #require(streams.first { $0.isQUIC }).playQUIC()
        guard case .event(.blindSpot(let spot))? = output.last else {
            Issue.record("no blind spot at the end")
            return
        }
        #expect(spot.reason == .quic)
        #expect(spot.bytes ?? 0 > 1_000)
        #expect(spot.span.earliest < spot.span.latest)
    }

    static func read(_ name: String) throws -> (hellos: [ClientHello], serverHellos: Int) {
        let (streams, embedded) = try RecordedStreams.read(SharedCaptures.path(name))
        let keys = embedded + SharedCaptures.keyText(name)
        var hellos: [ClientHello] = []
        var serverHellos = 0
        for stream in streams {
            if stream.isQUIC {
                for output in stream.playQUIC() {
                    switch output {
                    case .event(.clientHello(let hello)): hellos.append(hello)
                    case .serverHello: serverHellos += 1
                    case .event, .clientRandom: break
                    }
                }
            } else if stream.isTLS {
                let transcript = stream.play(keys: keys)
                hellos += transcript.hellos
                serverHellos += transcript.serverHellos
            }
        }
        return (hellos.sorted { $0.seen.number < $1.seen.number }, serverHellos)
    }

    private static func unique(_ values: [String]) -> String {
        values.reduce(into: [String]()) { if !$1.isEmpty, !$0.contains($1) { $0.append($1) } }.joined(separator: ",")
    }
}

extension QUICOutput {
    var isHello: Bool { if case .event(.clientHello) = self { true } else { false } }
}

extension RecordedStreams.Conversation {
    var isQUIC: Bool {
        guard case .datagram(_, let first, _)? = steps.first else { return false }
        return first.withUnsafeBytes { QUICConnectionObserver.recognises($0) }
    }

    func playQUIC() -> [QUICOutput] {
        var observer = QUICConnectionObserver(connection: connection.id)
        var output: [QUICOutput] = []
        for case .datagram(let side, let bytes, let packet) in steps {
            bytes.withUnsafeBytes { observer.receive($0, from: side, at: packet, into: &output) }
        }
        observer.finish(at: last, into: &output)
        return output
    }
}

extension SharedCaptures {
    /// The text of the key log beside a capture; empty without one.
    static func keyText(_ name: String) -> String {
        let base = name.replacing(".gz", with: "").replacing(".pcapng", with: "").replacing(".pcap", with: "")
        return (try? String(contentsOfFile: path(base + ".keys"), encoding: .utf8)) ?? ""
    }
}
