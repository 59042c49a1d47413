import Crypto
import Foundation
import SessionTrace
import Testing

@testable import HandoffProxy

/// `openssl s_client` as the device and `openssl s_server` as the origin: what other clients do not do when asked.
@Suite(.enabled(if: PeerCertificates.shared != nil, "needs openssl")) struct OpenSSLClientTests {
    /// Runs `s_client` through the proxy with these lines as its input, half a second between them.
    static func client(
        _ proxy: ProxyUnderTest, _ port: UInt16, _ arguments: String, name: String = ProxyUnderTest.name,
        input: [String] = ["GET / HTTP/1.0\\r\\n\\r\\n"]
    ) async throws -> String {
        let lines = input.map { "printf '\($0)'; sleep 0.7; " }.joined()
        // s_client ends with its input, and a loaded machine is slow: the last wait is for the answer.
        let run = try await shell(
            """
            cd "$DIR"; (sleep 1; \(lines)sleep 3) | openssl s_client -proxy 127.0.0.1:\(proxy.port) -CAfile \(proxy.ca) \
                -connect \(name):\(port) -servername \(name) \(arguments)
            """, ["DIR": proxy.scratch.path])
        return run.output
    }

    static func server(_ certificate: String, _ arguments: String = "-www") async throws -> SendableBox<PeerServer> {
        let certificates = try #require(PeerCertificates.shared)
        let pem = certificates.file(certificate)
        let command =
            "openssl s_server -accept $PORT -cert \(pem) -key \(pem) -CAfile \(certificates.authority) \(arguments)"
        return try await onThread { SendableBox(try PeerServer(command)) }
    }

    static func proxy(_ configure: (inout ProxyConfiguration) throws -> Void = { _ in }) async throws -> ProxyUnderTest
    {
        let certificates = try #require(PeerCertificates.shared)
        return try await ProxyUnderTest {
            try $0.trust(certificates)
            try configure(&$0)
        }
    }

    /// A device that comes with a ticket of the real origin, and with 30 KB that it sends before it is answered.
    @Test func ticketsAndEarlyDataOfTheOriginAreNoObstacle() async throws {
        let proxy = try await Self.proxy()
        // It prints what it reads and sends what comes in: a line now and then, which each client sees.
        let certificates = try #require(PeerCertificates.shared)
        let pem = certificates.file("origin")
        let origin = try await onThread {
            SendableBox(
                try PeerServer(
                    """
                    sh -c 'mkfifo \(proxy.scratch["ticks"])
                    (while sleep 0.2 && kill -0 $$; do echo tick; done) > \(proxy.scratch["ticks"]) 2>/dev/null &
                    exec openssl s_server -accept $PORT -cert \(pem) -key \(pem) -early_data -max_early_data 65536 \
                        -no_anti_replay < \(proxy.scratch["ticks"])'
                    """))
        }
        let direct = try await shell(
            """
            cd "$DIR"; sleep 2 | openssl s_client -connect 127.0.0.1:\(origin.value.port) -servername origin.test \
                -tls1_3 -sess_out ticket.pem -CAfile \(certificates.authority)
            openssl sess_id -in ticket.pem -noout -text
            { printf 'GET /early HTTP/1.0\\r\\nX: '; head -c 30000 /dev/zero | tr '\\0' a; printf '\\r\\n\\r\\n'; } > early.bin
            """, ["DIR": proxy.scratch.path])
        #expect(direct.output.contains("Max Early Data: 65536"), "\(direct.output)")
        for early in ["", "-early_data early.bin"] {
            let said = try await Self.client(proxy, origin.value.port, "-tls1_3 -sess_in ticket.pem \(early)")
            #expect(said.contains("New, TLSv1.3"), "\(said)")
            #expect(said.contains("tick\ntick"), "\(said)")
            #expect(said.contains("Verify return code: 0"))
            #expect(said.contains("Early data was rejected") == !early.isEmpty)
        }
        let end = try await proxy.finish()
        #expect(end.targets == ["/", "/"])
        #expect(end.proxyEvents(.leafRefused).isEmpty)
        try Tshark.need()
        let reset = try end.tshark("tcp.flags.reset == 1", "frame.number")
        #expect(reset.isEmpty)
    }

    @Test(arguments: ["-tls1", "-tls1_1"])
    func oldDevicesAreServed(version: String) async throws {
        let proxy = try await Self.proxy()
        let origin = try await Self.server("origin")
        let said = try await Self.client(proxy, origin.value.port, "\(version) -cipher ALL:@SECLEVEL=0")
        #expect(said.contains("HTTP/1.0 200 ok"), "\(said)")
        let end = try await proxy.finish()
        #expect(end.targets == ["/"])
        #expect(end.proxyEvents(.upstreamTLS).first?.attributes["version"] == "TLS 1.3")
    }

    /// A device that can do RSA key exchange only has nothing in common with our leaf: said, and no refusal of it.
    @Test func aDeviceWithoutCommonCiphersIsSaid() async throws {
        let proxy = try await Self.proxy()
        let origin = try await Self.server("rsa")
        let said = try await Self.client(proxy, origin.value.port, "-tls1_2 -cipher AES128-SHA")
        #expect(said.contains("handshake failure"), "\(said)")
        let end = try await proxy.finish()
        #expect(end.proxyEvents(.other("device-tls-failed")).count == 1)
        #expect(end.proxyEvents(.leafRefused).isEmpty)
    }

    /// `K` asks the peer for new keys too, `k` does not.
    @Test func keyUpdatesAreFollowed() async throws {
        let proxy = try await Self.proxy()
        let origin = try await Self.server("origin", "-WWW")
        let said = try await Self.client(
            proxy, origin.value.port, "-tls1_3", input: ["K\\n", "k\\n", "GET /no-such-file HTTP/1.0\\r\\n", "\\r\\n"])
        #expect(said.components(separatedBy: "KEYUPDATE").count == 3, "\(said)")
        #expect(said.contains("no-such-file"), "\(said)")
        let end = try await proxy.finish()
        #expect(end.targets == ["/no-such-file"])
        try Tshark.need()
        let text = try Tshark.run(["-r", end.path, "-q", "-z", "follow,tls,ascii,0"])
        #expect(text.contains { $0.contains("Error opening") }, "what came after the keys were changed")
    }

    /// A renegotiation is refused, as the origin would refuse it; nothing else happens.
    @Test func renegotiationIsRefused() async throws {
        let proxy = try await Self.proxy()
        let origin = try await Self.server("origin")
        let said = try await Self.client(proxy, origin.value.port, "-tls1_2", input: ["R\\n"])
        #expect(said.contains("no renegotiation"), "\(said)")
        let end = try await proxy.finish()
        #expect(end.targets.isEmpty)
        #expect(end.proxyEvents(.leafRefused).isEmpty)
    }

    // MARK: Origins that want, or have, certificates of another kind

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func anOriginThatDemandsACertificateGetsIt(version: String) async throws {
        let certificates = try #require(PeerCertificates.shared)
        let proxy = try await Self.proxy {
            $0.clientCertificates = [
                .init(host: try #require(HostNamePattern(ProxyUnderTest.name)), path: certificates.file("client"))
            ]
        }
        let origin = try await Self.server("origin", "-www -Verify 1 -verify_return_error \(version)")
        let with = try await Self.client(proxy, origin.value.port, "")
        #expect(with.contains("HTTP/1.0 200 ok"), "\(with)")
        let without = try await Self.client(proxy, origin.value.port, "", name: "other.origin.test")
        #expect(!without.contains("HTTP/1.0 200 ok"), "\(without)")
        let end = try await proxy.finish()
        let failures = end.proxyEvents(.upstreamTLSFailed)
        #expect(failures.map { $0.attributes["name"] } == ["other.origin.test"])
        #expect(
            failures.first?.attributes["alert"] == (version == "-tls1_3" ? "certificate_required" : "handshake_failure")
        )
        #expect(failures.first?.attributes["fix"]?.contains("--client-cert other.origin.test=FILE") == true)
        #expect(end.live.contains { $0.kind == .upstreamTLSFailed && $0.text.contains("--client-cert") })
    }

    @Test(arguments: [("expired", "expired"), ("wrong", "elsewhere.test"), ("self", "self-signed")])
    func anOriginThatDoesNotVerifyIsSaidInWords(certificate: String, words: String) async throws {
        let proxy = try await Self.proxy()
        let origin = try await Self.server(certificate)
        let said = try await Self.client(proxy, origin.value.port, "")
        #expect(said.contains("internal error"), "\(said)")
        let end = try await proxy.finish()
        let failure = try #require(end.proxyEvents(.upstreamTLSFailed).first)
        #expect(failure.attributes["reason"]?.contains(words) == true, "\(failure.attributes)")
        #expect(end.targets.isEmpty)
    }

    /// What iOS and Android ask of a leaf: a short life that began yesterday, serverAuth, names in the extension, a serial
    /// of its own; critical names where the subject is empty.
    @Test func theLeafIsWhatPhonesAccept() async throws {
        let proxy = try await Self.proxy()
        let origin = try await Self.server("origin")
        let long = String(repeating: "a", count: 60) + ".origin.test"
        var serials: Set<String> = []
        for name in [ProxyUnderTest.name, long] {
            let run = try await shell(
                """
                echo | openssl s_client -proxy 127.0.0.1:\(proxy.port) -connect \(name):\(origin.value.port) \
                    -servername \(name) -CAfile \(proxy.ca) -verify_hostname \(name) > "$DIR/said"
                grep -E 'Verif' "$DIR/said"
                openssl x509 -in "$DIR/said" -noout -text
                openssl x509 -in "$DIR/said" -noout -checkend 3888000 || echo ends within 45 days
                """, ["DIR": proxy.scratch.path])
            #expect(
                run.output.contains("Verify return code: 0") || run.output.contains("Verification: OK"), "\(run.output)"
            )
            #expect(run.output.contains("TLS Web Server Authentication"))
            #expect(run.output.contains("ends within 45 days"))
            #expect(run.output.contains("DNS:\(name)"))
            #expect(run.output.contains("CN = \(name)") == (name.utf8.count <= 64))
            if name.utf8.count > 64 { #expect(run.output.contains("X509v3 Subject Alternative Name: critical")) }
            let serial = run.lines.drop { !$0.contains("Serial Number") }.prefix(2).joined()
            serials.insert(serial)
        }
        #expect(serials.count == 2)
        _ = try await proxy.finish()
    }
}
