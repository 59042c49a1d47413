internal import CLinuxSockets
internal import Glibc
internal import SessionTrace

/// The kernel's socket calls, with errors as values; the only file that imports the Linux headers.
enum LinuxSocket {
    /// What a call gave: a count or descriptor, or why not.
    enum Outcome {
        case done(Int)
        case wouldBlock
        case failed(Int32)
    }

    private static func outcome(_ call: () -> Int) -> Outcome {
        while true {
            let result = call()
            if result >= 0 { return .done(result) }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .wouldBlock
            case let code: return .failed(code)
            }
        }
    }

    static func open(isIPv4: Bool, stream: Bool) throws(SocketError) -> Int32 {
        let descriptor = handoff_socket(isIPv4 ? 1 : 0, stream ? 1 : 0)
        guard descriptor >= 0 else { throw SocketError(code: errno, operation: "socket") }
        return descriptor
    }

    static func set(
        _ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32, _ name: String
    )
        throws(SocketError)
    {
        var value = value
        guard setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size)) == 0
        else {
            throw SocketError(code: errno, operation: name)
        }
    }

    static func setTransparent(_ descriptor: Int32, isIPv4: Bool) throws(SocketError) {
        guard handoff_set_transparent(descriptor, isIPv4 ? 0 : 1) == 0 else {
            throw SocketError(code: errno, operation: "IP_TRANSPARENT")
        }
    }

    /// Small writes go out at once (a relay must not add Nagle's wait to the sender's own), and urgent bytes stay in the
    /// stream.
    static func prepareStream(_ descriptor: Int32) {
        var on: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, size)
        setsockopt(descriptor, SOL_SOCKET, SO_OOBINLINE, &on, size)
    }

    /// The next `close` sends RST.
    static func setAbortOnClose(_ descriptor: Int32) {
        var abort = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &abort, socklen_t(MemoryLayout<linger>.size))
    }

    static func bind(_ descriptor: Int32, to endpoint: Endpoint, asIPv6: Bool = false) -> Int32 {
        endpoint.withSocketAddress(asIPv6: asIPv6) { Glibc.bind(descriptor, $0, $1) } == 0 ? 0 : errno
    }

    static func connect(_ descriptor: Int32, to endpoint: Endpoint) -> Int32 {
        while true {
            if endpoint.withSocketAddress({ Glibc.connect(descriptor, $0, $1) }) == 0 { return 0 }
            if errno != EINTR { return errno }
        }
    }

    static func accept(_ descriptor: Int32) -> (outcome: Outcome, peer: Endpoint?) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                outcome { Int(handoff_accept(descriptor, address, &length)) }
            }
        }
        return (result, Endpoint(storage))
    }

    static func read(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer, peek: Bool = false)
        -> Outcome
    {
        outcome { Glibc.recv(descriptor, buffer.baseAddress, buffer.count, peek ? Int32(MSG_PEEK) : 0) }
    }

    static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Outcome {
        outcome { Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)) }
    }

    static func send(
        _ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, to endpoint: Endpoint, asIPv6: Bool
    )
        -> Outcome
    {
        endpoint.withSocketAddress(asIPv6: asIPv6) { address, length in
            outcome {
                Glibc.sendto(
                    descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL), address, length)
            }
        }
    }

    static func wantDatagramDetails(_ descriptor: Int32, isIPv4: Bool) {
        _ = handoff_datagram_details(descriptor, isIPv4 ? 0 : 1)
    }

    /// One datagram, with sender, destination address, the kernel's time of arrival, and whether it was cut.
    static func receive(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> (
        outcome: Outcome, from: Endpoint?, to: IPAddress?, arrival: Instant?, isCut: Bool
    ) {
        var from = sockaddr_storage()
        var to = sockaddr_storage()
        var nanoseconds: Int64 = 0
        var isCut: Int32 = 0
        let result = outcome {
            handoff_receive_datagram(
                descriptor, buffer.baseAddress, buffer.count, &from, &to, &nanoseconds, &isCut)
        }
        let arrival = nanoseconds == 0 ? nil : Instant(nanoseconds: nanoseconds)
        return (result, Endpoint(from), Endpoint(to)?.address, arrival, isCut != 0)
    }

    /// Names the calling thread.
    static func nameThread(_ name: String) {
        handoff_name_thread(name)
    }

    /// The error that the kernel holds for the socket, 0 for none; the kernel forgets it.
    static func takeError(_ descriptor: Int32) -> Int32 {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0 else { return errno }
        return code
    }

    static func localEndpoint(_ descriptor: Int32) -> Endpoint? {
        name(descriptor, getsockname)
    }

    static func peerEndpoint(_ descriptor: Int32) -> Endpoint? {
        name(descriptor, getpeername)
    }

    private static func name(
        _ descriptor: Int32,
        _ call: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> Endpoint? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let status = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { call(descriptor, $0, &length) }
        }
        return status == 0 ? Endpoint(storage) : nil
    }

    /// Where a redirected connection was going. An IPv4-mapped peer on an IPv6 socket needs the IPv4 call.
    static func originalDestination(_ descriptor: Int32, isIPv4: Bool) -> Endpoint? {
        var storage = sockaddr_storage()
        let status = withUnsafeMutablePointer(to: &storage) { pointer in
            isIPv4
                ? pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    handoff_original_destination_ipv4(descriptor, $0)
                }
                : pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                    handoff_original_destination_ipv6(descriptor, $0)
                }
        }
        return status == 0 ? Endpoint(storage) : nil
    }

    /// `tcpi_bytes_acked` and `tcpi_state`; nil where the kernel is too old to say (before Linux 4.1).
    static func acknowledged(_ descriptor: Int32) -> (bytes: UInt64, state: UInt8)? {
        var bytes: UInt64 = 0
        var state: UInt8 = 0
        guard handoff_tcp_acknowledged(descriptor, &bytes, &state) == 0 else { return nil }
        return (bytes, state)
    }
}

/// An edge-triggered epoll set: each descriptor is entered once, and tells each *change* of its readiness once.
final class EpollSet: @unchecked Sendable {
    // Sendable: `wake` is all that other threads call, and it only reads a constant; the rest is the loop's.

    /// What a change can be.
    struct Events: OptionSet {
        let rawValue: UInt32
        static let readable = Events(rawValue: EPOLLIN.rawValue)
        static let writable = Events(rawValue: EPOLLOUT.rawValue)
        /// The peer sent FIN.
        static let peerFinished = Events(rawValue: EPOLLRDHUP.rawValue)
        /// TCP urgent data, at which reads stop short.
        static let urgent = Events(rawValue: EPOLLPRI.rawValue)
        static let failed = Events(rawValue: EPOLLERR.rawValue)
        /// Both directions are over.
        static let hungUp = Events(rawValue: EPOLLHUP.rawValue)
    }

    /// Changes taken in one call.
    static let batch = 128

    let descriptor: Int32
    private let tokens = UnsafeMutablePointer<UInt64>.allocate(capacity: batch)
    private let events = UnsafeMutablePointer<UInt32>.allocate(capacity: batch)

    /// Written to, to wake the thread that waits; edge-triggered, so it never needs reading.
    private let wakeDescriptor: Int32
    private static let wakeToken: UInt64 = .max - 1

    init() throws(EventLoopError) {
        let wakeDescriptor = handoff_wake_descriptor()
        let descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        let events = EPOLLIN.rawValue | EPOLLET.rawValue
        guard wakeDescriptor >= 0, descriptor >= 0,
            handoff_epoll_add(descriptor, wakeDescriptor, events, Self.wakeToken) == 0
        else {
            let code = errno
            for number in [wakeDescriptor, descriptor] where number >= 0 { Glibc.close(number) }
            throw EventLoopError(code: code, operation: "epoll_create1")
        }
        self.wakeDescriptor = wakeDescriptor
        self.descriptor = descriptor
    }

    // Whoever may still wake the loop holds it, and the loop holds the set: never a write to a number that is reused.
    deinit {
        Glibc.close(descriptor)
        Glibc.close(wakeDescriptor)
        tokens.deallocate()
        events.deallocate()
    }

    /// Ends a wait soon; safe from any thread.
    func wake() {
        var one: UInt64 = 1
        _ = Glibc.write(wakeDescriptor, &one, 8)
    }

    /// Enters a descriptor that is told as long as it is readable (level-triggered).
    func watchForReading(_ descriptor: Int32, token: UInt64) throws(EventLoopError) {
        guard handoff_epoll_add(self.descriptor, descriptor, EPOLLIN.rawValue, token) == 0 else {
            throw EventLoopError(code: errno, operation: "epoll_ctl")
        }
    }

    func add(_ descriptor: Int32, token: UInt64) -> Int32 {
        let events =
            EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLPRI.rawValue
            | EPOLLET.rawValue
        return handoff_epoll_add(self.descriptor, descriptor, events, token) == 0 ? 0 : errno
    }

    func remove(_ descriptor: Int32) {
        _ = handoff_epoll_remove(self.descriptor, descriptor)
    }

    /// Waits for a change at most `milliseconds` (−1: for ever) and calls `body` for each, at most one batch.
    func take(milliseconds: Int32, _ body: (UInt64, Events) -> Void) {
        let count = handoff_epoll_take(descriptor, tokens, events, Int32(Self.batch), milliseconds)
        guard count > 0 else { return }
        for index in 0..<Int(count) where tokens[index] != Self.wakeToken {
            body(tokens[index], Events(rawValue: events[index]))
        }
    }
}
