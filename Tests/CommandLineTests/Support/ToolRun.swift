import Foundation

/// One run of a program as a process of its own, its two outputs kept in files so that nothing can block.
struct ToolRun {
    /// The exit status; nil when it was ended by a signal or by the deadline.
    let status: Int32?
    let output: String
    let errors: String

    enum StandardOutput {
        case file
        /// Not open at all (`>&-`).
        case closed
        /// A pipe whose reader has gone.
        case brokenPipe
        /// A disk that is full (`/dev/full`).
        case full
    }

    init(
        _ path: String, _ arguments: [String], environment: [String: String] = [:], input: String? = nil,
        standardOutput: StandardOutput = .file, seconds: Double = 30
    ) throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        let (out, err) = (scratch.path("out"), scratch.path("err"))
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, input ?? "/dev/null", O_RDONLY, 0)
        var pipeEnds: [Int32] = [-1, -1]
        defer { for end in pipeEnds where end >= 0 { close(end) } }
        switch standardOutput {
        case .file:
            posix_spawn_file_actions_addopen(&actions, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        case .closed:
            posix_spawn_file_actions_addclose(&actions, 1)
        case .full:
            posix_spawn_file_actions_addopen(&actions, 1, "/dev/full", O_WRONLY, 0)
        case .brokenPipe:
            guard pipe(&pipeEnds) == 0 else { throw POSIXError(.EMFILE) }
            for end in pipeEnds { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            close(pipeEnds[0])
            pipeEnds[0] = -1
            posix_spawn_file_actions_adddup2(&actions, pipeEnds[1], 1)
        }
        posix_spawn_file_actions_addopen(&actions, 2, err, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        let merged = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        var argumentList = ([path] + arguments).map { strdup($0) } + [nil]
        var environmentList = merged.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in argumentList + environmentList { free(text) } }
        var id: pid_t = 0
        guard posix_spawn(&id, path, &actions, nil, &argumentList, &environmentList) == 0 else {
            throw POSIXError(.ENOENT)
        }
        status = Self.wait(for: id, seconds: seconds)
        output = (try? String(contentsOfFile: out, encoding: .utf8)) ?? ""
        errors = (try? String(contentsOfFile: err, encoding: .utf8)) ?? ""
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

    /// The first of `paths` that can be run; nil when there is none.
    static func find(_ paths: String...) -> String? {
        paths.first { access($0, X_OK) == 0 }
    }

    /// Python with the module `jsonschema`; nil when either is missing.
    static let pythonWithSchemas: String? = {
        guard let python = find("/usr/bin/python3", "/usr/local/bin/python3"),
            let run = try? ToolRun(python, ["-c", "import jsonschema"]), run.status == 0
        else { return nil }
        return python
    }()

    /// The command built beside these tests.
    static let handoff: String? = {
        var buffer = [CChar](repeating: 0, count: 4_096)
        guard readlink("/proc/self/exe", &buffer, buffer.count - 1) > 0 else { return nil }
        let own = URL(
            filePath: String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
        var folders = [own.deletingLastPathComponent()]
        folders.append(Places.root.appending(path: ".build/debug"))
        return folders.map { $0.appending(path: "handoff").path }.first { access($0, X_OK) == 0 }
    }()
}

/// A folder for one test, which removes it at its end.
struct Scratch {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "handoff-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    func remove() {
        try? FileManager.default.removeItem(at: folder)
    }

    /// The path of a file in the folder.
    func path(_ name: String) -> String { folder.appending(path: name).path }

    /// Writes a file and gives its path.
    func file(_ name: String, _ text: String) throws -> String {
        try text.write(toFile: path(name), atomically: false, encoding: .utf8)
        return path(name)
    }
}
