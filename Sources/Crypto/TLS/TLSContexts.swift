/// The settings that connections share: one `SSL_CTX` for all servers, one a set of options for clients.
internal import COpenSSL
internal import Synchronization

/// What TLS connections share. Make one and keep it; every thread may use it.
public final class TLSContexts: Sendable {
    /// What distinguishes one client context from another.
    private struct ClientKey: Hashable {
        var verification: TLSVerification
    }

    private let server: SSLContext
    private let clients = Mutex<[ClientKey: SSLContext]>([:])

    /// Makes the server's context; those for clients follow when they are first needed.
    public init() throws(TLSFailure) {
        server = try SSLContext.server()
    }

    /// Reads what client options with `verification` need, so that a file that can't be read is found at the start.
    public func prepare(_ verification: TLSVerification) throws(TLSFailure) {
        _ = try client(verification)
    }

    func serverContext() -> SSLContext { server }

    func client(_ verification: TLSVerification) throws(TLSFailure) -> SSLContext {
        let key = ClientKey(verification: verification)
        if let known = clients.withLock({ $0[key] }) { return known }
        // Two threads may make one each; the first to come back wins.
        let made = try SSLContext.client(verification)
        return clients.withLock { table in
            if let known = table[key] { return known }
            table[key] = made
            return made
        }
    }
}

/// An `SSL_CTX`, owned here, freed with the object; an `SSL` holds a reference of its own.
///
/// `@unchecked Sendable`: it is set up before anyone else sees it, and libssl's own locks guard what changes later
/// (reference counts and the certificate store), as `SSL_CTX` documents for use by several threads.
final class SSLContext: @unchecked Sendable {
    let pointer: OpaquePointer

    private init(_ method: OpaquePointer?) throws(TLSFailure) {
        guard let pointer = SSL_CTX_new(method) else { throw TLSFailure(.other, "libssl has no memory for a context") }
        self.pointer = pointer
        // Buffers are freed while a connection is idle: many are. Partial records are not the caller's business.
        SSL_CTX_ctrl(pointer, SSL_CTRL_MODE, Int(SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER), nil)
        SSL_CTX_ctrl(pointer, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
        SSL_CTX_set_options(
            pointer, HANDOFF_SSL_OP_ALL | HANDOFF_SSL_OP_NO_RENEGOTIATION | HANDOFF_SSL_OP_NO_COMPRESSION)
        SSL_CTX_set_keylog_callback(pointer) { ssl, line in
            if let line { TLSConnectionState.of(ssl)?.pointee.log(line) }
        }
        SSL_CTX_set_info_callback(pointer) { ssl, place, value in
            guard place & SSL_CB_ALERT != 0, let state = TLSConnectionState.of(ssl) else { return }
            let alert = UInt8(truncatingIfNeeded: value)
            if place & SSL_CB_READ != 0 {
                // close_notify, user_canceled and no_renegotiation end nothing by themselves.
                if alert != 0, alert != 90, alert != 100 { state.pointee.receivedAlert = alert }
            } else if value >> 8 == 2 {
                state.pointee.sentAlert = alert
            }
        }
    }

    deinit {
        SSL_CTX_free(pointer)
    }

    /// Everything is decrypted and encrypted again, so that the cipher is most of the work: AES with 128 bits takes two thirds
    /// of the time that libssl's first choice takes, and is what browsers offer first. In the names of TLS 1.2 and before.
    private static let cheapest = "ECDHE+AESGCM+AES128"
    /// What libssl offers by itself: its own word for it, `DEFAULT`, counts at the start of a list only.
    private static let usual = "ALL:!COMPLEMENTOFDEFAULT:!eNULL"
    /// The suites of TLS 1.3 in the same order.
    private static let cheapestFirst = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"

    /// A server's: TLS 1.0 and up at security level 0, so that the oldest client's connection is seen for what it is.
    static func server() throws(TLSFailure) -> SSLContext {
        let context = try SSLContext(TLS_server_method())
        let pointer = context.pointer
        SSL_CTX_set_security_level(pointer, 0)
        SSL_CTX_set_options(
            pointer,
            HANDOFF_SSL_OP_NO_TICKET | HANDOFF_SSL_OP_CIPHER_SERVER_PREFERENCE | HANDOFF_SSL_OP_PRIORITIZE_CHACHA)
        SSL_CTX_set_num_tickets(pointer, 0)
        SSL_CTX_set_max_early_data(pointer, 0)
        SSL_CTX_set_recv_max_early_data(pointer, UInt32(TLSEngine.foreignEarlyDataLimit))
        // Anonymous suites would let a client connect without seeing the certificate.
        guard SSL_CTX_set_cipher_list(pointer, "\(cheapest):ALL:!aNULL:!eNULL:@SECLEVEL=0") == 1,
            SSL_CTX_set_ciphersuites(pointer, cheapestFirst) == 1
        else {
            throw TLSFailure(.other, "libssl has no cipher for a server")
        }
        SSL_CTX_set_alpn_select_cb(
            pointer,
            { ssl, chosen, length, _, _, _ in
                guard let name = TLSConnectionState.of(ssl)?.pointee.chosenProtocol, let chosen, let length else {
                    return SSL_TLSEXT_ERR_NOACK
                }
                chosen.pointee = UnsafePointer(name.baseAddress)
                length.pointee = UInt8(truncatingIfNeeded: name.count)
                return SSL_TLSEXT_ERR_OK
            }, nil)
        return context
    }

    /// A client's.
    static func client(_ verification: TLSVerification) throws(TLSFailure) -> SSLContext {
        let context = try SSLContext(TLS_client_method())
        let pointer = context.pointer
        // libssl's own table is not used: it can't tell servers apart.
        SSL_CTX_ctrl(
            pointer, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL), nil)
        SSL_CTX_sess_set_new_cb(pointer) { ssl, session in
            guard let session, let sink = TLSConnectionState.of(ssl)?.pointee.sessionSink else { return 0 }
            // 1: the reference is ours now.
            sink.store.keep(SessionReference(owning: session), for: sink.key)
            return 1
        }
        guard SSL_CTX_set_ciphersuites(pointer, cheapestFirst) == 1 else {
            throw TLSFailure(.other, "libssl has no cipher for a client")
        }
        // Renegotiation is refused in any case; a server that can't do it securely is the device's business.
        SSL_CTX_set_options(pointer, HANDOFF_SSL_OP_LEGACY_SERVER_CONNECT)
        switch verification {
        case .none:
            SSL_CTX_set_security_level(pointer, 0)
            SSL_CTX_set_cipher_list(pointer, "\(cheapest):\(usual):@SECLEVEL=0")
            SSL_CTX_set_verify(pointer, SSL_VERIFY_NONE, nil)
        case .system(let extra):
            SSL_CTX_set_cipher_list(pointer, "\(cheapest):\(usual)")
            guard withCleanErrorQueue({ SSL_CTX_set_default_verify_paths(pointer) }) == 1 else {
                throw TLSFailure(.configuration, "the system's certificate store can't be read")
            }
            if let extra {
                let done = withCleanErrorQueue { SSL_CTX_load_verify_file(pointer, extra) }
                guard done == 1 else {
                    throw TLSFailure(.configuration, "\(extra) can't be read, or holds no certificate in PEM form")
                }
            }
            // Whoever puts a chain's middle into the file means it: no root is asked for above it.
            X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(pointer), UInt(X509_V_FLAG_PARTIAL_CHAIN))
            SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER) { accepted, store in
                if accepted == 1 { return 1 }
                let ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx())
                guard let ssl, let state = TLSConnectionState.of(OpaquePointer(ssl)),
                    state.pointee.verificationCode == X509_V_OK
                else { return 0 }
                state.pointee.verificationCode = X509_STORE_CTX_get_error(store)
                state.pointee.refusedDepth = X509_STORE_CTX_get_error_depth(store)
                if let certificate = X509_STORE_CTX_get_current_cert(store), X509_up_ref(certificate) == 1 {
                    state.pointee.refusedCertificate = certificate
                }
                if let leaf = X509_STORE_CTX_get0_cert(store), X509_up_ref(leaf) == 1 {
                    state.pointee.refusedLeaf = leaf
                }
                return 0
            }
        }
        return context
    }
}
