/// TLS without a socket: ciphertext in, plaintext out, and the other way round.
internal import COpenSSL

/// One side of one TLS connection. Not thread-safe: it belongs to one task or actor at a time.
///
/// Ciphertext from the peer goes in with `feed`; call `handshake` after each piece until it is true, then `read`.
/// Whatever was called, ciphertext for the peer may have become ready: `withOutput` or `takeOutput` has it.
public final class TLSEngine {
    /// Ciphertext that waits to be read, in bytes: more, and the connection fails.
    public static let inputLimit = 1 << 22
    /// Ciphertext that waits to be sent, in bytes: more, and writing fails.
    public static let outputLimit = 1 << 24
    /// Early data meant for the real server, in bytes, that is skipped before a handshake fails (RFC 8446 §4.2.10).
    public static let foreignEarlyDataLimit = 1 << 20

    /// Owned by this object alone, freed in `deinit`, before the state that its callbacks point at.
    let ssl: OpaquePointer
    let state: UnsafeMutablePointer<TLSConnectionState>
    /// Whether this is the server's side.
    public let isServer: Bool
    /// The name that the peer's certificate is checked for.
    let verifyName: String?
    private let context: SSLContext

    /// Whether the handshake is over, and went well.
    public private(set) var isHandshakeComplete = false
    private var inputHasEnded = false
    private var hasSentCloseNotify = false
    private var failure: TLSFailure?

    /// The client's side: `handshake` makes the ClientHello.
    public convenience init(client options: TLSClientOptions, contexts: TLSContexts) throws(TLSFailure) {
        try self.init(
            context: try contexts.client(options.verification), isServer: false, verifyName: options.verifyName)
        try setUp(options)
    }

    /// The server's side.
    public convenience init(server options: TLSServerOptions, contexts: TLSContexts) throws(TLSFailure) {
        try self.init(context: contexts.serverContext(), isServer: true, verifyName: nil)
        try setUp(options)
    }

    private init(context: SSLContext, isServer: Bool, verifyName: String?) throws(TLSFailure) {
        guard let ssl = SSL_new(context.pointer) else { throw TLSFailure(.other, "libssl has no memory") }
        guard let method = QueueBIO.method, let bio = BIO_new(method) else {
            SSL_free(ssl)
            throw TLSFailure(.other, "libcrypto has no memory")
        }
        self.context = context
        self.ssl = ssl
        self.isServer = isServer
        self.verifyName = verifyName
        state = .allocate(capacity: 1)
        state.initialize(to: TLSConnectionState())
        BIO_set_data(bio, state)
        // One reference for both directions: SSL_free releases it once (SSL_set_bio(3)).
        SSL_set_bio(ssl, bio, bio)
        SSL_set_ex_data(ssl, 0, state)
        SSL_set_msg_callback(ssl) { isWrite, _, contentType, bytes, length, ssl, _ in
            guard isWrite == 1, contentType == SSL3_RT_HANDSHAKE, length > 0, let bytes,
                bytes.loadUnaligned(as: UInt8.self) == UInt8(SSL3_MT_CERTIFICATE)
            else { return }
            TLSConnectionState.of(ssl)?.pointee.hasSentCertificate = true
        }
    }

    deinit {
        SSL_free(ssl)
        state.deinitialize(count: 1)
        state.deallocate()
    }

    // MARK: Ciphertext

    /// Takes ciphertext from the peer, in pieces of any size. What is wrong with it, `handshake` or `read` will tell.
    public func feed(_ ciphertext: UnsafeRawBufferPointer) {
        guard let bytes = ciphertext.baseAddress, ciphertext.count > 0 else { return }
        guard ciphertext.count <= Self.inputLimit - state.pointee.input.count,
            state.pointee.input.append(bytes, ciphertext.count)
        else {
            failure =
                failure ?? TLSFailure(.limit, "more than \(Self.inputLimit) bytes of ciphertext wait to be read")
            return
        }
    }

    /// Lends ciphertext from the peer while `body` reads what it decrypts to; what is not taken by then is copied. So the
    /// usual case, whole records that are read at once, costs no copy.
    public func feed<Result, Failure: Error>(
        lending ciphertext: UnsafeRawBufferPointer, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard ciphertext.count <= Self.inputLimit - state.pointee.input.count else {
            feed(ciphertext)
            return try body()
        }
        state.pointee.input.lend(ciphertext)
        defer {
            if !state.pointee.input.endLending() {
                failure = failure ?? TLSFailure(.other, "there is no memory for what the peer sent")
            }
        }
        return try body()
    }

    /// Says that the peer sends no more bytes (FIN): tells a truncated connection from a closed one.
    public func endOfInput() {
        inputHasEnded = true
    }

    /// Whether ciphertext waits to be sent.
    public var hasOutput: Bool { state.pointee.output.count > 0 }

    /// Lends the ciphertext that waits to be sent; `body` returns how many bytes of it are done with.
    public func withOutput(_ body: (UnsafeRawBufferPointer) throws -> Int) rethrows {
        guard hasOutput else { return }
        let done = try body(state.pointee.output.bytes)
        state.pointee.output.drop(done)
    }

    /// Takes the ciphertext that waits to be sent out of the engine, so that it can be written while the engine goes on.
    /// One piece at a time: what was taken before is gone with the next call.
    public func takeOutput() -> TLSOutput {
        state.pointee.sending.drop(.max)
        swap(&state.pointee.sending, &state.pointee.output)
        return TLSOutput(bytes: state.pointee.sending.bytes)
    }

    // MARK: Handshake

    /// Goes on with the handshake: true when it is over. Throws when it failed; an alert for the peer may then wait to
    /// be sent.
    public func handshake() throws(TLSFailure) -> Bool {
        if isHandshakeComplete { return true }
        if let failure { throw failure }
        clearErrorQueue()
        let result = SSL_do_handshake(ssl)
        logMasterSecret()
        if result == 1 {
            isHandshakeComplete = true
            SSL_set_msg_callback(ssl, nil)
            return true
        }
        let error = SSL_get_error(ssl, result)
        defer { clearErrorQueue() }
        if error == SSL_ERROR_WANT_READ {
            guard inputHasEnded else { return false }
            throw fail(TLSFailure(.truncated, "the peer closed the connection during the TLS handshake"))
        }
        throw fail(currentFailure(error))
    }

    /// TLS 1.2 and older: libssl logs the secret only with a Finished of its own. The client's Finished may be half
    /// there by then, and whoever records it needs the secret first.
    private func logMasterSecret() {
        guard !state.pointee.hasMasterSecret, isServer, SSL_version(ssl) < TLS1_3_VERSION else { return }
        guard let session = SSL_get_session(ssl) else { return }
        withUnsafeTemporaryAllocation(byteCount: 32 + 48, alignment: 1) { memory in
            guard let base = memory.bindMemory(to: UInt8.self).baseAddress else { return }
            guard SSL_SESSION_get_master_key(session, base + 32, 48) == 48,
                SSL_get_client_random(ssl, base, 32) == 32
            else { return }
            state.pointee.hasMasterSecret = true
            state.pointee.secrets += "CLIENT_RANDOM ".utf8
            for index in 0..<80 {
                if index == 32 { state.pointee.secrets.append(0x20) }
                state.pointee.secrets.append(Self.hexDigits[Int(base[index] >> 4)])
                state.pointee.secrets.append(Self.hexDigits[Int(base[index] & 15)])
            }
            state.pointee.secrets.append(0x0A)
            OPENSSL_cleanse(base, 80)
        }
    }

    private static let hexDigits = Array("0123456789abcdef".utf8)

    // MARK: Plaintext

    /// Decrypts into `buffer`, as much as fits and is there.
    public func read(into buffer: UnsafeMutableRawBufferPointer) throws(TLSFailure) -> TLSReadResult {
        var filled = 0
        while filled < buffer.count, let base = buffer.baseAddress {
            if filled == 0, let failure { throw failure }
            clearErrorQueue()
            var count = 0
            let result = SSL_read_ex(ssl, base + filled, buffer.count - filled, &count)
            if result == 1 {
                filled += count
                if state.pointee.input.count == 0, SSL_has_pending(ssl) == 0 { break }
                continue
            }
            let error = SSL_get_error(ssl, result)
            defer { clearErrorQueue() }
            switch error {
            case SSL_ERROR_WANT_READ:
                if filled > 0 { return .bytes(filled) }
                return inputHasEnded ? .truncated : .needsInput
            case SSL_ERROR_ZERO_RETURN:
                return filled > 0 ? .bytes(filled) : .closed
            default:
                let failure = fail(currentFailure(error))
                guard filled > 0 else { throw failure }
            }
            break
        }
        return filled > 0 ? .bytes(filled) : .needsInput
    }

    /// Encrypts `plaintext`; the ciphertext then waits to be sent.
    public func write(_ plaintext: UnsafeRawBufferPointer) throws(TLSFailure) {
        guard let base = plaintext.baseAddress, plaintext.count > 0 else { return }
        guard !hasSentCloseNotify else { throw TLSFailure(.other, "bytes written after the end was announced") }
        // A record adds at most 5 + 1 + 255 + 64 bytes (header, type, padding, MAC and IV); 64 is what AEADs stay under.
        _ = state.pointee.output.reserve(plaintext.count + (plaintext.count / 16_384 + 1) * 64)
        clearErrorQueue()
        var written = 0
        let result = SSL_write_ex(ssl, base, plaintext.count, &written)
        guard result != 1 || written != plaintext.count else { return }
        defer { clearErrorQueue() }
        if state.pointee.output.count + plaintext.count > Self.outputLimit - 65_536 {
            throw fail(TLSFailure(.limit, "more than \(Self.outputLimit) bytes of ciphertext wait to be sent"))
        }
        throw fail(currentFailure(SSL_get_error(ssl, result)))
    }

    /// Announces that nothing more will be written (close_notify). Reading goes on. Without effect before the
    /// handshake is over.
    public func closeNotify() {
        guard isHandshakeComplete, !hasSentCloseNotify else { return }
        hasSentCloseNotify = true
        withCleanErrorQueue { _ = SSL_shutdown(ssl) }
    }

    /// Sends a fatal alert in clear: possible only as long as nothing else was sent. False when it is too late.
    @discardableResult
    public func sendAlert(_ description: UInt8) -> Bool {
        guard isServer, !hasOutput, SSL_in_before(ssl) == 1 else { return false }
        let record = TLSAlert.clearRecord(description)
        state.pointee.sentAlert = description
        failure =
            failure ?? TLSFailure(.other, "ended with the alert \(TLSAlert.name(description))", alert: description)
        return record.withUnsafeBytes { bytes in
            bytes.baseAddress.map { state.pointee.output.append($0, bytes.count) } ?? false
        }
    }

    // MARK: Failure

    private func fail(_ new: TLSFailure) -> TLSFailure {
        failure = failure ?? new
        return new
    }

    /// What the error queue and the callbacks say about the call that just failed.
    private func currentFailure(_ error: Int32) -> TLSFailure {
        if let alert = state.pointee.receivedAlert, isReceivedAlert(ERR_peek_last_error()) {
            return TLSFailure(.peerAlert, "the peer ended TLS with the alert \(TLSAlert.name(alert))", alert: alert)
        }
        if let words = verifyFailure {
            return TLSFailure(
                .verification, words, alert: state.pointee.sentAlert,
                verificationCode: state.pointee.verificationCode)
        }
        guard error == SSL_ERROR_SSL else { return TLSFailure(.other, "TLS failed (libssl error \(error))") }
        let words = ERR_reason_error_string(ERR_peek_error()).map { String(cString: $0) } ?? "unknown reason"
        return TLSFailure(.protocolViolation, "TLS failed: \(words)", alert: state.pointee.sentAlert)
    }

    /// libssl's reason codes from 1000 on are 1000 + the number of the alert that the peer sent.
    private func isReceivedAlert(_ code: UInt) -> Bool {
        let reason = Int32(truncatingIfNeeded: code & UInt(ERR_REASON_MASK))
        return reason >= SSL_AD_REASON_OFFSET && reason < SSL_AD_REASON_OFFSET + 256
    }
}
