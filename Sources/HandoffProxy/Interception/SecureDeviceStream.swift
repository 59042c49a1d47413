internal import Crypto
internal import EventLoop
internal import SessionTrace

/// The inside of a TLS connection that the proxy itself answers: TLS to the proxy, `mark.handoff.test`, the set-up page over
/// HTTPS. Plaintext to and from the device; below it, its ciphertext is recorded as it was on the wire.
///
/// Another TLS connection may run inside (CONNECT through TLS to the proxy): the secrets of both are in the recording
/// before the frames that need them.
final class SecureDeviceStream: DeviceStream {
    private let base: any DeviceStream
    private let end: TLSEnd
    private let secrets: SecretsInWaiting
    /// Plaintext that has been decrypted and not been read.
    private var plaintext: [UInt8] = []
    private var position = 0
    private var arrival: Instant?
    private var hasEnded_ = false

    /// Takes over a connection whose handshake is done.
    init(_ end: TLSEnd, over base: any DeviceStream, secrets: SecretsInWaiting) {
        self.base = base
        self.end = end
        self.secrets = secrets
        secrets.isHandshaking = false
    }

    var socket: RecordedSocket { base.socket }
    /// What was agreed on.
    var negotiated: TLSNegotiated? { end.engine.negotiated }

    // MARK: Reading

    nonisolated(nonsending) func read(
        into buffer: UnsafeMutableRawBufferPointer
    ) async throws(SocketError) -> (count: Int, arrival: Instant) {
        try await read(into: buffer, timeout: nil)
    }

    /// Reads as above; throws ETIMEDOUT when `timeout` passes without a byte from the device.
    nonisolated(nonsending) func read(
        into buffer: UnsafeMutableRawBufferPointer, timeout: Duration?
    ) async throws(SocketError) -> (count: Int, arrival: Instant) {
        try await fill(timeout: timeout)
        let count = min(buffer.count, plaintext.count - position)
        if count > 0 {
            plaintext.withUnsafeBytes {
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[position..<position + count]))
            }
            position += count
            if position == plaintext.count {
                plaintext.removeAll(keepingCapacity: plaintext.count <= PlaintextScratch.size)
                position = 0
            }
        }
        return (count, arrival ?? WallClock.now())
    }

    nonisolated(nonsending) func waitReadable() async throws(SocketError) {
        try await fill(timeout: nil)
    }

    /// Reads until there is plaintext, or the end.
    private nonisolated(nonsending) func fill(timeout: Duration?) async throws(SocketError) {
        do throws(TLSFailure) {
            if plaintext.isEmpty, !hasEnded_ { note(try end.drain { self.plaintext.append(contentsOf: $0) }) }
        } catch { throw Self.broken }
        while plaintext.isEmpty, !hasEnded_ {
            // What the base reads next records what it read before: our secrets must be there by then.
            record(secrets: [])
            do throws(TLSEndError) {
                note(try await end.receive(timeout: timeout) { self.plaintext.append(contentsOf: $0) })
            } catch {
                throw Self.socketError(error)
            }
            arrival = end.latestArrival
            if end.engine.hasOutput { try await end.flush() }
        }
    }

    private func note(_ received: TLSEnd.Received) {
        if received != .open { hasEnded_ = true }
    }

    func record(secrets lines: [UInt8]) {
        base.record(secrets: secrets.take() + lines)
    }

    // MARK: Writing

    nonisolated(nonsending) func write(_ bytes: UnsafeRawBufferPointer) async throws(SocketError) {
        // What is answered comes first in the recording.
        record(secrets: [])
        do throws(TLSFailure) { try end.engine.write(bytes) } catch { throw Self.broken }
        try await end.flush()
    }

    func finishWriting() {
        end.engine.closeNotify()
        let end = LoopConfined(end)
        // The caller can't wait, and the announcement may have to: a task of its own, on the same loop.
        Task(executorPreference: socket.stream.loop) {
            try? await end.value.flush { !end.value.transport.hasFailed }
            end.value.transport.finishWriting()
        }
    }

    func close() { base.close() }
    func reset() { base.reset() }

    private static let broken = SocketError(code: 71, operation: "TLS")

    private static func socketError(_ error: TLSEndError) -> SocketError {
        switch error {
        case .socket(let error): error
        case .tls, .unwanted: broken
        }
    }
}

/// Secrets of a connection that the proxy answers, between the engine and the recording: written at once during the
/// handshake, with what was read afterwards. Confined to one loop.
final class SecretsInWaiting {
    private let base: any DeviceStream
    private let log: ([UInt8]) -> Void
    private var lines: [UInt8] = []
    var isHandshaking = true

    init(_ base: any DeviceStream, log: @escaping ([UInt8]) -> Void) {
        self.base = base
        self.log = log
    }

    func add(_ new: [UInt8]) {
        log(new)
        if isHandshaking {
            base.record(secrets: new)
        } else {
            lines += new
        }
    }

    func take() -> [UInt8] {
        defer { lines = [] }
        return lines
    }
}

/// A value that belongs to one loop, on its way to another task of the same loop.
struct LoopConfined<Value>: @unchecked Sendable {
    // Sendable: whoever makes one sees to it that the value is only touched on its loop.
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
