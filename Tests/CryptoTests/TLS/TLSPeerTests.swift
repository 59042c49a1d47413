import Foundation
import Testing

@testable import Crypto

/// The engine against other people's TLS: `openssl`, curl, Python.
@Suite(.serialized) struct TLSPeerTests {
    private let folder: TemporaryFolder
    private let identity: ServerIdentity

    init() throws {
        folder = try TemporaryFolder()
        let authority = try EnginePair.authority.get()
        identity = try authority.leaf(for: ["api.example", "127.0.0.1"].compactMap { SubjectName($0) })
        try authority.certificate.pem.write(
            toFile: folder.path("ca.pem"), atomically: false, encoding: .utf8)
    }

    private func sClient(_ port: UInt16, _ arguments: [String], input: String = "hello\n") throws
        -> PeerRun
    {
        try PeerRun(
            "openssl",
            [
                "s_client", "-connect", "127.0.0.1:\(port)", "-servername", "api.example", "-ign_eof",
                "-CAfile",
            ]
                + [folder.path("ca.pem")] + arguments, input: input)
    }

    // MARK: As a server

    @Test(
        arguments: zip(
            ["-tls1", "-tls1_1", "-tls1_2", "-tls1_3"], TLSVersion.allCases))
    func sClientOfAnyAge(option: String, version: TLSVersion) throws {
        let server = try EngineServer(identity: identity, alpn: "http/1.1")
        let run = try sClient(
            server.port,
            [option, "-cipher", "ALL:@SECLEVEL=0", "-alpn", "h2,http/1.1", "-verify_return_error"])
        #expect(run.output.contains("Verify return code: 0 (ok)"), "\(run.errors)")
        #expect(run.output.contains("ok\n") && run.output.contains("ALPN protocol: http/1.1"))
        #expect(
            !run.output.contains("New Session Ticket arrived")
                && !run.output.contains("TLS session ticket:"))
        guard case .served(let negotiated, _) = try server.outcome() else {
            Issue.record("not served")
            return
        }
        #expect(negotiated.version == version)
    }

    /// The cheapest cipher that the client has; ChaCha20 where it comes first, since such a client lacks instructions for AES.
    @Test(arguments: [
        (
            "-tls1_3", "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256",
            "TLS_AES_128_GCM_SHA256"
        ),
        ("-tls1_3", "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_256_GCM_SHA384"),
        ("-tls1_3", "TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256"),
        (
            "-tls1_2", "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256",
            "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"
        ),
        (
            "-tls1_2", "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES128-GCM-SHA256",
            "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"
        ),
    ])
    func theCheapestCipherOfTheClient(version: String, offered: String, chosen: String) throws {
        let server = try EngineServer(identity: identity)
        let run = try sClient(server.port, [version, version == "-tls1_3" ? "-ciphersuites" : "-cipher", offered])
        guard case .served(let negotiated, _) = try server.outcome() else {
            Issue.record("not served: \(run.errors)")
            return
        }
        #expect(negotiated.cipher == chosen)
    }

    @Test func noALPNAtAll() throws {
        let server = try EngineServer(identity: identity)
        let run = try sClient(server.port, ["-alpn", "h2,http/1.1"])
        #expect(run.output.contains("No ALPN negotiated") && run.output.contains("ok\n"))
    }

    /// A session of the real server means nothing here: a full handshake, with our certificate.
    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func aForeignTicket(option: String) throws {
        let session = try foreignSession(option)
        let server = try EngineServer(identity: identity)
        let run = try sClient(server.port, [option, "-sess_in", session])
        #expect(run.output.contains("\nNew, ") && !run.output.contains("Reused, "))
        #expect(run.output.contains("ok\n"), "\(run.output) \(run.errors)")
    }

    /// Early data for the real server is skipped, up to the limit.
    @Test func foreignEarlyData() throws {
        let session = try foreignSession("-tls1_3")
        let data = folder.path("early")
        for (size, isSkipped) in [(30_000, true), (1_000_000, true), (1_200_000, false)] {
            try Data(repeating: 0x41, count: size).write(to: URL(filePath: data))
            let server = try EngineServer(identity: identity)
            let run = try sClient(server.port, ["-tls1_3", "-sess_in", session, "-early_data", data])
            switch try server.outcome() {
            case .served(_, let read):
                #expect(isSkipped && read == 6, "early data is not taken for the client's own")
                #expect(run.output.contains("Early data was rejected") && run.output.contains("ok\n"))
            case .failed(let failure):
                #expect(!isSkipped && failure.kind == .protocolViolation, "\(size): \(failure)")
            }
        }
    }

    /// A session that another server gave to s_client.
    private func foreignSession(_ option: String) throws -> String {
        let made = try PeerRun(
            "openssl",
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=real", "-keyout",
                folder.path("real.key"),
                "-out", folder.path("real.pem"),
            ])
        try #require(made.status == 0)
        let real = try ForeignServer([
            "-key", folder.path("real.key"), "-cert", folder.path("real.pem"), "-early_data",
            "-max_early_data",
            "4000000", "-no_anti_replay",
        ])
        let session = folder.path("session.pem")
        let client = try PeerProcess(
            "openssl", ["s_client", "-connect", "127.0.0.1:\(real.port)", option, "-sess_out", session])
        // A ticket of TLS 1.3 comes after the handshake.
        _ = try client.waitFor {
            PeerProcess.text(session).contains("-----END SSL SESSION") ? true : nil
        }
        return session
    }

    @Test func curl() throws {
        let server = try EngineServer(identity: identity, alpn: "http/1.1")
        let run = try PeerRun(
            "curl",
            [
                "-sS", "--cacert", folder.path("ca.pem"), "--noproxy", "*", "--resolve",
                "api.example:\(server.port):127.0.0.1", "https://api.example:\(server.port)/",
                "https://127.0.0.1:\(server.port)/",
            ])
        #expect(run.output == "ok\nok\n" && run.status == 0, "\(run.errors)")
        let refused = try PeerRun(
            "curl", ["-sS", "--noproxy", "*", "https://127.0.0.1:\(server.port)/"])
        #expect(refused.status == 60)
        guard case .failed(let failure) = try server.outcome(2) else {
            Issue.record("curl does not trust this authority")
            return
        }
        #expect(failure.kind == .peerAlert && failure.alert == 48)
    }

    @Test func python() throws {
        let server = try EngineServer(identity: identity, alpn: "http/1.1")
        let script = """
            import socket, ssl, sys
            context = ssl.create_default_context(cafile=sys.argv[1])
            context.set_alpn_protocols(["h2", "http/1.1"])
            with socket.create_connection(("127.0.0.1", int(sys.argv[2]))) as plain:
                with context.wrap_socket(plain, server_hostname="api.example") as secure:
                    names = secure.getpeercert()["subjectAltName"]
                    print(secure.version(), secure.selected_alpn_protocol(), names)
                    secure.sendall(b"x\\n")
                    print(secure.recv(1000).endswith(b"ok\\n"))
            """
        let run = try PeerRun("python3", ["-c", script, folder.path("ca.pem"), "\(server.port)"])
        #expect(
            run.output
                == "TLSv1.3 http/1.1 (('DNS', 'api.example'), ('IP Address', '127.0.0.1'))\nTrue\n",
            "\(run.errors)")
    }

    // MARK: As a client

    private func keyAndCertificate() throws -> [String] {
        let pem = try identity.key.pem() + Array(identity.certificate.pem.utf8)
        try Data(pem).write(to: URL(filePath: folder.path("server.pem")))
        return ["-cert", folder.path("server.pem"), "-key", folder.path("server.pem")]
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func sServer(version: TLSVersion) throws {
        let server = try ForeignServer(keyAndCertificate() + ["-rev", "-alpn", "h2,x"])
        let engine = try TLSEngine(
            client: TLSClientOptions(
                serverName: "api.example", verifyName: "api.example",
                verification: .system(extraCAFile: folder.path("ca.pem")),
                alpn: TLSClientOptions.alpnList(["http/1.1", "h2"]), maximumVersion: version),
            contexts: TLSContexts())
        let socket = try LoopbackSocket(port: server.port)
        try socket.handshake(engine)
        #expect(engine.negotiated?.version == version && engine.negotiated?.alpn == "h2")
        #expect(engine.negotiated?.cipher.contains("AES_128_GCM_SHA256") == true, "the cheapest is offered first")
        #expect(engine.peerCertificate == identity.certificate && engine.verifyFailure == nil)
        try engine.write(Array("abc\n".utf8))
        _ = socket.flush(engine)
        // The tickets of TLS 1.3 come before the answer and are nobody's plaintext.
        let answer = try socket.read(engine) { $0.last == 0x0A }
        #expect(String(decoding: answer, as: UTF8.self) == "cba\n")
        #expect(!engine.takeSecrets().isEmpty)
    }

    /// The certificate that a server asks for: from PEM, and from PKCS #12 without a password.
    @Test(arguments: ["client.pem", "client.p12", nil])
    func aClientCertificate(file: String?) throws {
        let client = try EnginePair.authority.get().leaf(for: [.dns("client.example")])
        let pem = try client.key.pem() + Array((client.certificate.pem + client.issuer.pem).utf8)
        try Data(pem).write(to: URL(filePath: folder.path("client.pem")))
        let exported = try PeerRun(
            "openssl",
            ["pkcs12", "-export", "-passout", "pass:", "-in", folder.path("client.pem"), "-out"]
                + [folder.path("client.p12")])
        #expect(exported.status == 0, "\(exported.errors)")
        let server = try ForeignServer(
            keyAndCertificate() + [
                "-rev", "-tls1_2", "-Verify", "1", "-CAfile", folder.path("ca.pem"), "-purpose", "any",
            ])
        var options = TLSClientOptions(verification: .none)
        if let file {
            let identity = try ClientIdentity(file: folder.path(file))
            #expect(identity.certificate == client.certificate && identity.chainLength == 1)
            options.clientCertificate = identity
        }
        let engine = try TLSEngine(client: options, contexts: TLSContexts())
        let socket = try LoopbackSocket(port: server.port)
        if file == nil {
            let failure = #expect(throws: TLSFailure.self) { try socket.handshake(engine) }
            #expect(failure?.kind == .peerAlert && failure?.alert == 40)
            return
        }
        try socket.handshake(engine)
        try engine.write(Array("abc\n".utf8))
        _ = socket.flush(engine)
        #expect(try socket.read(engine) { $0.last == 0x0A } == Array("cba\n".utf8))
    }

    @Test func clientCertificatesThatCantBeRead() throws {
        try Data(identity.certificate.pem.utf8).write(to: URL(filePath: folder.path("only.pem")))
        let locked = folder.path("locked.pem")
        _ = try PeerRun(
            "openssl", ["genrsa", "-aes128", "-passout", "pass:secret", "-out", locked, "2048"])
        let words = "holds no private key that can be read without a password"
        for (path, reason) in [
            (folder.path("nowhere.pem"), "No such file or directory"), (folder.path("only.pem"), words),
            (locked, words),
        ] {
            let failure = #expect(throws: TLSFailure.self) { try ClientIdentity(file: path) }
            #expect(failure?.reason == "\(path): \(reason)" && failure?.kind == .configuration)
        }
    }
}
