internal import Crypto
internal import EventLoop
internal import SessionTrace

/// One end of an intercepted connection: an engine on its transport. Confined to the connection that owns it.
///
/// One task reads, one task writes; what the engine itself has to say (alerts, KeyUpdate) goes out between the writer's
/// pieces, never inside one.
final class TLSEnd {
    /// Ciphertext that is read at once, at first and at most, in bytes: it grows while reads fill it and shrinks when they are
    /// short, so that an idle connection costs little and a download few calls. What is read at once passes both engines
    /// and the recording while it is in the processor's cache.
    static let smallestRead = 16_384 + 512
    static let largestRead = 64 << 10
    /// How often a blocked write looks whether its connection still makes sense.
    static let patience: Duration = .milliseconds(500)

    /// What a piece from the peer came to.
    enum Received: Hashable {
        /// More may come.
        case open
        /// The peer said that it sends no more (close_notify); its FIN is still to come.
        case closed
        /// FIN.
        case finished
    }

    let engine: TLSEngine
    let transport: ByteTransport
    /// Takes new secrets; called after each piece from the peer, before anything else is done with it, and before each
    /// write.
    private let takeSecrets: ([UInt8]) -> Void
    private var readBuffer: UnsafeMutableRawBufferPointer
    private var nextReadSize = TLSEnd.smallestRead
    private var isCloseNotifyTold = false
    private var isFlushing = false
    private var waitingForFlush: [UnsafeContinuation<Void, Never>] = []
    /// When the latest piece from the peer came.
    private(set) var latestArrival: Instant?

    init(_ engine: TLSEngine, on transport: ByteTransport, secrets takeSecrets: @escaping ([UInt8]) -> Void) {
        self.engine = engine
        self.transport = transport
        self.takeSecrets = takeSecrets
        readBuffer = .allocate(byteCount: Self.smallestRead, alignment: 16)
    }

    deinit {
        readBuffer.deallocate()
    }

    // MARK: Handshake

    /// Does the handshake. `first`: bytes of the peer that have been read already. `isWanted` is asked every now and then;
    /// false ends it.
    ///
    /// An alert that the engine has for the peer is sent before this throws.
    nonisolated(nonsending) func handshake(
        first: [UInt8] = [], until deadline: Instant, isWanted: () -> Bool
    ) async throws(TLSEndError) {
        first.withUnsafeBytes { engine.feed($0) }
        while true {
            let isComplete: Bool
            do throws(TLSFailure) {
                defer { takeSecrets(engine.takeSecrets()) }
                isComplete = try engine.handshake()
            } catch {
                try? await flush()
                throw .tls(error)
            }
            do { try await flush() } catch { throw .socket(error) }
            if isComplete { return }
            try await readDuringHandshake(until: deadline, isWanted: isWanted)
        }
    }

    private nonisolated(nonsending) func readDuringHandshake(
        until deadline: Instant, isWanted: () -> Bool
    ) async throws(TLSEndError) {
        while true {
            do throws(SocketError) {
                let (count, arrival) = try await transport.read(into: readBuffer, timeout: Self.patience)
                latestArrival = arrival
                if count == 0 {
                    engine.endOfInput()
                } else {
                    engine.feed(UnsafeRawBufferPointer(rebasing: readBuffer[..<count]))
                }
                return
            } catch {
                guard error.isTimeout else { throw .socket(error) }
                guard isWanted() else { throw .unwanted }
                guard WallClock.now() < deadline else { throw .socket(error) }
            }
        }
    }

    // MARK: Plaintext in

    /// Gives `body` the plaintext that is there already: what came in one segment with the end of the handshake.
    func drain(_ body: (UnsafeRawBufferPointer) throws(TLSFailure) -> Void) throws(TLSFailure) -> Received {
        defer { takeSecrets(engine.takeSecrets()) }
        let scratch = PlaintextScratch.take()
        defer { PlaintextScratch.giveBack(scratch) }
        while true {
            switch try engine.read(into: scratch) {
            case .bytes(let count): try body(UnsafeRawBufferPointer(rebasing: scratch[..<count]))
            case .needsInput: return .open
            case .closed:
                defer { isCloseNotifyTold = true }
                return isCloseNotifyTold ? .open : .closed
            case .truncated: return .finished
            }
        }
    }

    /// Waits for the next piece from the peer and gives `body` all plaintext that it completes, in order.
    nonisolated(nonsending) func receive(
        timeout: Duration? = nil, _ body: (UnsafeRawBufferPointer) throws(TLSFailure) -> Void
    ) async throws(TLSEndError) -> Received {
        adaptReadBuffer()
        let count: Int
        do throws(SocketError) {
            let piece = try await transport.readLending(into: readBuffer, timeout: timeout)
            count = piece.count
            latestArrival = piece.arrival
        } catch {
            throw .socket(error)
        }
        defer { transport.endLending() }
        if count == 0 {
            takeSecrets([])
            return .finished
        }
        // After close_notify the peer has nothing more to say; what comes all the same is taken off the wire.
        if isCloseNotifyTold {
            takeSecrets([])
            return .open
        }
        let received: Received
        do throws(TLSFailure) {
            received = try engine.feed(lending: UnsafeRawBufferPointer(rebasing: readBuffer[..<count])) {
                () throws(TLSFailure) in try drain(body)
            }
        } catch { throw .tls(error) }
        if count == readBuffer.count {
            nextReadSize = Self.largestRead
        } else if count < Self.smallestRead / 2 {
            nextReadSize = Self.smallestRead
        }
        return received
    }

    /// Nothing of the buffer is lent when this is called.
    private func adaptReadBuffer() {
        guard nextReadSize != readBuffer.count else { return }
        readBuffer.deallocate()
        readBuffer = .allocate(byteCount: nextReadSize, alignment: 16)
    }

    // MARK: Ciphertext out

    /// Sends what the engine has for the peer, and returns when the transport has taken it. `isWanted` is asked while the
    /// peer takes nothing; false ends it with ECANCELED.
    nonisolated(nonsending) func flush(isWanted: () -> Bool = { true }) async throws(SocketError) {
        while isFlushing {
            await withUnsafeContinuation { waitingForFlush.append($0) }
        }
        guard engine.hasOutput else { return }
        isFlushing = true
        defer {
            isFlushing = false
            let waiting = waitingForFlush
            waitingForFlush = []
            for continuation in waiting { continuation.resume() }
        }
        let secrets = engine.takeSecrets()
        if !secrets.isEmpty { takeSecrets(secrets) }
        while engine.hasOutput {
            let output = engine.takeOutput()
            try await send(output.bytes, isWanted)
        }
    }

    private nonisolated(nonsending) func send(
        _ bytes: UnsafeRawBufferPointer, _ isWanted: () -> Bool
    ) async throws(SocketError) {
        var rest = bytes
        while !rest.isEmpty {
            do throws(SocketError) {
                try await transport.write(rest, timeout: Self.patience)
                return
            } catch {
                guard error.isTimeout else { throw error }
                guard isWanted() else { throw .cancelled("write") }
                rest = UnsafeRawBufferPointer(rebasing: rest[error.written...])
            }
        }
    }
}

/// Why an end of an intercepted connection can't go on.
enum TLSEndError: Error, Hashable {
    case tls(TLSFailure)
    case socket(SocketError)
    /// The other end is gone.
    case unwanted
}

extension TLSEndError {
    /// Plain words, without a full stop.
    var reason: String {
        switch self {
        case .tls(let failure): failure.reason
        case .socket(let error) where error.isTimeout: "no answer in time"
        case .socket(let error) where error.isReset: "the connection was reset"
        case .socket(let error): error.description
        case .unwanted: "the other side is gone"
        }
    }
}
