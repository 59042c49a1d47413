/// Sessions that servers offered, so that the next connection to one can be shorter.
internal import COpenSSL
internal import Synchronization

/// TLS sessions by what they were made for. Every thread may use it.
///
/// A session is only taken up again under the very options that it was made with: name, verification, protocols,
/// versions and client certificate. The server's certificate and its verification come with it. A session of TLS 1.3 is
/// used once (RFC 8446, appendix C.4).
public final class TLSSessionStore: Sendable {
    /// Sets of options for which sessions are kept, at most.
    public static let keyLimit = 1_000
    /// Sessions kept for one set of options, at most (a few KiB each).
    public static let sessionLimit = 8

    /// What a session was made for.
    struct Key: Hashable {
        var serverName: String?
        var verifyName: String?
        var verification: TLSVerification
        var alpn: [UInt8]
        var versions: ClosedRange<TLSVersion>
        var clientCertificate: Certificate?
        /// Where the server is, in the caller's words: two servers of one name may not share their keys.
        var place: String
    }

    private let sessions = Mutex<[Key: [SessionReference]]>([:])

    /// Makes an empty store.
    public init() {}

    /// A session to take up again; one of TLS 1.3 is gone from the store then.
    func session(for key: Key) -> SessionReference? {
        sessions.withLock { table in
            guard let last = table[key]?.last else { return nil }
            if SSL_SESSION_get_protocol_version(last.pointer) >= TLS1_3_VERSION { table[key]?.removeLast() }
            return last
        }
    }

    /// Keeps a session; the oldest of its kind, or some other kind's, goes when there are too many.
    func keep(_ session: SessionReference, for key: Key) {
        sessions.withLock { table in
            if table[key] == nil, table.count >= Self.keyLimit, let other = table.keys.first { table[other] = nil }
            table[key, default: []].append(session)
            if let count = table[key]?.count, count > Self.sessionLimit { table[key]?.removeFirst() }
        }
    }

    /// How many sessions are kept.
    public var count: Int { sessions.withLock { $0.values.reduce(0) { $0 + $1.count } } }
}

/// One reference to an `SSL_SESSION`, released with the object.
///
/// `@unchecked Sendable`: a session is not changed once libssl has handed it out; its reference count is atomic.
final class SessionReference: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes over the caller's reference.
    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        SSL_SESSION_free(pointer)
    }
}

/// Where the sessions of one connection go.
struct SessionSink {
    let store: TLSSessionStore
    let key: TLSSessionStore.Key
}
