import Foundation
import SessionTrace
import Testing

@testable import Crypto

/// What a client says about a certificate that it does not accept.
@Suite struct VerificationTests {
    /// A handshake with a leaf of `authority`; the words of the failure, nil when there is none.
    private func handshake(
        _ names: [SubjectName], from authority: CertificateAuthority, trusting trusted: CertificateAuthority?,
        verifyName: String?, at now: Instant? = nil
    ) throws -> TLSFailure? {
        let folder = try TemporaryFolder()
        let file = trusted == nil ? nil : folder.path("ca.pem")
        if let trusted, let file { try trusted.certificate.pem.write(toFile: file, atomically: false, encoding: .utf8) }
        let contexts = try TLSContexts()
        let server = try TLSEngine(
            server: TLSServerOptions(identity: authority.leaf(for: names, at: now)), contexts: contexts)
        let client = try TLSEngine(
            client: TLSClientOptions(verifyName: verifyName, verification: .system(extraCAFile: file)),
            contexts: contexts)
        do throws(TLSFailure) {
            for _ in 0..<4 where !client.isHandshakeComplete {
                _ = try client.handshake()
                server.feed(client.takeOutput().bytes)
                _ = try server.handshake()
                client.feed(server.takeOutput().bytes)
            }
            _ = try client.handshake()
        } catch {
            return error
        }
        try #require(client.isHandshakeComplete)
        return nil
    }

    private let authority = Result { try CertificateAuthority.inMemory(hostName: "bench") }

    @Test func aTrustedCertificate() throws {
        let authority = try authority.get()
        let address = try #require(IPAddress("2001:db8::7"))
        let names: [SubjectName] = [.dns("api.example"), .dns("*.shop.example"), .ip(address)]
        for name in ["api.example", "API.example", "eu.shop.example", "2001:db8::7", nil] {
            #expect(try handshake(names, from: authority, trusting: authority, verifyName: name) == nil)
        }
    }

    @Test func anotherName() throws {
        let authority = try authority.get()
        func words(_ names: [SubjectName], _ name: String) throws -> String? {
            let failure = try handshake(names, from: authority, trusting: authority, verifyName: name)
            #expect(failure?.kind == .verification && [62, 64].contains(failure?.verificationCode))
            return failure?.reason
        }
        #expect(
            try words([.dns("api.example")], "www.example") == "the certificate's name is api.example, not www.example")
        #expect(
            try words([.dns("a.example"), .dns("b.example")], "192.0.2.1")
                == "the certificate's names are a.example, b.example, not 192.0.2.1")
        #expect(
            try words((1...6).map { .dns("h\($0).example") }, "x.example")
                == "the certificate's names are h1.example, h2.example, h3.example, h4.example and 2 more, not x.example"
        )
        // A wildcard covers one label, and a common name nothing.
        #expect(try words([.dns("*.example")], "a.b.example") != nil)
    }

    @Test func expired() throws {
        let authority = try CertificateAuthority.inMemory(
            hostName: "old", now: Instant(rfc3339: "2023-11-01T00:00:00Z"))
        let failure = try handshake(
            [.dns("api.example")], from: authority, trusting: authority, verifyName: "api.example",
            at: Instant(rfc3339: "2023-11-20T00:00:00Z"))
        #expect(failure?.reason == "the certificate expired on 2024-01-03" && failure?.verificationCode == 10)
        #expect(failure?.alert == 45)
    }

    @Test func notYetValid() throws {
        let authority = try authority.get()
        let future = systemClock().advanced(byDays: 100)
        let failure = try handshake(
            [.dns("api.example")], from: authority, trusting: authority, verifyName: "api.example", at: future)
        let date = future.advanced(byDays: -1).rfc3339.prefix(10)
        #expect(failure?.reason == "the certificate is valid only from \(date) on")
    }

    @Test func anUnknownIssuer() throws {
        let (authority, other) = (try authority.get(), try CertificateAuthority.inMemory(hostName: "other"))
        for trusted in [nil, other] {
            let failure = try handshake(
                [.dns("api.example")], from: authority, trusting: trusted, verifyName: "api.example")
            #expect(failure?.verificationCode == 20)
            #expect(failure?.reason.hasPrefix("unknown issuer “CN=handoff CA bench") == true)
        }
    }

    @Test func aFileThatCantBeRead() throws {
        let contexts = try TLSContexts()
        let failure = #expect(throws: TLSFailure.self) {
            try contexts.prepare(.system(extraCAFile: "/nowhere/ca.pem"))
        }
        #expect(failure?.kind == .configuration)
        #expect(failure?.reason == "/nowhere/ca.pem can't be read, or holds no certificate in PEM form")
    }

    @Test(arguments: ["", "a\u{0}b"])
    func namesThatCantBe(name: String) throws {
        let contexts = try TLSContexts()
        #expect(throws: TLSFailure.self) {
            try TLSEngine(client: TLSClientOptions(verifyName: name), contexts: contexts)
        }
        #expect(throws: TLSFailure.self) {
            try TLSEngine(client: TLSClientOptions(serverName: name, verification: .none), contexts: contexts)
        }
    }
}

/// A folder for one test, gone with it.
final class TemporaryFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "handoff-crypto-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    func path(_ name: String) -> String { url.appending(path: name).path }
}
