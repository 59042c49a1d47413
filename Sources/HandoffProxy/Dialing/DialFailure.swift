internal import EventLoop
internal import SessionTrace

/// Why an origin was not reached, as the device, the trace and the person at the terminal are told.
struct DialFailure: Error, Hashable, Sendable {
    /// What went wrong.
    enum Kind: String, Hashable, Sendable {
        /// A destination on this host or its link, that this client may not reach.
        case destinationRefused = "destination-refused"
        /// The name has no address.
        case unresolvable
        /// Nobody listens there.
        case connectionRefused = "connection-refused"
        /// Nobody answered in time.
        case timeout
        /// The network said that there is no way.
        case unreachable
        /// The upstream proxy would not, or could not.
        case upstreamProxy = "upstream-proxy"
        /// This process has no descriptor left.
        case shortage
        /// The client went away, or the proxy stops.
        case cancelled
        /// Anything else.
        case other
    }

    /// What went wrong.
    var kind: Kind
    /// One plain sentence.
    var sentence: String

    /// The status of an HTTP answer (RFC 9110 §15).
    var status: Int {
        switch kind {
        case .destinationRefused: 403
        case .timeout: 504
        case .shortage: 503
        case .unresolvable, .connectionRefused, .unreachable, .upstreamProxy, .cancelled, .other: 502
        }
    }

    /// The reply code of a SOCKS5 answer (RFC 1928 §6).
    var socksReply: UInt8 {
        switch kind {
        case .destinationRefused: 0x02
        case .unresolvable, .timeout: 0x04
        case .connectionRefused: 0x05
        case .unreachable: 0x03
        case .upstreamProxy, .shortage, .cancelled, .other: 0x01
        }
    }
}

extension DialFailure {
    /// What a failed connect to `place` means.
    init(_ error: SocketError, to place: String) {
        if error.isTimeout {
            self.init(kind: .timeout, sentence: "\(place) did not answer in time.")
        } else if error.isRefused {
            self.init(kind: .connectionRefused, sentence: "\(place) refused the connection.")
        } else if error.isUnreachable {
            self.init(kind: .unreachable, sentence: "There is no route to \(place).")
        } else if error.isShortage {
            self.init(kind: .shortage, sentence: "The proxy has no descriptor left to connect to \(place).")
        } else if error.isCancelled {
            self.init(kind: .cancelled, sentence: "The connection to \(place) was given up.")
        } else {
            self.init(kind: .other, sentence: "The connection to \(place) failed: \(error).")
        }
    }
}

extension SocketError {
    /// The network said that there is no way there: ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL.
    var isUnreachable: Bool { ErrorNumber.unreachable.contains(code) }
}
