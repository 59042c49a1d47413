import EventLoop
import Foundation
import SessionTrace
import Testing

@Suite(.timeLimit(.minutes(2))) struct ListenerTests {
    /// An IPv6 wildcard takes IPv4 clients, who are shown as what they are.
    @Test func bothFamiliesOnOneSocket() async throws {
        try await onLoop {
            let any = Endpoint(address: IPAddress(ipv6High: 0, low: 0), port: 0)
            let listener = try TCPListener.listen(on: any)
            for address in [loopback.address, loopback6.address] {
                let to = Endpoint(address: address, port: listener.local.port)
                let client = try await TCPStream.connect(to: to, timeout: .seconds(20))
                let accepted = try await listener.accept()
                #expect(accepted.peer == client.local && accepted.local == to)
                let server = try TCPStream(adopting: accepted, on: client.loop)
                #expect(server.originalDestination == nil)
            }
        }
    }

    @Test func oneFamilyWhenAsked() async throws {
        try await onLoop {
            let any = Endpoint(address: IPAddress(ipv6High: 0, low: 0), port: 0)
            let listener = try TCPListener.listen(on: any, options: ListenOptions(isDualStack: false))
            let to = Endpoint(address: loopback.address, port: listener.local.port)
            await #expect { try await TCPStream.connect(to: to, timeout: .seconds(20)) } throws: {
                ($0 as? SocketError)?.isRefused == true
            }
        }
    }

    @Test func aTakenPortIsTold() async throws {
        try await onLoop {
            let listener = try TCPListener.listen(on: loopback)
            #expect { try TCPListener.listen(on: listener.local) } throws: { ($0 as? SocketError)?.code == EADDRINUSE }
        }
    }

    @Test func acceptEndsWithTheListenerOrTheTask() async throws {
        try await onLoop {
            let listener = Handed(try TCPListener.listen(on: loopback))
            let first = Task(executorPreference: EventLoop.current) { _ = try await listener.value.accept() }
            try await LoopTimer.sleep(.milliseconds(2))
            first.cancel()
            await #expect { try await first.value } throws: { ($0 as? SocketError)?.isCancelled == true }
            let second = Task(executorPreference: EventLoop.current) { _ = try await listener.value.accept() }
            try await LoopTimer.sleep(.milliseconds(2))
            listener.value.close()
            await #expect { try await second.value } throws: { ($0 as? SocketError)?.isClosed == true }
        }
    }
}

@Suite(.timeLimit(.minutes(2))) struct UDPSocketTests {
    @Test(arguments: [loopback, loopback6]) func datagramsTellFromAndTo(at endpoint: Endpoint) async throws {
        try await onLoop {
            let any = Endpoint(address: IPAddress(ipv6High: 0, low: 0), port: 0)
            let receiver = try UDPSocket.bind(to: any, longest: 8)
            let sender = try UDPSocket.bind(to: endpoint)
            let to = Endpoint(address: endpoint.address, port: receiver.local.port)
            let before = WallClock.now()
            try await sender.send(Array("mark".utf8), to: to)
            try await sender.send([UInt8](repeating: 1, count: 9), to: to)
            try await sender.send([], to: to)
            let first = try await receiver.receive()
            #expect(first.bytes == Array("mark".utf8) && first.from == sender.local && first.to == to && !first.isCut)
            #expect(first.arrival.nanoseconds(since: before) > -1_000_000_000)
            let second = try await receiver.receive()
            #expect(second.bytes.count == 8 && second.isCut)
            #expect(try await receiver.receive().bytes.isEmpty)
            try await receiver.send([4], to: sender.local)
            #expect(try await sender.receive().bytes == [4])
            receiver.close()
            await #expect { try await receiver.receive() } throws: { ($0 as? SocketError)?.isClosed == true }
            await #expect(throws: SocketError.self) {
                try await sender.send([UInt8](repeating: 0, count: 70_000), to: to)
            }
        }
    }
}
