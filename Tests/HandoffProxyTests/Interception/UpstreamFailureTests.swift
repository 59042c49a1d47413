import Crypto
import EventLoop
import Foundation
import SessionTrace
import Testing

@testable import HandoffProxy

/// Origins whose TLS fails.
@Suite(.serialized) struct UpstreamFailureTests {
    /// The alert that a client gets; nil when its handshake succeeds.
    private static func alert(_ proxy: ProxyUnderTest, _ port: UInt16, name: String = ProxyUnderTest.name) throws
        -> UInt8?
    {
        let client = try TLSPeer.client(on: try proxy.tunnel(to: port, host: name), name: name, authority: proxy.ca)
        defer { client.socket.close() }
        do throws(TLSFailure) {
            do { try client.handshake() } catch let failure as TLSFailure { throw failure } catch {
                throw TLSFailure(.other, "\(error)")
            }
            return nil
        } catch {
            return error.alert
        }
    }

    @Test func aCertificateThatDoesNotVerifyIsTold() async throws {
        let proxy = try await ProxyUnderTest()
        try await onThread {
            let stranger = try CertificateAuthority.inMemory(hostName: "stranger")
            let strange = try tlsOrigin(
                try stranger.leaf(for: [try #require(SubjectName(ProxyUnderTest.name))]), answerTargets)
            #expect(try Self.alert(proxy, strange.port) == 80)
            let wrong = try tlsOrigin(try proxy.identity("other.test"), answerTargets)
            #expect(try Self.alert(proxy, wrong.port) == 80)
        }
        let end = try await proxy.finish()
        let failures = end.proxyEvents(.upstreamTLSFailed)
        #expect(failures.count == 2)
        #expect(failures.allSatisfy { $0.attributes["name"] == ProxyUnderTest.name })
        #expect(failures[1].attributes["reason"]?.contains("other.test") == true)
        #expect(end.live.filter { $0.kind == .upstreamTLSFailed }.allSatisfy { $0.text.contains("--upstream-ca") })
    }

    @Test func anInsecureUpstreamIsReadAndItsNamesAreNotMirrored() async throws {
        let proxy = try await ProxyUnderTest {
            $0.insecureUpstreams = [try #require(HostNamePattern(ProxyUnderTest.name))]
        }
        try await onThread {
            let stranger = try CertificateAuthority.inMemory(hostName: "stranger")
            let origin = try tlsOrigin(try stranger.leaf(for: [.dns("elsewhere.test")]), answerTargets)
            let client = try TLSPeer.client(
                on: try proxy.tunnel(to: origin.port), name: ProxyUnderTest.name, authority: proxy.ca)
            try client.handshake()
            #expect(client.engine.peerCertificate?.subjectAlternativeNames == [.dns(ProxyUnderTest.name)])
            client.socket.close()
        }
        let end = try await proxy.finish()
        #expect(end.proxyEvents(.upstreamTLS).first?.attributes["verified"] == "no")
    }

    @Test func theNamesOfAVerifiedOriginAreMirrored() async throws {
        let proxy = try await ProxyUnderTest()
        try await onThread {
            let origin = try tlsOrigin(
                try proxy.identity(ProxyUnderTest.name, "*.wide.test"), answerTargets)
            let client = try TLSPeer.client(
                on: try proxy.tunnel(to: origin.port), name: ProxyUnderTest.name, authority: proxy.ca)
            try client.handshake()
            let names = try #require(client.engine.peerCertificate?.subjectAlternativeNames)
            #expect(names.contains(.dns(ProxyUnderTest.name)))
            #expect(names.contains(.dns("*.wide.test")))
            client.socket.close()
        }
        _ = try await proxy.finish()
    }

    /// A name longer than a common name may be.
    @Test func aLongNameHasALeaf() async throws {
        let proxy = try await ProxyUnderTest()
        try await onThread {
            let name = String(repeating: "a", count: 60) + "." + String(repeating: "b", count: 60) + ".test"
            let origin = try tlsOrigin(try proxy.identity(name), answerTargets)
            #expect(try Self.alert(proxy, origin.port, name: name) == nil)
        }
        _ = try await proxy.finish()
    }

    @Test func whatTheOriginSaysIsPassedOn() async throws {
        let proxy = try await ProxyUnderTest()
        try await onThread {
            let origin = try BlockingServer { socket in
                _ = socket.read()
                socket.write(TLSAlert.clearRecord(112))
                socket.finishWriting()
                _ = socket.readAll()
            }
            #expect(try Self.alert(proxy, origin.port) == 112)
            let silent = try BlockingServer {
                _ = $0.read()
                $0.close()
            }
            #expect(try Self.alert(proxy, silent.port) == 80)
        }
        let end = try await proxy.finish()
        #expect(end.proxyEvents(.upstreamTLSFailed).first?.attributes["alert"] == "unrecognized_name")
        #expect(end.proxyEvents(.upstreamTLSFailed).count == 2)
    }

    /// An origin that closes at once has said nothing: the hello that comes is one for TLS that fails.
    @Test func anOriginThatClosesAtOnceIsAFailureOfTLS() async throws {
        let proxy = try await ProxyUnderTest()
        try await onThread {
            let origin = try BlockingServer {
                $0.finishWriting()
                _ = $0.readAll()
                $0.close()
            }
            let tunnel = try proxy.tunnel(to: origin.port)
            let client = try TLSPeer.client(on: tunnel, name: ProxyUnderTest.name, authority: proxy.ca)
            // The origin's FIN is at the proxy before the hello.
            Thread.sleep(forTimeInterval: 0.1)
            #expect(throws: (any Error).self) { try client.handshake() }
            client.socket.close()
        }
        let end = try await proxy.finish()
        #expect(end.proxyEvents(.upstreamTLSFailed).map { $0.attributes["name"] } == [ProxyUnderTest.name])
    }

    @Test(.enabled(if: FinishedCommand.find("openssl") != nil, "needs openssl"))
    func aClientCertificateThatIsAskedForInTLS13IsHinted() async throws {
        let proxy = try await ProxyUnderTest {
            $0.insecureUpstreams = [try #require(HostNamePattern(ProxyUnderTest.name))]
        }
        try await onThread {
            let openssl = try #require(FinishedCommand.find("openssl"))
            let (key, certificate) = (proxy.scratch["s.key"], proxy.scratch["s.pem"])
            let made = try FinishedCommand(
                openssl,
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key,
                    "-out", certificate, "-subj", "/CN=origin", "-days", "2",
                ])
            #expect(made.status == 0)
            let port = try BlockingServer { $0.close() }.port
            let server = try SpawnedProcess(
                openssl,
                [
                    "s_server", "-quiet", "-tls1_3", "-Verify", "1", "-accept", "127.0.0.1:\(port)", "-cert",
                    certificate,
                    "-key", key,
                ])
            defer { server.kill() }
            for _ in 0..<1_000 {
                if let probe = try? BlockingSocket(port: port) {
                    probe.close()
                    break
                }
                Thread.sleep(forTimeInterval: 0.02)
            }
            let client = try TLSPeer.client(
                on: try proxy.tunnel(to: port), name: ProxyUnderTest.name, authority: proxy.ca)
            try client.handshake()
            client.send("GET / HTTP/1.1\r\n\r\n")
            _ = client.socket.readAll()
            client.socket.close()
        }
        let end = try await proxy.finish()
        let failure = try #require(end.proxyEvents(.upstreamTLSFailed).first)
        #expect(failure.attributes["alert"] == "certificate_required")
        #expect(failure.attributes["fix"]?.contains("--client-cert \(ProxyUnderTest.name)=FILE") == true)
        #expect(end.live.contains { $0.kind == .upstreamTLSFailed && $0.text.contains("--client-cert") })
    }
}
