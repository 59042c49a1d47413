import Crypto
import EventLoop
import Foundation
import SessionTrace
import Synchronization
import Testing

@testable import HandoffProxy

/// curl through the proxy, with an origin that keeps every byte that it got.
@Suite(.enabled(if: Curl.path != nil, "needs curl")) struct CurlPeerTests {
    /// What an origin got, one entry a connection.
    final class Received: Sendable {
        private let all = Mutex<[[UInt8]]>([])

        func add(_ bytes: [UInt8]) { all.withLock { $0.append(bytes) } }
        var connections: [[UInt8]] { all.withLock { $0 } }
        var texts: [String] { connections.map { String(decoding: $0, as: UTF8.self) } }
    }

    /// A TLS origin that answers `answer` to each connection's first head, takes what follows until the end, and keeps all.
    static func origin(_ proxy: ProxyUnderTest, _ received: Received, answer: String) throws -> BlockingServer {
        try tlsOrigin(try proxy.identity(ProxyUnderTest.name)) { peer in
            var bytes: [UInt8] = []
            while bytes.firstRange(of: Array("\r\n\r\n".utf8)) == nil, case .bytes(let piece) = peer.receive() {
                bytes += piece
            }
            peer.send(answer)
            peer.closeNotify()
            peer.socket.finishWriting()
            while case .bytes(let piece) = peer.receive() { bytes += piece }
            received.add(bytes)
            peer.socket.close()
        }
    }

    /// The same request direct and through the proxy, through CONNECT and SOCKS5: equal at the origin, equal at curl.
    @Test(arguments: [
        ["-H", "X-B: 2", "-H", "x-a:1", "-H", "X-b:  3", "-d", "hello"], ["-0", "-H", "Accept:"], ["-I"],
        ["-X", "OPTIONS", "--request-target", "*"], ["-H", "Transfer-Encoding: chunked", "-d", "some text"],
        ["-H", "Expect: 100-continue", "--expect100-timeout", "25", "-d", "never sent"],
    ])
    func aRequestIsTheSameWithoutProxy(arguments: [String]) async throws {
        let proxy = try await ProxyUnderTest()
        let received = Received()
        let status = arguments.contains("Expect: 100-continue") ? "417 Expectation Failed" : "200 OK"
        let answer =
            "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 \(status)\r\nX-Odd :  a \r\nset-cookie: b\r\n"
            + "Set-Cookie: b\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        let origin = try Self.origin(proxy, received, answer: answer)
        let url = "https://\(ProxyUnderTest.name):\(origin.port)/a/../b?x=%20y"
        var outputs: [String] = []
        let own = ["--proxy", "http://127.0.0.1:\(proxy.port)", "--cacert", proxy.ca, "--suppress-connect-headers"]
        let socks = ["--proxy", "socks5h://127.0.0.1:\(proxy.port)", "--cacert", proxy.ca]
        let direct = [
            "--resolve", "\(ProxyUnderTest.name):\(origin.port):127.0.0.1", "--cacert", proxy.scratch["origins.pem"],
        ]
        for way in [direct, own, socks] {
            let run = try await Curl.run(["--raw", "-i", "--path-as-is", url] + arguments + way)
            #expect(run.status == 0)
            outputs.append(run.output)
        }
        #expect(outputs.count == 3 && Set(outputs).count == 1)
        #expect(outputs[0] == answer)
        #expect(await proxy.eventually { received.connections.count == 3 })
        #expect(Set(received.texts).count == 1, "\(received.texts)")
        let end = try await proxy.finish()
        #expect(end.exchanges.filter { $0.request?.method != "CONNECT" }.count == 2)
        #expect(end.exchanges.last?.response?.status == (status.hasPrefix("417") ? 417 : 200))
    }

    /// In proxy form a request is what curl would have sent without a proxy: no `Proxy-*`, all else as it was.
    @Test func aClearRequestReachesTheOriginAsWithoutProxy() async throws {
        let proxy = try await ProxyUnderTest { $0.credential = ProxyCredential(user: "ann", password: "secret") }
        let received = Received()
        let origin = try BlockingServer { socket in
            let head = socket.read(through: "\r\n\r\n")
            let body = socket.read(5) ?? []
            socket.write("HTTP/1.1 200 OK\r\nX-oDD:a\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok".utf8)
            socket.finishWriting()
            received.add(Array(head.utf8) + body)
            _ = socket.readAll()
            socket.close()
        }
        let url = "http://\(ProxyUnderTest.name):\(origin.port)/path?query"
        let arguments = ["-i", "-d", "hello", "-H", "x-b: 1", "-H", "X-A:2", "-H", "x-B: 3", "-H", "Cookie: c=d", url]
        let direct = try await Curl.run(
            arguments + ["--resolve", "\(ProxyUnderTest.name):\(origin.port):127.0.0.1"])
        let through = try await Curl.run(arguments + ["--proxy", "http://ann:secret@127.0.0.1:\(proxy.port)"])
        #expect(direct.status == 0)
        #expect(direct.output == through.output)
        #expect(await proxy.eventually { received.connections.count == 2 })
        #expect(Set(received.texts).count == 1, "\(received.texts)")
        _ = try await proxy.finish()
    }

    @Test(.enabled(if: PeerCertificates.shared != nil, "needs openssl"))
    func aHundredMegabytesPassBothWays() async throws {
        let certificates = try #require(PeerCertificates.shared)
        let python = try #require(FinishedCommand.find("python3"), "needs python3")
        let proxy = try await ProxyUnderTest { try $0.trust(certificates) }
        let script = proxy.scratch["origin.py"]
        try Self.bodyServer.write(toFile: script, atomically: true, encoding: .utf8)
        let server = try await onThread {
            SendableBox(try PeerServer("\(python) \(script) $PORT \(certificates.file("origin"))"))
        }
        let count = 100_000_000
        let run = try await shell(
            #"""
            set -e; cd "$DIR"
            head -c \#(count) /dev/urandom > body; sha256sum < body
            c="curl -sS -m 110 --noproxy '' -x http://127.0.0.1:$PROXY --cacert $CA"
            $c -T body -H Expect: https://origin.test:$ORIGIN/up
            $c -o got https://origin.test:$ORIGIN/down; sha256sum < got
            """#,
            [
                "DIR": proxy.scratch.path, "PROXY": "\(proxy.port)", "CA": proxy.ca, "ORIGIN": "\(server.value.port)",
            ], seconds: 240)
        #expect(run.status == 0)
        let sums = run.lines.map { $0.prefix(64) }
        #expect(sums.count == 3 && Set(sums).count == 1, "\(run.output)")
        let end = try await proxy.finish()
        let sizes = end.exchanges.filter { $0.request?.method != "CONNECT" }
        #expect(sizes.count == 2)
        #expect(sizes.first?.request?.body.length == count)
        #expect(sizes.last?.response?.body.length == count)
    }

    /// Takes one body and gives it back when asked.
    static let bodyServer = """
        import sys, ssl, hashlib
        from http.server import HTTPServer, BaseHTTPRequestHandler
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            body = b""
            def do_PUT(self):
                Handler.body = self.rfile.read(int(self.headers["Content-Length"]))
                self.answer((hashlib.sha256(Handler.body).hexdigest() + "  -\\n").encode())
            def do_GET(self):
                self.answer(Handler.body)
            def answer(self, content):
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            def log_message(self, *rest):
                pass
        server = HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2])
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        server.serve_forever()
        """

    /// An answer that ends too early is kept as far as it went, and curl is told as it would be without us.
    @Test func anInterruptedBodyIsKept() async throws {
        let proxy = try await ProxyUnderTest()
        let origin = try tlsOrigin(try proxy.identity(ProxyUnderTest.name)) { peer in
            _ = peer.receiveHead()
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + String(repeating: "x", count: 400))
            peer.closeNotify()
            peer.socket.close()
        }
        let run = try await Curl.run([
            "--proxy", "http://127.0.0.1:\(proxy.port)", "--cacert", proxy.ca,
            "https://\(ProxyUnderTest.name):\(origin.port)/",
        ])
        #expect(run.status == 18, "a partial file")
        #expect(run.output.count == 400)
        let end = try await proxy.finish()
        let exchange = try #require(end.exchanges.last)
        #expect(exchange.response?.status == 200)
        #expect(exchange.response?.body.length == 400)
        #expect(exchange.response?.body.isComplete == false)
    }

    /// The origin of a download that its client leaves is left too; what it could still send stays bounded.
    @Test func aCancelledDownloadEndsAtTheOrigin() async throws {
        let proxy = try await ProxyUnderTest()
        let (ends, ended) = AsyncStream.makeStream(of: Int.self)
        let origin = try tlsOrigin(try proxy.identity(ProxyUnderTest.name)) { peer in
            _ = peer.receiveHead()
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 4000000000\r\n\r\n")
            let piece = [UInt8](repeating: 0x78, count: 1 << 20)
            var sent = 0
            while sent < 4_000, peer.send(piece) { sent += 1 }
            peer.socket.close()
            ended.yield(sent)
            ended.finish()
        }
        // curl leaves when the file would outgrow a limit that it learns of only while it reads.
        let run = try await shell(
            """
            curl -sS -m 60 --noproxy '' -x http://127.0.0.1:\(proxy.port) --cacert \(proxy.ca) \
                https://\(ProxyUnderTest.name):\(origin.port)/ | head -c 2000000 | wc -c
            """)
        #expect(run.lines.contains("2000000"), "\(run.output)")
        for await sent in ends { #expect(sent < 200, "MiB that the origin could still send") }
        #expect(await proxy.eventually { proxy.proxy.openConnections == 0 })
        _ = try await proxy.finish()
    }

    /// Through TLS to the proxy: each CONNECT stands in the recording before its answer, and what is inside is read.
    @Test func throughTLSToTheProxy() async throws {
        let proxy = try await ProxyUnderTest()
        let origin = try tlsOrigin(try proxy.identity(ProxyUnderTest.name), answerTargets)
        for number in 1...8 {
            let run = try await Curl.run([
                "--proxy", "https://127.0.0.1:\(proxy.port)", "--proxy-cacert", proxy.ca, "--cacert", proxy.ca,
                "https://\(ProxyUnderTest.name):\(origin.port)/\(number)",
            ])
            #expect(run.status == 0 && run.output == "/\(number)")
        }
        let end = try await proxy.finish()
        #expect(end.targets == (1...8).map { "/\($0)" })
        let tunnels = end.exchanges.filter { $0.request?.method == "CONNECT" }
        #expect(tunnels.count == 8 && tunnels.allSatisfy { $0.response?.status == 200 })
        try Tshark.need()
        #expect(try end.tshark("http.request.method == CONNECT", "http.request.uri").count == 8)
        #expect(try end.tshark(TsharkAgreement.faults, "frame.number") == [])
    }

    /// A connection that the origin closes under a request: one attempt reaches the origin, and the client is told.
    @Test func nothingIsSentTwice() async throws {
        let proxy = try await ProxyUnderTest()
        let received = Received()
        let origin = try tlsOrigin(try proxy.identity(ProxyUnderTest.name)) { peer in
            received.add(Array(peer.receiveHead().utf8))
            peer.socket.close()
        }
        let run = try await Curl.run([
            "--proxy", "http://127.0.0.1:\(proxy.port)", "--cacert", proxy.ca, "-d", "x",
            "https://\(ProxyUnderTest.name):\(origin.port)/",
        ])
        #expect(run.status != 0)
        #expect(received.connections.count == 1)
        let end = try await proxy.finish()
        #expect(end.exchanges.filter { $0.request?.method == "POST" }.count == 1)
    }
}

/// Hands a value that is used by one task after another across.
struct SendableBox<Value>: @unchecked Sendable {
    // Sendable: made on one thread, then used by the test's task alone.
    let value: Value

    init(_ value: Value) { self.value = value }
}
