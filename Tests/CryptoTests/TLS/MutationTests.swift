import Testing

@testable import Crypto

/// Any bytes from the peer are survived: what is no TLS any more is a failure, never a trap.
@Suite struct MutationTests {
    @Test(arguments: [TLSVersion.tls12, .tls13], [true, false])
    func changedFlights(version: TLSVersion, towardsServer: Bool) throws {
        var random = SplitMix(seed: towardsServer ? 11 : 12)
        var failures = 0
        for _ in 0..<150 {
            let pair = try EnginePair(upTo: version)
            let victim = towardsServer ? pair.server : pair.client
            do {
                _ = try pair.client.handshake()
                for _ in 0..<4 {
                    try Self.carry(pair.client, pair.server, victim, &random)
                    try Self.carry(pair.server, pair.client, victim, &random)
                }
                try pair.client.write([1, 2, 3])
                try Self.carry(pair.client, pair.server, victim, &random)
            } catch let failure as TLSFailure {
                #expect(!failure.reason.isEmpty)
                failures += 1
            }
            _ = (victim.peerCertificate, victim.negotiated, victim.verifyFailure, victim.takeSecrets())
            victim.closeNotify()
            victim.endOfInput()
        }
        #expect(failures > 50)
    }

    /// Carries what waits, now and then with a byte changed, dropped or doubled on its way to the victim.
    private static func carry(
        _ from: TLSEngine, _ to: TLSEngine, _ victim: TLSEngine, _ random: inout SplitMix
    ) throws {
        var bytes = Array(from.takeOutput().bytes)
        if to === victim, !bytes.isEmpty, Int.random(in: 0..<3, using: &random) > 0 {
            let index = Int.random(in: bytes.indices, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[index] ^= UInt8.random(in: 1...255, using: &random)
            case 1: bytes.remove(at: index)
            case 2: bytes.insert(bytes[index], at: index)
            default: bytes.removeSubrange(index...)
            }
        }
        bytes.withUnsafeBytes(to.feed)
        if try to.handshake() { _ = try EnginePair.drain(to) }
    }
}
