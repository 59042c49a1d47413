import EventLoop
import Foundation
import SessionTrace
import Testing

/// A thread that is put aside after a call that sends has sent all the same, and the peer may have answered by the time that
/// it runs again: what is told is the time before the call.
@Suite struct SendTimeTests {
    /// Prints, for each byte that comes, when the kernel got it, in nanoseconds.
    private static let peer = """
        import socket, struct, sys
        peer = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 20)
        peer.setsockopt(socket.SOL_SOCKET, 35, 1)  # SO_TIMESTAMPNS
        for _ in range(20):
            peer.sendall(b"g")
            byte, words, _, _ = peer.recvmsg(1, 256)
            if not byte: break
            times = [struct.unpack("qq", word[2]) for word in words]
            print(*[seconds * 10**9 + rest for seconds, rest in times] or [0], flush=True)
        """

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3"), "needs python3"))
    func whatIsSentComesNoEarlierThanIsTold() async throws {
        let output = Pipe()
        let python = Process()
        let told = try await onLoop {
            let listener = try TCPListener.listen(on: loopback)
            python.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
            python.arguments = ["-c", Self.peer, "\(listener.local.port)"]
            python.standardOutput = output
            try python.run()
            let stream = try TCPStream(adopting: try await listener.accept(), on: try #require(EventLoop.current))
            listener.close()
            let byte = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
            defer { byte.deallocate() }
            byte[0] = 7
            var told: [Int64] = []
            while told.count < 20, try await stream.read(into: byte).count == 1 {
                try await stream.write(UnsafeRawBufferPointer(byte)) { _, begun in told.append(begun.nanoseconds) }
            }
            return told
        }
        let words = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        python.waitUntilExit()
        let came = words.split(separator: "\n").map { Int64($0) ?? 0 }
        #expect(told.count == 20 && came.count == 20)
        // The kernel begins to take the time a moment after it was asked to.
        let pairs = zip(told, came).filter { $0.1 > 0 }
        #expect(pairs.count >= 10)
        for (told, came) in pairs { #expect(told <= came) }
    }
}
