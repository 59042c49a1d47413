internal import Assertions
internal import Reports
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Where results and talk go: results to standard output, everything else to standard error.
///
/// A value of closures, so that a test can collect both.
public struct Console: Sendable {
    /// Writes a result.
    public var result: @Sendable (String) -> Void
    /// Writes talk: errors, notes, progress.
    public var talk: @Sendable (String) -> Void
    /// Writes a result that is no text.
    public var binary: @Sendable ([UInt8]) -> Void
    /// Whether results go to a terminal.
    public var resultIsTerminal: Bool
    /// Whether talk goes to a terminal.
    public var talkIsTerminal: Bool
    /// Columns of the terminal.
    public var width: Int

    /// Makes a console; without `binary`, such results are decoded and written as text.
    public init(
        result: @escaping @Sendable (String) -> Void, talk: @escaping @Sendable (String) -> Void,
        binary: (@Sendable ([UInt8]) -> Void)? = nil, resultIsTerminal: Bool = false,
        talkIsTerminal: Bool = false, width: Int = 110
    ) {
        self.result = result
        self.talk = talk
        self.binary = binary ?? { result(String(decoding: $0, as: UTF8.self)) }
        self.resultIsTerminal = resultIsTerminal
        self.talkIsTerminal = talkIsTerminal
        self.width = width
    }

    /// The process's own standard output and standard error.
    public static var process: Console {
        var size = winsize()
        let isSized = ioctl(1, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        return Console(
            result: { write(Array($0.utf8), to: 1) }, talk: { write(Array($0.utf8), to: 2) },
            binary: { write($0, to: 1) },
            resultIsTerminal: isatty(1) == 1, talkIsTerminal: isatty(2) == 1, width: isSized ? Int(size.ws_col) : 110)
    }

    /// The error number of the first result that could not be written, if one could not.
    private static let unwritten = Mutex<Int32?>(nil)

    /// What to say when standard output took less than was written; nil when it took all, or its reader went away.
    public static var outputFailure: String? {
        unwritten.withLock { $0 }.map {
            "standard output: \(String(cString: strerror($0))); the result is not complete"
        }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes
            while !rest.isEmpty {
                #if canImport(Glibc)
                    let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
                #elseif canImport(Musl)
                    let count = Musl.write(descriptor, rest.baseAddress, rest.count)
                #endif
                if count > 0 { rest = UnsafeRawBufferPointer(rebasing: rest[count...]) }
                // A reader that has gone, or never was (a closed descriptor), ends the output, not the verdict.
                if count < 0, errno != EINTR {
                    if descriptor == 1, errno != EPIPE, errno != EBADF { unwritten.withLock { $0 = $0 ?? errno } }
                    return
                }
            }
        }
    }

    /// The style of text results: colours on a terminal unless `NO_COLOR` is set (no-color.org).
    func style(_ environment: [String: String]) -> TextStyle {
        style(environment, isTerminal: resultIsTerminal)
    }

    /// The same for talk.
    func talkStyle(_ environment: [String: String]) -> TextStyle {
        style(environment, isTerminal: talkIsTerminal)
    }

    private func style(_ environment: [String: String], isTerminal: Bool) -> TextStyle {
        let isPlain = !(environment["NO_COLOR"] ?? "").isEmpty || environment["TERM"] == "dumb"
        return TextStyle(usesColour: isTerminal && !isPlain, width: isTerminal ? width : 110)
    }

    /// One line of talk, `handoff: ` before it.
    func complain(_ text: String) {
        // A message is one line, whatever name a file has.
        talk("handoff: \(text.split(separator: "\n").map { Redactor.printable(String($0)) }.joined(separator: "\n"))\n")
    }
}
