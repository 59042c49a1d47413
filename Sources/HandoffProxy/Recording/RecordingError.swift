internal import Glibc

/// Why recording could not begin.
public struct RecordingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was wrong.
    public enum Code: Hashable, Sendable {
        /// There is a file of that name already.
        case fileExists
        /// The file could not be made.
        case notWritable
        /// A network interface could not be captured.
        case capture
    }

    /// What was wrong.
    public var code: Code
    /// The file or network interface.
    public var subject: String
    /// One sentence: what, and what to do.
    public var description: String
}

/// The system's words for its error numbers.
enum SystemError {
    static func words(_ code: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard strerror_r(code, &buffer, buffer.count - 1) == 0 else { return "error \(code)" }
        return buffer.withUnsafeBufferPointer { text in text.baseAddress.map { String(cString: $0) } ?? "" }
    }
}
