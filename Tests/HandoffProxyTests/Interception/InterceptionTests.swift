import Crypto
import Foundation
import SessionTrace
import Testing

@testable import HandoffProxy

/// Connections through the whole proxy: what is relayed, and what the recording says of it.
@Suite(.serialized) struct InterceptionTests {
    /// What tshark shows as requests to origins.
    static let requests = "http.request && http.request.method != CONNECT"

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func requestsAreRelayedAndRecordedDecrypted(version: TLSVersion) async throws {
        let proxy = try await ProxyUnderTest()
        try await onThread {
            let origin = try tlsOrigin(try proxy.identity(ProxyUnderTest.name), answerTargets)
            let client = try TLSPeer.client(
                on: try proxy.tunnel(to: origin.port), name: ProxyUnderTest.name, authority: proxy.ca,
                versions: version...version)
            try client.handshake()
            #expect(client.engine.negotiated?.version == version)
            client.send("GET /one HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(client.receiveHead().hasSuffix("/one"))
            client.closeNotify()
            #expect(client.receive() == .closeNotify)
            client.socket.close()
        }
        let end = try await proxy.finish()
        #expect(end.targets == ["/one"])
        #expect(end.exchanges.last?.response?.status == 200)
        let upstream = try #require(end.proxyEvents(.upstreamTLS).first)
        #expect(upstream.attributes["name"] == ProxyUnderTest.name)
        #expect(upstream.attributes["version"] == "TLS 1.3")
        #expect(upstream.attributes["issuer"]?.isEmpty == false)
        #expect(end.proxyEvents(.leafSuspected).isEmpty)
        try Tshark.need()
        #expect(try end.tshark(Self.requests, "http.request.uri") == ["/one"])
    }

    @Test func theOriginsChoiceOfProtocolIsTheDevices() async throws {
        let proxy = try await ProxyUnderTest()
        try await onThread {
            for (chosen, offered) in [
                ("h2", ["h2", "http/1.1"]), ("http/1.1", ["h2", "http/1.1"]), (nil, ["x", "h2"]),
            ] {
                let origin = try tlsOrigin(try proxy.identity(ProxyUnderTest.name), alpn: chosen) { peer in
                    #expect(peer.engine.negotiated?.alpn == chosen)
                    peer.send("hello")
                    peer.closeNotify()
                }
                let client = try TLSPeer.client(
                    on: try proxy.tunnel(to: origin.port), name: ProxyUnderTest.name, authority: proxy.ca, alpn: offered
                )
                try client.handshake()
                #expect(client.engine.negotiated?.alpn == chosen)
                #expect(client.receive() == .bytes(Array("hello".utf8)))
                client.socket.close()
            }
        }
        _ = try await proxy.finish()
    }

    /// Whatever way the client's last flight and its request are cut into segments, the recording opens alone.
    @Test(arguments: [TLSVersion.tls12, .tls13])
    func aLastFlightCutAnywhereIsRecordedDecrypted(version: TLSVersion) async throws {
        let proxy = try await ProxyUnderTest()
        let expected = try await onThread {
            let origin = try tlsOrigin(try proxy.identity(ProxyUnderTest.name), answerTargets)
            var expected: [String] = []
            var cut = 1
            var length = Int.max
            while cut < length {
                let client = try TLSPeer.client(
                    on: try proxy.tunnel(to: origin.port), name: ProxyUnderTest.name, authority: proxy.ca,
                    versions: version...version)
                let target = "/cut/\(cut)"
                let request = Array("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
                if version == .tls13 {
                    // Finished and request leave as one flight, cut once.
                    try client.handshakeWithoutSending()
                    try request.withUnsafeBytes { try client.engine.write($0) }
                    client.engine.withOutput {
                        length = $0.count
                        return 0
                    }
                    client.cut = cut
                    client.flush()
                } else {
                    // The last flight is ClientKeyExchange, ChangeCipherSpec and Finished: the second one that is sent.
                    while try !client.engine.handshake() {
                        if client.engine.negotiated == nil, client.engine.hasOutput, client.hasReceived {
                            client.engine.withOutput {
                                length = $0.count
                                return 0
                            }
                            client.cut = cut
                        }
                        client.flush()
                        try client.feedOnce()
                    }
                    client.send(request)
                }
                #expect(client.receiveHead().hasSuffix(target))
                expected.append(target)
                client.closeNotify()
                client.socket.close()
                cut += 1
            }
            #expect(expected.count > 50)
            return expected
        }
        let end = try await proxy.finish()
        #expect(Set(end.targets) == Set(expected))
        #expect(end.targets.count == expected.count)
        try Tshark.need()
        let seen = try end.tshark(Self.requests, "http.request.uri")
        #expect(Set(seen) == Set(expected), "\(end.frames(ofFirstBut: seen))")
    }

    @Test func aFlightSentByteByByteIsRecordedDecrypted() async throws {
        let proxy = try await ProxyUnderTest()
        try await onThread {
            let origin = try tlsOrigin(try proxy.identity(ProxyUnderTest.name), answerTargets)
            for version in [TLSVersion.tls12, .tls13] {
                let client = try TLSPeer.client(
                    on: try proxy.tunnel(to: origin.port), name: ProxyUnderTest.name, authority: proxy.ca,
                    versions: version...version)
                client.pieceSize = 1
                try client.handshake()
                client.send("GET /\(version.rawValue) HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(client.receiveHead().hasSuffix("/\(version.rawValue)"))
                client.socket.close()
            }
        }
        let end = try await proxy.finish()
        #expect(end.targets == ["/771", "/772"])
        try Tshark.need()
        #expect(try end.tshark(Self.requests, "http.request.uri") == ["/771", "/772"])
    }

    @Test func largeBodiesPassUnchangedBothWays() async throws {
        let proxy = try await ProxyUnderTest()
        try await onThread {
            let count = 8 << 20
            let up = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
            let origin = try tlsOrigin(try proxy.identity(ProxyUnderTest.name)) { peer in
                let received = peer.receive(count: count)
                peer.send(received.reversed())
                peer.closeNotify()
                _ = peer.receive()
            }
            let client = try TLSPeer.client(
                on: try proxy.tunnel(to: origin.port), name: ProxyUnderTest.name, authority: proxy.ca)
            try client.handshake()
            client.send(up)
            let down = client.receive(count: count)
            #expect(down.count == count)
            #expect(down == up.reversed())
            #expect(client.receive() == .closeNotify)
            client.socket.close()
        }
        _ = try await proxy.finish()
    }

    @Test func secretsOfTheDevicesSideGoToTheKeyLog() async throws {
        let folder = try ScratchFolder()
        let proxy = try await ProxyUnderTest {
            $0.keyLogPath = folder["device.keys"]
            $0.upstreamKeyLogPath = folder["origin.keys"]
        }
        let own = try await onThread {
            let origin = try tlsOrigin(try proxy.identity(ProxyUnderTest.name), answerTargets)
            let client = try TLSPeer.client(
                on: try proxy.tunnel(to: origin.port), name: ProxyUnderTest.name, authority: proxy.ca)
            try client.handshake()
            client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = client.receiveHead()
            let own = String(decoding: client.engine.takeSecrets(), as: UTF8.self).split(separator: "\n").map(
                String.init)
            client.socket.close()
            return own
        }
        _ = try await proxy.finish()
        let device = try String(contentsOfFile: folder["device.keys"], encoding: .utf8)
        let upstream = try String(contentsOfFile: folder["origin.keys"], encoding: .utf8)
        #expect(own.contains { $0.hasPrefix("CLIENT_TRAFFIC_SECRET_0") })
        for line in own { #expect(device.contains(line)) }
        #expect(upstream.contains("CLIENT_TRAFFIC_SECRET_0"))
        #expect(!upstream.contains(own[0]))
    }
}
