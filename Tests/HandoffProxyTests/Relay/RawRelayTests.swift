import Foundation
import SessionTrace
import Synchronization
import Testing

@testable import HandoffProxy

/// What is not TLS goes through as it is.
@Suite struct RawRelayTests {
    @Test func theServerMaySpeakFirst() async throws {
        let run = try await ProxyRun()
        let origin = try BlockingServer { socket in
            socket.write("220 banner\r\n".utf8)
            let line = socket.read(through: "\n")
            socket.write("echo \(line)".utf8)
            socket.close()
        }
        let said = try await onThread {
            let (socket, _) = try run.connect(origin.port)
            let banner = socket.read(through: "\r\n")
            socket.write("EHLO\n".utf8)
            return banner + socket.read(through: "\n")
        }
        #expect(said == "220 banner\r\necho EHLO\n")
        let (trace, _) = try await run.finish()
        let connection = try #require(trace.connections.first)
        #expect(String(decoding: connection.server.bytes, as: UTF8.self).hasSuffix("220 banner\r\necho EHLO\n"))
    }

    @Test func theClientMayFinishFirst() async throws {
        let run = try await ProxyRun()
        let origin = try BlockingServer { socket in
            let all = socket.readAll() ?? []
            socket.write(Array("got \(all.count)".utf8))
            socket.close()
        }
        let answer = try await onThread {
            let (socket, _) = try run.connect(origin.port)
            socket.write([UInt8](repeating: 7, count: 100_000))
            socket.finishWriting()
            return socket.readAll()
        }
        #expect(answer == Array("got 100000".utf8))
        let (trace, _) = try await run.finish()
        let connection = try #require(trace.connections.first)
        #expect(connection.client.isFinished && connection.server.isFinished)
        #expect(connection.server.acknowledged == UInt64(connection.server.bytes.count))
    }

    @Test func theServerMayFinishFirst() async throws {
        let run = try await ProxyRun()
        let received = Mutex<[UInt8]?>(nil)
        let origin = try BlockingServer { socket in
            socket.write("bye".utf8)
            socket.finishWriting()
            let all = socket.readAll()
            received.withLock { $0 = all }
        }
        let answer = try await onThread {
            let (socket, _) = try run.connect(origin.port)
            let answer = socket.readAll()
            socket.write("still here".utf8)
            socket.finishWriting()
            return answer
        }
        #expect(answer == Array("bye".utf8))
        #expect(await run.eventually { received.withLock { $0 } == Array("still here".utf8) })
        _ = try await run.finish()
    }

    @Test func bytesBehindTheRequestAreNotLost() async throws {
        let run = try await ProxyRun()
        let origin = try BlockingServer { socket in
            socket.write(socket.readAll() ?? [])
            socket.close()
        }
        let answer = try await onThread {
            let socket = try BlockingSocket(port: run.port)
            socket.write("CONNECT a:\(origin.port) HTTP/1.1\r\n\r\nearly".utf8)
            socket.finishWriting()
            return socket.readAll().map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(answer == "HTTP/1.1 200 Connection established\r\n\r\nearly")
        _ = try await run.finish()
    }

    /// 20 MB each way at once, through a reader that takes its time.
    @Test func muchInBothDirections() async throws {
        let run = try await ProxyRun()
        let count = 20 << 20
        let up = pattern(count, seed: 3)
        let down = pattern(count, seed: 5)
        let received = Mutex<[UInt8]>([])
        let origin = try BlockingServer { socket in
            let writer = Thread { socket.write(down) }
            writer.start()
            let all = socket.readAll() ?? []
            received.withLock { $0 = all }
            while !writer.isFinished { usleep(10_000) }
            socket.finishWriting()
        }
        let answer = try await onThread {
            let (socket, _) = try run.connect(origin.port)
            let writer = Thread {
                socket.write(up)
                socket.finishWriting()
            }
            writer.start()
            return socket.readAll() ?? []
        }
        #expect(answer == down)
        #expect(await run.eventually { received.withLock { $0.count } == count })
        #expect(received.withLock { $0 } == up)
        let (trace, _) = try await run.finish()
        let connection = try #require(trace.connections.first)
        #expect(connection.client.bytes.suffix(count).elementsEqual(up))
        #expect(connection.server.bytes.suffix(count).elementsEqual(down))
        #expect(trace.holes == 0)
        #expect(connection.server.acknowledged == UInt64(connection.server.bytes.count))
    }

    @Test func aResetByTheClientReachesTheOrigin() async throws {
        let run = try await ProxyRun()
        let end = Mutex<(bytes: Int, wasReset: Bool)?>(nil)
        let origin = try BlockingServer { socket in
            var count = 0
            while true {
                guard let piece = socket.read() else { return end.withLock { $0 = (count, true) } }
                if piece.isEmpty { return end.withLock { $0 = (count, false) } }
                count += piece.count
            }
        }
        try await onThread {
            let (socket, _) = try run.connect(origin.port)
            socket.write([UInt8](repeating: 1, count: 50_000))
            usleep(100_000)
            socket.reset()
        }
        #expect(await run.eventually { end.withLock { $0 } != nil })
        #expect(end.withLock { $0?.bytes } == 50_000, "what it said before arrives")
        #expect(end.withLock { $0?.wasReset } == true)
        let (trace, _) = try await run.finish()
        #expect(trace.connections.first?.end?.cause == .reset(by: .client))
    }

    @Test func aResetByTheOriginReachesTheClient() async throws {
        let run = try await ProxyRun()
        let origin = try BlockingServer { socket in
            _ = socket.read(through: "\n")
            socket.write("partial".utf8)
            usleep(100_000)
            socket.reset()
        }
        let (partial, end) = try await onThread {
            let (socket, _) = try run.connect(origin.port)
            socket.write("go\n".utf8)
            return (socket.read(7), socket.readAll())
        }
        #expect(partial == Array("partial".utf8))
        #expect(end == nil)
        let (trace, _) = try await run.finish()
        #expect(trace.connections.first?.end?.cause == .reset(by: .server))
    }

    /// Both directions stuck, and then the client breaks off: the origin must not be kept.
    @Test func aClientThatGoesWhileAllIsStuck() async throws {
        let run = try await ProxyRun()
        let writerEnded = Mutex(false)
        let origin = try BlockingServer { socket in
            // Reads nothing, writes until it can't.
            while socket.write([UInt8](repeating: 2, count: 65_536)) {}
            writerEnded.withLock { $0 = true }
        }
        try await onThread {
            let (socket, _) = try run.connect(origin.port)
            // Not from a thread that blocks: a socket in use is not closed by `close`, and sends no RST.
            _ = fcntl(socket.descriptor, F_SETFL, fcntl(socket.descriptor, F_GETFL) | O_NONBLOCK)
            for _ in 0..<20 {
                socket.write([UInt8](repeating: 1, count: 4 << 20))
                usleep(50_000)
            }
            socket.reset()
        }
        #expect(await run.eventually { writerEnded.withLock { $0 } && run.proxy.openConnections == 0 })
        _ = try await run.finish()
    }

    /// A device that takes nothing more must not appear to have got what its kernel never acknowledged.
    @Test func whatWasNotTakenIsNotAcknowledged() async throws {
        let run = try await ProxyRun()
        let origin = try BlockingServer { socket in
            _ = socket.read(through: "\n")
            socket.write([UInt8](repeating: 9, count: 64 << 20))
        }
        let taken = try await onThread {
            let (socket, head) = try run.connect(origin.port)
            socket.write("go\n".utf8)
            let first = socket.read(1_000) ?? []
            sleep(1)
            socket.reset()
            return head.utf8.count + first.count
        }
        let (trace, _) = try await run.finish()
        let server = try #require(trace.connections.first?.server)
        #expect(server.acknowledged < UInt64(server.bytes.count))
        #expect(server.acknowledged >= UInt64(taken))
    }

    @Test func stoppingClosesAndRecords() async throws {
        let run = try await ProxyRun()
        let origin = try BlockingServer { _ = $0.readAll() }
        let (socket, _) = try await onThread { try run.connect(origin.port) }
        #expect(await run.eventually { run.proxy.openConnections == 1 })
        let (trace, _) = try await run.finish()
        #expect(run.proxy.openConnections == 0)
        #expect(trace.connections.first?.server.isFinished == true)
        #expect(socket.readAll()?.isEmpty == true)
        #expect(trace.statistics.count == 1)
    }

    /// Bytes that do not repeat within the buffers of a relay.
    private func pattern(_ count: Int, seed: UInt64) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            var state = seed
            for offset in stride(from: 0, to: count - 7, by: 8) {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                bytes.storeBytes(of: state, toByteOffset: offset, as: UInt64.self)
            }
            initialized = count
        }
    }
}
