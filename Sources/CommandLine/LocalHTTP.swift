internal import SessionTrace

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A request to a service on this host or beside it: one connection, one request, one answer, a few seconds at most.
struct LocalHTTP {
    /// Seconds that connecting, sending and each wait for bytes may take.
    static let timeoutSeconds = 5
    /// Longest answer that is read, in bytes.
    static let answerLimit = 4 << 20

    /// Why there is no answer.
    struct Failure: Error {
        var words: String
    }

    /// What came back.
    struct Answer {
        var status: Int
        var body: [UInt8]
    }

    private let endpoint: Endpoint

    /// Whether `text` is `ADDR:PORT`, and not the name of a file.
    static func isAddress(_ text: String) -> Bool { endpoint(text) != nil }

    /// A client of the service at `ADDR:PORT`.
    init(address: String) throws(Failure) {
        guard let endpoint = Self.endpoint(address) else { throw Failure(words: "no address with a port") }
        self.endpoint = endpoint
    }

    private static func endpoint(_ text: String) -> Endpoint? {
        guard !text.contains("/"), let (host, port) = HostName.parse(authority: text), let port else { return nil }
        let name = host.text == "localhost" ? "127.0.0.1" : host.text
        return IPAddress(name).map { Endpoint(address: $0, port: port) }
    }

    /// Whether anybody listens there.
    var isAnswered: Bool {
        guard let descriptor = try? connect() else { return false }
        close(descriptor)
        return true
    }

    /// Posts JSON.
    func post(_ path: String, body: [UInt8], token: String) throws(Failure) -> Answer {
        // A token comes out of a file or the command line; it must not add fields of its own.
        let token = String(token.unicodeScalars.filter { $0.value > 0x20 && $0.value < 0x7F })
        let head =
            "POST \(path) HTTP/1.1\r\nHost: \(endpoint)\r\nAuthorization: Bearer \(token)\r\n"
            + "Content-Type: application/json\r\nContent-Length: \(body.count)\r\nConnection: close\r\n\r\n"
        let descriptor = try connect()
        defer { close(descriptor) }
        var rest = Array(head.utf8) + body
        while !rest.isEmpty {
            let count = send(descriptor, rest, rest.count, Int32(MSG_NOSIGNAL))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure() }
            rest.removeFirst(count)
        }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16 << 10)
        while bytes.count < Self.answerLimit {
            let count = recv(descriptor, &piece, piece.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure() }
            if count == 0 { break }
            bytes += piece.prefix(count)
        }
        return try answer(bytes)
    }

    private func connect() throws(Failure) -> Int32 {
        let family = endpoint.address.isIPv4 ? AF_INET : AF_INET6
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw failure() }
        var time = timeval(tv_sec: Self.timeoutSeconds, tv_usec: 0)
        // Also bounds connect(2).
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        let status: Int32
        if endpoint.address.isIPv4 {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = endpoint.port.bigEndian
            address.sin_addr.s_addr = UInt32(truncatingIfNeeded: endpoint.address.low).bigEndian
            status = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Self.connect(descriptor, $0, MemoryLayout<sockaddr_in>.size)
                }
            }
        } else {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = endpoint.port.bigEndian
            withUnsafeMutableBytes(of: &address.sin6_addr) { bytes in
                bytes.storeBytes(of: endpoint.address.high.bigEndian, as: UInt64.self)
                bytes.storeBytes(of: endpoint.address.low.bigEndian, toByteOffset: 8, as: UInt64.self)
            }
            status = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Self.connect(descriptor, $0, MemoryLayout<sockaddr_in6>.size)
                }
            }
        }
        guard status == 0 else {
            let failure = failure()
            close(descriptor)
            throw failure
        }
        return descriptor
    }

    private static func connect(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ size: Int) -> Int32 {
        #if canImport(Glibc)
            Glibc.connect(descriptor, address, socklen_t(size))
        #elseif canImport(Musl)
            Musl.connect(descriptor, address, socklen_t(size))
        #endif
    }

    private func failure() -> Failure {
        let isTimeout = errno == EAGAIN || errno == EINPROGRESS
        return Failure(
            words: isTimeout ? "no answer within \(Self.timeoutSeconds) s" : String(cString: strerror(errno)))
    }

    /// Our own services send a length or close, and no interim answer to a request without `Expect`.
    private func answer(_ bytes: [UInt8]) throws(Failure) -> Answer {
        let noHTTP = Failure(words: "what answers there is no recorder")
        guard bytes.starts(with: "HTTP/1.1 ".utf8), bytes.count > 12,
            let status = Int(String(decoding: bytes[9..<12], as: UTF8.self))
        else { throw noHTTP }
        var end = 0
        while end + 4 <= bytes.count {
            if bytes[end..<end + 4].elementsEqual([0x0D, 0x0A, 0x0D, 0x0A]) {
                return Answer(status: status, body: Array(bytes[(end + 4)...]))
            }
            end += 1
        }
        throw noHTTP
    }
}
