import Crypto
import EventLoop
import Foundation
import SessionTrace
import Testing

@testable import HandoffProxy

/// The relay of clear-text requests between real sockets: raw clients and origins, curl, Python's server.
@Suite(.serialized) struct ClearTextPeerTests {
    /// A proxy on loopback with its recording, stopped and removed at the end of `body`.
    static func withProxy(
        faults: [String] = [], _ body: (_ port: UInt16, _ proxy: HandoffProxy) async throws -> Void
    ) async throws -> [UInt8] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "handoff-clear-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let loops = try EventLoopGroup(count: 1)
        var configuration = ProxyConfiguration()
        configuration.listeners = [
            ListenAddress(endpoint: Endpoint(address: IPAddress(ipv4: 0x7F00_0001), port: 0))
        ]
        configuration.faults = faults
        let recording = try Recording(path: "\(folder)/t.pcapng", version: "test", started: WallClock.now())
        let proxy = try HandoffProxy(
            configuration: configuration,
            authority: try CertificateAuthority.inMemory(hostName: "test"),
            recording: recording, loops: loops)
        try await proxy.start()
        let port = try #require(proxy.addresses.first?.port)
        let result: Result<Void, any Error>
        do {
            try await body(port, proxy)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await proxy.stop()
        recording.stop(at: WallClock.now())
        try await blocking { loops.stop() }
        try result.get()
        return try Array(Data(contentsOf: URL(filePath: "\(folder)/t.pcapng")))
    }

    /// Blocking work beside the tasks.
    static func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread { continuation.resume(with: Result { try work() }) }.start()
        }
    }

    static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    @Test func credentialsReachNeitherOriginNorRecording() async throws {
        let origin = try RawOrigin.answering([Self.ok])
        let file = try await Self.withProxy { port, _ in
            let answer = try await Self.blocking {
                let client = try RawSocket.connect(port: port)
                client.send("GET http://127.0.0.1:\(origin.port)/p HTTP/1.1\r\nHoSt:  127.0.0.1:\(origin.port)\r\n")
                client.send("Proxy-Authorization: Basic c2VjcmV0OnNlY3JldA==\r\nX-Odd:\t1 \r\n\r\n")
                return client.read { $0.hasSuffix("ok") }
            }
            #expect(answer == Self.ok)
            let seen = try await Self.blocking { origin.served(1) }
            #expect(seen == ["GET /p HTTP/1.1\r\nHoSt:  127.0.0.1:\(origin.port)\r\nX-Odd:\t1 \r\n\r\n"])
        }
        let text = String(decoding: file, as: UTF8.self)
        #expect(!text.contains("c2VjcmV0"))
        #expect(text.contains("Proxy-Authorization: *****"))
        #expect(text.contains("GET http://127.0.0.1:\(origin.port)/p HTTP/1.1\r\n"))
    }

    @Test func anotherOriginGetsAConnectionOfItsOwn() async throws {
        let first = try RawOrigin.answering([Self.ok, Self.ok])
        let second = try RawOrigin.answering([Self.ok])
        _ = try await Self.withProxy { port, _ in
            let answers = try await Self.blocking {
                let client = try RawSocket.connect(port: port)
                for origin in [first.port, second.port, first.port] {
                    client.send("GET http://127.0.0.1:\(origin)/ HTTP/1.1\r\nHost: 127.0.0.1:\(origin)\r\n\r\n")
                }
                return client.read { $0 == Self.ok + Self.ok + Self.ok }
            }
            #expect(answers == Self.ok + Self.ok + Self.ok)
            let served = try await Self.blocking { (first.served(2).count, second.served(1).count) }
            #expect(served == (2, 1))
        }
    }

    /// A request for another origin that comes just as the answer before it is through, which is never the same moment.
    @Test func aRequestForAnotherOriginIsNotForgotten() async throws {
        let first = try RawOrigin.answering(Array(repeating: Self.ok, count: 150))
        let second = try RawOrigin.answering(Array(repeating: Self.ok, count: 150))
        _ = try await Self.withProxy { port, _ in
            let answered = try await Self.blocking {
                try (0..<150).count { turn in
                    let client = try RawSocket.connect(port: port)
                    for origin in [first.port, second.port] {
                        client.send("GET http://127.0.0.1:\(origin)/ HTTP/1.1\r\nHost: 127.0.0.1:\(origin)\r\n\r\n")
                        usleep(UInt32(turn * 10))
                    }
                    return client.read { $0 == Self.ok + Self.ok } == Self.ok + Self.ok
                }
            }
            #expect(answered == 150)
        }
    }

    @Test func largeContentsPassBothWays() async throws {
        let size = 8 << 20
        let origin = try RawOrigin { socket in
            var bytes = 0
            var tail = ""
            while bytes < size {
                guard let more = socket.receive(), !more.isEmpty else { break }
                bytes += more.count
                if bytes == more.count {
                    let head = String(decoding: more, as: UTF8.self)
                    bytes -= (head.range(of: "\r\n\r\n")?.upperBound).map { head[..<$0].utf8.count } ?? 0
                }
                tail = String(decoding: more.suffix(4), as: UTF8.self)
            }
            socket.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
            socket.send([UInt8](repeating: 0x62, count: size))
            return "\(bytes) \(tail)"
        }
        _ = try await Self.withProxy { port, _ in
            let count = try await Self.blocking {
                let client = try RawSocket.connect(port: port)
                client.send(
                    "POST http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nContent-Length: \(size)\r\n\r\n")
                client.send([UInt8](repeating: 0x61, count: size))
                client.finish()
                return client.readToEnd()?.utf8.count
            }
            #expect(count == size + "HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n".utf8.count)
            #expect(try await Self.blocking { origin.served(1) } == ["\(size) aaaa"])
        }
    }

    @Test func anUpgradeIsRawAndHalfClosesGoThrough() async throws {
        let origin = try RawOrigin { socket in
            let head = socket.read { $0.contains("\r\n\r\n") }
            socket.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n")
            let raw = socket.readToEnd() ?? "reset"
            socket.send("bye")
            return head.isEmpty ? "no head" : raw
        }
        _ = try await Self.withProxy { port, _ in
            let answer = try await Self.blocking {
                let client = try RawSocket.connect(port: port)
                client.send("GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nUpgrade: x\r\n\r\n")
                _ = client.read { $0.contains("\r\n\r\n") }
                client.send("\u{1}raw\r\n")
                client.finish()
                return client.readToEnd()
            }
            #expect(answer == "bye")
            #expect(try await Self.blocking { origin.served(1) } == ["\u{1}raw\r\n"])
        }
    }

    @Test func anOriginThatSaysNothingIsA502AndIsNotAskedAgain() async throws {
        let origin = try RawOrigin { socket in
            let head = socket.read { $0.contains("\r\n\r\n") }
            socket.resetOnClose()
            return head
        }
        let file = try await Self.withProxy { port, _ in
            let answer = try await Self.blocking {
                let client = try RawSocket.connect(port: port)
                client.send("POST http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
                return client.readToEnd()
            }
            #expect(answer?.hasPrefix("HTTP/1.1 502 Bad Gateway\r\n") == true, "\(answer ?? "reset")")
            #expect(origin.connections.count == 1)
        }
        #expect(String(decoding: file, as: UTF8.self).contains("\"answered\""))
    }

    @Test func aClientThatGoesAwayEndsItsOrigin() async throws {
        let origin = try RawOrigin { socket in
            _ = socket.read { $0.contains("\r\n\r\n") }
            socket.send("HTTP/1.1 200 OK\r\n\r\n")
            let piece = [UInt8](repeating: 0x61, count: 1 << 20)
            var count = 0
            // Without back pressure this would take in a gigabyte.
            while count < 1_024, socket.send(piece) { count += 1 }
            return count < 1_024 ? "ended" : "everything was taken"
        }
        _ = try await Self.withProxy { port, proxy in
            try await Self.blocking {
                let client = try RawSocket.connect(port: port)
                client.send("GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n\r\n")
                _ = client.receive()
                client.resetOnClose()
            }
            #expect(try await Self.blocking { origin.served(1) } == ["ended"])
            let deadline = ContinuousClock.now + .seconds(30)
            while proxy.openConnections > 0, ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(proxy.openConnections == 0)
        }
    }

    @Test func faultsActOnTheirExchangeAlone() async throws {
        let origin = try RawOrigin.answering([Self.ok, Self.ok, Self.ok])
        let file = try await Self.withProxy(
            faults: ["POST /s: 503 once", "POST /drop: drop-after-request once"]
        ) { port, proxy in
            let answer = try await Self.blocking {
                let client = try RawSocket.connect(port: port)
                for (method, path) in [("POST", "/s"), ("POST", "/s"), ("GET", "/"), ("POST", "/drop")] {
                    client.send(
                        "\(method) http://127.0.0.1:\(origin.port)\(path) HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
                    )
                }
                return client.readToEnd()
            }
            let parts = (answer ?? "").components(separatedBy: "HTTP/1.1 ")
            #expect(parts.map { $0.prefix(3) } == ["", "503", "200", "200"])
            let seen = try await Self.blocking { origin.served(1) }.first ?? ""
            #expect(seen.components(separatedBy: "POST /s").count == 2)
            #expect(seen.contains("POST /drop"))
            #expect(proxy.faults.report.isClean)
        }
        let text = String(decoding: file, as: UTF8.self)
        #expect(text.contains("POST /s: 503 once") && text.contains("drop-after-request"))
    }

    @Test func curlGetsTheSameWithAndWithoutProxy() async throws {
        let curl = try #require(FinishedCommand.find("curl"))
        let answer =
            "HTTP/1.1 200 Fine\r\nx-ODD:  1 \r\nTransfer-Encoding: chunked\r\n\r\n3;e=1\r\nabc\r\n0\r\nX-T: 1\r\n\r\n"
        let origin = try RawOrigin { socket in
            var text = socket.read { $0.contains("\r\n\r\n") }
            if text.contains("Expect: 100-continue") { socket.send("HTTP/1.1 100 Continue\r\n\r\n") }
            if text.hasPrefix("POST"), !text.hasSuffix("0\r\n\r\n") {
                text += socket.read { $0.hasSuffix("0\r\n\r\n") }
            }
            socket.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + answer)
            return text
        }
        let url = "http://127.0.0.1:\(origin.port)/a%20b?c=d"
        let upload = [
            "-s", "-i", "--raw", "-m", "30", "-X", "POST", "-H", "Transfer-Encoding: chunked", "-H",
            "Expect: 100-continue",
            "-H", "X-Dup: 1", "-H", "x-dup: 2", "-d", "hello", url,
        ]
        let direct = try await Self.blocking { try FinishedCommand(curl, ["--noproxy", "*"] + upload).output }
        _ = try await Self.withProxy { port, _ in
            let through = try await Self.blocking {
                try FinishedCommand(curl, ["-x", "http://u:p@127.0.0.1:\(port)"] + upload).output
            }
            #expect(through == direct)
            #expect(through.contains("100 Continue") && through.contains("103 Early Hints"))
        }
        let seen = try await Self.blocking { origin.served(2) }
        #expect(seen.count == 2)
        #expect(seen.first == seen.last)
    }

    @Test func pythonsServerOfHTTP10() async throws {
        let python = try #require(FinishedCommand.find("python3"))
        let curl = try #require(FinishedCommand.find("curl"))
        let script = """
            import http.server, sys
            class H(http.server.BaseHTTPRequestHandler):
                def do_GET(self):
                    self.send_response(200); self.end_headers(); self.wfile.write(self.path.encode())
                do_HEAD = do_GET
                def log_message(self, *a): pass
            s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), H)
            open(sys.argv[1], "w").write(str(s.server_port) + "\\n")
            s.serve_forever()
            """
        let place = FileManager.default.temporaryDirectory.appending(path: "handoff-port-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: place) }
        let server = try SpawnedProcess(python, ["-c", script, place])
        defer { server.kill() }
        var port = ""
        let deadline = Date().addingTimeInterval(30)
        while !port.hasSuffix("\n"), Date() < deadline {
            port = (try? String(contentsOfFile: place, encoding: .utf8)) ?? ""
            try await Task.sleep(for: .milliseconds(20))
        }
        let origin = port.dropLast()
        _ = try await Self.withProxy { proxyPort, _ in
            let output = try await Self.blocking {
                try FinishedCommand(
                    curl,
                    [
                        "-s", "-m", "30", "-x", "http://127.0.0.1:\(proxyPort)", "http://127.0.0.1:\(origin)/one",
                        "http://127.0.0.1:\(origin)/two", "http://127.0.0.1:1/refused",
                    ]
                ).output
            }
            #expect(output.hasPrefix("/one/two"))
            #expect(output.contains("refused the connection"))
        }
    }
}
