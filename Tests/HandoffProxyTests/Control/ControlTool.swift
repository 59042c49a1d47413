import Foundation
import Testing

/// A command-line tool that these tests run: its output in a file, so that nothing can block; ended by its own id.
final class ControlTool {
    private let id: pid_t
    private let folder: URL
    private var status: Int32?

    /// Starts the tool, found in the usual folders.
    init(_ name: String, _ arguments: [String], input: String = "") throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "handoff-control-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try input.write(to: folder.appending(path: "in"), atomically: false, encoding: .utf8)
        let path = try #require(Self.find(name), "\(name) is not installed")
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, folder.appending(path: "in").path, O_RDONLY, 0)
        let written = O_WRONLY | O_CREAT | O_TRUNC
        posix_spawn_file_actions_addopen(&actions, 1, folder.appending(path: "out").path, written, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, folder.appending(path: "err").path, written, 0o600)
        var argumentList = ([path] + arguments).map { strdup($0) } + [nil]
        defer { for text in argumentList { free(text) } }
        var id: pid_t = 0
        guard posix_spawn(&id, path, &actions, nil, &argumentList, environ) == 0 else { throw POSIXError(.ENOENT) }
        self.id = id
    }

    deinit {
        end()
        try? FileManager.default.removeItem(at: folder)
    }

    static func find(_ name: String) -> String? {
        ["/usr/bin", "/usr/local/bin", "/bin"].map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// What it has printed so far.
    var output: [UInt8] { (try? Array(Data(contentsOf: folder.appending(path: "out")))) ?? [] }
    var text: String { String(decoding: output, as: UTF8.self) }
    var errors: String { (try? String(contentsOf: folder.appending(path: "err"), encoding: .utf8)) ?? "" }

    /// Waits for its end and gives its exit status; ends it when the time is over, which gives nil.
    func wait(seconds: Double = 30) async -> Int32? {
        let deadline = Date().addingTimeInterval(seconds)
        while status == nil {
            var raw: Int32 = 0
            if waitpid(id, &raw, WNOHANG) == id {
                status = raw & 0x7F == 0 ? raw >> 8 & 0xFF : -1
            } else if Date() > deadline {
                end()
                return nil
            } else {
                try? await Task.sleep(for: .milliseconds(5))
            }
        }
        return status
    }

    /// Waits until it has printed `text`.
    func prints(_ text: String, seconds: Double = 30) async -> Bool {
        let deadline = Date().addingTimeInterval(seconds)
        while !self.text.contains(text) {
            if Date() > deadline { return false }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return true
    }

    /// Ends it at once.
    func end() {
        guard status == nil else { return }
        kill(id, SIGKILL)
        var raw: Int32 = 0
        waitpid(id, &raw, 0)
        status = -1
    }

    /// Runs the tool to its end; its output as text.
    static func run(_ name: String, _ arguments: [String], input: String = "") async throws -> String {
        let tool = try ControlTool(name, arguments, input: input)
        let status = await tool.wait()
        #expect(status == 0, "\(name): \(tool.errors)")
        return tool.text
    }
}
