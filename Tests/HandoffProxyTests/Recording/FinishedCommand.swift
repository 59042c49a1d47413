import Foundation
import Testing

/// A command that has run to its end: its status and what it printed.
struct FinishedCommand {
    /// The exit status, or 128 and the signal.
    var status: Int32
    var output: String

    var lines: [String] { output.split(separator: "\n").map(String.init) }

    /// Runs `path` and waits for its end.
    init(_ path: String, _ arguments: [String]) throws {
        self.init(finished: try SpawnedProcess(path, arguments))
    }

    /// Waits for the end of a process.
    init(finished child: SpawnedProcess) {
        output = child.readAll()
        status = child.wait()
    }

    /// Where a tool is installed; nil when it is not.
    static func find(_ name: String) -> String? {
        ["/usr/bin/", "/usr/sbin/", "/sbin/", "/bin/", "/usr/local/bin/"].map { $0 + name }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}

/// A process that a test started, with its output in a pipe. Ended by its own id, at the latest with this object.
final class SpawnedProcess {
    let id: pid_t
    private let output: Int32
    private var isOver = false

    init(_ path: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw POSIXError(.EMFILE) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        let merged = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        var argumentList = ([path] + arguments).map { strdup($0) } + [nil]
        var environmentList = merged.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer {
            for text in argumentList + environmentList { free(text) }
        }
        // The threads of an event loop block signals, and a child would inherit that.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var child: pid_t = 0
        let result = posix_spawn(&child, path, &actions, &attributes, &argumentList, &environmentList)
        close(ends[1])
        guard result == 0 else {
            close(ends[0])
            throw POSIXError(.ENOENT)
        }
        id = child
        output = ends[0]
    }

    deinit {
        kill()
        close(output)
    }

    /// Everything that it prints until it closes its output.
    func readAll() -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(output, &buffer, buffer.count)
            if count <= 0 { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Waits for its end and gives its status.
    func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        isOver = true
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }

    /// Ends it as nothing can be ended sooner: SIGKILL.
    func kill() {
        guard !isOver else { return }
        Foundation.kill(id, SIGKILL)
        _ = wait()
    }
}

/// tshark, where it is installed.
enum Tshark {
    static let path = FinishedCommand.find("tshark")

    /// Ends a test whose rest needs tshark, and says so, where there is none.
    static func need() throws {
        if path == nil { try Test.cancel("no tshark here: what it says of the recording was not compared") }
    }

    /// What is on the lines of these tests, of all that tshark looks for by port or by likeness.
    private static let ours: Set<String> = ["tls", "http", "http2", "websocket", "json", "dns", "quic"]

    /// Options that leave the rest out: tshark takes a connection for another protocol's when the port that the kernel chose
    /// for it is registered (44818 is EtherNet/IP, 48898 AMS), or when ciphertext happens to look like one.
    private static let withoutOthers: [String] = {
        guard let path else { return [] }
        func rows(_ kind: String) -> [[Substring]] {
            let lines = (try? FinishedCommand(path, ["-G", kind]))?.lines ?? []
            return lines.map { $0.split(separator: "\t", omittingEmptySubsequences: false) }.filter { $0.count > 2 }
        }
        let byPort = rows("decodes").filter { ["tcp.port", "udp.port"].contains($0[0]) && (Int($0[1]) ?? 0) >= 32_768 }
        let byLikeness = rows("heuristic-decodes").filter { ["tcp", "tls", "http"].contains($0[0]) }
        let names = Set((byPort.map { $0[2] } + byLikeness.map { $0[1] }).map(String.init)).subtracting(ours)
        return names.sorted().flatMap { ["--disable-protocol", $0] }
    }()

    /// Runs it and gives its lines on standard output.
    static func run(_ arguments: [String]) throws -> [String] {
        guard let path else { return [] }
        return try FinishedCommand(path, withoutOthers + arguments).lines
    }
}
