import Testing
import WireFormats

@testable import CaptureAnalyzer

@Suite struct KeyLogTests {
    private let random = String(repeating: "ab", count: 32)
    private let other = String(repeating: "cd", count: 32)
    private let secret32 = String(repeating: "01", count: 32)
    private let secret48 = String(repeating: "02", count: 48)

    @Test func everyLabel() throws {
        var log = KeyLog()
        log.add(
            nss: """
                # a comment
                CLIENT_RANDOM \(random) \(secret48)\r
                CLIENT_HANDSHAKE_TRAFFIC_SECRET \(other) \(secret32)
                SERVER_HANDSHAKE_TRAFFIC_SECRET \(other) \(secret32.uppercased())

                EXPORTER_SECRET \(other) \(secret32)
                QUIC_CLIENT_TRAFFIC_SECRET_0 \(other) \(secret48)
                ECH_SECRET \(other) \(secret32)
                RSA 0102030405060708 \(secret48)
                RSA Session-ID:\(random) Master-Key:\(secret48)
                \(KeyLog.Label.premasterSecret.rawValue) \(random) \(secret48)
                """)
        #expect(log.badLineCount == 0)
        #expect(log.lines == 11)
        #expect(log.entryCount == 4)
        let name = try #require(TLSRandom([UInt8](repeating: 0xAB, count: 32)))
        #expect(log.secrets(.masterSecret, for: name) == [[UInt8](repeating: 2, count: 48)])
        #expect(log.masterSecret(session: [UInt8](repeating: 0xAB, count: 32)) == [UInt8](repeating: 2, count: 48))
        #expect(log.premasterSecret(encrypted: [1, 2, 3, 4, 5, 6, 7, 8, 9]) == [UInt8](repeating: 2, count: 48))
        #expect(log.hasPremasterSecrets)
        #expect(log.usedCount == 0)
        log.markUsed(name)
        log.markUsed(name)
        #expect(log.usedCount == 1)
        #expect(log.unclaimedRandoms(limit: 5) == [TLSRandom([UInt8](repeating: 0xCD, count: 32))].compactMap { $0 })
        log.claim(try #require(TLSRandom([UInt8](repeating: 0xCD, count: 32))))
        #expect(log.unclaimedRandoms(limit: 5).isEmpty)
        #expect(log.seenButUnusedCount == 1)
    }

    @Test func badLinesAreCountedWithTheirNumbers() {
        var log = KeyLog()
        log.add(nss: "CLIENT_RANDOM abc def\n\nCLIENT_RANDOM \(random) \(secret32)\n")
        log.add(nss: "nonsense\nCLIENT_RANDOM \(random)\nRSA 01 02\nSOME_NEW_LABEL \(random) \(secret32)")
        #expect(log.badLineCount == 5)
        #expect(log.badLines.map(\.number) == [1, 3, 4, 5, 6])
        #expect(log.unknownLabels == 2)
        #expect(log.entryCount == 0)
        #expect(log.badLines.allSatisfy { !$0.reason.contains(random) })
        for _ in 0..<100 { log.add(nss: "RSA x\n") }
        #expect(log.badLineCount == 105)
        #expect(log.badLines.count == KeyLog.maximumBadLines)
    }

    @Test func generationMovesOnlyWithNewSecrets() {
        var log = KeyLog()
        log.add(nss: "CLIENT_RANDOM \(random) \(secret48)\n")
        let generation = log.generation
        log.add(nss: "CLIENT_RANDOM \(random) \(secret48)\n# nothing new\n")
        #expect(log.generation == generation)
        log.add(nss: "CLIENT_RANDOM \(other) \(secret48)\n")
        #expect(log.generation > generation)
    }

    @Test func anyBytesAreSurvived() {
        var generator = TestGenerator(seed: 3)
        var log = KeyLog()
        for _ in 0..<200 {
            var line = Array(
                "CLIENT_RANDOM \(random) \(secret48)\nRSA Session-ID:\(random) Master-Key:\(secret48)\n".utf8)
            for _ in 0..<6 {
                line[Int.random(in: 0..<line.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            line.withUnsafeBytes { log.add(nss: $0) }
        }
        #expect(log.lines >= 400)
    }
}
