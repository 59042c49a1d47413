import Testing

@testable import Crypto

/// A client and a server that talk to each other through memory, in pieces whose sizes the test chooses.
final class EnginePair {
    /// One authority for all tests: making keys is what costs.
    static let authority = Result { try CertificateAuthority.inMemory(hostName: "tests") }
    static let contexts = Result { try TLSContexts() }

    let client: TLSEngine
    let server: TLSEngine
    /// How many bytes the next piece has, at most.
    var pieceSize: () -> Int = { .max }

    init(
        client: TLSClientOptions = TLSClientOptions(serverName: "api.example", verification: .none),
        name: String = "api.example", alpn: String? = nil, upTo version: TLSVersion = .tls13
    ) throws {
        let identity = try Self.authority.get().leaf(for: [try #require(SubjectName(name))])
        var client = client
        client.maximumVersion = version
        client.minimumVersion = min(client.minimumVersion, version)
        self.client = try TLSEngine(client: client, contexts: Self.contexts.get())
        server = try TLSEngine(
            server: TLSServerOptions(identity: identity, alpn: alpn), contexts: Self.contexts.get())
    }

    /// Carries what waits at `from` over to `to`, and calls `after` once for each piece.
    func carry(from: TLSEngine, to: TLSEngine, after: () throws -> Void) throws {
        while from.hasOutput {
            var piece: [UInt8] = []
            from.withOutput { bytes in
                piece = Array(bytes.prefix(pieceSize()))
                return piece.count
            }
            piece.withUnsafeBytes(to.feed)
            try after()
        }
    }

    /// Both handshakes, to their end.
    func handshake() throws {
        _ = try client.handshake()
        for _ in 0..<20 where !(client.isHandshakeComplete && server.isHandshakeComplete) {
            try carry(from: client, to: server) { _ = try server.handshake() }
            try carry(from: server, to: client) { _ = try client.handshake() }
        }
        try #require(client.isHandshakeComplete && server.isHandshakeComplete)
    }

    /// What `engine` can read now, and what came after it.
    static func drain(_ engine: TLSEngine, bufferSize: Int = 20_000) throws -> (bytes: [UInt8], end: TLSReadResult) {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: bufferSize)
        while true {
            let result = try buffer.withUnsafeMutableBytes { buffer throws(TLSFailure) in try engine.read(into: buffer)
            }
            guard case .bytes(let count) = result else { return (bytes, result) }
            bytes += buffer[..<count]
        }
    }
}

extension TLSEngine {
    func write(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try write($0) }
    }

    /// The lines of the key log that are new.
    func secretLines() -> [String] {
        String(decoding: takeSecrets(), as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
