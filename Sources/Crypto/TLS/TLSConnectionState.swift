/// What OpenSSL's callbacks reach: the byte queues, and what they have noted about one connection.
internal import COpenSSL
internal import Glibc

/// The part of an engine that OpenSSL points at.
///
/// It lives in memory of its own, at one address from the engine's start to its end. The engine frees its `SSL`, and
/// with it the BIO, before this memory: no callback can run later, since callbacks run only inside calls on that `SSL`.
struct TLSConnectionState: ~Copyable {
    /// Ciphertext from the peer, not yet taken by OpenSSL.
    var input = ByteQueue()
    /// Ciphertext for the peer.
    var output = ByteQueue()
    /// Ciphertext that was taken out to be sent, and stays as it is until the next time.
    var sending = ByteQueue()
    /// Lines of the NSS key log, not yet taken.
    var secrets: [UInt8] = []
    /// TLS 1.2 and older: the one secret is among them, or was.
    var hasMasterSecret = false
    /// The protocol that a server answers with.
    var chosenProtocol: UnsafeMutableBufferPointer<UInt8>?
    /// The last alert of the peer that says more than "I close".
    var receivedAlert: UInt8?
    /// The last fatal alert of ours.
    var sentAlert: UInt8?
    var hasSentCertificate = false
    /// Why the peer's chain was not accepted (a code of libcrypto), the certificate that it is about, and its depth.
    var verificationCode: Int32 = 0
    var refusedCertificate: OpaquePointer?
    var refusedDepth: Int32 = 0
    /// The peer's own certificate, when the chain was not accepted: libssl keeps it only when it was.
    var refusedLeaf: OpaquePointer?

    /// A client's: where the sessions go that the server offers.
    var sessionSink: SessionSink?

    init() {}

    deinit {
        chosenProtocol?.deallocate()
        X509_free(refusedCertificate)
        X509_free(refusedLeaf)
    }

    /// Adds a line of the key log; the master secret of TLS 1.2 only once.
    mutating func log(_ line: UnsafePointer<CChar>) {
        let bytes = UnsafeRawBufferPointer(start: line, count: strlen(line))
        if bytes.starts(with: "CLIENT_RANDOM ".utf8) {
            if hasMasterSecret { return }
            hasMasterSecret = true
        }
        secrets += bytes
        secrets.append(0x0A)
    }

    /// The state that `ssl` belongs to.
    @inline(__always)
    static func of(_ ssl: OpaquePointer?) -> UnsafeMutablePointer<TLSConnectionState>? {
        SSL_get_ex_data(ssl, 0)?.assumingMemoryBound(to: TLSConnectionState.self)
    }
}

/// A BIO over the two queues of a connection: no copy but the ones into and out of them.
enum QueueBIO {
    private static let retryFlags =
        BIO_FLAGS_READ | BIO_FLAGS_WRITE | BIO_FLAGS_IO_SPECIAL | BIO_FLAGS_SHOULD_RETRY

    /// Written once, before the first use; OpenSSL only reads it.
    nonisolated(unsafe) static let method: OpaquePointer? = {
        guard let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "handoff queues") else {
            return nil
        }
        BIO_meth_set_create(method) { bio in
            BIO_set_init(bio, 1)
            return 1
        }
        BIO_meth_set_read_ex(method) { bio, bytes, count, done in
            guard let state = QueueBIO.state(bio), let bytes, let done else { return 0 }
            BIO_clear_flags(bio, QueueBIO.retryFlags)
            done.pointee = state.pointee.input.take(count, into: UnsafeMutableRawPointer(bytes))
            if done.pointee > 0 { return 1 }
            BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
            return -1
        }
        BIO_meth_set_write_ex(method) { bio, bytes, count, done in
            guard let state = QueueBIO.state(bio), let bytes, let done else { return 0 }
            BIO_clear_flags(bio, QueueBIO.retryFlags)
            guard count <= TLSEngine.outputLimit - state.pointee.output.count,
                state.pointee.output.append(UnsafeRawPointer(bytes), count)
            else { return 0 }
            done.pointee = count
            return 1
        }
        BIO_meth_set_ctrl(method) { _, command, _, _ in command == BIO_CTRL_FLUSH ? 1 : 0 }
        return method
    }()

    @inline(__always)
    private static func state(_ bio: OpaquePointer?) -> UnsafeMutablePointer<TLSConnectionState>? {
        BIO_get_data(bio)?.assumingMemoryBound(to: TLSConnectionState.self)
    }
}
