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
