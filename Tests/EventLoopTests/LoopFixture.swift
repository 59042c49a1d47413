import EventLoop
import Foundation
import SessionTrace
import Testing

/// Runs `body` on a loop of its own, as an actor of that loop would, and ends the loop afterwards.
func onLoop<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
    let loop = try EventLoop(name: "test")
    let result = await Task(executorPreference: loop) { try await body() }.result
    await ended(loop)
    return try result.get()
}

/// Stops a loop from a task that may run anywhere.
func ended(_ loop: EventLoop) async {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread {
            loop.stop()
            continuation.resume()
        }
    }
}

let loopback = Endpoint(address: IPAddress(ipv4: 0x7F00_0001), port: 0)
let loopback6 = Endpoint(address: IPAddress(ipv6High: 0, low: 1), port: 0)

extension TCPStream {
    /// Reads until the peer's FIN.
    nonisolated(nonsending) func readAll(piece: Int = 65536) async throws(SocketError) -> [UInt8] {
        var bytes: [UInt8] = []
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: piece, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let (count, _) = try await read(into: buffer)
            if count == 0 { return bytes }
            bytes += buffer[..<count]
        }
    }

    nonisolated(nonsending) func readSome(_ limit: Int = 65536) async throws(SocketError) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: limit, alignment: 16)
        defer { buffer.deallocate() }
        let (count, _) = try await read(into: buffer)
        return Array(buffer[..<count])
    }

    nonisolated(nonsending) func write(_ bytes: [UInt8]) async throws(SocketError) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(bytes.count, 1), alignment: 16)
        defer { copy.deallocate() }
        copy.copyBytes(from: bytes)
        try await write(UnsafeRawBufferPointer(rebasing: copy[..<bytes.count]))
    }
}

/// A connected pair on the current loop: the side that connected, and the one that accepted.
nonisolated(nonsending) func connectedPair(
    _ endpoint: Endpoint = loopback
) async throws -> (client: TCPStream, server: TCPStream) {
    let listener = try TCPListener.listen(on: endpoint)
    let client = try await TCPStream.connect(to: listener.local, timeout: .seconds(20))
    let accepted = try await listener.accept()
    listener.close()
    return (client, try TCPStream(adopting: accepted, on: client.loop))
}

/// A connection whose accepted side nobody has taken yet.
nonisolated(nonsending) func unadoptedPair() async throws -> (client: TCPStream, accepted: AcceptedSocket) {
    let listener = try TCPListener.listen(on: loopback)
    defer { listener.close() }
    let client = try await TCPStream.connect(to: listener.local, timeout: .seconds(20))
    return (client, try await listener.accept())
}

/// Waits for a condition, at most half a minute.
nonisolated(nonsending) func until(
    _ condition: () async throws -> Bool, sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    for _ in 0..<15_000 {
        if try await condition() { return }
        try await LoopTimer.sleep(.milliseconds(2))
    }
    Issue.record("the condition never came true", sourceLocation: sourceLocation)
}

/// SplitMix64.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64
    init(seed: Int) { state = UInt64(bitPattern: Int64(seed)) }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

extension TCPStream {
    /// The same with a time limit.
    nonisolated(nonsending) func write(_ bytes: [UInt8], timeout: Duration) async throws(SocketError) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(bytes.count, 1), alignment: 16)
        defer { copy.deallocate() }
        copy.copyBytes(from: bytes)
        try await write(UnsafeRawBufferPointer(rebasing: copy[..<bytes.count]), timeout: timeout)
    }
}
