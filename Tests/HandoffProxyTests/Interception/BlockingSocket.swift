import Foundation

/// A TCP socket that a test uses from a thread of its own. Every wait ends after 30 s at the latest.
final class BlockingSocket: @unchecked Sendable {
    // Sendable: a descriptor number that does not change; closing is guarded by `isOpen`, and tests close once.
    let descriptor: Int32
    private var isOpen = true

    init(descriptor: Int32) {
        self.descriptor = descriptor
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit {
        if isOpen { Foundation.close(descriptor) }
    }

    /// Connects to a port of 127.0.0.1.
    convenience init(port: UInt16) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = Self.loopback(port)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard descriptor >= 0, result == 0 else { throw POSIXError(.ECONNREFUSED) }
        self.init(descriptor: descriptor)
    }

    static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    /// Some bytes; empty at FIN, nil when the connection was reset or nothing came in time.
    func read(_ limit: Int = 65_536) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: limit)
        while true {
            let count = Foundation.read(descriptor, &buffer, limit)
            if count < 0, errno == EINTR { continue }
            return count < 0 ? nil : Array(buffer[..<count])
        }
    }

    /// Everything until FIN; nil when the connection was reset first.
    func readAll() -> [UInt8]? {
        var all: [UInt8] = []
        while let piece = read() {
            if piece.isEmpty { return all }
            all += piece
        }
        return nil
    }

    /// Reads up to and including `end`; what came before the connection ended otherwise.
    func read(through end: String) -> String {
        var all: [UInt8] = []
        while !String(decoding: all, as: UTF8.self).hasSuffix(end), let byte = read(1), !byte.isEmpty { all += byte }
        return String(decoding: all, as: UTF8.self)
    }

    /// Writes all; false when the peer is gone.
    @discardableResult func write(_ bytes: some Collection<UInt8>) -> Bool {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    func finishWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

    func close() {
        guard isOpen else { return }
        isOpen = false
        Foundation.close(descriptor)
    }

    /// Closes with RST.
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Foundation.linger>.size))
        close()
    }
}

/// Runs `body` on a thread of its own, so that its waits hold up no task.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Swift.Result { try body() }) }
    }
}

/// Accepts connections on a port of 127.0.0.1, each on a thread of its own.
final class BlockingServer: Sendable {
    let port: UInt16
    private let descriptor: Int32

    init(_ serve: @escaping @Sendable (BlockingSocket) -> Void) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        self.descriptor = descriptor
        var address = BlockingSocket.loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 64) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard result else { throw POSIXError(.EADDRINUSE) }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread {
            while true {
                let accepted = accept(descriptor, nil, nil)
                guard accepted >= 0 else { break }
                _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
                Thread.detachNewThread { serve(BlockingSocket(descriptor: accepted)) }
            }
            Foundation.close(descriptor)
        }
    }

    deinit {
        // Ends the thread's `accept`, which then closes the descriptor.
        shutdown(descriptor, Int32(SHUT_RDWR))
    }
}
