internal import Glibc
public import SessionTrace

/// One received datagram.
public struct Datagram: Hashable, Sendable {
    /// The payload.
    public let bytes: [UInt8]
    /// Who sent it; IPv4 when it came IPv4-mapped.
    public let from: Endpoint
    /// The address and port that it was sent to.
    public let to: Endpoint
    /// When the kernel received it.
    public let arrival: Instant
    /// It was longer than asked for; the rest is lost.
    public let isCut: Bool
}

/// A UDP socket, confined to its loop.
public final class UDPSocket {
    /// Where it is bound; the true port when 0 was asked for.
    public let local: Endpoint
    private let descriptor: PolledDescriptor
    private let buffer: UnsafeMutableRawBufferPointer
    private let isIPv6: Bool

    /// Binds a socket to be used on `loop`. The IPv6 wildcard takes IPv4 too. `longest`: bytes kept of a datagram.
    public static func bind(
        to endpoint: Endpoint, longest: Int = 65_535, loop: EventLoop? = .current
    ) throws(SocketError) -> UDPSocket {
        guard let loop else { throw SocketError(code: EINVAL, operation: "bind") }
        let isIPv4 = endpoint.address.isIPv4
        let number = try LinuxSocket.open(isIPv4: isIPv4, stream: false)
        do throws(SocketError) {
            if !isIPv4 { try LinuxSocket.set(number, Int32(IPPROTO_IPV6), IPV6_V6ONLY, 0, "IPV6_V6ONLY") }
            LinuxSocket.wantDatagramDetails(number, isIPv4: isIPv4)
            let code = LinuxSocket.bind(number, to: endpoint)
            guard code == 0 else { throw SocketError(code: code, operation: "bind") }
            guard let local = LinuxSocket.localEndpoint(number) else {
                throw SocketError(code: errno, operation: "getsockname")
            }
            return UDPSocket(
                PolledDescriptor(number, on: loop), local: local, isIPv6: !isIPv4, longest: max(longest, 1))
        } catch {
            Glibc.close(number)
            throw error
        }
    }

    private init(_ descriptor: PolledDescriptor, local: Endpoint, isIPv6: Bool, longest: Int) {
        self.descriptor = descriptor
        self.local = local
        self.isIPv6 = isIPv6
        buffer = .allocate(byteCount: longest, alignment: 16)
    }

    deinit {
        buffer.deallocate()
        descriptor.abandon()
    }

    /// Waits for the next datagram. Throws ECANCELED, and EBADF once closed.
    public nonisolated(nonsending) func receive() async throws(SocketError) -> Datagram {
        while true {
            guard descriptor.isOpen else { throw SocketError(code: EBADF, operation: "receive") }
            if descriptor.isReadable {
                let (outcome, from, to, arrival, isCut) = LinuxSocket.receive(descriptor.number, buffer)
                switch outcome {
                case .done(let count):
                    guard let from else { continue }
                    return Datagram(
                        bytes: Array(buffer[..<count]), from: from,
                        to: Endpoint(address: to ?? local.address, port: local.port),
                        arrival: arrival ?? WallClock.now(),
                        isCut: isCut)
                case .wouldBlock: descriptor.isReadable = false
                // An ICMP answer to something sent earlier; the socket is still good.
                case .failed(let code) where code == ECONNREFUSED: continue
                case .failed(let code): throw SocketError(code: code, operation: "receive")
                }
            }
            let code = await descriptor.wait(for: .reading, isolation: #isolation)
            if code != 0 { throw SocketError(code: code, operation: "receive") }
        }
    }

    /// Sends one datagram; waits only while the socket's send buffer is full. Throws EMSGSIZE, ENETUNREACH …
    public nonisolated(nonsending) func send(_ bytes: [UInt8], to endpoint: Endpoint)
        async throws(SocketError)
    {
        while true {
            guard descriptor.isOpen else { throw SocketError(code: EBADF, operation: "send") }
            if descriptor.isWritable {
                let outcome = bytes.withUnsafeBytes {
                    LinuxSocket.send(descriptor.number, $0, to: endpoint, asIPv6: isIPv6)
                }
                switch outcome {
                case .done: return
                case .wouldBlock: descriptor.isWritable = false
                case .failed(let code) where code == ECONNREFUSED: continue
                case .failed(let code): throw SocketError(code: code, operation: "send")
                }
            }
            let code = await descriptor.wait(for: .writing, isolation: #isolation)
            if code != 0 { throw SocketError(code: code, operation: "send") }
        }
    }

    /// Closes the socket; a waiting `receive` throws EBADF.
    public func close() {
        descriptor.close()
    }
}
