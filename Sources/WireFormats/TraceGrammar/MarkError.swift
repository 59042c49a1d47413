/// Why a mark can't be read, and where in its text.
public struct MarkError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The side file's name; empty for marks in packets.
    public var file: String
    /// Line, from 1.
    public var line: Int
    /// Column in Unicode scalars, from 1.
    public var column: Int
    /// What is wrong, in plain words.
    public var reason: String

    /// Makes an error.
    public init(file: String = "", line: Int, column: Int, reason: String) {
        self.file = file
        self.line = line
        self.column = column
        self.reason = reason
    }

    /// `file:line:column: reason`.
    public var description: String { "\(file.isEmpty ? "mark" : file):\(line):\(column): \(reason)" }
}
