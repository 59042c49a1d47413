/// Why nothing at all can be read of a capture file. Damage inside a file is no error: see `CaptureFileSummary`.
public struct CaptureFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of trouble.
    public enum Code: Hashable, Sendable {
        /// The system refuses to open or read it; the `errno` value.
        case system(Int32)
        /// Its first bytes are those of no capture file.
        case notACapture
        /// The filter expression is wrong, or can't be applied to a link type of the file.
        case filter
    }

    /// What kind of trouble.
    public var code: Code
    /// The path as given; `-` for standard input.
    public var path: String
    /// What is wrong and what to do, in plain words, without the path.
    public var reason: String

    /// Makes an error.
    public init(code: Code, path: String, reason: String) {
        self.code = code
        self.path = path
        self.reason = reason
    }

    /// `PATH: reason`; a wrong filter names itself.
    public var description: String {
        code == .filter ? reason : "\(path == "-" ? "standard input" : path): \(reason)"
    }
}
