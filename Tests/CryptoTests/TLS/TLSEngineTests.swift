import Testing

@testable import Crypto

@Suite struct TLSEngineTests {
    @Test(arguments: TLSVersion.allCases)
    func bothSidesAgree(version: TLSVersion) throws {
        let pair = try EnginePair(upTo: version)
        try pair.handshake()
        #expect(pair.client.negotiated?.version == version)
        #expect(pair.server.negotiated == pair.client.negotiated)
        #expect(pair.client.peerCertificate?.subjectAlternativeNames == [.dns("api.example")])
        try pair.client.write(Array("ping".utf8))
        try pair.carry(from: pair.client, to: pair.server) {}
        #expect(try EnginePair.drain(pair.server).bytes == Array("ping".utf8))
        try pair.server.write(Array("pong".utf8))
        try pair.carry(from: pair.server, to: pair.client) {}
        #expect(try EnginePair.drain(pair.client).bytes == Array("pong".utf8))
    }
}
