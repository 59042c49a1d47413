/// Reads text that people and other tools write for `handoff`: policies, logs, marks, process evidence, key logs. Whatever
/// the path leads to (a device, a pipe, a packed file), no more is taken than its kind may have.

/// What a text file is read as, and how large it may be.
public struct TextFileKind: Hashable, Sendable {
    /// What it is called, with its article: `a policy`.
    public var name: String
    /// The most bytes that are read, packing undone.
    public var limit: Int
    /// What to do about a larger one.
    public var remedy: String

    /// Describes a kind.
    public init(_ name: String, limit: Int, remedy: String) {
        self.name = name
        self.limit = limit
        self.remedy = remedy
    }

    /// The limit for people: `256 MiB`.
    var limitText: String {
        if limit >= 1 << 20, limit % (1 << 20) == 0 { return "\(limit >> 20) MiB" }
        return limit >= 1 << 10 && limit % (1 << 10) == 0 ? "\(limit >> 10) KiB" : "\(limit) bytes"
    }

    /// An NSS key log: some 300,000 connections.
    public static let keyLog = TextFileKind(
        "a key log", limit: 256 << 20, remedy: "give the part that was written while the trace was")
    /// Marks, of which `MarkFile.markLimit` are taken: some 600 bytes for each.
    public static let marks = TextFileKind(
        "a file of marks", limit: 64 << 20, remedy: "give the marks of this trace alone")
    /// Process evidence: some 700,000 sockets.
    public static let actors = TextFileKind(
        "a file of process evidence", limit: 128 << 20, remedy: "give the lines of the trace's own time")
}

/// Why a text file was not read.
public struct TextFileError: Error, Hashable, Sendable {
    /// Plain words, without the path: `No such file or directory`.
    public var words: String
    /// What to do, where the fault tells it; nil for the system's own words.
    public var remedy: String?

    /// Makes an error.
    public init(words: String, remedy: String?) {
        self.words = words
        self.remedy = remedy
    }
}

/// The one way in for such files.
public enum TextFile {
    /// The whole content of the file at `path` (`-` for standard input), gzip and zstd undone.
    public static func read(_ path: String, as kind: TextFileKind) throws(TextFileError) -> [UInt8] {
        var bytes: [UInt8] = []
        try read(path, as: kind) { bytes += $0 }
        return bytes
    }

    /// Gives `receive` the content of the file at `path` piece by piece, so that it needs not fit into memory.
    public static func read(
        _ path: String, as kind: TextFileKind, into receive: (ArraySlice<UInt8>) -> Void
    ) throws(TextFileError) {
        var input: CaptureInput
        do throws(SystemError) {
            input = try CaptureInput(path: path)
        } catch {
            throw TextFileError(words: error.words, remedy: nil)
        }
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        var total = 0
        while true {
            let count = piece.withUnsafeMutableBytes { input.read(into: $0) }
            if count == 0 { break }
            total += count
            guard total <= kind.limit else {
                throw TextFileError(
                    words: "is larger than \(kind.limitText), the most that \(kind.name) may have", remedy: kind.remedy)
            }
            receive(piece[..<count])
        }
        // What could not be read must not pass for the end.
        if let trouble = input.trouble { throw TextFileError(words: trouble, remedy: nil) }
    }
}
