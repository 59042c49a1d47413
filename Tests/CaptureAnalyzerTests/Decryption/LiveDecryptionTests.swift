import Foundation
import SessionTrace
import Testing

@testable import CaptureAnalyzer

/// Sessions between OpenSSL's own client and server, recorded while the test runs.
@Suite(.enabled(if: LiveTLS.isInstalled, "openssl is not installed"), .serialized)
struct LiveDecryptionTests {
    struct Configuration: Sendable, CustomTestStringConvertible {
        var version: String
        var suite: String
        var etm: Bool?

        var testDescription: String { "\(version) \(suite)\(etm.map { $0 ? " EtM" : " MtE" } ?? "")" }

        var number: UInt16 { ["-tls1": 0x0301, "-tls1_1": 0x0302, "-tls1_2": 0x0303][version] ?? 0x0304 }
    }

    static let configurations: [Configuration] =
        [
            "TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256",
            "TLS_AES_128_CCM_SHA256",
            "TLS_AES_128_CCM_8_SHA256",
        ]
        .map { Configuration(version: "-tls1_3", suite: $0) }
        + [
            "ECDHE-RSA-AES128-GCM-SHA256", "AES256-GCM-SHA384", "ECDHE-RSA-CHACHA20-POLY1305", "DHE-RSA-AES256-CCM",
            "AES128-CCM8", "ECDHE-ARIA128-GCM-SHA256", "ARIA256-GCM-SHA384", "NULL-SHA256",
        ]
        .map { Configuration(version: "-tls1_2", suite: $0) }
        + ["ECDHE-RSA-AES256-SHA384", "AES128-SHA256", "AES128-SHA", "ECDHE-RSA-CAMELLIA128-SHA256"]
        .flatMap { suite in [true, false].map { Configuration(version: "-tls1_2", suite: suite, etm: $0) } }
        + ["-tls1", "-tls1_1"].flatMap { version in
            ["ECDHE-RSA-AES256-SHA", "CAMELLIA128-SHA"].flatMap { suite in
                [true, false].map { Configuration(version: version, suite: suite, etm: $0) }
            }
        }

    @Test(arguments: configurations) func suites(configuration: Configuration) throws {
        let choice =
            configuration.version == "-tls1_3"
            ? ["-ciphersuites", configuration.suite] : ["-cipher", configuration.suite + ":@SECLEVEL=0"]
        let etm = configuration.etm == false ? ["-no_etm"] : []
        let recording = try LiveTLS.record(
            server: ["-rev", configuration.version] + choice + etm,
            clients: [
                (
                    [configuration.version] + choice,
                    [("hello\n", "olleh"), ("second line\n", "enil dnoces"), ("Q\n", "DONE")]
                )
            ])
        try expectDecrypted(
            recording, version: configuration.number, client: "hello\nsecond line\n", server: "olleh\nenil dnoces\n")
    }

    /// A long answer: records of full length, and TLS 1.0's chained vectors across them.
    @Test(arguments: ["-tls1", "-tls1_2", "-tls1_3"]) func longRecords(version: String) throws {
        let recording = try LiveTLS.record(
            server: ["-rev", version, "-cipher", "ALL:@SECLEVEL=0"],
            clients: [
                (
                    [version, "-cipher", "ALL:@SECLEVEL=0"],
                    [(String(repeating: "x", count: 15_000) + "end\n", "dnexxx"), ("Q\n", "DONE")]
                )
            ])
        let stream = try #require(recording.conversations.first)
        let transcript = stream.play(keys: recording.keys)
        #expect(transcript.session?.readability == .decrypted)
        #expect(transcript.text(.server).starts(with: "dnexxx".utf8))
    }

    @Test func keyUpdates() throws {
        let recording = try LiveTLS.record(
            server: ["-rev", "-tls1_3"],
            clients: [
                (
                    ["-tls1_3"],
                    [
                        ("one\n", "eno"), ("K\n", "KEYUPDATE"), ("two\n", "owt"), ("k\n", "KEYUPDATE"),
                        ("three\n", "eerht"), ("Q\n", "DONE"),
                    ]
                )
            ])
        try expectDecrypted(recording, version: 0x0304, client: "one\ntwo\nthree\n", server: "eno\nowt\neerht\n")
    }

    @Test func helloRetryRequest() throws {
        let recording = try LiveTLS.record(
            server: ["-rev", "-tls1_3", "-groups", "P-384"],
            clients: [(["-tls1_3", "-groups", "X25519:P-384"], [("hello\n", "olleh"), ("Q\n", "DONE")])])
        let transcript = try #require(recording.conversations.first).play(keys: recording.keys)
        #expect(transcript.hellos.map(\.isRepeated) == [false, true])
        #expect(transcript.serverHellos == 2)
        try expectDecrypted(recording, version: 0x0304, client: "hello\n", server: "olleh\n")
    }

    @Test func renegotiation() throws {
        let recording = try LiveTLS.record(
            server: ["-rev", "-tls1_2", "-client_renegotiation"],
            clients: [
                (["-tls1_2"], [("one\n", "eno"), ("R\n", "RENEGOTIATING"), ("two\n", "owt"), ("Q\n", "DONE")])
            ])
        let transcript = try #require(recording.conversations.first).play(keys: recording.keys)
        #expect(transcript.hellos.map(\.isRepeated) == [false, true])
        try expectDecrypted(recording, version: 0x0303, client: "one\ntwo\n", server: "eno\nowt\n")
    }

    /// A second connection resumes the first; the key log has lost its line.
    @Test(arguments: [["-tls1_2"], ["-tls1_2", "-no_ticket"]]) func resumption(arguments: [String]) throws {
        let recording = try LiveTLS.record(
            server: ["-rev"] + arguments,
            clients: [
                (arguments + ["-sess_out", "FOLDER/session"], [("one\n", "eno"), ("Q\n", "DONE")]),
                (arguments + ["-sess_in", "FOLDER/session"], [("two\n", "owt"), ("Q\n", "DONE")]),
            ])
        try expectDecrypted(recording, version: 0x0303, client: "two\n", server: "owt\n", connection: 1)
        var context = DecryptionContext()
        context.keys.add(nss: Self.firstRandomOnly(recording.keys))
        let first = recording.conversations[0].play(&context)
        let second = recording.conversations[1].play(&context)
        #expect(first.session?.readability == .decrypted)
        #expect(second.session?.readability == .decrypted)
        #expect(second.text(.client) == Array("two\n".utf8))
        #expect(context.keys.entryCount == 1 && context.keys.usedCount == 1)
    }

    /// Early data that the server takes, and early data that it refuses and the client sends again.
    @Test(arguments: [true, false]) func earlyData(accepted: Bool) throws {
        let recording = try LiveTLS.record(
            server: ["-tls1_3"]
                + (accepted ? ["-early_data", "-max_early_data", "16384"] : ["-rev", "-max_early_data", "16384"]),
            clients: [
                (
                    ["-tls1_3", "-sess_out", "FOLDER/session"],
                    [("", ""), ("one\n", accepted ? "" : "eno")]
                ),
                (
                    ["-tls1_3", "-sess_in", "FOLDER/session", "-early_data", "FOLDER/cert.pem"],
                    [
                        ("", accepted ? "Early data was accepted" : "Early data was rejected"),
                        ("two\n", accepted ? "" : "owt"),
                    ]
                ),
            ])
        let transcript = try #require(recording.conversations.last).play(keys: recording.keys)
        #expect(transcript.session?.readability == .decrypted)
        let text = String(decoding: transcript.text(.client), as: UTF8.self)
        #expect(text.contains("BEGIN CERTIFICATE") == accepted)
        #expect(text.hasSuffix("two\n"))
        let late = try #require(recording.conversations.last).play(keys: recording.keys, lateKeys: true)
        #expect(late.text(.client) == transcript.text(.client))
        #expect(late.session == transcript.session)
    }

    /// Only the premaster secret is known: with the extended master secret the handshake itself is part of the key.
    @Test(arguments: ["-tls1_2", "-tls1_1"]) func premasterSecrets(version: String) throws {
        let recording = try LiveTLS.record(
            server: ["-rev", version, "-cipher", "AES128-SHA:@SECLEVEL=0"],
            clients: [
                ([version, "-cipher", "AES128-SHA:@SECLEVEL=0"], [("hello\n", "olleh"), ("Q\n", "DONE")])
            ])
        let lines = recording.keys.split(separator: "\n").filter { $0.hasPrefix("RSA ") }.joined(separator: "\n")
        #expect(!lines.isEmpty)
        let transcript = try #require(recording.conversations.first).play(keys: lines)
        #expect(transcript.session?.readability == .decrypted)
        #expect(transcript.text(.client) == Array("hello\n".utf8))
    }

    @Test func keysOfAnotherConnectionDoNotFit() throws {
        let recording = try LiveTLS.record(
            server: ["-rev", "-tls1_2"], clients: [(["-tls1_2"], [("hello\n", "olleh"), ("Q\n", "DONE")])])
        let wrong = recording.keys.split(separator: "\n").filter { $0.hasPrefix("CLIENT_RANDOM") }
            .map { $0.dropLast(8) + "01234567" }.joined(separator: "\n")
        let transcript = try #require(recording.conversations.first).play(keys: wrong)
        #expect(transcript.session?.readability == .opaque(.keysDoNotFit))
        #expect(transcript.blindSpots.map(\.reason) == [.keysDoNotFit])
        #expect(transcript.text(.client).isEmpty)
    }

    /// What an accepted encrypted ClientHello looks like: the extension is there, and the secrets are logged under a
    /// random that nobody can see. Made from a plain session by giving its hello another random and the extension.
    @Test func secretsUnderAnInnerRandom() throws {
        let recording = try LiveTLS.record(
            server: ["-rev", "-tls1_3"], clients: [(["-tls1_3"], [("hello\n", "olleh"), ("Q\n", "DONE")])])
        var stream = try #require(recording.conversations.first)
        guard case .bytes(.client, var hello, let packet) = stream.steps.first else { return }
        hello[20] ^= 0xFF
        #expect(stream.with(first: hello, packet).play(keys: recording.keys).session?.readability == .opaque(.noKeys))
        let sessionLength = Int(hello[43])
        let suitesAt = 44 + sessionLength
        let compressionAt = suitesAt + 2 + (Int(hello[suitesAt]) << 8 | Int(hello[suitesAt + 1]))
        let extensionsAt = compressionAt + 1 + Int(hello[compressionAt])
        hello += [0xFE, 0x0D, 0, 1, 0]
        for (at, width) in [(3, 2), (6, 3), (extensionsAt, 2)] {
            var value = hello[at..<at + width].reduce(0) { $0 << 8 | Int($1) } + 5
            for index in (at..<at + width).reversed() {
                hello[index] = UInt8(value & 0xFF)
                value >>= 8
            }
        }
        stream = stream.with(first: hello, packet)
        let transcript = stream.play(keys: recording.keys)
        #expect(transcript.hellos.first?.hasEncryptedClientHello == true)
        #expect(transcript.session?.readability == .decrypted)
        #expect(transcript.session?.isEncryptedClientHelloAccepted == true)
        #expect(transcript.text(.client) == Array("hello\n".utf8))
        let late = stream.play(keys: recording.keys, lateKeys: true)
        #expect(late.session == transcript.session)
    }

    /// Without its start, a connection stays closed and says so.
    @Test func joinedInTheMiddle() throws {
        let recording = try LiveTLS.record(
            server: ["-rev", "-tls1_3"], clients: [(["-tls1_3"], [("hello\n", "olleh"), ("Q\n", "DONE")])])
        var stream = try #require(recording.conversations.first)
        stream.connection.startSeen = false
        stream.steps = Array(stream.steps.suffix(3))
        let transcript = stream.play(keys: recording.keys)
        #expect(transcript.session?.readability == .opaque(.handshakeNotSeen))
        #expect(transcript.blindSpots.map(\.reason) == [.handshakeNotSeen])
    }

    private func expectDecrypted(
        _ recording: LiveTLS.Recording, version: UInt16, client: String, server: String, connection: Int = 0
    ) throws {
        let stream = try #require(
            recording.conversations.indices.contains(connection) ? recording.conversations[connection] : nil)
        let transcript = stream.play(keys: recording.keys)
        #expect(transcript.session?.readability == .decrypted)
        #expect(transcript.session?.version == version)
        #expect(String(decoding: transcript.text(.client), as: UTF8.self) == client)
        #expect(String(decoding: transcript.text(.server), as: UTF8.self) == server)
        #expect(transcript.blindSpots.isEmpty)
        #expect(transcript.hellos.allSatisfy { $0.serverName == HostName("live.test") })
        for cut in [RecordedStreams.Conversation.Cut.everyByte, .random(seed: 5)] {
            #expect(stream.play(keys: recording.keys, cut: cut) == transcript)
        }
        let late = stream.play(keys: recording.keys, lateKeys: true)
        #expect(late.text(.client) == transcript.text(.client))
        #expect(late.text(.server) == transcript.text(.server))
        #expect(late.session == transcript.session)
    }

    private static func firstRandomOnly(_ keys: String) -> String {
        let lines = keys.split(separator: "\n").filter { $0.hasPrefix("CLIENT_RANDOM") }
        return lines.first.map(String.init) ?? ""
    }
}

extension RecordedStreams.Conversation {
    fileprivate func with(first bytes: [UInt8], _ packet: PacketReference) -> Self {
        var changed = self
        changed.steps[0] = .bytes(.client, bytes, packet)
        return changed
    }
}
