import Foundation
import SessionTrace
import Synchronization

@testable import CaptureAnalyzer

/// Real TLS between `openssl s_server` and `openssl s_client`, recorded by a relay between them.
///
/// Everything is bounded: each wait has a deadline, each process is ended by its own id.
enum LiveTLS {
    /// What a run leaves: connections as a capture would show them, and the client's key log.
    struct Recording {
        var conversations: [RecordedStreams.Conversation]
        var keys: String
    }

    /// Whether the tool is here.
    static let isInstalled = FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl")

    /// Runs one server and one client after another. `clients`: arguments, and what to type when what has been seen.
    static func record(
        server: [String], clients: [(arguments: [String], typing: [(text: String, until: String)])]
    ) throws -> Recording {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("handoff-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let certificate = try Self.certificate()
        let keyFile = folder.appendingPathComponent("cert.pem")
        try certificate.write(to: keyFile, atomically: true, encoding: .utf8)
        let log = folder.appendingPathComponent("keys")

        // The server takes a port itself: one that was looked up before could be another test's by now.
        let serverProcess = try tool(
            ["s_server", "-accept", "127.0.0.1:0", "-cert", keyFile.path, "-key", keyFile.path] + server)
        defer { serverProcess.end() }
        guard let serverPort = serverProcess.line(after: "ACCEPT 127.0.0.1:").flatMap({ UInt16($0) }) else {
            throw POSIXError(.ETIMEDOUT)
        }
        var conversations: [RecordedStreams.Conversation] = []
        for (index, client) in clients.enumerated() {
            let relay = try Relay(upstream: serverPort)
            let process = try tool(
                [
                    "s_client", "-connect", "127.0.0.1:\(relay.port)", "-keylogfile", log.path, "-servername",
                    "live.test",
                ]
                    + client.arguments.map { $0.replacing("FOLDER", with: folder.path) })
            for (text, until) in client.typing {
                process.type(text)
                // Where nothing is printed, a pause lets tickets and early data pass.
                if until.isEmpty { usleep(400_000) } else { process.wait(for: until) }
            }
            process.finish()
            let steps = relay.finish()
            let reference = PacketReference(number: 1, time: Instant(nanoseconds: 0))
            guard let loopback = IPAddress("127.0.0.1") else { throw POSIXError(.EINVAL) }
            let address = Endpoint(address: loopback, port: relay.port)
            conversations.append(
                RecordedStreams.Conversation(
                    connection: Connection(
                        id: ConnectionID(index), transport: .tcp, client: address, server: address, opened: reference,
                        startSeen: true),
                    steps: steps, last: reference))
        }
        return Recording(
            conversations: conversations, keys: (try? String(contentsOf: log, encoding: .utf8)) ?? "")
    }

    private static func tool(_ arguments: [String]) throws -> ToolProcess {
        // The distribution's configuration forbids TLS 1.0 and 1.1.
        try ToolProcess("/usr/bin/openssl", arguments, environment: ["OPENSSL_CONF": "/dev/null"])
    }

    /// A key and a self-signed certificate for RSA, made once a run.
    private static func certificate() throws -> String {
        try cached.withLock { cached in
            if let cached { return cached }
            let folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("handoff-tls-cert-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let process = try tool([
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=live.test", "-days", "2", "-keyout",
                folder.appendingPathComponent("key").path, "-out", folder.appendingPathComponent("certificate").path,
            ])
            process.finish(seconds: 30)
            let made =
                try String(contentsOf: folder.appendingPathComponent("key"), encoding: .utf8)
                + String(contentsOf: folder.appendingPathComponent("certificate"), encoding: .utf8)
            cached = made
            return made
        }
    }

    private static let cached = Mutex<String?>(nil)
}

/// Passes bytes on between one client and one server and keeps them.
final class Relay: Sendable {
    let port: UInt16
    /// Seconds: ends a run that hangs, never one on a machine that is busy with other tests.
    private static let patience: Int32 = 60
    private let steps = Mutex<[RecordedStreams.Step]>([])
    private let isDone = Mutex(false)

    init(upstream: UInt16) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        port = try Self.bind(listener)
        listen(listener, 1)
        Thread.detachNewThread { [self] in
            defer { isDone.withLock { $0 = true } }
            var ready = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
            guard poll(&ready, 1, Self.patience * 1_000) == 1 else {
                close(listener)
                return
            }
            let client = accept(listener, nil, nil)
            close(listener)
            guard client >= 0 else { return }
            defer { close(client) }
            guard let server = Self.connect(to: upstream) else { return }
            defer { close(server) }
            pass(client, server)
        }
    }

    private func pass(_ client: Int32, _ server: Int32) {
        var open = [
            pollfd(fd: client, events: Int16(POLLIN), revents: 0),
            pollfd(fd: server, events: Int16(POLLIN), revents: 0),
        ]
        var buffer = [UInt8](repeating: 0, count: 32_768)
        var number = 1
        while open.contains(where: { $0.fd >= 0 }) {
            guard poll(&open, 2, Self.patience * 1_000) > 0 else { return }
            for (index, side) in [(0, Side.client), (1, .server)] where open[index].revents != 0 {
                let count = read(open[index].fd, &buffer, buffer.count)
                let target = side == .client ? server : client
                if count <= 0 {
                    open[index].fd = -1
                    shutdown(target, Int32(SHUT_WR))
                    continue
                }
                number += 1
                let packet = PacketReference(number: number, time: Instant(nanoseconds: Int64(number) * 1_000))
                steps.withLock { $0.append(.bytes(side, Array(buffer[..<count]), packet)) }
                var sent = 0
                while sent < count {
                    let more = send(target, Array(buffer[sent..<count]), count - sent, Int32(MSG_NOSIGNAL))
                    if more <= 0 { break }
                    sent += more
                }
            }
        }
    }

    /// Waits for both sides to close and gives what has passed.
    func finish() -> [RecordedStreams.Step] {
        let deadline = Date().addingTimeInterval(Double(Self.patience))
        while Date() < deadline, !isDone.withLock({ $0 }) { usleep(5_000) }
        return steps.withLock { $0 }
    }

    private static func bind(_ descriptor: Int32) throws -> UInt16 {
        var address = loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                Foundation.bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
            }
        }
        guard bound else { throw POSIXError(.EADDRINUSE) }
        return UInt16(bigEndian: address.sin_port)
    }

    private static func connect(to port: UInt16) -> Int32? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = loopback(port)
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        if connected { return descriptor }
        close(descriptor)
        return nil
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
