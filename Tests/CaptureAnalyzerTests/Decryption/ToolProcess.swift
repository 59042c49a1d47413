import Foundation
import Synchronization

/// A command-line tool that a test talks to. Ended by its own id, at the latest when the object goes.
final class ToolProcess: Sendable {
    private let id: pid_t
    private let input: Int32
    private let printed = Mutex<[UInt8]>([])
    /// How much had been printed when it was last typed to.
    private let mark = Mutex(0)
    private let isOver = Mutex(false)

    /// Starts `path`. Its output and its errors are kept together.
    init(_ path: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        var toTool: [Int32] = [0, 0]
        var fromTool: [Int32] = [0, 0]
        guard pipe(&toTool) == 0, pipe(&fromTool) == 0 else { throw POSIXError(.EMFILE) }
        // Another tool that is started later must not keep these ends open.
        for end in toTool + fromTool { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, toTool[0], 0)
        posix_spawn_file_actions_adddup2(&actions, fromTool[1], 1)
        posix_spawn_file_actions_adddup2(&actions, fromTool[1], 2)
        let merged = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        var argumentList = ([path] + arguments).map { strdup($0) } + [nil]
        var environmentList = merged.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer {
            for text in argumentList + environmentList { free(text) }
        }
        var id: pid_t = 0
        let result = posix_spawn(&id, path, &actions, nil, &argumentList, &environmentList)
        close(toTool[0])
        close(fromTool[1])
        guard result == 0 else { throw POSIXError(.ENOENT) }
        self.id = id
        input = toTool[1]
        let output = fromTool[0]
        // Detached: it ends when the tool has closed its output.
        Thread.detachNewThread { [self] in
            var buffer = [UInt8](repeating: 0, count: 4_096)
            while true {
                let count = read(output, &buffer, buffer.count)
                if count <= 0 { break }
                let piece = Array(buffer[..<count])
                printed.withLock { $0 += piece }
            }
            close(output)
        }
    }

    deinit {
        end()
    }

    /// Writes to its input; nothing, to go on waiting for what it prints unasked.
    func type(_ text: String) {
        if text.isEmpty { return }
        let count = printed.withLock { $0.count }
        mark.withLock { $0 = count }
        let bytes = Array(text.utf8)
        var done = 0
        while done < bytes.count {
            let count = write(input, Array(bytes[done...]), bytes.count - done)
            if count <= 0 { return }
            done += count
        }
    }

    /// Waits until it has printed `text` since it was last typed to; false when the time is over.
    @discardableResult
    func wait(for text: String, seconds: Double = 60) -> Bool {
        let deadline = Date().addingTimeInterval(seconds)
        let start = mark.withLock { $0 }
        while Date() < deadline {
            let isThere = printed.withLock { String(decoding: $0.dropFirst(start), as: UTF8.self).contains(text) }
            if isThere { return true }
            usleep(3_000)
        }
        return false
    }

    /// What follows `text` on its line, once the whole line is there; nil when the time is over.
    func line(after text: String, seconds: Double = 60) -> String? {
        let deadline = Date().addingTimeInterval(seconds)
        while Date() < deadline {
            let lines = printed.withLock { String(decoding: $0, as: UTF8.self) }
                .split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            if let line = lines.first(where: { $0.hasPrefix(text) }) { return String(line.dropFirst(text.count)) }
            usleep(3_000)
        }
        return nil
    }

    /// Closes its input, waits for it to end by itself, and ends it when it does not.
    func finish(seconds: Double = 60) {
        close(input)
        let deadline = Date().addingTimeInterval(seconds)
        var status: Int32 = 0
        while Date() < deadline {
            if waitpid(id, &status, WNOHANG) == id {
                isOver.withLock { $0 = true }
                return
            }
            usleep(3_000)
        }
        end()
    }

    /// Ends it at once.
    func end() {
        isOver.withLock { isOver in
            guard !isOver else { return }
            isOver = true
            kill(id, SIGKILL)
            var status: Int32 = 0
            waitpid(id, &status, 0)
        }
    }
}
