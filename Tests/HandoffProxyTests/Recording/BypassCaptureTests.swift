import CaptureAnalyzer
import Foundation
import Glibc
import SessionTrace
import Synchronization
import Testing

@testable import HandoffProxy

/// The passive capture on real interfaces: needs root.
@Suite(.enabled(if: getuid() == 0, "capturing needs root")) struct BypassCaptureTests {
    private static func now() -> Instant {
        Instant(nanoseconds: Int64(Date().timeIntervalSince1970 * 1_000_000_000))
    }

    /// A TCP listener on an address and a port of its own.
    private struct Listener: ~Copyable {
        let descriptor: Int32
        let endpoint: Endpoint

        init(_ address: String) throws {
            let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            inet_pton(AF_INET, address, &name.sin_addr)
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let result = withUnsafeMutablePointer(to: &name) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                    bind(socket, name, length) | listen(socket, 8) | getsockname(socket, name, &length)
                }
            }
            guard result == 0 else { throw POSIXError(.EADDRNOTAVAIL) }
            descriptor = socket
            endpoint = .of(address, UInt16(bigEndian: name.sin_port))
        }

        deinit { close(descriptor) }

        /// Waits for a connection and gives the other end; what is received is echoed once.
        func accept() throws -> Endpoint {
            var name = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let peer = withUnsafeMutablePointer(to: &name) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.accept(descriptor, $0, &length) }
            }
            guard peer >= 0 else { throw POSIXError(.ECONNABORTED) }
            var buffer = [UInt8](repeating: 0, count: 64)
            let count = read(peer, &buffer, buffer.count)
            if count > 0 { _ = write(peer, buffer, count) }
            close(peer)
            return Endpoint(
                address: IPAddress(ipv4: UInt32(bigEndian: name.sin_addr.s_addr)),
                port: UInt16(bigEndian: name.sin_port))
        }
    }

    /// A client that sends four bytes and reads them back.
    private static func call(_ endpoint: Endpoint, from address: String) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        for (text, port) in [(address, UInt16(0)), (endpoint.address.description, endpoint.port)] {
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_port = port.bigEndian
            inet_pton(AF_INET, text, &name.sin_addr)
            withUnsafePointer(to: &name) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                    let length = socklen_t(MemoryLayout<sockaddr_in>.size)
                    _ = port == 0 ? bind(descriptor, name, length) : connect(descriptor, name, length)
                }
            }
        }
        _ = write(descriptor, "ping", 4)
        var buffer = [UInt8](repeating: 0, count: 64)
        while read(descriptor, &buffer, buffer.count) > 0 {}
    }

    /// Captures `interface` while a device at `device` has a proxied connection and one around the proxy.
    ///
    /// Returns false when the capture saw nothing: the kernel gives up packets when much else passes on the interface
    /// (`any`, beside other tests), and `isLast` is false.
    @discardableResult
    private static func run(_ interface: String, device: String, host: String, isLast: Bool = true) throws -> Bool {
        let folder = try ScratchFolder()
        let notices = Mutex<[RecordingNotice]>([])
        var options = RecordingOptions()
        options.alsoCapture = [interface]
        // Known beforehand, so that no other traffic of this host's gets in the way.
        let address = Endpoint.of(device, 0).address
        options.knownDevices = [address: .address(address)]
        let recording = try Recording(
            path: folder["c"], version: "1", started: now(), options: options,
            onNotice: { notice in notices.withLock { $0.append(notice) } })
        let proxy = try Listener(host)
        let origin = try Listener(host)
        let upstream = try Listener(host)
        recording.startCapture(excluding: [.of(host, 4_775)])

        func connect(_ endpoint: Endpoint, from address: String) -> Thread {
            let thread = Thread { call(endpoint, from: address) }
            thread.start()
            return thread
        }
        let first = connect(proxy.endpoint, from: device)
        let client = try proxy.accept()
        // The proxy tells of the connection only now: its packets have been seen before.
        let connection = recording.open(client: client, server: proxy.endpoint, at: now())
        Array("ping".utf8).withUnsafeBytes { connection.received($0, at: now()) }
        let second = connect(upstream.endpoint, from: device)
        recording.isOurs(try upstream.accept(), upstream.endpoint)
        let third = connect(origin.endpoint, from: device)
        let around = try origin.accept()
        let deadline = Date().addingTimeInterval(30)
        let patience = Date().addingTimeInterval(isLast ? 30 : 8)
        while Date() < patience, notices.withLock({ $0.isEmpty }) { usleep(10_000) }
        while Date() < deadline, !(first.isFinished && second.isFinished && third.isFinished) { usleep(1_000) }
        recording.stop(at: now())

        let flows = notices.withLock { $0 }.compactMap { notice -> BypassFlow? in
            if case .wentAround(let flow) = notice { flow } else { nil }
        }
        if flows.isEmpty, !isLast { return false }
        #expect(flows.map(\.remote) == [origin.endpoint])
        #expect(flows.map(\.local) == [around] && flows.map(\.interface) == [interface])
        let content = try TraceContent(path: folder["c.pcapng"])
        #expect(content.interfaces == ["handoff-proxy", interface] && content.statistics.count == 2)
        let captured = content.connections.filter { $0.interface == interface }
        #expect(captured.map(\.connection.server) == [origin.endpoint])
        #expect(captured.first?.client.bytes == Array("ping".utf8))
        #expect(captured.first?.server.bytes == Array("ping".utf8))
        #expect(captured.first?.connection.startSeen == true)
        #expect(content.connections.count == 2 && content.holes == 0)
        let counts = try #require(recording.captureCounts.first)
        #expect(counts.proxied > 0 && counts.recorded > 0)
        return true
    }

    // A loopback address of its own, so that nothing else on this host is taken for the device.
    @Test(
        "a flow around the proxy is named and recorded, proxied ones and our own leg are not", arguments: ["lo", "any"])
    func loopback(interface: String) throws {
        let device = interface == "lo" ? "127.77.1.1" : "127.77.1.2"
        for _ in 0..<3 where try Self.run(interface, device: device, host: "127.77.0.1", isLast: false) { return }
        try Self.run(interface, device: device, host: "127.77.0.1")
    }

    @Test("an interface that is not there is an error before anything is recorded")
    func absent() throws {
        let folder = try ScratchFolder()
        var options = RecordingOptions()
        options.alsoCapture = ["handoff-none0"]
        #expect {
            _ = try Recording(path: folder["x"], version: "1", started: Self.now(), options: options)
        } throws: {
            ($0 as? RecordingError)?.code == .capture && "\($0)".contains("handoff-none0")
        }
        #expect(!FileManager.default.fileExists(atPath: folder["x.pcapng"]))
    }
}
