internal import Glibc
public import SessionTrace

/// How an outgoing connection is made.
public struct ConnectOptions: Hashable, Sendable {
    /// The local address to come from; port 0 lets the kernel choose one.
    public var source: Endpoint?
    /// The packets' firewall mark (SO_MARK; needs CAP_NET_ADMIN), so that a redirect rule can leave them alone.
    public var firewallMark: UInt32?

    /// The usual ones: any source, no mark.
    public init(source: Endpoint? = nil, firewallMark: UInt32? = nil) {
        self.source = source
        self.firewallMark = firewallMark
    }
}

extension TCPStream {
    /// Connects to `endpoint`, for use on `loop`, on which the caller runs.
    ///
    /// Throws ECONNREFUSED, EHOSTUNREACH …, ETIMEDOUT after `timeout`, ECANCELED when the task is cancelled; the socket is
    /// then closed.
    public nonisolated(nonsending) static func connect(
        to endpoint: Endpoint, options: ConnectOptions = ConnectOptions(), timeout: Duration,
        on loop: EventLoop? = .current
    ) async throws(SocketError) -> sending TCPStream {
        guard let loop else { throw SocketError(code: EINVAL, operation: "connect") }
        let descriptor = try await open(to: endpoint, options, timeout, on: loop, isolation: #isolation)
        return try stream(descriptor, to: endpoint)
    }

    static func stream(_ descriptor: PolledDescriptor, to peer: Endpoint) throws(SocketError)
        -> sending TCPStream
    {
        guard let local = LinuxSocket.localEndpoint(descriptor.number) else {
            descriptor.close()
            throw SocketError(code: ENOTCONN, operation: "connect")
        }
        return TCPStream(connected: descriptor, local: local, peer: peer)
    }

    static func open(
        to endpoint: Endpoint, _ options: ConnectOptions, _ timeout: Duration, on loop: EventLoop,
        isolation: isolated (any Actor)?
    ) async throws(SocketError) -> PolledDescriptor {
        let number = try LinuxSocket.open(isIPv4: endpoint.address.isIPv4, stream: true)
        let descriptor = PolledDescriptor(number, on: loop)
        do throws(SocketError) {
            if let mark = options.firewallMark {
                try LinuxSocket.set(number, SOL_SOCKET, SO_MARK, Int32(bitPattern: mark), "SO_MARK")
            }
            if let source = options.source, source.address.isIPv4 == endpoint.address.isIPv4 {
                let code = LinuxSocket.bind(number, to: source)
                guard code == 0 else { throw SocketError(code: code, operation: "bind") }
            }
            LinuxSocket.prepareStream(number)
            let code = LinuxSocket.connect(number, to: endpoint)
            guard code == 0 || code == EINPROGRESS else {
                throw SocketError(code: code, operation: "connect")
            }
            if code == EINPROGRESS {
                descriptor.isWritable = false
                let code = await descriptor.wait(for: .writing, timeout: timeout, isolation: isolation)
                guard code == 0 else { throw SocketError(code: code, operation: "connect") }
                let failure = descriptor.failure == 0 ? LinuxSocket.takeError(number) : descriptor.failure
                guard failure == 0 else { throw SocketError(code: failure, operation: "connect") }
            }
            return descriptor
        } catch {
            descriptor.close()
            throw error
        }
    }
}
