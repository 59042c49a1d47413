internal import Glibc
public import SessionTrace
internal import Synchronization

/// An accepted connection on its way to the loop that will serve it. Closed when nobody adopts it.
public final class AcceptedSocket: Sendable {
    /// Our side of the connection.
    public let local: Endpoint
    /// The client's address; IPv4 when it came IPv4-mapped.
    public let peer: Endpoint
    /// When the listener took it.
    public let accepted: Instant
    private let number: Atomic<Int32>

    init(_ number: Int32, local: Endpoint, peer: Endpoint) {
        self.number = Atomic(number)
        self.local = local
        self.peer = peer
        accepted = WallClock.now()
    }

    /// The descriptor, once.
    func take() -> Int32? {
        let number = number.exchange(-1, ordering: .acquiringAndReleasing)
        return number >= 0 ? number : nil
    }

    /// Closes the connection unless it has been adopted.
    public func close() {
        if let number = take() { Glibc.close(number) }
    }

    deinit {
        close()
    }
}

/// How a listener is opened.
public struct ListenOptions: Hashable, Sendable {
    /// Takes connections to foreign addresses that a TPROXY rule sends here (IP_TRANSPARENT; needs CAP_NET_ADMIN).
    public var isTransparent = false
    /// Several sockets may listen on one port (SO_REUSEPORT).
    public var reusesPort = false
    /// An IPv6 wildcard takes IPv4 clients too.
    public var isDualStack = true
    /// Connections that the kernel holds until they are accepted.
    public var backlog: Int32 = 1024

    /// The usual ones.
    public init(
        isTransparent: Bool = false, reusesPort: Bool = false, isDualStack: Bool = true,
        backlog: Int32 = 1024
    ) {
        self.isTransparent = isTransparent
        self.reusesPort = reusesPort
        self.isDualStack = isDualStack
        self.backlog = backlog
    }
}

/// A listening TCP socket, confined to its loop.
public final class TCPListener {
    /// Where it listens; the true port when 0 was asked for.
    public let local: Endpoint
    private let descriptor: PolledDescriptor
    /// Kept open so that it can be given up for a connection when no other descriptor is left.
    private var spare: Int32
    /// Shortages in a row.
    private var shortages = 0
    /// Shortages in a row, 100 ms apart, before a waiting connection is refused instead of left waiting.
    static let shortagesBeforeRefusal = 10

    /// Opens a listener to be used on `loop` (the caller's own by default). Port 0: the kernel chooses.
    public static func listen(
        on endpoint: Endpoint, options: ListenOptions = ListenOptions(), loop: EventLoop? = .current
    ) throws(SocketError) -> TCPListener {
        guard let loop else { throw SocketError(code: EINVAL, operation: "listen") }
        let number = try LinuxSocket.open(isIPv4: endpoint.address.isIPv4, stream: true)
        do throws(SocketError) {
            try LinuxSocket.set(number, SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR")
            if options.reusesPort {
                try LinuxSocket.set(number, SOL_SOCKET, SO_REUSEPORT, 1, "SO_REUSEPORT")
            }
            if !endpoint.address.isIPv4 {
                let only: Int32 = options.isDualStack ? 0 : 1
                try LinuxSocket.set(number, Int32(IPPROTO_IPV6), IPV6_V6ONLY, only, "IPV6_V6ONLY")
            }
            if options.isTransparent {
                try LinuxSocket.setTransparent(number, isIPv4: endpoint.address.isIPv4)
            }
            let code = LinuxSocket.bind(number, to: endpoint)
            guard code == 0 else { throw SocketError(code: code, operation: "bind") }
            guard Glibc.listen(number, options.backlog) == 0 else {
                throw SocketError(code: errno, operation: "listen")
            }
            guard let local = LinuxSocket.localEndpoint(number) else {
                throw SocketError(code: errno, operation: "getsockname")
            }
            return TCPListener(PolledDescriptor(number, on: loop), local: local)
        } catch {
            Glibc.close(number)
            throw error
        }
    }

    private init(_ descriptor: PolledDescriptor, local: Endpoint) {
        self.descriptor = descriptor
        self.local = local
        spare = open("/dev/null", O_RDONLY | O_CLOEXEC)
    }

    deinit {
        if spare >= 0 { Glibc.close(spare) }
        descriptor.abandon()
    }

    /// Waits for the next connection.
    ///
    /// Throws an error with `isShortage` when the process has no descriptor left: the listener is still good, and the next
    /// call waits a while before it tries again; after a second of that the oldest waiting client is turned away.
    /// Everything else that is thrown (EBADF once closed, ECANCELED) is the end.
    public nonisolated(nonsending) func accept() async throws(SocketError) -> AcceptedSocket {
        if shortages > 0 {
            guard await descriptor.loop.sleep(.milliseconds(100), isolation: #isolation) else {
                throw .cancelled("accept")
            }
        }
        while true {
            guard descriptor.isOpen else { throw SocketError(code: EBADF, operation: "accept") }
            if descriptor.isReadable {
                let (outcome, peer) = LinuxSocket.accept(descriptor.number)
                switch outcome {
                case .done(let number):
                    shortages = 0
                    let number = Int32(truncatingIfNeeded: number)
                    guard let peer, let local = LinuxSocket.localEndpoint(number) else {
                        Glibc.close(number)
                        continue
                    }
                    return AcceptedSocket(number, local: local, peer: peer)
                case .wouldBlock: descriptor.isReadable = false
                case .failed(let code):
                    let error = SocketError(code: code, operation: "accept")
                    if error.isShortage {
                        shortages += 1
                        if shortages >= Self.shortagesBeforeRefusal { refuseOne() }
                        throw error
                    }
                    // The client was gone before it was accepted: the next one.
                    if Self.clientErrors.contains(code) { continue }
                    throw error
                }
            }
            let code = await descriptor.wait(for: .reading, isolation: #isolation)
            if code != 0 { throw SocketError(code: code, operation: "accept") }
        }
    }

    /// Errors of the connection that was to be accepted, not of the listener (accept(2), "Error handling").
    private static let clientErrors: Set<Int32> = [
        ECONNABORTED, ENETDOWN, EPROTO, ENOPROTOOPT, EHOSTDOWN, EHOSTUNREACH, EOPNOTSUPP, ENETUNREACH,
        EPERM, ETIMEDOUT,
    ]

    /// Gives the spare descriptor up for the client that has waited longest, and closes that.
    private func refuseOne() {
        guard spare >= 0 else { return }
        Glibc.close(spare)
        if case .done(let number) = LinuxSocket.accept(descriptor.number).outcome {
            Glibc.close(Int32(truncatingIfNeeded: number))
        }
        spare = open("/dev/null", O_RDONLY | O_CLOEXEC)
    }

    /// Stops listening; a waiting `accept` throws EBADF.
    public func close() {
        descriptor.close()
        if spare >= 0 { Glibc.close(spare) }
        spare = -1
    }
}
