import Crypto
import Foundation

/// One side of TLS on a blocking socket, of which a test decides every byte.
final class TLSPeer {
    let socket: BlockingSocket
    let engine: TLSEngine
    /// Where what is sent is cut in two, counted from the next byte on; the halves leave 2 ms apart.
    var cut: Int?
    /// Most bytes that leave at once, once the other side has said something (its hello goes whole).
    var pieceSize = Int.max
    /// Whether the other side has sent anything.
    private(set) var hasReceived = false

    init(_ engine: TLSEngine, on socket: BlockingSocket) {
        self.engine = engine
        self.socket = socket
    }

    /// A client's side.
    static func client(
        on socket: BlockingSocket, name: String?, authority: String?, alpn: [String] = [],
        versions: ClosedRange<TLSVersion> = .tls12 ... .tls13, certificate: ClientIdentity? = nil
    ) throws -> TLSPeer {
        let options = TLSClientOptions(
            serverName: name, verifyName: authority == nil ? nil : name,
            verification: authority.map { .system(extraCAFile: $0) } ?? .none, alpn: TLSClientOptions.alpnList(alpn),
            clientCertificate: certificate, minimumVersion: versions.lowerBound, maximumVersion: versions.upperBound)
        return TLSPeer(try TLSEngine(client: options, contexts: TLSContexts()), on: socket)
    }

    /// Does the handshake but for sending the last flight, which waits in the engine.
    func handshakeWithoutSending() throws {
        while try !engine.handshake() {
            flush()
            try feedOnce()
        }
    }

    /// Reads once and gives it to the engine.
    func feedOnce() throws {
        guard let bytes = socket.read() else { throw POSIXError(.ECONNRESET) }
        hasReceived = true
        if bytes.isEmpty { engine.endOfInput() } else { bytes.withUnsafeBytes { engine.feed($0) } }
    }

    func handshake() throws {
        do { try handshakeWithoutSending() } catch {
            flush()
            throw error
        }
        flush()
    }

    /// Sends what the engine has.
    @discardableResult func flush() -> Bool {
        var bytes: [UInt8] = []
        engine.withOutput {
            bytes = Array($0)
            return $0.count
        }
        if hasReceived, pieceSize < bytes.count {
            return stride(from: 0, to: bytes.count, by: pieceSize).allSatisfy { start in
                usleep(300)
                return socket.write(bytes[start..<min(start + pieceSize, bytes.count)])
            }
        }
        guard let cut, cut < bytes.count else { return socket.write(bytes) }
        self.cut = nil
        guard socket.write(bytes[..<cut]) else { return false }
        usleep(2_000)
        return socket.write(bytes[cut...])
    }

    @discardableResult func send(_ plaintext: some Collection<UInt8>) -> Bool {
        guard (try? Array(plaintext).withUnsafeBytes { try engine.write($0) }) != nil else { return false }
        return flush()
    }

    func send(_ text: String) { send(Array(text.utf8)) }

    func closeNotify() {
        engine.closeNotify()
        flush()
    }

    enum Received: Equatable {
        case bytes([UInt8])
        case closeNotify, finished, reset
        case failed(String)
    }

    /// Waits for plaintext, or for what ends it.
    func receive() -> Received {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            do {
                switch try buffer.withUnsafeMutableBytes({ try engine.read(into: $0) }) {
                case .bytes(let count): return .bytes(Array(buffer[..<count]))
                case .closed: return .closeNotify
                case .truncated: return .finished
                case .needsInput: break
                }
            } catch {
                flush()
                return .failed("\(error)")
            }
            flush()
            guard let bytes = socket.read() else { return .reset }
            if bytes.isEmpty { return .finished }
            bytes.withUnsafeBytes { engine.feed($0) }
        }
    }

    /// All plaintext up to `count` bytes, or to the end.
    func receive(count: Int) -> [UInt8] {
        var all: [UInt8] = []
        while all.count < count, case .bytes(let piece) = receive() { all += piece }
        return all
    }

    /// All plaintext up to the blank line of a head.
    func receiveHead() -> String {
        var all: [UInt8] = []
        while !String(decoding: all, as: UTF8.self).contains("\r\n\r\n"), case .bytes(let piece) = receive() {
            all += piece
        }
        return String(decoding: all, as: UTF8.self)
    }
}

/// A TLS server on a port of 127.0.0.1 whose every connection `serve` answers, on a thread of its own.
func tlsOrigin(
    _ identity: ServerIdentity, alpn: String? = nil, versions: ClosedRange<TLSVersion> = .tls12 ... .tls13,
    _ serve: @escaping @Sendable (TLSPeer) -> Void
) throws -> BlockingServer {
    let contexts = try TLSContexts()
    return try BlockingServer { socket in
        let options = TLSServerOptions(
            identity: identity, alpn: alpn, minimumVersion: versions.lowerBound, maximumVersion: versions.upperBound)
        guard let engine = try? TLSEngine(server: options, contexts: contexts) else { return }
        let peer = TLSPeer(engine, on: socket)
        guard (try? peer.handshake()) != nil else { return }
        serve(peer)
    }
}

/// Answers each request of an HTTP/1.1 connection with its own target.
@Sendable func answerTargets(_ peer: TLSPeer) {
    var received = ""
    while case .bytes(let bytes) = peer.receive() {
        received += String(decoding: bytes, as: UTF8.self)
        while let end = received.range(of: "\r\n\r\n") {
            let target = received.split(separator: " ").dropFirst().first.map(String.init) ?? "?"
            received.removeSubrange(..<end.upperBound)
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(target.utf8.count)\r\n\r\n\(target)")
        }
    }
    peer.closeNotify()
    peer.socket.close()
}
