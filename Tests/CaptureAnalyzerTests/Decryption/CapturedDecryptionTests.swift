import CaptureAnalyzer
import Foundation
import SessionTrace
import Testing

/// Captures of public projects, decrypted with the keys that lie beside them or in them.
@Suite(.enabled(if: SharedCaptures.folder != nil, "the shared captures are not here"))
struct CapturedDecryptionTests {
    /// What one connection of a capture comes to.
    struct Expected: Sendable, CustomTestStringConvertible {
        var name: String
        var connection = 0
        var version: UInt16
        var suite: UInt16
        var protocolName: String?
        var client: String
        var server: String
        var lengths: (client: Int, server: Int)

        var testDescription: String { "\(name) \(connection)" }
    }

    static let table: [Expected] = [
        Expected(
            name: "illustrated-tls12_capture.pcap", version: 0x0303, suite: 0xC013, client: "ping", server: "pong",
            lengths: (4, 4)),
        Expected(
            name: "illustrated-tls13_archive_capture.pcap", version: 0x0304, suite: 0x1301, client: "ping",
            server: "pong", lengths: (4, 4)),
        Expected(
            name: "scapy_tls_nss_example.pcap", version: 0x0303, suite: 0xC030, client: "GET /pki/srv_key.pem",
            server: "HTTP/1.0 200 ok", lengths: (32, 1_777)),
        Expected(
            name: "scapy_tls_nss_example.pcap", connection: 1, version: 0x0304, suite: 0x1302,
            client: "GET /pki/srv_key.pem", server: "HTTP/1.0 200 ok", lengths: (32, 1_777)),
        // The key log is a secrets block inside the capture.
        Expected(
            name: "wireshark_tls12-dsb.pcapng", version: 0x0303, suite: 0xC02F, protocolName: "http/1.1",
            client: "HEAD / HTTP/1.1\r\nHost: example.com", server: "HTTP/1.1 200 OK", lengths: (76, 338)),
        Expected(
            name: "wireshark_tls12-dsb.pcapng", connection: 1, version: 0x0303, suite: 0xC02F,
            protocolName: "http/1.1", client: "HEAD / HTTP/1.1\r\nHost: example.net", server: "HTTP/1.1 200 OK",
            lengths: (76, 338)),
        // Draft 20 of TLS 1.3.
        Expected(
            name: "wireshark_tls13-20-chacha20poly1305.pcap", version: 0x7F14, suite: 0x1303,
            client: "GET / HTTP/1.1\r\n", server: "HTTP/1.0 200 ok", lengths: (16, 2_608)),
        Expected(
            name: "wireshark_http2-data-reassembly.pcap", version: 0x0303, suite: 0xC02B, protocolName: "h2",
            client: "PRI * HTTP/2.0", server: "", lengths: (120, 76_224)),
        Expected(
            name: "zeek_tls-1.2-stream-keylog.pcap", version: 0x0303, suite: 0xC030, protocolName: "http/1.1",
            client: "GET /assets/akwa/v24/js/akwa.js", server: "HTTP/1.1 200 OK", lengths: (9_715, 147_270)),
        Expected(
            name: "wireshark_challenge01_ooo_stream.pcapng.gz", version: 0x0304, suite: 0x1302,
            protocolName: "http/1.1", client: "GET /bootstrap.bundle.min.js", server: "HTTP/1.1 200 OK",
            lengths: (5_122, 1_470_678)),
        Expected(
            name: "wireshark_tls13-rfc8446.pcap", version: 0x0304, suite: 0x1301, client: "GET /first HTTP/1.1",
            server: "HTTP/1.1 200 OK", lengths: (23, 117)),
        // PSK resumption with early data that the server takes.
        Expected(
            name: "wireshark_tls13-rfc8446.pcap", connection: 1, version: 0x0304, suite: 0x1301,
            client: "GET /early HTTP/1.1\r\n\r\nGET /second", server: "HTTP/1.1 200 OK", lengths: (47, 237)),
    ]

    @Test(arguments: table) func plaintext(expected: Expected) throws {
        let (streams, embedded) = try RecordedStreams.read(SharedCaptures.path(expected.name))
        let keys = embedded + SharedCaptures.keyText(expected.name)
        let transcript = try #require(streams.first { $0.connection.id.number == expected.connection })
            .play(keys: keys)
        let session = try #require(transcript.session)
        #expect(session.readability == .decrypted)
        #expect(session.version == expected.version)
        #expect(session.cipherSuite == expected.suite)
        #expect(session.applicationProtocol == expected.protocolName)
        #expect(transcript.applicationProtocols == [expected.protocolName])
        #expect(transcript.text(.client).starts(with: expected.client.utf8))
        #expect(transcript.text(.server).starts(with: expected.server.utf8))
        #expect(transcript.text(.client).count == expected.lengths.client)
        #expect(transcript.text(.server).count == expected.lengths.server)
        #expect(transcript.blindSpots.isEmpty)
    }

    /// 31 connections of TLS 1.2, a suite each: RC4, AES CBC in both MAC orders, GCM.
    @Test func allSuitesOfOneCapture() throws {
        let name = "pcapfs_all_ciphers.pcap"
        let (streams, _) = try RecordedStreams.read(SharedCaptures.path(name))
        var context = DecryptionContext()
        context.keys.add(nss: SharedCaptures.keyText(name))
        var suites: Set<UInt16> = []
        for stream in streams {
            let transcript = stream.play(&context)
            let session = try #require(transcript.session)
            #expect(session.readability == .decrypted, "suite \(session.cipherSuite ?? 0)")
            #expect(
                transcript.text(.client).starts(with: "GET ".utf8)
                    || transcript.text(.client).starts(with: "hello".utf8))
            suites.insert(session.cipherSuite ?? 0)
        }
        #expect(suites.count == 31)
        #expect(context.keys.usedCount == 31)
        #expect(context.keys.badLineCount == 0)
    }

    static let forCuts = [
        "illustrated-tls12_capture.pcap", "scapy_tls_nss_example.pcap", "wireshark_tls13-rfc8446.pcap",
        "wireshark_tls12-dsb.pcapng", "pcapfs_all_ciphers.pcap", "zeek_tls-13draft19-early-data.pcap",
        "zeek_hrr.pcap", "wireshark_tls-fragmented-handshakes.pcap.gz", "zeek_ssl-v2.pcap",
        "wireshark_tls13-20-chacha20poly1305.pcap",
    ]

    /// Cut anywhere, the streams give the same, and so they do when the keys come after everything else.
    @Test(arguments: forCuts) func cutsChangeNothing(name: String) throws {
        let (streams, embedded) = try RecordedStreams.read(SharedCaptures.path(name))
        let keys = embedded + SharedCaptures.keyText(name)
        for stream in streams where stream.isTLS {
            let whole = stream.play(keys: keys)
            #expect(stream.play(keys: keys, cut: .everyByte) == whole)
            for seed in 1...3 as ClosedRange<UInt64> {
                #expect(stream.play(keys: keys, cut: .random(seed: seed)) == whole)
            }
        }
    }

    @Test(arguments: table) func keysAfterThePackets(expected: Expected) throws {
        let (streams, embedded) = try RecordedStreams.read(SharedCaptures.path(expected.name))
        let keys = embedded + SharedCaptures.keyText(expected.name)
        let stream = try #require(streams.first { $0.connection.id.number == expected.connection })
        var limits = DecryptionLimits()
        limits.heldPerConnection = 4 << 20
        let early = stream.play(keys: keys, limits: limits)
        let late = stream.play(keys: keys, lateKeys: true, limits: limits)
        #expect(late.text(.client) == early.text(.client))
        #expect(late.text(.server) == early.text(.server))
        #expect(late.session == early.session)
        #expect(late.hellos == early.hellos)
    }

    @Test(arguments: table) func withoutKeysAllIsDark(expected: Expected) throws {
        let (streams, _) = try RecordedStreams.read(SharedCaptures.path(expected.name))
        let stream = try #require(streams.first { $0.connection.id.number == expected.connection })
        for lateKeys in [false, true] {
            let transcript = stream.play(keys: "", lateKeys: lateKeys)
            #expect(transcript.session?.readability == .opaque(.noKeys))
            #expect(transcript.text(.client).isEmpty && transcript.text(.server).isEmpty)
            #expect(!transcript.blindSpots.isEmpty)
            #expect(transcript.blindSpots.allSatisfy { $0.reason == .noKeys && $0.bytes ?? 0 > 0 })
            #expect(transcript.hellos.count == 1)
        }
    }

    /// Bytes that are changed, lost and cut: never a trap, and never plaintext that is not the connection's.
    @Test(arguments: forCuts) func damageNeverTraps(name: String) throws {
        let (streams, embedded) = try RecordedStreams.read(SharedCaptures.path(name))
        let keys = embedded + SharedCaptures.keyText(name)
        var generator = TestGenerator(seed: 7)
        for stream in streams.prefix(12) {
            for _ in 0..<20 {
                var damaged = stream
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    damaged.damage(using: &generator)
                }
                let transcript = damaged.play(keys: keys, lateKeys: Bool.random(using: &generator))
                #expect(transcript.session != nil)
            }
        }
    }
}

extension RecordedStreams.Conversation {
    /// Changes, removes or cuts one step.
    mutating func damage(using generator: inout TestGenerator) {
        guard let index = steps.indices.randomElement(using: &generator) else { return }
        guard case .bytes(let side, var bytes, let packet) = steps[index], !bytes.isEmpty else { return }
        switch Int.random(in: 0..<5, using: &generator) {
        case 0:
            bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            steps[index] = .bytes(side, bytes, packet)
        case 1:
            steps[index] = .hole(side, bytes.count, packet)
        case 2:
            steps[index] = .hole(side, nil, packet)
        case 3:
            steps[index] = .bytes(side, Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &generator))), packet)
        default:
            let start = Int.random(in: 0..<bytes.count, using: &generator)
            let garbage = (start..<bytes.count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            steps[index] = .bytes(side, Array(bytes[..<start]) + garbage, packet)
        }
    }
}
