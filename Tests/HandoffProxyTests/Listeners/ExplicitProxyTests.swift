import Foundation
import SessionTrace
import Testing

@testable import HandoffProxy

/// Clients that know of the proxy: curl and bare sockets.
@Suite(.enabled(if: Curl.path != nil, "needs curl")) struct ExplicitProxyTests {
    @Test(arguments: ["http", "socks5", "socks5h"])
    func curlReachesAnOrigin(scheme: String) async throws {
        let run = try await ProxyRun()
        let origin = try echoOfHeads()
        let host = scheme == "socks5" ? "127.0.0.1" : "origin.test"
        let result = try await Curl.run([
            "-p", "-x", "\(scheme)://127.0.0.1:\(run.port)", "http://\(host):\(origin.port)/path?x",
        ])
        #expect(result.status == 0)
        #expect(result.output.hasPrefix("GET /path?x HTTP/1.1\r\nHost: \(host)"))
        let (trace, _) = try await run.finish()
        let connection = try #require(trace.connections.first)
        #expect(trace.connections.count == 1)
        #expect(String(decoding: connection.server.bytes, as: UTF8.self).hasSuffix(result.output))
        #expect(String(decoding: connection.client.bytes, as: UTF8.self).contains("GET /path?x HTTP/1.1\r\n"))
        #expect(connection.server.acknowledged == UInt64(connection.server.bytes.count))
        #expect(connection.client.isFinished && connection.server.isFinished)
        let dialed = try #require(connection.events.first { $0.kind == .dialed })
        #expect(dialed.attributes["host"] == host && dialed.attributes["port"] == "\(origin.port)")
        #expect(trace.statistics.count == 1, "the recording was ended in order")
    }

    @Test func aCredentialIsAskedForAndBlottedOut() async throws {
        let run = try await ProxyRun { $0.credential = ProxyCredential(user: "ann", password: "s3cret") }
        let origin = try echoOfHeads()
        let url = "http://origin.test:\(origin.port)/"
        let without = try await Curl.run([
            "-p", "-x", "http://127.0.0.1:\(run.port)", "-w", "%{http_connect}", "-o", "/dev/null", url,
        ])
        #expect(without.output == "407")
        let wrong = try await Curl.run([
            "-p", "-x", "http://ann:wrong@127.0.0.1:\(run.port)", "-w", "%{http_connect}", "-o", "/dev/null", url,
        ])
        #expect(wrong.output == "407")
        for scheme in ["http", "socks5h"] {
            let result = try await Curl.run(["-p", "-x", "\(scheme)://ann:s3cret@127.0.0.1:\(run.port)", url])
            #expect(result.status == 0)
            #expect(result.output.hasPrefix("GET / HTTP/1.1\r\n"))
            #expect(!result.output.lowercased().contains("proxy-authorization"))
        }
        let wrongSOCKS = try await Curl.run(["-x", "socks5h://ann:wrong@127.0.0.1:\(run.port)", url])
        #expect(wrongSOCKS.status == 97)
        await run.proxy.stop()
        run.recording.stop(at: Instant(nanoseconds: 1))
        let paths = run.recording.status.map(\.path)
        #expect(run.recording.status.contains { $0.device == .named("ann") })
        let base64 = Array("YW5uOnMzY3JldA".utf8)
        for path in paths {
            let bytes = Array(try Data(contentsOf: URL(filePath: path)))
            #expect(bytes.firstRange(of: Array("s3cret".utf8)) == nil, "\(path)")
            #expect(bytes.firstRange(of: base64) == nil, "\(path)")
        }
        let ann = try #require(run.recording.status.first { $0.device == .named("ann") })
        let trace = try TraceContent(path: ann.path)
        let heads = trace.connections.map { String(decoding: $0.client.bytes, as: UTF8.self) }
        #expect(heads.contains { $0.contains("Proxy-Authorization: ***** ****************\r\n") })
        #expect(heads.contains { $0.contains("\u{1}\u{3}ann\u{6}******") })
        _ = try await run.finish()
    }

    @Test func aClientThatIsNotAllowedGetsASentence() async throws {
        let run = try await ProxyRun { $0.allowedClients = [AddressRange("192.0.2.0/24")].compactMap { $0 } }
        let result = try await Curl.run([
            "-p", "-x", "http://127.0.0.1:\(run.port)", "-w", "%{http_connect}", "-o", "/dev/null",
            "http://origin.test/",
        ])
        #expect(result.output == "403")
        let socks = try await onThread { [port = run.port] in
            let socket = try BlockingSocket(port: port)
            socket.write([5, 1, 0])
            return socket.readAll()
        }
        #expect(socks == nil)
        let (trace, live) = try await run.finish()
        #expect(live.contains { $0.kind == .clientRefused && $0.text.contains("--allow 127.0.0.1") })
        #expect(trace.connections.isEmpty, "it is no device of ours")
    }

    @Test func anOriginThatIsNotThereIsSaidAndRecorded() async throws {
        let run = try await ProxyRun()
        let closed = try closedPort()
        let (answer, reply) = try await onThread {
            let (socket, head) = try run.connect(closed)
            let text = socket.readAll().map { String(decoding: $0, as: UTF8.self) } ?? ""
            let socks = try BlockingSocket(port: run.port)
            socks.write([5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, UInt8(closed >> 8), UInt8(closed & 0xFF)])
            return (head + text, socks.readAll())
        }
        #expect(answer.hasPrefix("HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/plain"))
        #expect(answer.hasSuffix("\r\n\r\norigin.test:\(closed) refused the connection.\n"))
        #expect(reply?.prefix(4) == [5, 0, 5, 5])
        let (trace, live) = try await run.finish()
        let failures = trace.connections.flatMap(\.events).filter { $0.kind == .dialFailed }
        #expect(failures.map { $0.attributes["reason"] } == ["connection-refused", "connection-refused"])
        #expect(live.filter { $0.kind == .dialFailed }.count == 2)
    }

    @Test func aNameThatDoesNotExist() async throws {
        let run = try await ProxyRun { $0.resolveOverrides = [] }
        let answer = try await onThread { try run.connect(80, host: "no-such-name.invalid").1 }
        #expect(answer.hasPrefix("HTTP/1.1 502 "))
        let (trace, _) = try await run.finish()
        #expect(trace.connections.first?.events.first?.kind == .dialFailed)
    }

    @Test func wantedByNobody() async throws {
        let run = try await ProxyRun()
        let answers = try await onThread { [port = run.port] in
            try [
                [0x05, 1, 0, 5, 3, 0, 1, 1, 2, 3, 4, 0, 80], Array("GET x HTTP/1.1\r\n\r\n".utf8),
                Array("PRI * HTTP/2.0\r\n\r\n".utf8),
            ].map {
                let socket = try BlockingSocket(port: port)
                socket.write($0)
                return socket.readAll()
            }
        }
        #expect(answers[0] == [5, 0, 5, 7, 0, 1, 0, 0, 0, 0, 0, 0])
        #expect(answers[1]?.starts(with: "HTTP/1.1 400 ".utf8) == true)
        #expect(answers[2]?.starts(with: "HTTP/1.1 400 ".utf8) == true)
        _ = try await run.finish()
    }

    @Test(arguments: ["http", "socks5"]) func anotherProxyBeyondThisOne(scheme: String) async throws {
        let beyond = try await ProxyRun { $0.credential = ProxyCredential(user: "up", password: "p:w") }
        let run = try await ProxyRun { [port = beyond.port] in
            $0.upstreamProxy = UpstreamProxy("\(scheme)://up:p%3Aw@127.0.0.1:\(port)")
            $0.resolveOverrides = []
        }
        let origin = try echoOfHeads()
        let url = "http://origin.test:\(origin.port)/"
        let result = try await Curl.run(["-p", "-x", "http://127.0.0.1:\(run.port)", url])
        #expect(result.output.hasPrefix("GET / HTTP/1.1\r\n"))
        let closed = try closedPort()
        let failed = try await onThread { try run.connect(closed).1 }
        #expect(failed.hasPrefix("HTTP/1.1 502 "))
        let (trace, _) = try await run.finish()
        let dialed = trace.connections.flatMap(\.events).first { $0.kind == .dialed }
        #expect(dialed?.attributes["via"] == "127.0.0.1:\(beyond.port)")
        let (other, _) = try await beyond.finish()
        #expect(other.connections.flatMap(\.events).contains { $0.kind == .dialed })
    }
}

/// A port of 127.0.0.1 on which nobody listens.
func closedPort() throws -> UInt16 {
    let server = try BlockingServer { $0.close() }
    let port = server.port
    return port
}
