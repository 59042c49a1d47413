import Crypto
import EventLoop
import Foundation
import SessionTrace

@testable import HandoffProxy

/// A proxy on loopback with a recording, for tests of everything but TLS. Names are resolved to 127.0.0.1.
final class ProxyRun: Sendable {
    let scratch: ScratchFolder
    let proxy: HandoffProxy
    let recording: Recording
    private let loops: EventLoopGroup
    private let live: Task<[LiveEvent], Never>

    init(_ configure: (inout ProxyConfiguration) -> Void = { _ in }) async throws {
        scratch = try ScratchFolder()
        var configuration = ProxyConfiguration()
        configuration.listeners = [ListenAddress(endpoint: .of("127.0.0.1", 0))]
        configuration.controlAddress = nil
        configuration.resolveOverrides = [ResolveOverride("*:*:127.0.0.1")].compactMap { $0 }
        configuration.timeouts.stopGrace = .milliseconds(200)
        configure(&configuration)
        recording = try Recording(path: scratch["trace.pcapng"], version: "0", started: WallClock.now())
        loops = try EventLoopGroup(count: 2)
        proxy = try HandoffProxy(
            configuration: configuration, authority: try .inMemory(hostName: "lab"), recording: recording,
            loops: loops)
        let events = proxy.events
        live = Task {
            var all: [LiveEvent] = []
            for await event in events { all.append(event) }
            return all
        }
        try await proxy.start()
    }

    var port: UInt16 { proxy.addresses.first?.port ?? 0 }

    /// A connection to the proxy that has asked for `host` and `port`, and the proxy's answer.
    func connect(_ port: UInt16, host: String = "origin.test", fields: String = "") throws -> (BlockingSocket, String) {
        let socket = try BlockingSocket(port: self.port)
        socket.write("CONNECT \(host):\(port) HTTP/1.1\r\nHost: \(host):\(port)\r\n\(fields)\r\n".utf8)
        return (socket, socket.read(through: "\r\n\r\n"))
    }

    /// Waits until `condition` holds; false when it does not within 20 s.
    func eventually(_ condition: () -> Bool) async -> Bool {
        for _ in 0..<2_000 {
            if condition() { return true }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return false
    }

    /// Stops everything and reads the recording back.
    func finish() async throws -> (trace: TraceContent, live: [LiveEvent]) {
        await proxy.stop()
        recording.stop(at: WallClock.now())
        let loops = loops
        try await onThread { loops.stop() }
        return (try TraceContent(path: scratch["trace.pcapng"]), await live.value)
    }
}

/// curl, where it is installed.
enum Curl {
    static let path = FinishedCommand.find("curl")

    /// Runs it, with its errors silenced and a limit on its time; its status and what it printed.
    static func run(_ arguments: [String]) async throws -> FinishedCommand {
        let path = path ?? "curl"
        return try await onThread { try FinishedCommand(path, ["-sS", "--noproxy", "", "-m", "30"] + arguments) }
    }
}

/// An origin that answers each HTTP request on a connection with its own head as the content, and closes.
func echoOfHeads() throws -> BlockingServer {
    try BlockingServer { socket in
        let head = socket.read(through: "\r\n\r\n")
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: \(head.utf8.count)\r\nConnection: close\r\n\r\n\(head)".utf8)
        socket.finishWriting()
        _ = socket.readAll()
        socket.close()
    }
}
