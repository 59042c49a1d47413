import Foundation
import SessionTrace
import Testing

@testable import EventLoop

/// A port that never answers: its queue is full, so the kernel drops every further SYN.
private final class BlackHole {
    let endpoint: Endpoint
    private let listener: TCPListener
    private var fill: [Int32] = []

    init(at endpoint: Endpoint = loopback) throws {
        listener = try TCPListener.listen(on: endpoint, options: ListenOptions(backlog: 0))
        self.endpoint = listener.local
        for _ in 0..<8 {
            let number = try LinuxSocket.open(isIPv4: endpoint.address.isIPv4, stream: true)
            _ = LinuxSocket.connect(number, to: self.endpoint)
            fill.append(number)
        }
        usleep(20_000)
    }

    deinit {
        for number in fill { close(number) }
    }
}

/// A port where nobody listens.
private func refusedEndpoint(_ endpoint: Endpoint = loopback) throws -> Endpoint {
    let listener = try TCPListener.listen(on: endpoint)
    defer { listener.close() }
    return listener.local
}

@Suite(.serialized, .timeLimit(.minutes(3))) struct ConnectTests {
    @Test func aRefusalIsTold() async throws {
        try await onLoop {
            let endpoint = try refusedEndpoint()
            await #expect { try await TCPStream.connect(to: endpoint, timeout: .seconds(20)) } throws: {
                ($0 as? SocketError)?.isRefused == true
            }
        }
    }

    @Test func silenceTimesOutAndCanBeCancelled() async throws {
        try await onLoop {
            let hole = try BlackHole()
            let endpoint = hole.endpoint
            await #expect { try await TCPStream.connect(to: endpoint, timeout: .milliseconds(50)) } throws: {
                ($0 as? SocketError)?.isTimeout == true
            }
            let task = Task(executorPreference: EventLoop.current) {
                _ = try await TCPStream.connect(to: endpoint, timeout: .seconds(1_000))
            }
            try await LoopTimer.sleep(.milliseconds(5))
            task.cancel()
            await #expect { try await task.value } throws: { ($0 as? SocketError)?.isCancelled == true }
            withExtendedLifetime(hole) {}
        }
    }

    @Test func theSourceIsChosen() async throws {
        try await onLoop {
            let listener = try TCPListener.listen(on: loopback)
            let source = Endpoint(address: IPAddress(ipv4: 0x7F00_0042), port: 0)
            let client = try await TCPStream.connect(
                to: listener.local, options: ConnectOptions(source: source), timeout: .seconds(20))
            let accepted = try await listener.accept()
            #expect(client.local.address == source.address && accepted.peer == client.local)
        }
    }

    @Test func aDeadAddressDoesNotHoldUpALiveOne() async throws {
        try await onLoop {
            let hole = try BlackHole(at: loopback6)
            let listener = try TCPListener.listen(on: loopback)
            let dead = [hole.endpoint, try refusedEndpoint()]
            let client = try await TCPStream.connect(
                toAny: dead + [listener.local], stagger: .milliseconds(20), timeout: .seconds(1_000))
            #expect(client.peer == listener.local)
            withExtendedLifetime(hole) {}
        }
    }

    @Test func aRefusalStartsTheNextAtOnce() async throws {
        try await onLoop {
            let listener = try TCPListener.listen(on: loopback)
            let dead = [try refusedEndpoint(loopback6), try refusedEndpoint(loopback6)]
            let client = try await TCPStream.connect(
                toAny: dead + [listener.local], stagger: .seconds(1_000), timeout: .seconds(2_000))
            #expect(client.peer == listener.local)
        }
    }

    @Test func whenAllFailTheFirstFailureIsTold() async throws {
        try await onLoop {
            let dead = [try refusedEndpoint(loopback6), try refusedEndpoint()]
            await #expect { try await TCPStream.connect(toAny: dead, timeout: .seconds(20)) } throws: {
                ($0 as? SocketError)?.isRefused == true
            }
            await #expect(throws: SocketError.self) { try await TCPStream.connect(toAny: [], timeout: .seconds(1)) }
            let hole = try BlackHole()
            let silent = [hole.endpoint, try BlackHole(at: loopback6).endpoint]
            await #expect {
                try await TCPStream.connect(toAny: silent, stagger: .milliseconds(5), timeout: .milliseconds(60))
            } throws: { ($0 as? SocketError)?.isTimeout == true || ($0 as? SocketError)?.isRefused == true }
            withExtendedLifetime(hole) {}
        }
    }

    @Test func aRaceCanBeCancelled() async throws {
        try await onLoop {
            let holes = Handed([try BlackHole(), try BlackHole(at: loopback6)])
            let task = Task(executorPreference: EventLoop.current) {
                _ = try await TCPStream.connect(
                    toAny: holes.value.map(\.endpoint), stagger: .milliseconds(2), timeout: .seconds(1_000))
            }
            try await LoopTimer.sleep(.milliseconds(10))
            task.cancel()
            await #expect { try await task.value } throws: { ($0 as? SocketError)?.isCancelled == true }
        }
    }

    @Test func familiesTakeTurns() {
        func endpoint(_ text: String) -> Endpoint { Endpoint(address: IPAddress(text) ?? loopback.address, port: 1) }
        let given = ["::1", "::2", "::3", "10.0.0.1", "::1", "10.0.0.2"].map(endpoint)
        #expect(HappyEyeballs.interleaved(given) == ["::1", "10.0.0.1", "::2", "10.0.0.2", "::3"].map(endpoint))
        #expect(HappyEyeballs.interleaved([]).isEmpty)
        var eyeballs = HappyEyeballs(["10.0.0.1", "::1"].map(endpoint))
        #expect(eyeballs.next() == .attempt(endpoint("10.0.0.1")) && eyeballs.hasMore)
        #expect(eyeballs.next() == .attempt(endpoint("::1")) && !eyeballs.hasMore)
        #expect(eyeballs.next() == .wait)
        eyeballs.failed(SocketError(code: ECONNREFUSED, operation: "connect"))
        #expect(eyeballs.next() == .wait)
        eyeballs.failed(SocketError(code: ETIMEDOUT, operation: "connect"))
        #expect(eyeballs.next() == .fail && eyeballs.firstFailure?.code == ECONNREFUSED)
    }

    /// A thousand connections, cancelled, reset, closed or let go at random places: every descriptor comes back.
    @Test func descriptorsComeBack() async throws {
        let loop = try EventLoop(name: "many")
        let other = try EventLoop(name: "adopting")
        // Descriptors that other suites hold come and go: those of these two loops are counted by the loops themselves.
        let before = await descriptorCount(loop) + descriptorCount(other)
        let (portStream, ports) = AsyncStream<Endpoint>.makeStream()
        let server = Task(executorPreference: loop) {
            let listener = try TCPListener.listen(on: loopback)
            ports.yield(listener.local)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<1_000 {
                    let accepted = try await listener.accept()
                    group.addTask(executorPreference: other) {
                        guard Int.random(in: 0..<20) > 0 else { return }
                        let stream = try TCPStream(adopting: accepted, on: other)
                        while let bytes = try? await stream.readSome(), !bytes.isEmpty {
                            do { try await stream.write(bytes) } catch { break }
                        }
                        if Bool.random() { stream.close() }
                    }
                }
                try await group.waitForAll()
            }
            listener.close()
        }
        var iterator = portStream.makeAsyncIterator()
        let port = try #require(await iterator.next())
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<1_000 {
                if number >= 64 { await group.next() }
                group.addTask(executorPreference: loop) {
                    let work = Task(executorPreference: loop) {
                        let stream = try await TCPStream.connect(to: port, timeout: .seconds(60))
                        for _ in 0..<Int.random(in: 0..<4) {
                            try await stream.write([UInt8](repeating: 1, count: Int.random(in: 1..<5_000)))
                            _ = try await stream.readSome()
                        }
                        switch Int.random(in: 0..<5) {
                        case 0: stream.reset()
                        case 1: stream.close()
                        case 2: _ = try await stream.readSome()
                        case 3: _ = try await stream.waitClosed()
                        default: break
                        }
                    }
                    // Connected in any case, so that the server gets its thousand.
                    try? await LoopTimer.sleep(.milliseconds(Int.random(in: 5..<40)))
                    work.cancel()
                    _ = await work.result
                }
            }
        }
        // The server may miss those that were cancelled before they were connected.
        for _ in 0..<1_000 {
            let more = Task(executorPreference: loop) {
                _ = try await TCPStream.connect(to: port, timeout: .seconds(20))
            }
            if (try? await more.value) == nil { break }
        }
        try await server.value
        try await until { await descriptorCount(loop) + descriptorCount(other) == before }
        await ended(loop)
        await ended(other)
    }

}

/// Descriptors in a loop's set.
private func descriptorCount(_ loop: EventLoop) async -> Int {
    await withCheckedContinuation { continuation in
        loop.execute { continuation.resume(returning: loop.descriptorCount) }
    }
}
