import Testing

@testable import Crypto

/// Secrets before use: whoever writes the peer's bytes down has the secrets that open them first.
@Suite struct SecretsTests {
    /// The client's last flight, and its first data, cut at every byte.
    @Test(arguments: TLSVersion.allCases)
    func everyCutOfTheLastFlight(version: TLSVersion) throws {
        var cut = 1
        while true {
            let pair = try EnginePair(upTo: version)
            _ = try pair.client.handshake()
            var log: [String] = []
            var flight: [UInt8] = []
            // Up to the point where the client's flight carries its Finished.
            while !pair.client.isHandshakeComplete, flight.isEmpty {
                try pair.carry(from: pair.client, to: pair.server) { _ = try pair.server.handshake() }
                log += pair.server.secretLines()
                try pair.carry(from: pair.server, to: pair.client) { _ = try pair.client.handshake() }
                if pair.client.isHandshakeComplete || version < .tls13 {
                    if pair.client.isHandshakeComplete { try pair.client.write(Array("GET".utf8)) }
                    flight = Array(pair.client.takeOutput().bytes)
                }
            }
            guard cut < flight.count else { break }
            for piece in [flight[..<cut], flight[cut...]] {
                let fed = flight[..<piece.endIndex]
                piece.withUnsafeBytes(pair.server.feed)
                if try pair.server.handshake() { _ = try EnginePair.drain(pair.server) }
                log += pair.server.secretLines()
                for label in Self.needed(fed, version) {
                    #expect(log.contains { $0.hasPrefix(label) }, "\(label) is not there after \(fed.count) bytes")
                }
            }
            #expect(Set(log).count == log.count, "no line twice")
            cut += 1
        }
        #expect(cut > 60)
    }

    /// The labels of the secrets that open the records which begin in `bytes`.
    private static func needed(_ bytes: ArraySlice<UInt8>, _ version: TLSVersion) -> [String] {
        var needed: [String] = []
        var index = bytes.startIndex
        var isEncrypted = false
        var encryptedRecords = 0
        while index + 5 <= bytes.endIndex {
            if isEncrypted || bytes[index] == 23 { encryptedRecords += 1 }
            if bytes[index] == 20 { isEncrypted = version < .tls13 }
            index += 5 + Int(bytes[index + 3]) << 8 + Int(bytes[index + 4])
        }
        if version < .tls13 {
            if encryptedRecords > 0 { needed.append("CLIENT_RANDOM ") }
        } else {
            if encryptedRecords > 0 { needed.append("CLIENT_HANDSHAKE_TRAFFIC_SECRET ") }
            if encryptedRecords > 1 { needed.append("CLIENT_TRAFFIC_SECRET_0 ") }
        }
        return needed
    }

    /// Both sides know the same secrets.
    @Test(arguments: TLSVersion.allCases)
    func bothSidesLogTheSame(version: TLSVersion) throws {
        let pair = try EnginePair(upTo: version)
        try pair.handshake()
        let lines = Set(pair.server.secretLines())
        #expect(lines == Set(pair.client.secretLines()))
        #expect(lines.count == (version < .tls13 ? 1 : 5))
        #expect(pair.server.takeSecrets().isEmpty)
    }

    /// The secret is there even when what it opens breaks the handshake.
    @Test func aBrokenFinishedHasItsSecret() throws {
        let pair = try EnginePair(upTo: .tls12)
        _ = try pair.client.handshake()
        try pair.carry(from: pair.client, to: pair.server) { _ = try pair.server.handshake() }
        try pair.carry(from: pair.server, to: pair.client) { _ = try pair.client.handshake() }
        var flight = Array(pair.client.takeOutput().bytes)
        flight[flight.count - 1] ^= 1
        flight.withUnsafeBytes(pair.server.feed)
        #expect(throws: TLSFailure.self) { try pair.server.handshake() }
        #expect(pair.server.secretLines().contains { $0.hasPrefix("CLIENT_RANDOM ") })
    }
}
