import CommandLine
import Foundation
import Synchronization

/// The command's exit status, under a name that `Testing` does not use too.
typealias Status = ExitStatus

/// One run of the command inside the test's own process.
struct CommandRun {
    let status: ExitStatus
    let result: String
    let talk: String

    /// Runs `handoff` with these words; with `columns`, as if standard output were a terminal. The installation key lives
    /// in a folder of the test's own.
    init(_ words: [String], environment: [String: String] = [:], columns: Int? = nil) {
        let result = Mutex("")
        let talk = Mutex("")
        var variables = environment
        if variables["XDG_DATA_HOME"] == nil { variables["XDG_DATA_HOME"] = Self.dataHome }
        let console = Console(
            result: { text in result.withLock { $0 += text } }, talk: { text in talk.withLock { $0 += text } },
            resultIsTerminal: columns != nil, width: columns ?? 110)
        status = Handoff(environment: variables, console: console).run(words)
        self.result = result.withLock { $0 }
        self.talk = talk.withLock { $0 }
    }

    private static let dataHome = FileManager.default.temporaryDirectory
        .appending(path: "handoff-tests-\(ProcessInfo.processInfo.processIdentifier)").path
}

/// Places in the repository and beside it.
enum Places {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The shared captures with known answers; nil when they are not beside the repository.
    static var captures: URL? {
        let given = ProcessInfo.processInfo.environment["HANDOFF_SHARED"].map { URL(filePath: $0) }
        let folder = (given ?? root.deletingLastPathComponent().appending(path: "shared")).appending(path: "captures")
        return FileManager.default.fileExists(atPath: folder.appending(path: "index.tsv").path) ? folder : nil
    }

    /// The recorded sessions of the repository.
    static let recordings = root.appending(path: "pcaps")

    /// The lines of a tab-separated file as columns, its first line left out.
    static func table(_ file: URL) throws -> [[String]] {
        try String(contentsOf: file, encoding: .utf8).split(separator: "\n").dropFirst()
            .map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
    }
}
