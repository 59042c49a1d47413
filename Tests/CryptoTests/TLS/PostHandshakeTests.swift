import COpenSSL
import Testing

@testable import Crypto

/// What peers may send after the handshake: the engine takes care of it, and no plaintext is lost.
@Suite struct PostHandshakeTests {
    /// KeyUpdate in both directions, asked for or not (RFC 8446 §4.6.3).
    @Test(arguments: [true, false], [SSL_KEY_UPDATE_REQUESTED, SSL_KEY_UPDATE_NOT_REQUESTED])
    func keyUpdates(byClient: Bool, kind: Int32) throws {
        let pair = try EnginePair()
        try pair.handshake()
        let (first, second) = byClient ? (pair.client, pair.server) : (pair.server, pair.client)
        try pair.carry(from: first, to: second) {}
        _ = try EnginePair.drain(second)
        for round in 0..<5 {
            #expect(SSL_key_update(first.ssl, kind) == 1)
            try first.write([UInt8(round)])
            try pair.carry(from: first, to: second) {}
            #expect(try EnginePair.drain(second).bytes == [UInt8(round)])
            #expect(!second.hasOutput, "the answer goes out with what is written next")
            try second.write([UInt8(round) | 0x80])
            try pair.carry(from: second, to: first) {}
            #expect(try EnginePair.drain(first).bytes == [UInt8(round) | 0x80])
        }
    }

    /// A client that wants to renegotiate is told no; what it sent before is still read.
    @Test func renegotiationIsRefused() throws {
        let pair = try EnginePair(upTo: .tls12)
        try pair.handshake()
        SSL_clear_options(pair.client.ssl, SSL_get_options(pair.client.ssl) & (1 << 30))
        try pair.client.write([1])
        #expect(SSL_renegotiate(pair.client.ssl) == 1)
        _ = SSL_do_handshake(pair.client.ssl)
        try pair.carry(from: pair.client, to: pair.server) {}
        let read = try EnginePair.drain(pair.server)
        #expect(read.bytes == [1] && read.end == .needsInput)
        #expect(pair.server.hasOutput, "no_renegotiation")
    }
}
