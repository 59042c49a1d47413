internal import SessionTrace

/// The server's side of a SOCKS5 conversation (RFC 1928, RFC 1929): bytes in, steps out.
///
/// ```
/// greeting ──methods──► password ──right──► request ──CONNECT──► done
///     └── no authentication needed ───────────┘
/// anything else ──► done, with the reply that says why
/// ```
struct SOCKSServer {
    /// What to do next.
    enum Step: Hashable {
        /// Wait for more bytes.
        case needsInput
        /// Send this, and go on.
        case answer([UInt8])
        /// The client wants to go there: dial, then send `reply`.
        case request(Destination)
        /// Send this and close; the sentence says why.
        case refused([UInt8], sentence: String)
    }

    private enum State {
        case greeting, password, request, done
    }

    private let credential: ProxyCredential?
    private var state = State.greeting
    private var buffer: [UInt8] = []
    /// Bytes of the stream that whole messages have taken so far.
    private(set) var consumed = 0
    /// Where in the stream the password lies, once it was read.
    private(set) var passwordRange: Range<Int>?
    /// The name that the client gave with the right password.
    private(set) var user: String?

    /// A conversation in which clients must give `credential`, if there is one.
    init(credential: ProxyCredential?) {
        self.credential = credential
    }

    /// Bytes after the request: they belong to the tunnel.
    var rest: [UInt8] { buffer }

    /// Takes bytes from the client.
    mutating func feed(_ bytes: some Sequence<UInt8>) {
        buffer.append(contentsOf: bytes)
    }

    /// The next step; called until it needs input.
    mutating func next() -> Step {
        switch state {
        case .greeting: greeting()
        case .password: password()
        case .request: request()
        case .done: .needsInput
        }
    }

    /// Replies of RFC 1928 §6: version, code, and an address that no client needs.
    static func reply(_ code: UInt8, bound: Endpoint? = nil) -> [UInt8] {
        guard let bound else { return [5, code, 0, 1, 0, 0, 0, 0, 0, 0] }
        let type: UInt8 = bound.address.isIPv4 ? 1 : 4
        return [5, code, 0, type] + bound.address.bytes + [UInt8(bound.port >> 8), UInt8(bound.port & 0xFF)]
    }

    private mutating func take(_ count: Int) -> [UInt8] {
        defer { buffer.removeFirst(count) }
        consumed += count
        return Array(buffer[..<count])
    }

    /// `05 n methods…`
    private mutating func greeting() -> Step {
        guard buffer.count >= 2, buffer.count >= 2 + Int(buffer[1]) else { return .needsInput }
        let message = take(2 + Int(buffer[1]))
        let methods = message.dropFirst(2)
        if credential == nil, methods.contains(0) {
            state = .request
            return .answer([5, 0])
        }
        // Some clients offer nothing but user and password, also to a proxy that asks for none: any will do then.
        guard methods.contains(2) else {
            state = .done
            return .refused([5, 0xFF], sentence: "The client offers no way to authenticate that the proxy takes.")
        }
        state = .password
        return .answer([5, 2])
    }

    /// `01 n user… m password…` (RFC 1929 §2)
    private mutating func password() -> Step {
        guard buffer.count >= 2 else { return .needsInput }
        guard buffer[0] == 1 else {
            state = .done
            return .refused([1, 1], sentence: "The client's authentication can't be read.")
        }
        let userEnd = 2 + Int(buffer[1])
        guard buffer.count > userEnd, buffer.count >= userEnd + 1 + Int(buffer[userEnd]) else { return .needsInput }
        let length = Int(buffer[userEnd])
        let start = consumed
        let message = take(userEnd + 1 + length)
        passwordRange = start + userEnd + 1..<start + userEnd + 1 + length
        let user = Array(message[2..<userEnd])
        guard credential?.matches(user: user, password: Array(message[(userEnd + 1)...])) != false else {
            state = .done
            return .refused([1, 1], sentence: "The client gave a wrong user or password.")
        }
        self.user = String(decoding: user, as: UTF8.self)
        state = .request
        return .answer([1, 0])
    }

    /// `05 command 00 type address port`
    private mutating func request() -> Step {
        guard let first = buffer.first else { return .needsInput }
        guard first == 5 else { return refuse(1, "The client's SOCKS request can't be read.") }
        guard buffer.count >= 5 else { return .needsInput }
        let length: Int
        switch buffer[3] {
        case 1: length = 4
        case 3: length = 1 + Int(buffer[4])
        case 4: length = 16
        default: return refuse(8, "The client's SOCKS request has an address of an unknown type.")
        }
        guard buffer.count >= 4 + length + 2 else { return .needsInput }
        let command = buffer[1]
        let type = buffer[3]
        let message = take(4 + length + 2)
        guard command == 1 else { return refuse(7, "The proxy serves CONNECT only, neither BIND nor UDP ASSOCIATE.") }
        let port = UInt16(message[4 + length]) << 8 | UInt16(message[5 + length])
        let bytes = message[4..<4 + length]
        guard port > 0 else { return refuse(1, "The client asks for port 0.") }
        func number(_ bytes: some Collection<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        state = .done
        switch type {
        case 1:
            let address = IPAddress(ipv4: UInt32(truncatingIfNeeded: number(bytes)))
            return .request(Destination(Endpoint(address: address, port: port), kind: .socks))
        case 4:
            let address = IPAddress(ipv6High: number(bytes.prefix(8)), low: number(bytes.suffix(8)))
            return .request(Destination(Endpoint(address: address, port: port), kind: .socks))
        default:
            let text = String(decoding: bytes.dropFirst(), as: UTF8.self)
            guard !text.contains("%"), let host = HostName(text) else {
                return refuse(1, "The client asks for a name that is none.")
            }
            return .request(Destination(host: host, port: port, kind: .socks))
        }
    }

    private mutating func refuse(_ code: UInt8, _ sentence: String) -> Step {
        state = .done
        return .refused(Self.reply(code), sentence: sentence)
    }
}

extension IPAddress {
    /// The address in network order: 4 bytes, or 16.
    var bytes: [UInt8] {
        func bytes(_ value: UInt64, _ count: UInt64) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
        }
        return isIPv4 ? bytes(low, 4) : bytes(high, 8) + bytes(low, 8)
    }
}
