import Foundation
import Synchronization

/// A blocking TCP socket of a test: every wait ends after 30 seconds.
final class RawSocket: Sendable {
    let number: Int32

    init(_ number: Int32) {
        self.number = number
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit {
        close(number)
    }

    /// Connects to a port on loopback.
    static func connect(port: UInt16) throws -> RawSocket {
        let socket = RawSocket(Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        var address = loopback(port)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.connect(socket.number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw POSIXError(.ECONNREFUSED) }
        return socket
    }

    static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    /// Sends everything; false when the peer is gone.
    @discardableResult func send(_ bytes: some Sequence<UInt8>) -> Bool {
        let bytes = Array(bytes)
        var at = 0
        while at < bytes.count {
            let count = bytes[at...].withUnsafeBytes {
                Foundation.send(number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            at += count
        }
        return true
    }

    @discardableResult func send(_ text: String) -> Bool { send(text.utf8) }

    /// What comes next; empty at the end, nil after a reset or when nothing came in time.
    func receive() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(number, &buffer, buffer.count, 0)
        return count < 0 ? nil : Array(buffer[..<count])
    }

    /// Reads until the text so far satisfies `enough`, or the end.
    func read(until enough: (String) -> Bool) -> String {
        var bytes: [UInt8] = []
        while !enough(String(decoding: bytes, as: UTF8.self)) {
            guard let more = receive(), !more.isEmpty else { break }
            bytes += more
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads to the end; nil when it is a reset.
    func readToEnd() -> String? {
        var bytes: [UInt8] = []
        while true {
            guard let more = receive() else { return nil }
            if more.isEmpty { return String(decoding: bytes, as: UTF8.self) }
            bytes += more
        }
    }

    func finish() { shutdown(number, Int32(SHUT_WR)) }

    /// Closes with a reset when it is let go.
    func resetOnClose() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(number, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }
}

/// An origin that does with each connection what a test says, and remembers what it was sent.
final class RawOrigin: Sendable {
    let port: UInt16
    private let listener: RawSocket
    private let received = Mutex<[String]>([])

    /// What each connection was sent, in the order in which they came.
    var connections: [String] { received.withLock { $0 } }

    /// `serve` gets each connection, and returns what it was sent.
    init(_ serve: @escaping @Sendable (RawSocket) -> String) throws {
        let listener = RawSocket(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        var address = RawSocket.loopback(0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener.number, $0, size) == 0 && listen(listener.number, 64) == 0
                    && getsockname(listener.number, $0, &size) == 0
            }
        }
        guard bound else { throw POSIXError(.EADDRINUSE) }
        port = UInt16(bigEndian: address.sin_port)
        self.listener = listener
        let thread = Thread { [weak self] in
            while true {
                let number = accept(listener.number, nil, nil)
                guard number >= 0 else { return }
                guard let self else {
                    close(number)
                    return
                }
                let index = self.received.withLock { list in
                    list.append("")
                    return list.count - 1
                }
                Thread {
                    let text = serve(RawSocket(number))
                    self.received.withLock { $0[index] = text }
                }.start()
            }
        }
        thread.start()
    }

    deinit {
        shutdown(listener.number, Int32(SHUT_RDWR))
    }

    /// Waits until the first connections have been served and give what they were sent.
    func served(_ count: Int) -> [String] {
        let deadline = Date().addingTimeInterval(30)
        while Date() < deadline {
            let texts = connections
            if texts.count >= count, !texts.prefix(count).contains("") { return texts }
            Thread.sleep(forTimeInterval: 0.01)
        }
        return connections
    }

    /// Answers one request after the other (heads alone) with `answers` in turn, then closes.
    static func answering(_ answers: [String]) throws -> RawOrigin {
        try RawOrigin { socket in
            var text = ""
            for (index, answer) in answers.enumerated() {
                // A read may bring several requests of a pipeline.
                func heads(_ more: String) -> Int { (text + more).components(separatedBy: "\r\n\r\n").count - 1 }
                text += socket.read { heads($0) > index }
                guard heads("") > index else { break }
                socket.send(answer)
            }
            return text
        }
    }
}
