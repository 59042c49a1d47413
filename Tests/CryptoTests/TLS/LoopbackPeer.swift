import Foundation
import Testing

@testable import Crypto

/// A socket on the loopback interface, blocking, bounded in time.
final class LoopbackSocket {
    let file: Int32

    init(adopting file: Int32) {
        self.file = file
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var on: Int32 = 1
        setsockopt(file, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Connects to a port of 127.0.0.1.
    convenience init(port: UInt16) throws {
        let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard file >= 0 else { throw POSIXError(.EMFILE) }
        self.init(adopting: file)
        var address = Self.address(port)
        let done = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(file, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard done == 0 else { throw POSIXError(.ECONNREFUSED) }
    }

    deinit { close(file) }

    static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        return address
    }

    /// Sends what the engine has; false when the peer is gone.
    func flush(_ engine: TLSEngine) -> Bool {
        var isThere = true
        engine.withOutput { bytes in
            var sent = 0
            while isThere, sent < bytes.count, let base = bytes.baseAddress {
                let count = send(file, base + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
                isThere = count > 0
                sent += max(0, count)
            }
            return bytes.count
        }
        return isThere
    }

    /// Receives once and feeds the engine.
    func receive(_ engine: TLSEngine) {
        var buffer = [UInt8](repeating: 0, count: 30_000)
        let count = recv(file, &buffer, buffer.count, 0)
        if count > 0 { buffer[..<count].withUnsafeBytes(engine.feed) } else { engine.endOfInput() }
    }

    /// The handshake to its end; what waits to be sent goes out also when it fails.
    func handshake(_ engine: TLSEngine) throws {
        while true {
            do {
                if try engine.handshake() { break }
            } catch {
                _ = flush(engine)
                throw error
            }
            guard flush(engine) else { throw POSIXError(.EPIPE) }
            receive(engine)
        }
        _ = flush(engine)
    }

    /// Plaintext until `isEnough` says so, or the peer's end.
    func read(_ engine: TLSEngine, until isEnough: ([UInt8]) -> Bool) throws -> [UInt8] {
        var all: [UInt8] = []
        while true {
            let (bytes, end) = try EnginePair.drain(engine)
            all += bytes
            if isEnough(all) || end != .needsInput { return all }
            _ = flush(engine)
            receive(engine)
        }
    }
}

/// A TLS server on the loopback interface whose TLS is an engine's. It reads a line, or the head of a request, answers
/// with `ok` and closes.
final class EngineServer: Sendable {
    /// What one connection came to.
    enum Outcome: Sendable {
        case served(TLSNegotiated, read: Int)
        case failed(TLSFailure)
    }

    let port: UInt16
    private let listener: Int32
    private let outcomes = Collected<Outcome>()

    init(identity: ServerIdentity, alpn: String? = nil) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = LoopbackSocket.address(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let done = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, $0, &length) == 0
            }
        }
        guard done else { throw POSIXError(.EADDRINUSE) }
        _ = fcntl(listener, F_SETFD, FD_CLOEXEC)
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        let contexts = try EnginePair.contexts.get()
        Thread.detachNewThread { [listener, outcomes] in
            while true {
                let file = accept(listener, nil, nil)
                if file < 0 { return }
                _ = fcntl(file, F_SETFD, FD_CLOEXEC)
                let options = TLSServerOptions(identity: identity, alpn: alpn)
                guard let engine = try? TLSEngine(server: options, contexts: contexts) else { continue }
                outcomes.add(Self.serve(engine, LoopbackSocket(adopting: file)))
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    private static func serve(_ engine: TLSEngine, _ socket: LoopbackSocket) -> Outcome {
        do {
            try socket.handshake(engine)
            let request = try socket.read(engine) { $0.last == 0x0A }
            try engine.write(
                Array("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n".utf8))
            engine.closeNotify()
            _ = socket.flush(engine)
            shutdown(socket.file, Int32(SHUT_WR))
            _ = try? socket.read(engine) { _ in false }
            guard let negotiated = engine.negotiated else {
                return .failed(TLSFailure(.other, "nothing agreed"))
            }
            return .served(negotiated, read: request.count)
        } catch let failure as TLSFailure {
            _ = socket.flush(engine)
            return .failed(failure)
        } catch {
            return .failed(TLSFailure(.other, "\(error)"))
        }
    }

    /// Waits for the next outcome.
    func outcome(_ index: Int = 0, seconds: Double = 20) throws -> Outcome {
        let deadline = Date().addingTimeInterval(seconds)
        while outcomes.all.count <= index {
            guard Date() < deadline else { throw POSIXError(.ETIMEDOUT) }
            usleep(2_000)
        }
        return outcomes.all[index]
    }
}

/// A tool that goes on running, its input open and silent; ended by its own id with the object.
final class PeerProcess {
    private let id: pid_t
    private let input: Int32
    private let folder: TemporaryFolder

    init(_ tool: String, _ arguments: [String]) throws {
        folder = try TemporaryFolder()
        var ends: [Int32] = [-1, -1]
        guard let path = PeerRun.find(tool), pipe(&ends) == 0 else { throw POSIXError(.ENOENT) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        input = ends[1]
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
        posix_spawn_file_actions_addopen(&actions, 1, folder.path("out"), O_WRONLY | O_CREAT, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        var list = ([path] + arguments).map { strdup($0) } + [nil]
        var environment =
            ProcessInfo.processInfo.environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in list + environment { free(text) } }
        var id: pid_t = 0
        guard posix_spawn(&id, path, &actions, nil, &list, &environment) == 0 else {
            close(ends[1])
            throw POSIXError(.ENOENT)
        }
        self.id = id
    }

    deinit {
        close(input)
        kill(id, SIGKILL)
        var status: Int32 = 0
        waitpid(id, &status, 0)
    }

    /// Waits for a whole line of its output that begins with `start`.
    func line(startingWith start: String) throws -> String {
        try waitFor {
            let lines = Self.text(folder.path("out")).split(separator: "\n", omittingEmptySubsequences: false)
            return lines.dropLast().first { $0.hasPrefix(start) }
        }.description
    }

    /// Waits until there is something; 20 s at most.
    func waitFor<Value>(_ find: () -> Value?) throws -> Value {
        let deadline = Date().addingTimeInterval(20)
        while Date() < deadline {
            if let value = find() { return value }
            usleep(3_000)
        }
        throw POSIXError(.ETIMEDOUT)
    }

    /// What is in a file; nothing when there is none.
    static func text(_ path: String) -> String {
        String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    }
}

/// `openssl s_server` on a port of its own choice.
final class ForeignServer {
    let port: UInt16
    private let process: PeerProcess

    init(_ arguments: [String]) throws {
        process = try PeerProcess("openssl", ["s_server", "-accept", "127.0.0.1:0"] + arguments)
        let line = try process.line(startingWith: "ACCEPT ")
        guard let port = line.split(separator: ":").last.flatMap({ UInt16($0) }) else {
            throw POSIXError(.EINVAL)
        }
        self.port = port
    }
}
