internal import SessionTrace

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// What the process was started with. A word may name a file, whose name is bytes: none is repaired, which would name
/// another file.
extension Handoff {
    /// The words of the command line, without the program's name.
    public static var processWords: [String] {
        (0..<Int(Swift.CommandLine.argc)).dropFirst().compactMap { index in
            Swift.CommandLine.unsafeArgv[index].map(text)
        }
    }

    /// The environment.
    public static var processEnvironment: [String: String] {
        var variables: [String: String] = [:]
        var entry = environ
        while let pointer = entry.pointee {
            let parts = text(pointer).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
            entry += 1
        }
        return variables
    }

    private static func text(_ pointer: UnsafeMutablePointer<CChar>) -> String {
        FileName.text(UnsafeRawBufferPointer(start: pointer, count: strlen(pointer)))
    }
}
