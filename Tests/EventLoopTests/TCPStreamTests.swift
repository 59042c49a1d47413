import Foundation
import SessionTrace
import Testing

@testable import EventLoop

@Suite(.timeLimit(.minutes(3))) struct TCPStreamTests {
    @Test(arguments: [loopback, loopback6]) func bytesGoBothWaysAndEachSideEndsOnItsOwn(at endpoint: Endpoint)
        async throws
    {
        try await onLoop {
            let (client, server) = try await connectedPair(endpoint)
            #expect(client.peer == server.local && client.local == server.peer)
            #expect(client.isOutgoing && !server.isOutgoing)
            #expect(server.originalDestination == nil)
            try await client.write(Array("question".utf8))
            client.finishWriting()
            #expect(try await server.readAll() == Array("question".utf8))
            #expect(try await server.readSome().isEmpty, "FIN is told again")
            try await server.write(Array("answer".utf8))
            server.finishWriting()
            #expect(try await client.readAll() == Array("answer".utf8))
            client.close()
            server.close()
        }
    }

    /// Random sizes written and read in random pieces, both ways at once, each side ending when it is done.
    @Test(arguments: 1...8) func randomTrafficArrivesWhole(seed: Int) async throws {
        try await onLoop {
            let (client, server) = try await connectedPair(seed % 2 == 0 ? loopback : loopback6)
            let streams = Handed((client, server))
            async let up: Void = pump(streams.value.0, seed: seed, upTo: 400_000 * seed)
            async let down: Void = pump(streams.value.1, seed: seed + 100, upTo: 300_000)
            async let upRead: Void = check(streams.value.1, seed: seed, upTo: 400_000 * seed)
            async let downRead: Void = check(streams.value.0, seed: seed + 100, upTo: 300_000)
            _ = try await (up, down, upRead, downRead)
            #expect(client.bytesWritten == UInt64(400_000 * seed) && client.bytesRead == 300_000)
            #expect(server.bytesRead == client.bytesWritten && server.bytesWritten == client.bytesRead)
        }
    }

    /// Each piece is told as soon as the kernel has it, not when the last one is gone.
    @Test func piecesAreToldAsTheyAreTaken() async throws {
        try await onLoop {
            let (client, server) = try await connectedPair()
            let sent = UnsafeMutableRawBufferPointer.allocate(byteCount: 32 << 20, alignment: 16)
            defer { sent.deallocate() }
            for index in stride(from: 0, to: sent.count, by: 4_096) {
                sent[index] = UInt8(truncatingIfNeeded: index >> 12)
            }
            let streams = Handed((client, server))
            let memory = Handed(UnsafeRawBufferPointer(sent))
            async let pieces: [Int] = {
                var starts: [Int] = []
                var end = 0
                try await streams.value.0.write(memory.value) { piece, _ in
                    starts.append(end)
                    end += piece.count
                }
                #expect(end == memory.value.count)
                return starts
            }()
            async let reading: Int = {
                // The kernel's buffers are full by the time that anything is read.
                try await LoopTimer.sleep(.milliseconds(200))
                var count = 0
                while count < memory.value.count { count += try await streams.value.1.readSome().count }
                return count
            }()
            let (starts, count) = try await (pieces, reading)
            #expect(starts.count > 1 && starts.first == 0)
            #expect(count == sent.count)
        }
    }

    @Test func aResetIsNoFinish() async throws {
        try await onLoop {
            let (client, server) = try await connectedPair()
            try await client.write(Array("last words".utf8))
            #expect(try await server.readSome() == Array("last words".utf8))
            client.reset()
            await #expect { try await server.readSome() } throws: { ($0 as? SocketError)?.code == ECONNRESET }
            await #expect { try await server.readSome() } throws: { ($0 as? SocketError)?.isReset == true }
            await #expect { try await server.write([1]) } throws: { ($0 as? SocketError)?.isReset == true }
            #expect(server.endNow == .failed(ECONNRESET))
        }
    }

    /// Whoever hears of the RST first (a write, a peek, the loop), the reader hears of it too, after the bytes before it.
    @Test func bytesBeforeAResetAreRead() async throws {
        try await onLoop {
            let (client, server) = try await connectedPair()
            try await client.write(Array("before".utf8))
            try await server.waitReadable()
            client.reset()
            #expect(try await server.waitClosed() == .failed(ECONNRESET))
            await #expect { try await server.write([1]) } throws: { ($0 as? SocketError)?.isReset == true }
            #expect(server.isReadableNow)
            #expect(try await server.readSome() == Array("before".utf8))
            await #expect { try await server.readSome() } throws: { ($0 as? SocketError)?.code == ECONNRESET }
        }
    }

    @Test func aSlowReaderHoldsTheWriterBack() async throws {
        try await onLoop {
            let (client, server) = try await connectedPair()
            let bytes = [UInt8](repeating: 1, count: 64 << 20)
            var written = 0
            do throws(SocketError) {
                try await client.write(bytes, timeout: .milliseconds(300))
                Issue.record("64 MiB went into a socket that nobody reads")
            } catch {
                #expect(error.isTimeout)
                written = error.written
            }
            #expect(written > 0 && written < bytes.count && UInt64(written) == client.bytesWritten)
            // What was taken arrives, and the writer can go on.
            let streams = Handed(client)
            async let rest: Void = finish(streams.value)
            #expect(try await server.readAll(piece: 1 << 20).count == written + 3)
            try await rest
        }
    }

    /// The relay is blocked writing to a client that goes away: its kernel answers with RST.
    @Test func aBlockedWriterHearsTheReset() async throws {
        try await onLoop {
            let (client, server) = try await connectedPair()
            let handed = Handed(client)
            async let writing: Int = blockedWrite(handed.value)
            async let hearing: Int32 = waitFailed(handed.value)
            try await server.waitReadable()
            server.close()
            let (code, heard) = try await (Int32(writing), hearing)
            #expect(SocketError(code: code, operation: "").isReset)
            #expect(SocketError(code: heard, operation: "").isReset)
        }
    }

    @Test func theEndIsHeardWithoutReading() async throws {
        try await onLoop {
            let (client, server) = try await connectedPair()
            #expect(server.endNow == nil)
            try await client.write([1, 2, 3])
            client.finishWriting()
            #expect(try await server.waitClosed() == .finished)
            #expect(try await server.readAll() == [1, 2, 3], "nothing was taken")
        }
    }

    @Test func waitingForBytesTakesNoneAndCanBeCancelled() async throws {
        try await onLoop {
            let (client, server) = try await connectedPair()
            let handed = Handed(server)
            for _ in 0..<50 {
                let waiting = Task(executorPreference: EventLoop.current) { try await handed.value.waitReadable() }
                if Bool.random() { try await LoopTimer.sleep(.milliseconds(1)) }
                waiting.cancel()
                await #expect { try await waiting.value } throws: { ($0 as? SocketError)?.isCancelled == true }
            }
            #expect(!server.isReadableNow)
            try await client.write([9])
            try await server.waitReadable()
            try await server.waitReadable()
            #expect(try await server.readSome() == [9])
            await #expect { try await server.waitReadable(timeout: .milliseconds(1)) } throws: {
                ($0 as? SocketError)?.isTimeout == true
            }
        }
    }

    /// Server speaks first, or the client does: whoever becomes readable first, and the loser goes on unharmed.
    @Test(arguments: [true, false]) func whoeverSpeaksFirstIsHeard(isFirst: Bool) async throws {
        try await onLoop {
            let one = try await connectedPair()
            let other = try await connectedPair()
            try await (isFirst ? one : other).client.write([1])
            let sides = Handed((one.server, other.server))
            let loop = EventLoop.current
            let winner = try await withThrowingTaskGroup(of: Int.self) { group in
                group.addTask(executorPreference: loop) {
                    try await sides.value.0.waitReadable()
                    return 0
                }
                group.addTask(executorPreference: loop) {
                    try await sides.value.1.waitReadable()
                    return 1
                }
                defer { group.cancelAll() }
                return try await group.next()
            }
            #expect(winner == (isFirst ? 0 : 1))
            try await (isFirst ? other : one).client.write([2])
            #expect(try await (isFirst ? other : one).server.readSome() == [2])
        }
    }

    @Test func closingWakesTheWaiters() async throws {
        try await onLoop {
            let (client, server) = try await connectedPair()
            let handed = Handed(server)
            let reading = Task(executorPreference: EventLoop.current) { try await handed.value.readSome() }
            let ending = Task(executorPreference: EventLoop.current) { try await handed.value.waitClosed() }
            try await LoopTimer.sleep(.milliseconds(2))
            await #expect { try await server.readSome() } throws: { ($0 as? SocketError)?.code == EBUSY }
            server.close()
            await #expect { try await reading.value } throws: { ($0 as? SocketError)?.isClosed == true }
            await #expect { try await ending.value } throws: { ($0 as? SocketError)?.isClosed == true }
            await #expect { try await server.write([1]) } throws: { ($0 as? SocketError)?.isClosed == true }
            server.close()
            server.reset()
            server.finishWriting()
            #expect(try await client.readAll().isEmpty)
        }
    }

    @Test func aStreamThatIsLetGoIsClosed() async throws {
        try await onLoop {
            let (client, accepted) = try await unadoptedPair()
            do { _ = try TCPStream(adopting: accepted, on: client.loop) }
            #expect(try await client.readAll().isEmpty)
            #expect(throws: SocketError.self) { try TCPStream(adopting: accepted, on: client.loop) }
            let (other, forgotten) = try await unadoptedPair()
            forgotten.close()
            #expect(try await other.readAll().isEmpty)
        }
    }

    @Test(arguments: [loopback, loopback6]) func acknowledgedBytesAreCounted(at endpoint: Endpoint) async throws {
        try await onLoop {
            let (client, server) = try await connectedPair(endpoint)
            for (from, to) in [(client, server), (server, client)] {
                #expect(from.acknowledgement()?.bytesAcknowledged == 0)
                try await from.write([UInt8](repeating: 1, count: 100_000))
                var read = 0
                while read < 100_000 { read += try await to.readSome().count }
                try await until { from.acknowledgement()?.bytesAcknowledged == 100_000 }
                #expect(from.acknowledgement()?.bytesOutstanding == 0)
                #expect(from.acknowledgement()?.isFinishAcknowledged == false)
            }
            server.finishWriting()
            try await until { server.acknowledgement()?.isFinishAcknowledged == true }
            #expect(server.acknowledgement()?.bytesAcknowledged == 100_000)
            client.finishWriting()
            try await until { client.acknowledgement()?.isFinishAcknowledged == true }
            #expect(client.acknowledgement()?.bytesAcknowledged == 100_000)
            client.close()
            #expect(client.acknowledgement() == nil)
        }
    }

    @Test func unreadBytesStayUnacknowledged() async throws {
        try await onLoop {
            let (client, server) = try await connectedPair()
            await #expect(throws: SocketError.self) {
                try await client.write([UInt8](repeating: 1, count: 64 << 20), timeout: .milliseconds(100))
            }
            let told = try #require(client.acknowledgement())
            #expect(told.bytesOutstanding > 0 && told.bytesAcknowledged + told.bytesOutstanding == client.bytesWritten)
            client.finishWriting()
            #expect(client.acknowledgement()?.isFinishAcknowledged == false)
            server.reset()
            _ = try await client.waitFailed()
            #expect(client.acknowledgement()?.isFinishAcknowledged == false)
            #expect(client.acknowledgement()?.bytesAcknowledged ?? .max < client.bytesWritten)
        }
    }

    /// An answer that ends the connection while the peer still sends must reach it: a plain close would send RST.
    @Test func aLingeringCloseLosesNoAnswer() async throws {
        try await onLoop {
            let (client, server) = try await connectedPair()
            try await client.write([UInt8](repeating: 1, count: 100_000))
            try await server.write(Array("403".utf8))
            let handed = Handed(server)
            async let closing: Void = handed.value.closeLingering(for: .seconds(20))
            try await client.write([UInt8](repeating: 1, count: 100_000))
            #expect(try await client.readAll() == Array("403".utf8))
            client.close()
            await closing
            #expect(!server.isOpen)
        }
    }

    /// Urgent data stops a read short of what is there; the rest must not be waited for.
    @Test func urgentBytesStayInTheStream() async throws {
        try await onLoop {
            let (client, server) = try await connectedPair()
            var byte: UInt8 = 2
            try await client.write([1, 1])
            #expect(send(client.descriptor.number, &byte, 1, Int32(MSG_OOB)) == 1)
            try await client.write([3, 3])
            client.finishWriting()
            #expect(try await server.waitClosed() == .finished)
            #expect(try await server.readAll() == [1, 1, 2, 3, 3])
            let (other, receiver) = try await connectedPair()
            #expect(send(other.descriptor.number, &byte, 1, Int32(MSG_OOB)) == 1)
            try await other.write([4])
            var read: [UInt8] = []
            while read.count < 2 { read += try await receiver.readSome() }
            #expect(read == [2, 4])
        }
    }
}

private nonisolated(nonsending) func pump(_ stream: TCPStream, seed: Int, upTo count: Int) async throws {
    var sizes = SeededGenerator(seed: seed)
    var done = 0
    while done < count {
        let size = min(count - done, Int.random(in: 1...(Bool.random(using: &sizes) ? 64 : 90_000), using: &sizes))
        try await stream.write((done..<done + size).map { pattern($0, seed) })
        done += size
        if Int.random(in: 0..<50, using: &sizes) == 0 { try await LoopTimer.sleep(.milliseconds(1)) }
    }
    stream.finishWriting()
}

private nonisolated(nonsending) func check(_ stream: TCPStream, seed: Int, upTo count: Int) async throws {
    var sizes = SeededGenerator(seed: seed &+ 7)
    var done = 0
    while true {
        let piece = try await stream.readSome(
            Int.random(in: 1...(Bool.random(using: &sizes) ? 100 : 70_000), using: &sizes))
        if piece.isEmpty { break }
        let isRight = piece.indices.allSatisfy { piece[$0] == pattern(done + $0, seed) }
        #expect(isRight, "byte \(done)")
        done += piece.count
    }
    #expect(done == count)
}

private func pattern(_ index: Int, _ seed: Int) -> UInt8 {
    UInt8(truncatingIfNeeded: (index &* 31 &+ index / 251) ^ seed)
}

private nonisolated(nonsending) func finish(_ stream: TCPStream) async throws {
    try await stream.write([1, 2, 3])
    stream.finishWriting()
}

private nonisolated(nonsending) func blockedWrite(_ stream: TCPStream) async -> Int {
    do throws(SocketError) {
        try await stream.write([UInt8](repeating: 1, count: 64 << 20))
        return 0
    } catch {
        #expect(error.written < 64 << 20)
        return Int(error.code)
    }
}

private nonisolated(nonsending) func waitFailed(_ stream: TCPStream) async throws -> Int32 {
    try await stream.waitFailed()
}
