import Foundation

/// One run of a tool of the distribution as a process of its own; outputs in files, so that nothing can block.
struct PeerRun {
    /// The exit status; nil when it was ended by a signal or by the deadline.
    let status: Int32?
    let output: String
    let errors: String

    /// Finds `tool` in the usual folders and runs it. `input` is what it reads; without it, nothing.
    init(_ tool: String, _ arguments: [String], input: String = "", seconds: Double = 30) throws {
        let folder = try TemporaryFolder()
        guard let path = Self.find(tool) else { throw POSIXError(.ENOENT) }
        try input.write(toFile: folder.path("in"), atomically: false, encoding: .utf8)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, folder.path("in"), O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, folder.path("out"), O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, folder.path("err"), O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        var argumentList = ([path] + arguments).map { strdup($0) } + [nil]
        var environmentList = ProcessInfo.processInfo.environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in argumentList + environmentList { free(text) } }
        var id: pid_t = 0
        guard posix_spawn(&id, path, &actions, nil, &argumentList, &environmentList) == 0 else {
            throw POSIXError(.ENOENT)
        }
        status = Self.wait(for: id, seconds: seconds)
        output = String(decoding: FileManager.default.contents(atPath: folder.path("out")) ?? Data(), as: UTF8.self)
        errors = String(decoding: FileManager.default.contents(atPath: folder.path("err")) ?? Data(), as: UTF8.self)
    }

    static func find(_ tool: String) -> String? {
        ["/usr/bin", "/usr/local/bin", "/bin"].map { "\($0)/\(tool)" }.first { access($0, X_OK) == 0 }
    }

    private static func wait(for id: pid_t, seconds: Double) -> Int32? {
        let deadline = Date().addingTimeInterval(seconds)
        var status: Int32 = 0
        while waitpid(id, &status, WNOHANG) != id {
            if Date() > deadline {
                kill(id, SIGKILL)
                waitpid(id, &status, 0)
                return nil
            }
            usleep(2_000)
        }
        return status & 0x7F == 0 ? status >> 8 & 0xFF : nil
    }
}
