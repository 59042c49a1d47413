internal import SessionTrace

/// The client's side of a conversation with an upstream proxy, HTTP CONNECT (RFC 9110 §9.3.6) or SOCKS5 (RFC 1928, RFC 1929):
/// what to send, and how much to read, so that no byte of the origin is taken.
///
/// ```
/// http:   request ──► head of the answer ──2xx──► connected
/// socks5: greeting ──► method ──► (password ──►) request ──► reply ──00──► connected
/// ```
struct UpstreamProxyClient {
    /// What to do next.
    enum Step: Hashable {
        case send([UInt8])
        /// Read at least one byte and at most so many.
        case read(atMost: Int)
        case connected
        /// See `failure`.
        case failed
    }

    private enum State {
        case start
        case httpAnswer
        case socksMethod, socksPassword, socksReply
        case connected, failed
    }

    /// Bytes of the head of an HTTP answer.
    static let headLimit = 16 << 10

    private let proxy: UpstreamProxy
    private let goal: Destination
    private var state = State.start
    private var output: [UInt8] = []
    private var input: [UInt8] = []
    /// Why it failed.
    private(set) var failure = DialFailure(kind: .upstreamProxy, sentence: "The upstream proxy failed.")

    init(proxy: UpstreamProxy, goal: Destination) {
        self.proxy = proxy
        self.goal = goal
    }

    /// The next step.
    mutating func next() -> Step {
        if case .start = state { begin() }
        if !output.isEmpty {
            defer { output = [] }
            return .send(output)
        }
        switch state {
        case .start, .failed: return .failed
        case .connected: return .connected
        case .httpAnswer: return .read(atMost: missingOfHead)
        case .socksMethod, .socksPassword: return .read(atMost: 2 - input.count)
        case .socksReply: return .read(atMost: missingOfReply)
        }
    }

    /// Takes bytes, of which there are no more than asked for.
    mutating func feed(_ bytes: some Sequence<UInt8>) {
        input.append(contentsOf: bytes)
        switch state {
        case .start, .connected, .failed: break
        case .httpAnswer: readHead()
        case .socksMethod where input.count >= 2: readMethod()
        case .socksPassword where input.count >= 2: readPasswordAnswer()
        case .socksReply where missingOfReply == 0: readReply()
        case .socksMethod, .socksPassword, .socksReply: break
        }
    }

    /// The proxy has closed the connection.
    mutating func ended() {
        fail("The upstream proxy closed the connection before it had answered.")
    }

    private mutating func fail(_ sentence: String, _ kind: DialFailure.Kind = .upstreamProxy) {
        failure = DialFailure(kind: kind, sentence: sentence)
        state = .failed
    }

    private mutating func begin() {
        switch proxy.scheme {
        case .http:
            var head = "CONNECT \(goal.authority) HTTP/1.1\r\nHost: \(goal.authority)\r\n"
            if let credential = proxy.credential {
                head += "Proxy-Authorization: \(BasicCredential.text(credential))\r\n"
            }
            output = Array((head + "\r\n").utf8)
            state = .httpAnswer
        case .socks5:
            output = proxy.credential == nil ? [5, 1, 0] : [5, 2, 0, 2]
            state = .socksMethod
        }
    }

    // MARK: - HTTP

    /// At least so many bytes are missing of the end CR LF CR LF (or LF LF).
    private var missingOfHead: Int {
        switch input.suffix(3) {
        case [0x0D, 0x0A, 0x0D]: 1
        case let end where end.last == 0x0A: 1
        case let end where end.last == 0x0D: 2
        default: 2
        }
    }

    private mutating func readHead() {
        let isWhole = input.suffix(2) == [0x0A, 0x0A] || input.suffix(4) == [0x0D, 0x0A, 0x0D, 0x0A]
        guard isWhole else {
            if input.count >= Self.headLimit {
                fail("The upstream proxy's answer is longer than \(Self.headLimit) bytes.")
            }
            return
        }
        let line = input.prefix { $0 != 0x0D && $0 != 0x0A }
        let parts = line.split(separator: 0x20, maxSplits: 2)
        guard parts.count >= 2, parts[0].starts(with: "HTTP/1.".utf8),
            let status = Int(String(decoding: parts[1], as: UTF8.self)), (100...599).contains(status)
        else {
            fail("The upstream proxy's answer is no HTTP.")
            return
        }
        input = []
        switch status {
        case 100..<200: break  // an interim answer; the final one follows
        case 200..<300: state = .connected
        case 407: fail("The upstream proxy wants another credential (407).")
        default: fail("The upstream proxy answered \(status) for \(goal.authority).")
        }
    }

    // MARK: - SOCKS

    private mutating func readMethod() {
        let method = input[1]
        guard input[0] == 5 else { return fail("The upstream proxy does not speak SOCKS5.") }
        input = []
        switch (method, proxy.credential) {
        case (0, _): request()
        case (2, let credential?):
            let user = Array(credential.user.utf8.prefix(255))
            let password = Array(credential.password.utf8.prefix(255))
            output = [1, UInt8(user.count)] + user + [UInt8(password.count)] + password
            state = .socksPassword
        default: fail("The upstream proxy takes none of our ways to authenticate.")
        }
    }

    private mutating func readPasswordAnswer() {
        guard input[1] == 0 else { return fail("The upstream proxy refused the user or password.") }
        input = []
        request()
    }

    private mutating func request() {
        var address: [UInt8]
        if let ip = goal.address {
            address = [ip.isIPv4 ? 1 : 4] + ip.bytes
        } else {
            let name = Array(goal.host.utf8)
            guard name.count <= 255 else { return fail("The name \(goal.host) is too long for SOCKS5.") }
            address = [3, UInt8(name.count)] + name
        }
        output = [5, 1, 0] + address + [UInt8(goal.port >> 8), UInt8(goal.port & 0xFF)]
        state = .socksReply
    }

    /// Bytes missing of the reply, as far as its length is known.
    private var missingOfReply: Int {
        guard input.count >= 5 else { return 5 - input.count }
        let length =
            switch input[3] {
            case 4: 16
            case 3: 1 + Int(input[4])
            default: 4
            }
        return max(0, 4 + length + 2 - input.count)
    }

    private mutating func readReply() {
        guard input[0] == 5 else { return fail("The upstream proxy does not speak SOCKS5.") }
        switch input[1] {
        case 0: state = .connected
        case 3, 4: fail("The upstream proxy can't reach \(goal.authority).", .unreachable)
        case 5: fail("The upstream proxy says that \(goal.authority) refused the connection.", .connectionRefused)
        case let code: fail("The upstream proxy answered with SOCKS code \(code) for \(goal.authority).")
        }
    }
}
