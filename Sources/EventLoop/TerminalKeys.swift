internal import Glibc
internal import SessionTrace
internal import Synchronization

/// Keys pressed in the terminal, one by one and unechoed; Ctrl-C still interrupts.
///
/// The terminal gets its old settings back by `restore`, at the process's exit, and on SIGINT, SIGTERM, SIGHUP and SIGQUIT,
/// which then have the effect that they would have had.
public final class TerminalKeys: Sendable {
    /// Keys kept for a reader that is behind; the oldest go first.
    static let backlog = 64

    /// Each byte that the terminal sends; a special key is several (ESC first). Ends with `restore`.
    public let stream: AsyncStream<UInt8>
    private let continuation: AsyncStream<UInt8>.Continuation
    private let descriptor: PolledDescriptor
    private let watches = SignalWatches()

    /// Nil when standard input is no terminal, or this process is not in its foreground.
    public init?() {
        guard isatty(STDIN_FILENO) == 1, tcgetpgrp(STDIN_FILENO) == getpgrp(),
            let loop = EventLoop.shared
        else {
            return nil
        }
        // Opened anew: non-blocking is a property of the open file, which standard input shares with the shell.
        guard let path = ttyname(STDIN_FILENO) else { return nil }
        let number = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard number >= 0 else { return nil }
        guard SavedTerminal.enterKeyMode(number) else {
            Glibc.close(number)
            return nil
        }
        (stream, continuation) = AsyncStream.makeStream(
            of: UInt8.self, bufferingPolicy: .bufferingNewest(Self.backlog))
        descriptor = PolledDescriptor(number, on: loop)
        let (descriptor, continuation, watches) = (descriptor, continuation, watches)
        loop.execute {
            for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
                let watch = try? loop.uv.watchSignal(number) {
                    guard !Signals.isWatched(number) else { return }
                    SavedTerminal.restore()
                    watches.close()
                    signal(number, SIG_DFL)
                    raise(number)
                }
                if let watch { watches.open.append(watch) }
            }
        }
        Task(executorPreference: loop) {
            await Self.read(from: descriptor, into: continuation)
        }
    }

    deinit {
        restore()
    }

    /// Gives the terminal its old settings back and ends the stream.
    public func restore() {
        SavedTerminal.restore()
        let watches = watches
        descriptor.loop.execute { watches.close() }
        descriptor.abandon()
        continuation.finish()
    }

    private static func read(
        from descriptor: PolledDescriptor, into continuation: AsyncStream<UInt8>.Continuation
    ) async {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 1)
        defer { buffer.deallocate() }
        while descriptor.isOpen {
            let count = Glibc.read(descriptor.number, buffer.baseAddress, buffer.count)
            if count > 0 {
                for byte in buffer[..<count] { continuation.yield(byte) }
            } else if count < 0, errno == EAGAIN {
                descriptor.isReadable = false
                if await descriptor.wait(for: .reading, isolation: nil) != 0 { break }
            } else if count == 0 || errno != EINTR {
                break
            }
        }
        continuation.finish()
    }
}

/// The terminal's settings from before, for the moment when the process ends.
private enum SavedTerminal {
    private static let saved = Mutex<termios?>(nil)
    private static let atExit: Void = { atexit { SavedTerminal.restore() } }()

    static func enterKeyMode(_ number: Int32) -> Bool {
        var settings = termios()
        guard tcgetattr(number, &settings) == 0 else { return false }
        saved.withLock { if $0 == nil { $0 = settings } }
        atExit
        // Keys at once and unechoed; signals by key stay (ISIG).
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        return tcsetattr(number, TCSANOW, &settings) == 0
    }

    static func restore() {
        saved.withLock { saved in
            guard var settings = saved else { return }
            tcsetattr(STDIN_FILENO, TCSANOW, &settings)
            saved = nil
        }
    }
}
