import Foundation
import Testing

@testable import Crypto

/// Sessions of real servers, taken up again.
@Suite struct TLSSessionStoreTests {
    private let folder: TemporaryFolder
    private let identity: ServerIdentity
    private let server: ForeignServer

    init() throws {
        folder = try TemporaryFolder()
        let authority = try EnginePair.authority.get()
        identity = try authority.leaf(for: [.dns("api.example")])
        try authority.certificate.pem.write(toFile: folder.path("ca.pem"), atomically: false, encoding: .utf8)
        let pem = try identity.key.pem() + Array(identity.certificate.pem.utf8)
        try Data(pem).write(to: URL(filePath: folder.path("server.pem")))
        server = try ForeignServer(["-cert", folder.path("server.pem"), "-key", folder.path("server.pem"), "-rev"])
    }

    private func options(_ version: TLSVersion) -> TLSClientOptions {
        TLSClientOptions(
            serverName: "api.example", verifyName: "api.example",
            verification: .system(extraCAFile: folder.path("ca.pem")), maximumVersion: version)
    }

    private func connect(_ options: TLSClientOptions, _ contexts: TLSContexts) throws -> TLSEngine {
        let engine = try TLSEngine(client: options, contexts: contexts)
        let socket = try LoopbackSocket(port: server.port)
        try socket.handshake(engine)
        try engine.write(Array("abc\n".utf8))
        _ = socket.flush(engine)
        #expect(try socket.read(engine) { $0.last == 0x0A } == Array("cba\n".utf8))
        engine.closeNotify()
        _ = socket.flush(engine)
        return engine
    }

    /// The second handshake is short, and knows the certificate all the same.
    @Test(arguments: [TLSVersion.tls12, .tls13])
    func theSecondHandshakeIsShort(version: TLSVersion) throws {
        let contexts = try TLSContexts()
        let store = TLSSessionStore()
        var options = options(version)
        options.resumption = store
        #expect(try !connect(options, contexts).hasResumed && store.count > 0)
        for _ in 0..<3 {
            let second = try connect(options, contexts)
            #expect(second.hasResumed && second.peerCertificate == identity.certificate)
            #expect(second.verifyFailure == nil && second.negotiated?.version == version)
        }
        // Without the store, and under other options, nothing is taken up.
        var other = options
        other.resumption = nil
        #expect(try !connect(other, contexts).hasResumed)
        other = options
        other.verification = .none
        #expect(try !connect(other, contexts).hasResumed)
        other = options
        other.place = "192.0.2.1:443"
        #expect(try !connect(other, contexts).hasResumed)
        other = options
        other.verifyName = "other.example"
        let failure = #expect(throws: TLSFailure.self) { try connect(other, contexts) }
        #expect(failure?.kind == .verification)
    }

    @Test func theStoreIsBounded() throws {
        let contexts = try TLSContexts()
        let store = TLSSessionStore()
        var options = options(.tls12)
        options.resumption = store
        _ = try connect(options, contexts)
        var key = TLSSessionStore.Key(
            serverName: "api.example", verifyName: "api.example", verification: options.verification, alpn: [],
            versions: TLSVersion.tls12...TLSVersion.tls12, clientCertificate: nil, place: "")
        let session = try #require(store.session(for: key))
        for _ in 0..<20 { store.keep(session, for: key) }
        #expect(store.count == TLSSessionStore.sessionLimit)
        for index in 0..<(TLSSessionStore.keyLimit + 20) {
            key.place = "\(index)"
            store.keep(session, for: key)
        }
        #expect(store.count <= TLSSessionStore.keyLimit + TLSSessionStore.sessionLimit)
    }
}
