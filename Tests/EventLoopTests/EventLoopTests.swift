import Foundation
import SessionTrace
import Synchronization
import Testing

@testable import EventLoop

/// An actor that lives on a loop, as a proxied connection does.
private actor Resident {
    let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private var echoed = 0

    init(_ loop: EventLoop) { self.loop = loop }

    func isOnItsLoop() -> Bool { EventLoop.current === loop && loop.isCurrent }

    /// Both directions at once as child tasks of this actor, over one non-Sendable pair of streams.
    func talk(_ size: Int) async throws -> Int {
        let (client, server) = try await connectedPair()
        defer {
            client.close()
            server.close()
        }
        self.client = client
        self.server = server
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.send(size) }
            group.addTask { try await self.echo() }
            group.addTask { try await self.count() }
            try await group.waitForAll()
        }
        #expect(isOnItsLoop())
        return echoed
    }

    private var client: TCPStream?
    private var server: TCPStream?

    private func send(_ size: Int) async throws {
        try await client?.write([UInt8](repeating: 7, count: size))
        client?.finishWriting()
        #expect(isOnItsLoop())
    }

    private func echo() async throws {
        guard let server else { return }
        while true {
            let bytes = try await server.readSome()
            #expect(isOnItsLoop())
            if bytes.isEmpty { break }
            try await server.write(bytes)
        }
        server.finishWriting()
    }

    private func count() async throws {
        echoed = try await client?.readAll().count ?? 0
    }

    func timed() async throws -> Bool {
        let before = echoed
        return try await withTimeout(.seconds(20)) {
            self.echoed += 1
            try await LoopTimer.sleep(.milliseconds(1))
            return self.isOnItsLoop() && self.echoed == before + 1
        }
    }

    func outlives(_ gate: AsyncStream<Void>) async -> Bool {
        for await _ in gate {}
        loop.checkIsolated()
        return loop.isCurrent
    }
}

@Suite(.timeLimit(.minutes(2))) struct EventLoopTests {
    @Test func actorsStayOnTheirLoop() async throws {
        let loop = try EventLoop(name: "actors")
        let resident = Resident(loop)
        #expect(await resident.isOnItsLoop())
        #expect(try await resident.talk(3_000_000) == 3_000_000)
        #expect(try await resident.timed())
        #expect(await resident.isOnItsLoop())
        #expect(EventLoop.current == nil)
        await ended(loop)
    }

    @Test func isolationIsKnown() async throws {
        let loop = try EventLoop(name: "isolation")
        let resident = Resident(loop)
        let isIsolated = await withCheckedContinuation { continuation in
            loop.execute { continuation.resume(returning: resident.assumeIsolated { $0.loop === loop }) }
        }
        #expect(isIsolated)
        #expect(loop.isIsolatingCurrentContext() == false)
        await ended(loop)
    }

    @Test func workRunsInOrder() async throws {
        let loop = try EventLoop(name: "order")
        let seen = Mutex<[Int]>([])
        await withCheckedContinuation { continuation in
            for number in 0..<2_000 { loop.execute { seen.withLock { $0.append(number) } } }
            loop.execute { continuation.resume() }
        }
        #expect(seen.withLock { $0 } == Array(0..<2_000))
        await ended(loop)
    }

    /// Jobs that queue themselves for ever must not keep a timer from ringing.
    @Test func busyJobsDoNotStarveTimers() async throws {
        let loop = try EventLoop(name: "busy")
        let isOver = Atomic(false)
        @Sendable func again() {
            if !isOver.load(ordering: .relaxed) { loop.execute { again() } }
        }
        loop.execute { again() }
        await Task(executorPreference: loop) { try? await LoopTimer.sleep(.milliseconds(5)) }.value
        isOver.store(true, ordering: .relaxed)
        await ended(loop)
    }

    /// A pair that is always ready must not keep another connection waiting.
    @Test func busyStreamsMakeWay() async throws {
        try await onLoop {
            let (left, right) = try await connectedPair()
            let (quietLeft, quietRight) = try await connectedPair()
            let pump = Task(executorPreference: EventLoop.current) { [sending = Handed((left, right))] in
                let (left, right) = sending.value
                // Never waits: what is written can be read at once.
                while !Task.isCancelled {
                    try await left.write([1])
                    _ = try await right.readSome()
                }
            }
            try await LoopTimer.sleep(.milliseconds(2))
            try await quietLeft.write([5])
            #expect(try await quietRight.readSome() == [5])
            pump.cancel()
            _ = await pump.result
        }
    }

    @Test func stoppingWakesWhoWaits() async throws {
        let loop = try EventLoop(name: "stopping")
        let (waiting, isWaiting) = AsyncStream<Void>.makeStream()
        let reader = Task(executorPreference: loop) {
            let (client, server) = try await connectedPair()
            isWaiting.yield()
            defer { server.close() }
            return try await client.readSome()
        }
        let accepter = Task(executorPreference: loop) {
            let listener = try TCPListener.listen(on: loopback)
            isWaiting.yield()
            _ = try await listener.accept()
        }
        let sleeper = Task(executorPreference: loop) {
            isWaiting.yield()
            try await LoopTimer.sleep(.seconds(1_000))
        }
        var count = 0
        for await _ in waiting {
            count += 1
            if count == 3 { break }
        }
        await ended(loop)
        await #expect { try await reader.value } throws: { ($0 as? SocketError)?.isCancelled == true }
        await #expect { try await accepter.value } throws: { ($0 as? SocketError)?.isCancelled == true }
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }

    /// A task that is resumed after its loop has ended goes on, still isolated.
    @Test func lateJobsRun() async throws {
        let loop = try EventLoop(name: "ended")
        let resident = Resident(loop)
        let (gate, open) = AsyncStream<Void>.makeStream()
        let late = Task { await resident.outlives(gate) }
        #expect(await resident.isOnItsLoop())
        await ended(loop)
        open.finish()
        #expect(await late.value)
        await #expect(throws: SocketError.self) {
            try await Task(executorPreference: loop) { _ = try await connectedPair() }.value
        }
    }

    @Test func groupsDealLoopsInTurn() async throws {
        let group = try EventLoopGroup(count: 3)
        let names = (0..<6).map { _ in group.next().name }
        #expect(names == ["loop-0", "loop-1", "loop-2", "loop-0", "loop-1", "loop-2"])
        for loop in group.loops { await ended(loop) }
    }

    @Test func queuesKeepTheirOrderWhenTheyGrow() {
        var queue = JobQueue<Int>(capacity: 16)
        var next = 0
        var expected = 0
        for round in 1..<200 {
            for _ in 0..<(round % 37) {
                queue.append(next)
                next += 1
            }
            for _ in 0..<(round % 31) where !queue.isEmpty {
                #expect(queue.popFirst() == expected)
                expected += 1
            }
        }
        while let element = queue.popFirst() {
            #expect(element == expected)
            expected += 1
        }
        #expect(expected == next)
        queue.deallocate()
    }

    @Test func durationsAreRoundedUp() {
        #expect(Duration.nanoseconds(1).milliseconds == 1)
        #expect(Duration.milliseconds(250).milliseconds == 250)
        #expect(Duration.seconds(-1).milliseconds == 0)
        #expect(Duration.seconds(Int64.max).milliseconds == UInt64(Int64.max))
    }
}

/// Something that one task hands to another for good.
struct Handed<Value>: @unchecked Sendable {
    // Sendable: used by the receiver alone afterwards, on the same loop.
    let value: Value
    init(_ value: Value) { self.value = value }
}
