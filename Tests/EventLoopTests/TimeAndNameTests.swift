import Foundation
import SessionTrace
import Testing

@testable import EventLoop

@Suite(.timeLimit(.minutes(2))) struct TimeoutTests {
    @Test func aBodyInTimeGivesItsResult() async throws {
        let onLoop = try await onLoop { try await withTimeout(.seconds(20)) { 5 } }
        let elsewhere = try await withTimeout(.seconds(20)) { 6 }
        #expect(onLoop == 5 && elsewhere == 6)
    }

    @Test func aBodyThatIsLateIsCancelled() async throws {
        try await onLoop {
            let (client, _server) = try await connectedPair()
            let handed = Handed(client)
            await #expect { try await withTimeout(.milliseconds(5)) { try await handed.value.readSome() } } throws: {
                ($0 as? SocketError)?.isTimeout == true
            }
            _server.close()
            #expect(try await client.readAll().isEmpty, "the stream is unharmed")
        }
        await #expect {
            try await withTimeout(.milliseconds(5)) { try await Task.sleep(for: .seconds(1_000)) }
        } throws: {
            ($0 as? SocketError)?.isTimeout == true
        }
    }

    @Test func errorsAndCancellationPassThrough() async throws {
        try await onLoop {
            await #expect(throws: ResolverError.notFound) {
                try await withTimeout(.seconds(20)) { throw ResolverError.notFound }
            }
            let task = Task(executorPreference: EventLoop.current) {
                try await withTimeout(.seconds(1_000)) { try await LoopTimer.sleep(.seconds(1_000)) }
            }
            try await LoopTimer.sleep(.milliseconds(2))
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test func sleepIsNeverShort() async throws {
        try await onLoop {
            for length in [0, 1, 5, 20] {
                let start = ContinuousClock.now
                try await LoopTimer.sleep(.milliseconds(length))
                #expect(ContinuousClock.now - start >= .milliseconds(length) - .microseconds(1_100))
            }
        }
    }
}

@Suite(.timeLimit(.minutes(2))) struct ResolverTests {
    @Test(arguments: ["192.0.2.1", "2001:db8::1", "[2001:db8::1]"]) func literalsAreAnsweredHere(text: String)
        async throws
    {
        let address = try #require(IPAddress(text.filter { !"[]".contains($0) }))
        #expect(try await Resolver.addresses(of: text, port: 443) == [Endpoint(address: address, port: 443)])
        await #expect(throws: ResolverError.notFound) {
            try await Resolver.addresses(of: text, port: 443, family: address.isIPv4 ? .ipv6 : .ipv4)
        }
    }

    @Test(
        arguments: [
            "", ".", "a..b", ".a", "fe80::1%eth0", "[fe80::1%2]", "[192.0.2.1]", "[", "a b", "a\0b", "a/b", "user@host",
            "127.1",
            "2130706433", "0x7f.1", "10.0.0.0x1", "1.2.3.4.5", "a:80", String(repeating: "a", count: 64) + ".example",
            String(repeating: "a.", count: 130) + "example",
        ]) func whatIsNoNameIsRefused(text: String) async
    {
        await #expect(throws: ResolverError.notAName) { try await Resolver.addresses(of: text, port: 80) }
    }

    @Test(arguments: ["localhost", "localhost."]) func namesGoToTheSystem(name: String) async throws {
        let elsewhere = try await Resolver.addresses(of: name, port: 80, family: .ipv4)
        #expect(elsewhere == [Endpoint(address: loopback.address, port: 80)])
        try await onLoop {
            let addresses = try await Resolver.addresses(of: name, port: 80)
            #expect(addresses.allSatisfy(\.address.isLoopback) && !addresses.isEmpty)
        }
    }

    @Test func readingOfNames() throws {
        #expect(try Resolver.reading("Example.COM.") == .name("Example.COM"))
        #expect(try Resolver.reading("_dmarc.a-b.example") == .name("_dmarc.a-b.example"))
        #expect(try Resolver.reading("0xg.example") == .name("0xg.example"))
        #expect(try Resolver.reading("bücher.example") == .name("bücher.example"))
    }

    @Test func aLookUpCanBeCancelled() async throws {
        try await onLoop {
            for delay in 0..<3 {
                let task = Task(executorPreference: EventLoop.current) {
                    try await Resolver.addresses(of: "name.invalid", port: 80)
                }
                if delay > 0 { try await LoopTimer.sleep(.milliseconds(delay)) }
                task.cancel()
                await #expect(throws: ResolverError.self) { try await task.value }
            }
        }
    }

    @Test func manyLookUpsAtOnce() async throws {
        try await onLoop {
            let loop = EventLoop.current
            let count = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<100 {
                    group.addTask(executorPreference: loop) {
                        try await Resolver.addresses(of: "localhost", port: 1, family: .ipv4).count
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(count == 100)
        }
    }
}

@Suite(.serialized, .timeLimit(.minutes(2))) struct SignalsTests {
    @Test func signalsArriveAsValues() async throws {
        let stream = Signals.stream([SIGUSR2, SIGWINCH])
        #expect(Signals.isWatched(SIGUSR2))
        // The watch is set up on the loop: one turn of it must be over.
        await withCheckedContinuation { continuation in
            guard let loop = EventLoop.shared else { return continuation.resume() }
            loop.execute { continuation.resume() }
        }
        kill(getpid(), SIGUSR2)
        var iterator = stream.makeAsyncIterator()
        #expect(await iterator.next() == SIGUSR2)
        kill(getpid(), SIGWINCH)
        #expect(await iterator.next() == SIGWINCH)
    }
}
