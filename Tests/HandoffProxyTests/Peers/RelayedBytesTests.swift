// Which test shows what is right of each kind of fault that users of comparable proxies met:
//
//  1  invented 100, stripped Expect        RelayedBytesTests "every 1xx", "an expectation that fails"; CurlPeerTests
//  2  103 taken for the answer             RelayedBytesTests "every 1xx"
//  3  trailers lose the exchange           RelayedBytesTests "chunks and trailers both ways"; HTTP2PeerTests
//  5  streaming loses the record           CurlPeerTests.aHundredMegabytesPassBothWays (the record counts them)
//  6  interrupted body thrown away         CurlPeerTests.anInterruptedBodyIsKept
//  7  client cancels, download goes on     CurlPeerTests.aCancelledDownloadEndsAtTheOrigin
//  8  length and chunked: smuggling        RelayedBytesTests "two lengths and chunks"; ClearText/RefusalTests
//  9  a reused upstream was closed         ClearText/ProxyFormRelayTests; RelayedBytesTests "keep-alive"
// 10  a retry of the proxy's own           CurlPeerTests.nothingIsSentTwice
// 11  ALPN of one side only                InterceptionTests.theOriginsChoiceOfProtocolIsTheDevices; HTTP2PeerTests
// 14  odd HTTP/2 header values             HTTP2PeerTests.oddHeaderValuesPass
// 15  host name over 63 characters         UpstreamFailureTests.aLongNameHasALeaf
// 17  leaf refused by iOS                  OpenSSLClientTests.theLeafIsWhatPhonesAccept
// 18  one serial for two certificates      OpenSSLClientTests.theLeafIsWhatPhonesAccept
// 19  the authority's formats              CACommandsTests; Control/DeviceSiteTests
// 20  a pinned app                         PinnedPeerTests; LeafRefusalTests
// 22  failed attempts absent               OpenSSLClientTests; ExplicitProxyTests.anOriginThatIsNotThereIsSaidAndRecorded
// 28  chunks for HTTP/1.0, HEAD            RelayedBytesTests "HTTP/1.0", "pipelining"; CurlPeerTests
// 29  credentials and header order         CurlPeerTests.aClearRequestReachesTheOriginAsWithoutProxy
// 31  dead IPv6 first                      EventLoopTests/ConnectTests

import Crypto
import Foundation
import SessionTrace
import Synchronization
import Testing

@testable import HandoffProxy

/// Whole conversations, byte for byte: what each side got with the proxy between is what the other side sent.
@Suite struct RelayedBytesTests {
    enum Way: String, CaseIterable, Sendable {
        case direct, connect, socks
    }

    /// A connection to an origin's port, as `way` has it.
    static func open(_ proxy: ProxyUnderTest, _ way: Way, to port: UInt16) throws -> BlockingSocket {
        switch way {
        case .direct: return try BlockingSocket(port: port)
        case .connect: return try proxy.tunnel(to: port)
        case .socks:
            let socket = try BlockingSocket(port: proxy.port)
            socket.write([5, 1, 0])
            let name = Array(ProxyUnderTest.name.utf8)
            guard socket.read(2) == [5, 0] else { throw POSIXError(.ECONNREFUSED) }
            socket.write([5, 1, 0, 3, UInt8(name.count)] + name + [UInt8(port >> 8), UInt8(truncatingIfNeeded: port)])
            var reply: [UInt8] = []
            while reply.count < 10, let byte = socket.read(1), !byte.isEmpty { reply += byte }
            guard reply.count == 10, reply[1] == 0 else { throw POSIXError(.ECONNREFUSED) }
            return socket
        }
    }

    @Test(arguments: Dialogue.all, [TLSVersion.tls12, .tls13, nil])
    func aDialoguePassesUnchanged(dialogue: Dialogue, version: TLSVersion?) async throws {
        let proxy = try await ProxyUnderTest()
        for way in Way.allCases {
            let atOrigin = AsyncStream<Dialogue.Heard>.makeStream()
            let atDevice = try await onThread {
                let origin =
                    if version != nil {
                        try tlsOrigin(try proxy.identity(ProxyUnderTest.name)) { peer in
                            atOrigin.continuation.yield(dialogue.play(asDevice: false, on: peer))
                            peer.socket.close()
                        }
                    } else {
                        try BlockingServer { socket in
                            atOrigin.continuation.yield(dialogue.play(asDevice: false, on: socket))
                            socket.close()
                        }
                    }
                let socket = try Self.open(proxy, way, to: origin.port)
                defer { socket.close() }
                guard let version else { return dialogue.play(asDevice: true, on: socket) }
                let device = try TLSPeer.client(
                    on: socket, name: ProxyUnderTest.name,
                    authority: way == .direct ? proxy.scratch["origins.pem"] : proxy.ca, versions: version...version)
                try device.handshake()
                return dialogue.play(asDevice: true, on: device)
            }
            var iterator = atOrigin.stream.makeAsyncIterator()
            let origin = try #require(await iterator.next())
            let fromDevice = Dialogue.Heard(bytes: dialogue.bytes(fromDevice: true), isEnded: true)
            let fromOrigin = Dialogue.Heard(bytes: dialogue.bytes(fromDevice: false), isEnded: true)
            #expect(origin == fromDevice, "at the origin, \(way)")
            #expect(atDevice == fromOrigin, "at the device, \(way)")
        }
        let end = try await proxy.finish()
        #expect(end.proxyEvents(.leafSuspected).isEmpty)
        if dialogue.name == "every 1xx", version != nil {
            let exchange = try #require(end.exchanges.last)
            #expect(exchange.response?.status == 200)
        }
        // What is no TLS is not recorded as HTTP.
        guard version != nil else { return }
        try Tshark.need()
        #expect(try end.tshark(TsharkAgreement.faults, "frame.number") == [])
    }
}

/// What tshark says of a recording.
enum TsharkAgreement {
    /// Frames that a recording of ours never has.
    static let faults =
        "tcp.analysis.lost_segment || tcp.analysis.retransmission || tcp.analysis.out_of_order || "
        + "tcp.analysis.ack_lost_segment || tcp.analysis.spurious_retransmission || "
        + "(_ws.malformed && !(frame.protocols contains \"http\")) || tcp.checksum.status == 0 || ip.checksum.status == 0"
}
