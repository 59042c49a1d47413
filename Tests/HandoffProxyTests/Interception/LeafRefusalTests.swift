import Crypto
import Foundation
import SessionTrace
import Testing

@testable import HandoffProxy

/// Devices that do not accept our certificate.
@Suite(.serialized) struct LeafRefusalTests {
    private static func client(_ proxy: ProxyUnderTest, _ origin: BlockingServer, trusting authority: String?) throws
        -> TLSPeer
    {
        try TLSPeer.client(on: try proxy.tunnel(to: origin.port), name: ProxyUnderTest.name, authority: authority)
    }

    /// A pinned client: it trusts the origin's own authority, not ours.
    @Test func anAlertIsARefusalAndTheNextConnectionIsLetThrough() async throws {
        let proxy = try await ProxyUnderTest()
        try await onThread {
            let origin = try tlsOrigin(try proxy.identity(ProxyUnderTest.name), answerTargets)
            let pinned = proxy.scratch["origins.pem"]
            let first = try Self.client(proxy, origin, trusting: pinned)
            #expect(throws: TLSFailure.self) { try first.handshake() }
            #expect(first.socket.readAll() != nil)
            first.socket.close()

            let second = try Self.client(proxy, origin, trusting: pinned)
            try second.handshake()
            second.send("GET /pinned HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(second.receiveHead().hasSuffix("/pinned"))
            second.socket.close()

        }
        let end = try await proxy.finish()
        let refused = try #require(end.proxyEvents(.leafRefused).first)
        #expect(end.proxyEvents(.leafRefused).count == 1)
        #expect(refused.attributes["how"] == "alert")
        #expect(refused.attributes["alert"] == "unknown_ca")
        #expect(refused.attributes["name"] == ProxyUnderTest.name)
        #expect(refused.attributes["ja4"]?.hasPrefix("t13d") == true)
        #expect(refused.attributes["fix"]?.isEmpty == false)
        let passed = try #require(end.proxyEvents(.passthrough).first)
        #expect(passed.attributes["reason"] == "refused")
        #expect(passed.attributes["until"] != nil)
        #expect(end.targets.isEmpty)
        #expect(end.live.contains { $0.kind == .leafRefused && !$0.isAlarm })
        #expect(end.live.contains { $0.kind == .passthrough })
    }

    @Test func aHostThatMattersIsTriedAgainEachTime() async throws {
        let proxy = try await ProxyUnderTest {
            $0.isGuarded = { $0.text == ProxyUnderTest.name }
        }
        try await onThread {
            let origin = try tlsOrigin(try proxy.identity(ProxyUnderTest.name), answerTargets)
            for _ in 0..<2 {
                let client = try Self.client(proxy, origin, trusting: proxy.scratch["origins.pem"])
                #expect(throws: TLSFailure.self) { try client.handshake() }
                _ = client.socket.readAll()
                client.socket.close()
            }
        }
        let end = try await proxy.finish()
        #expect(end.proxyEvents(.leafRefused).count == 2)
        #expect(end.proxyEvents(.passthrough).isEmpty)
        #expect(end.live.filter { $0.kind == .leafRefused && $0.isAlarm }.count == 2)
    }

    @Test(arguments: [true, false])
    func aPlainCloseBeforeFinishedIsARefusal(byReset: Bool) async throws {
        let proxy = try await ProxyUnderTest()
        try await onThread {
            let origin = try tlsOrigin(try proxy.identity(ProxyUnderTest.name), answerTargets)
            let client = try Self.client(proxy, origin, trusting: nil)
            try client.handshakeWithoutSending()
            if byReset { client.socket.reset() } else { client.socket.close() }
        }
        #expect(await proxy.eventually { proxy.proxy.openConnections == 0 })
        let end = try await proxy.finish()
        let refused = try #require(end.proxyEvents(.leafRefused).first)
        #expect(refused.attributes["how"] == "close")
        #expect(refused.attributes["alert"] == nil)
    }

    @Test func aCloseAfterTheHandshakeIsASuspicionAndNoReasonToPassThrough() async throws {
        let proxy = try await ProxyUnderTest()
        try await onThread {
            let origin = try tlsOrigin(try proxy.identity(ProxyUnderTest.name), answerTargets)
            for closesInOrder in [true, false] {
                let client = try Self.client(proxy, origin, trusting: proxy.ca)
                try client.handshake()
                if closesInOrder { client.closeNotify() }
                client.socket.close()
            }
            let client = try Self.client(proxy, origin, trusting: proxy.ca)
            try client.handshake()
            client.send("GET /seen HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(client.receiveHead().hasSuffix("/seen"))
            client.socket.close()
        }
        let end = try await proxy.finish()
        #expect(end.proxyEvents(.leafSuspected).count == 2)
        #expect(end.proxyEvents(.leafRefused).isEmpty)
        #expect(end.proxyEvents(.passthrough).isEmpty)
        #expect(end.targets == ["/seen"])
    }

    @Test func hostsThatAreAskedForAreLetThrough() async throws {
        let proxy = try await ProxyUnderTest { $0.passthroughHosts = [try #require(HostNamePattern("*.asked.test"))] }
        try await onThread {
            let origin = try tlsOrigin(try proxy.identity("a.asked.test"), answerTargets)
            let client = try TLSPeer.client(
                on: try proxy.tunnel(to: origin.port, host: "a.asked.test"), name: "a.asked.test",
                authority: proxy.scratch["origins.pem"])
            try client.handshake()
            client.send("GET /own HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(client.receiveHead().hasSuffix("/own"))
            client.socket.close()
        }
        let end = try await proxy.finish()
        #expect(end.proxyEvents(.passthrough).map { $0.attributes["reason"] } == ["asked"])
        #expect(end.targets.isEmpty)
    }

    @Test func whatOnlyLooksLikeTLSIsRelayedAsItIs() async throws {
        let proxy = try await ProxyUnderTest()
        try await onThread {
            let origin = try BlockingServer { socket in
                socket.write((socket.read() ?? []).reversed())
                socket.finishWriting()
            }
            let socket = try proxy.tunnel(to: origin.port)
            socket.write([0x16, 1, 2, 3, 4, 5, 6])
            #expect(socket.readAll() == [6, 5, 4, 3, 2, 1, 0x16])
            socket.close()
        }
        let end = try await proxy.finish()
        #expect(end.proxyEvents(.passthrough).map { $0.attributes["reason"] } == ["unreadable-hello"])
    }
}
