import Crypto
import Foundation
import SessionTrace
import Testing

@testable import HandoffProxy

/// How the ends of connections pass through.
@Suite(.serialized) struct HalfCloseTests {
    private static func connect(_ proxy: ProxyUnderTest, _ origin: BlockingServer) throws -> TLSPeer {
        let client = try TLSPeer.client(
            on: try proxy.tunnel(to: origin.port), name: ProxyUnderTest.name, authority: proxy.ca)
        try client.handshake()
        return client
    }

    @Test func theDevicesEndLeavesTheOtherDirectionOpen() async throws {
        let proxy = try await ProxyUnderTest()
        try await onThread {
            let origin = try tlsOrigin(try proxy.identity(ProxyUnderTest.name)) { peer in
                guard case .bytes(let bytes) = peer.receive() else { return }
                guard peer.receive() == .closeNotify, peer.socket.readAll() == [] else { return }
                peer.send("after the end: " + String(decoding: bytes, as: UTF8.self))
                peer.closeNotify()
                peer.socket.close()
            }
            let client = try Self.connect(proxy, origin)
            client.send("request")
            client.closeNotify()
            client.socket.finishWriting()
            #expect(client.receive() == .bytes(Array("after the end: request".utf8)))
            #expect(client.receive() == .closeNotify)
            #expect(client.socket.readAll() == [])
            client.socket.close()
        }
        _ = try await proxy.finish()
    }

    @Test func theOriginsEndLeavesTheOtherDirectionOpen() async throws {
        let proxy = try await ProxyUnderTest()
        let (lines, heard) = AsyncStream.makeStream(of: String.self)
        try await onThread {
            let origin = try tlsOrigin(try proxy.identity(ProxyUnderTest.name)) { peer in
                peer.send("early")
                peer.closeNotify()
                if case .bytes(let bytes) = peer.receive() { heard.yield(String(decoding: bytes, as: UTF8.self)) }
                heard.finish()
            }
            let client = try Self.connect(proxy, origin)
            #expect(client.receive() == .bytes(Array("early".utf8)))
            #expect(client.receive() == .closeNotify)
            client.send("late")
            client.socket.finishWriting()
        }
        for await line in lines { #expect(line == "late") }
        let end = try await proxy.finish()
        #expect(end.proxyEvents(.leafSuspected).isEmpty)
    }

    /// A client that closes as soon as it has its answer resets: what it acknowledged with its last words counts.
    @Test func whatWasAcknowledgedBeforeAResetIsDelivered() async throws {
        let proxy = try await ProxyUnderTest()
        try await onThread {
            let origin = try tlsOrigin(try proxy.identity(ProxyUnderTest.name), answerTargets)
            for number in 0..<20 {
                let client = try Self.connect(proxy, origin)
                client.send("GET /\(number) HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(client.receiveHead().hasSuffix("/\(number)"))
                client.closeNotify()
                client.socket.reset()
            }
        }
        let end = try await proxy.finish()
        let requests = end.exchanges.filter { $0.request?.method == "GET" }
        #expect(requests.count == 20)
        let delivered = end.events.reduce(into: [ExchangeID: Delivery]()) { known, event in
            if case .delivery(let id, let delivery, _) = event { known[id] = delivery }
        }
        #expect(requests.allSatisfy { delivered[$0.id] == .yes }, "\(requests.map { delivered[$0.id] })")
    }

    /// A FIN without close_notify stays one: a cut response must not look like a whole one.
    @Test func aTruncationIsPassedOnAsOne() async throws {
        let proxy = try await ProxyUnderTest()
        try await onThread {
            let origin = try tlsOrigin(try proxy.identity(ProxyUnderTest.name)) { peer in
                peer.send("half of it")
                peer.socket.close()
            }
            let client = try Self.connect(proxy, origin)
            client.send("x")
            #expect(client.receive() == .bytes(Array("half of it".utf8)))
            let end = client.receive()
            #expect(end == .finished || end == .reset)
            client.socket.close()
        }
        _ = try await proxy.finish()
    }

    @Test func aResetOfTheOriginReachesTheDevice() async throws {
        let proxy = try await ProxyUnderTest()
        try await onThread {
            let origin = try tlsOrigin(try proxy.identity(ProxyUnderTest.name)) { peer in
                _ = peer.receive()
                peer.socket.reset()
            }
            let client = try Self.connect(proxy, origin)
            client.send("x")
            #expect(client.receive() == .reset)
            client.socket.close()
        }
        let end = try await proxy.finish()
        #expect(
            end.events.contains {
                if case .connectionClosed(let closed) = $0, closed.cause == .reset(by: .server) { true } else { false }
            })
    }

    @Test(arguments: [true, false])
    func aDeviceThatGoesAwayEndsTheOrigin(byReset: Bool) async throws {
        let proxy = try await ProxyUnderTest()
        let (ends, ended) = AsyncStream.makeStream(of: Bool.self)
        try await onThread {
            let origin = try tlsOrigin(try proxy.identity(ProxyUnderTest.name)) { peer in
                _ = peer.receive()
                // An endless download, until nobody takes it.
                let piece = [UInt8](repeating: 7, count: 65_536)
                while peer.send(piece) {}
                ended.yield(true)
                ended.finish()
            }
            let client = try Self.connect(proxy, origin)
            client.send("x")
            #expect(!client.receive(count: 1_000).isEmpty)
            if byReset { client.socket.reset() } else { client.socket.close() }
        }
        var count = 0
        for await _ in ends { count += 1 }
        #expect(count == 1)
        #expect(await proxy.eventually { proxy.proxy.openConnections == 0 })
        _ = try await proxy.finish()
    }

    @Test func aDeviceThatResetsDuringAnUploadEndsAnOriginThatDoesNotRead() async throws {
        let proxy = try await ProxyUnderTest()
        let (ends, ended) = AsyncStream.makeStream(of: Bool.self)
        try await onThread {
            let origin = try tlsOrigin(try proxy.identity(ProxyUnderTest.name)) { peer in
                _ = peer.receive()
                var event = pollfd(fd: peer.socket.descriptor, events: Int16(0), revents: 0)
                // Reads nothing; the kernel tells the reset all the same.
                while poll(&event, 1, 30_000) > 0, event.revents & Int16(POLLHUP | POLLERR) == 0 {}
                ended.yield(event.revents & Int16(POLLHUP | POLLERR) != 0)
                ended.finish()
            }
            let client = try Self.connect(proxy, origin)
            client.send("x")
            var limit = timeval(tv_sec: 1, tv_usec: 0)
            setsockopt(
                client.socket.descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            let piece = [UInt8](repeating: 7, count: 65_536)
            while client.send(piece) {}
            client.socket.reset()
        }
        for await isReset in ends { #expect(isReset) }
        _ = try await proxy.finish()
    }
}
