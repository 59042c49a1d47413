import EventLoop
import Foundation
import SessionTrace
import Testing

@testable import HandoffProxy

/// Each named limit, crossed.
@Suite struct ProxyLimitsTests {
    @Test func connectionsAreCountedByAllAndByDevice() throws {
        var limits = ProxyLimits()
        limits.connections = 3
        limits.connectionsPerDevice = 2
        let table = ConnectionTable(limits: limits)
        let activities = (0..<4).map { _ in ConnectionActivity(Instant(nanoseconds: 0)) }
        let (one, other) = (try #require(IPAddress("10.0.0.1")), try #require(IPAddress("10.0.0.2")))
        #expect(table.enter(activities[0], of: one) == nil)
        #expect(table.enter(activities[1], of: one) == nil)
        #expect(table.enter(activities[2], of: one) == .connectionsPerDevice(2))
        #expect(table.enter(activities[2], of: other) == nil)
        #expect(table.enter(activities[3], of: other) == .connections(3))
        table.leave(activities[3], of: other)
        #expect(table.count == 3)
        table.leave(activities[0], of: one)
        #expect(table.enter(activities[3], of: one) == nil)
    }

    @Test func refusalsAreCounted() {
        var limits = ProxyLimits()
        limits.refusals = 2
        let table = ConnectionTable(limits: limits)
        let begun = [table.beginRefusal(), table.beginRefusal(), table.beginRefusal()]
        #expect(begun == [true, true, false])
        table.endRefusal()
        let again = table.beginRefusal()
        #expect(again)
    }

    @Test func strangersBeyondTheLimitAreReset() async throws {
        let run = try await ProxyRun {
            $0.allowedClients = []
            $0.limits.refusals = 1
        }
        // The first says nothing, and holds the only place.
        let first = try BlockingSocket(port: run.port)
        let second = try await onThread { [port = run.port] () -> [UInt8]? in
            for _ in 0..<200 {
                let socket = try BlockingSocket(port: port)
                socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
                guard let answer = socket.readAll() else { return nil }
                if answer.isEmpty { return nil }
                usleep(10_000)
            }
            return []
        }
        #expect(second == nil, "it is reset")
        first.close()
        _ = try await run.finish()
    }

    @Test func aConnectionTooManyIsTurnedAwayAndTold() async throws {
        let run = try await ProxyRun { $0.limits.connectionsPerDevice = 1 }
        let first = try BlockingSocket(port: run.port)
        #expect(await run.eventually { run.proxy.openConnections == 1 })
        let answer = try await onThread { [port = run.port] in try BlockingSocket(port: port).readAll() }
        #expect(answer == nil, "it is reset")
        first.close()
        let (trace, live) = try await run.finish()
        #expect(live.contains { $0.kind == .limit })
        let limits = trace.connections.flatMap(\.events).filter { $0.kind == .limit }
        #expect(limits.map { $0.attributes["what"] } == ["connections-per-device"])
    }

    @Test func aHeadThatIsTooLongIsRefused() async throws {
        let run = try await ProxyRun { $0.limits.headBytes = 1_000 }
        let answer = try await onThread { [port = run.port] in
            let socket = try BlockingSocket(port: port)
            socket.write("CONNECT a:1 HTTP/1.1\r\nX: \(String(repeating: "y", count: 2_000))".utf8)
            return socket.readAll().map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(answer?.hasPrefix("HTTP/1.1 431 ") == true)
        let (trace, _) = try await run.finish()
        #expect(trace.connections.first?.events.first?.attributes["what"] == "head-bytes")
    }

    @Test func aSlowHeadIsRefused() async throws {
        let run = try await ProxyRun { $0.timeouts.preamble = .milliseconds(200) }
        let answer = try await onThread { [port = run.port] in
            let socket = try BlockingSocket(port: port)
            socket.write("CONNECT a:1 HTTP/1.1\r\n".utf8)
            return socket.readAll().map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(answer?.hasPrefix("HTTP/1.1 408 ") == true)
        let (trace, _) = try await run.finish()
        #expect(trace.connections.first?.events.first?.attributes["what"] == "preamble")
    }

    @Test func aSilentClientIsClosed() async throws {
        let run = try await ProxyRun { $0.timeouts.firstByte = .milliseconds(200) }
        let answer = try await onThread { [port = run.port] in try BlockingSocket(port: port).readAll() }
        #expect(answer?.isEmpty == true)
        let (trace, _) = try await run.finish()
        #expect(trace.connections.isEmpty, "who never said a byte is no device")
    }

    @Test(arguments: [false, true])
    func aPortThatIsLookedAtMakesNoDevice(byReset: Bool) async throws {
        let run = try await ProxyRun { _ in }
        try await onThread { [port = run.port] in
            let socket = try BlockingSocket(port: port)
            if byReset { socket.reset() } else { socket.close() }
            // One more whose end shows that the proxy has taken both.
            let last = try BlockingSocket(port: port)
            last.finishWriting()
            _ = last.readAll()
        }
        let (trace, _) = try await run.finish()
        let files = run.recording.status
        #expect(trace.connections.isEmpty && files.count == 1 && files.first?.device == nil)
    }

    /// Also when it became a device only after it had connected: its connections are served side by side. On a busy machine
    /// that can take more than a second.
    @Test(arguments: [false, true])
    func aSilentConnectionOfADeviceIsRecorded(connectedBefore: Bool) async throws {
        let run = try await ProxyRun { $0.timeouts.firstByte = .milliseconds(connectedBefore ? 4_000 : 200) }
        let early = connectedBefore ? try BlockingSocket(port: run.port) : nil
        if connectedBefore { #expect(await run.eventually { run.proxy.openConnections == 1 }) }
        try BlockingSocket(port: run.port).write("X".utf8)
        let address = try #require(IPAddress("127.0.0.1"))
        #expect(await run.eventually { run.recording.knows(address) })
        try await onThread { [port = run.port] in
            _ = try (early ?? BlockingSocket(port: port)).readAll()
        }
        let (trace, _) = try await run.finish()
        #expect(trace.connections.contains { $0.events.contains { $0.attributes["what"] == "first-byte" } })
    }

    @Test func anIdleTunnelIsClosed() async throws {
        let run = try await ProxyRun { $0.timeouts.idle = .milliseconds(300) }
        let origin = try BlockingServer { _ = $0.readAll() }
        let answer = try await onThread {
            let (socket, answer) = try run.connect(origin.port)
            return (answer, socket.readAll())
        }
        #expect(answer.0.contains(" 200 "))
        #expect(answer.1?.isEmpty == true)
        let (trace, _) = try await run.finish()
        #expect(trace.connections.first?.events.contains { $0.attributes["what"] == "idle" } == true)
    }

    @Test func aListenerThatFallsBehindLosesItsOldestEvents() async {
        let live = LiveEvents(backlog: 2)
        let stream = live.subscribe()
        for number in 1...5 { live.post(LiveEvent(.note, at: Instant(nanoseconds: 0), text: "\(number)")) }
        live.finish()
        var texts: [String] = []
        for await event in stream { texts.append(event.text) }
        #expect(texts == ["4", "5"])
        var late = 0
        for await _ in live.subscribe() { late += 1 }
        #expect(late == 0)
    }

    @Test func keyLogsAreAppendedPrivately() throws {
        let scratch = try ScratchFolder()
        try KeyLogFile(path: scratch["keys"]).append(Array("a b c\n".utf8))
        try KeyLogFile(path: scratch["keys"]).append(Array("d e f\n".utf8))
        #expect(try String(contentsOfFile: scratch["keys"], encoding: .utf8) == "a b c\nd e f\n")
        let mode = try FileManager.default.attributesOfItem(atPath: scratch["keys"])[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(throws: ProxyError.self) { try KeyLogFile(path: scratch["no/such/folder"]) }
    }
}
