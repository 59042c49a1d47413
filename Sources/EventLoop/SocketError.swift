internal import Glibc

/// Why a socket operation ended without what it was asked for.
public struct SocketError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kernel's error number (`errno`): ECONNRESET, ETIMEDOUT, ECANCELED …
    public let code: Int32
    /// The call that failed: `read`, `write`, `connect`, `accept`, `bind` …
    public let operation: String
    /// Bytes that the kernel had taken when a `write` failed; 0 for everything else.
    public var written = 0

    /// Makes an error.
    public init(code: Int32, operation: String, written: Int = 0) {
        self.code = code
        self.operation = operation
        self.written = written
    }

    /// The waiting task was cancelled.
    public static func cancelled(_ operation: String) -> SocketError {
        SocketError(code: ECANCELED, operation: operation)
    }

    /// The time given for it is over, or the peer never answered.
    public var isTimeout: Bool { code == ETIMEDOUT }
    /// The task was cancelled while it waited.
    public var isCancelled: Bool { code == ECANCELED }
    /// The peer sent RST (ECONNRESET), or RST after its FIN (EPIPE).
    public var isReset: Bool { code == ECONNRESET || code == EPIPE }
    /// The peer answered the SYN with RST: nobody listens there.
    public var isRefused: Bool { code == ECONNREFUSED }
    /// This side has closed the socket already.
    public var isClosed: Bool { code == EBADF }
    /// The process or the system has no descriptor or memory left for another socket.
    public var isShortage: Bool {
        code == EMFILE || code == ENFILE || code == ENOBUFS || code == ENOMEM
    }

    public var description: String {
        switch code {
        case ECANCELED: "\(operation): cancelled"
        case EBADF: "\(operation): the socket is closed"
        case EBUSY: "\(operation): another task waits for the same already"
        default: "\(operation): \(String(cString: strerror(code)))"
        }
    }
}

/// Why an event loop could not be started or could not watch what it was asked to.
public struct EventLoopError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kernel's error number.
    public let code: Int32
    /// The call that failed.
    public let operation: String

    public var description: String { "\(operation): \(String(cString: strerror(code)))" }
}
