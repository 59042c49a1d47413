import Foundation
import Glibc
import SessionTrace
import Testing

@testable import WireFormats

/// A real peer: nghttp against nghttpd over loopback in clear text, its bytes copied by a small relay in between.
@Suite(
    .serialized,
    .enabled(if: HTTP2Fixtures.hasPeer, "nghttp and nghttpd (Debian: nghttp2-client, nghttp2-server) are not there"))
struct HTTP2PeerTests {
    @Test(.timeLimit(.minutes(1)))
    func aPageWithPushTrailersAndABody() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "http2-peer-\(ProcessInfo.processInfo.processIdentifier)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let page = [UInt8]((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try Data(page).write(to: folder.appendingPathComponent("page"))
        try Data("body{}".utf8).write(to: folder.appendingPathComponent("style.css"))
        try Data("posted content".utf8).write(to: folder.appendingPathComponent("upload"))

        let relay = try #require(
            LoopbackRelay(serverArguments: [
                "--no-tls", "-d", folder.path, "-p", "/page=/style.css", "--trailer", "x-sum: 7",
            ]))
        defer { relay.stop() }
        let plain = try relay.record([
            "-n", "--header-table-size=0", "\(relay.base)/page", "\(relay.base)/missing", "\(relay.base)/style.css",
        ])
        let exchanges = HTTP2Fixtures.exchanges(HTTP2Fixtures.events(plain))
        #expect(HTTP2Fixtures.events(plain, cut: .random(seed: 5)) == HTTP2Fixtures.events(plain))
        let byPath = Dictionary(exchanges.map { ($0.request?.target ?? "", $0) }, uniquingKeysWith: { one, _ in one })
        #expect(byPath["/page"]?.response?.body.bytes == page)
        #expect(byPath["/page"]?.response?.trailers.first("x-sum") == "7")
        #expect(byPath["/missing"]?.response?.status == 404)
        #expect(exchanges.contains { $0.isPushed && $0.request?.target == "/style.css" })
        #expect(exchanges.allSatisfy { $0.anomalies.isEmpty })

        let upload = try relay.record([
            "-n", "-d", folder.appendingPathComponent("upload").path, "--trailer", "x-end: 1", "-H", "x-secret: one",
            "-m", "3", "\(relay.base)/page",
        ])
        let posts = HTTP2Fixtures.exchanges(HTTP2Fixtures.events(upload)).filter { !$0.isPushed }
        #expect(posts.count == 3 && posts.allSatisfy { $0.request?.method == "POST" && $0.end == .complete })
        #expect(
            posts.allSatisfy {
                $0.request?.body.bytes == Array("posted content".utf8) && $0.request?.body.isWhole == true
            })
        #expect(
            posts.allSatisfy {
                $0.request?.trailers.first("x-end") == "1" && $0.request?.fields.first("x-secret") == "one"
            })
    }
}

/// Starts nghttpd on a free port, and relays one connection at a time to it while keeping what each side sent.
private final class LoopbackRelay {
    private let listener: Int32
    private let server = Process()
    private let serverPort: UInt16
    private let port: UInt16

    var base: String { "http://127.0.0.1:\(port)" }

    init?(serverArguments: [String]) {
        guard let (probe, free) = Self.listen(), let (listener, port) = Self.listen() else { return nil }
        Glibc.close(probe)
        self.listener = listener
        self.port = port
        serverPort = free
        server.executableURL = URL(fileURLWithPath: HTTP2Fixtures.nghttpd)
        server.arguments = serverArguments + ["-a", "127.0.0.1", String(free)]
        server.standardOutput = FileHandle.nullDevice
        server.standardError = FileHandle.nullDevice
        guard (try? server.run()) != nil else { return nil }
    }

    func stop() {
        // Children inherit blocked signals from a test's thread; only SIGKILL is sure.
        kill(server.processIdentifier, SIGKILL)
        server.waitUntilExit()
        Glibc.close(listener)
    }

    /// Runs nghttp with `arguments` and returns what went over its connection.
    func record(_ arguments: [String]) throws -> [HTTP2Fixtures.Input] {
        let client = Process()
        client.executableURL = URL(fileURLWithPath: HTTP2Fixtures.nghttp)
        client.arguments = ["-t", "10"] + arguments
        client.standardOutput = FileHandle.nullDevice
        client.standardError = FileHandle.nullDevice
        try client.run()
        var inputs: [HTTP2Fixtures.Input] = []
        var waiting = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        try #require(poll(&waiting, 1, 10_000) == 1)
        let device = accept(listener, nil, nil)
        let origin = try #require(connect())
        defer {
            Glibc.close(device)
            Glibc.close(origin)
        }
        var buffer = [UInt8](repeating: 0, count: 5_000)
        while true {
            var sockets = [
                pollfd(fd: device, events: Int16(POLLIN), revents: 0),
                pollfd(fd: origin, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&sockets, 2, 10_000) > 0 else { break }
            let isDevice = sockets[0].revents != 0
            let count = recv(isDevice ? device : origin, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            inputs.append(.bytes(isDevice ? .client : .server, Array(buffer[..<count])))
            var sent = 0
            while sent < count {
                let more = buffer[sent..<count].withUnsafeBytes {
                    send(isDevice ? origin : device, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard more > 0 else { return inputs }
                sent += more
            }
        }
        kill(client.processIdentifier, SIGKILL)
        client.waitUntilExit()
        return inputs
    }

    /// The server takes a moment to listen.
    private func connect() -> Int32? {
        for _ in 0..<200 {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = Self.address(serverPort)
            let result = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            if result == 0 { return descriptor }
            Glibc.close(descriptor)
            usleep(20_000)
        }
        return nil
    }

    private static func listen() -> (Int32, UInt16)? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = address(0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && Glibc.listen(descriptor, 4) == 0
                    && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard isBound else { return nil }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    private static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
