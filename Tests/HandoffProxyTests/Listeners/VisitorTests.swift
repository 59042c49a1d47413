import SessionTrace
import Testing

@testable import HandoffProxy

/// Who opens the set-up page at the listener's own address: somebody at the lab's computer, or a phone before its proxy is
/// set. Only what comes through the proxy, and marks, make a device.
@Suite(.serialized) struct VisitorTests {
    /// Asks the proxy itself for each path in turn, on connections of their own, and returns the answers.
    private func ask(_ run: ProxyRun, _ paths: [String]) async throws -> [String] {
        try await onThread { [port = run.port] in
            try paths.map { path in
                let socket = try BlockingSocket(port: port)
                socket.write("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8)
                return String(decoding: socket.readAll() ?? [], as: UTF8.self)
            }
        }
    }

    @Test func aVisitIsNotRecorded() async throws {
        let run = try await ProxyRun()
        // Without a control plane there are no pages: 404 is the proxy's own answer.
        let answers = try await ask(run, ["/", "/ca.pem", "/proxy.pac"])
        #expect(answers.allSatisfy { $0.hasPrefix("HTTP/1.1 404 ") }, "\(answers)")
        let (trace, _) = try await run.finish()
        let files = run.recording.status
        #expect(trace.connections.isEmpty && files.count == 1 && files.first?.device == nil)
    }

    @Test func aMarkMakesADevice() async throws {
        let run = try await ProxyRun()
        _ = try await ask(run, ["/m/secret/?kind=tap"])
        let (trace, _) = try await run.finish()
        #expect(trace.connections.count == 1 && run.recording.status.first?.device != nil)
    }

    @Test func aDevicesOwnVisitIsRecorded() async throws {
        let run = try await ProxyRun()
        let origin = try BlockingServer { _ = $0.readAll() }
        try await onThread {
            let (socket, _) = try run.connect(origin.port)
            socket.close()
        }
        _ = try await ask(run, ["/"])
        let (trace, _) = try await run.finish()
        #expect(trace.connections.count == 2)
    }
}
