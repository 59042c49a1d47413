import Foundation
import Glibc
import SessionTrace
import Synchronization
import Testing

@testable import HandoffProxy

/// A device of its own: a network namespace on a virtual cable. Gone with the value.
private final class NetworkNamespace {
    /// This host's end of the cable.
    let interface: String
    private let name: String
    private let ip: String

    /// Makes a device with the given addresses on a cable to this host; nil where the system does not let us.
    init?(host: [String], device: [String]) throws {
        guard getuid() == 0, let ip = FinishedCommand.find("ip") else { return nil }
        self.ip = ip
        name = "handoff-\(getpid())-\(UInt16.random(in: 0...999))"
        interface = "hv\(UInt32.random(in: 0..<1_000_000))"
        let commands =
            [
                ["netns", "add", name],
                ["link", "add", interface, "type", "veth", "peer", "name", "eth0", "netns", name],
            ] + host.map { ["addr", "add", $0, "dev", interface] + ($0.contains(":") ? ["nodad"] : []) }
            + device.map { ["-n", name, "addr", "add", $0, "dev", "eth0"] + ($0.contains(":") ? ["nodad"] : []) }
            + [["link", "set", interface, "up"], ["-n", name, "link", "set", "eth0", "up"]]
        for command in commands {
            guard try FinishedCommand(ip, command).status == 0 else { return nil }
        }
    }

    deinit {
        _ = try? FinishedCommand(ip, ["netns", "del", name])
        _ = try? FinishedCommand(ip, ["link", "del", interface])
    }

    /// Lets the device send "ping" to an endpoint and read until the end; gives what it read.
    func call(_ endpoint: Endpoint) throws -> String {
        let script = "exec 3<>/dev/tcp/\(endpoint.address)/\(endpoint.port); printf ping >&3; cat <&3"
        return try FinishedCommand(ip, ["netns", "exec", name, "timeout", "20", "bash", "-c", script]).output
    }
}

/// A server that answers every connection with what it sent, and says who called.
private final class EchoServer: Sendable {
    let endpoint: Endpoint
    private let descriptor: Int32
    private let callers = Mutex<[Endpoint]>([])

    /// Listens on an address, on a port of the system's choice.
    init(_ address: String) throws {
        let isIPv4 = !address.contains(":")
        let socket = Glibc.socket(isIPv4 ? AF_INET : AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
        var name = [UInt8](repeating: 0, count: isIPv4 ? 16 : 28)
        name[0] = UInt8(isIPv4 ? AF_INET : AF_INET6)
        name.withUnsafeMutableBytes { name in
            _ = inet_pton(isIPv4 ? AF_INET : AF_INET6, address, name.baseAddress?.advanced(by: isIPv4 ? 4 : 8))
        }
        var length = socklen_t(name.count)
        let result = name.withUnsafeMutableBytes { name -> Int32 in
            guard let name = name.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return -1 }
            return bind(socket, name, length) | listen(socket, 8) | getsockname(socket, name, &length)
        }
        guard result == 0 else { throw POSIXError(.EADDRNOTAVAIL) }
        descriptor = socket
        endpoint = .of(address, UInt16(name[2]) << 8 | UInt16(name[3]))
        Thread.detachNewThread { [self] in
            while true {
                var name = [UInt8](repeating: 0, count: 28)
                var length = socklen_t(name.count)
                let peer = name.withUnsafeMutableBytes { name in
                    accept(socket, name.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
                }
                guard peer >= 0 else { return }
                let port = UInt16(name[2]) << 8 | UInt16(name[3])
                let address = name.withUnsafeBytes { name in
                    isIPv4
                        ? IPAddress(ipv4: UInt32(bigEndian: name.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
                        : IPAddress(
                            ipv6High: UInt64(bigEndian: name.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
                            low: UInt64(bigEndian: name.loadUnaligned(fromByteOffset: 16, as: UInt64.self)))
                }
                callers.withLock { $0.append(Endpoint(address: address, port: port)) }
                var buffer = [UInt8](repeating: 0, count: 64)
                let count = read(peer, &buffer, buffer.count)
                if count > 0 { _ = write(peer, buffer, count) }
                close(peer)
            }
        }
    }

    /// Ends it: a listener that is shut down accepts no more.
    func stop() {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    /// Who called last.
    var lastCaller: Endpoint? { callers.withLock { $0.last } }
}

/// Recording a device that is really another host, as far as the network can tell.
@Suite struct NetworkNamespaceTests {
    private static func now() -> Instant {
        Instant(nanoseconds: Int64(Date().timeIntervalSince1970 * 1_000_000_000))
    }

    @Test("a device with an IPv4 and an IPv6 address has one trace; what it does around the proxy is named, on both")
    func device() throws {
        guard
            let namespace = try NetworkNamespace(
                host: ["10.77.0.1/24", "fd77::1/64"], device: ["10.77.0.2/24", "fd77::2/64"])
        else { try Test.cancel("no network namespace can be made here") }
        let folder = try ScratchFolder()
        let notices = Mutex<[RecordingNotice]>([])
        var options = RecordingOptions()
        options.alsoCapture = [namespace.interface]
        let recording = try Recording(
            path: folder["d"], version: "1", started: Self.now(), options: options,
            onNotice: { notice in notices.withLock { $0.append(notice) } })
        recording.startCapture(excluding: [])
        var around: [Endpoint] = []
        var paths: Set<String?> = []
        var proxied = 0
        for host in ["10.77.0.1", "fd77::1"] {
            let proxy = try EchoServer(host)
            let origin = try EchoServer(host)
            defer {
                proxy.stop()
                origin.stop()
            }
            #expect(try namespace.call(proxy.endpoint) == "ping")
            let client = try #require(proxy.lastCaller)
            let connection = recording.open(client: client, server: proxy.endpoint, at: Self.now())
            Array("ping".utf8).withUnsafeBytes { connection.received($0, at: Self.now()) }
            proxied += 1
            if case .hardware = connection.device {} else { Issue.record("\(connection.device)") }
            paths.insert(connection.path)
            #expect(try namespace.call(origin.endpoint) == "ping")
            around.append(origin.endpoint)
            let deadline = Date().addingTimeInterval(30)
            while Date() < deadline, notices.withLock({ $0.count }) < around.count { usleep(10_000) }
        }
        recording.stop(at: Self.now())
        #expect(paths == [folder["d.pcapng"]] && recording.status.count == 1)
        let flows = notices.withLock { $0 }.compactMap { notice -> BypassFlow? in
            if case .wentAround(let flow) = notice { flow } else { nil }
        }
        #expect(flows.map(\.remote) == around && flows.allSatisfy { $0.transport == "TCP" })
        let content = try TraceContent(path: folder["d.pcapng"])
        let captured = content.connections.filter { $0.interface == namespace.interface }
        #expect(captured.map(\.connection.server) == around)
        #expect(captured.allSatisfy { $0.client.bytes == Array("ping".utf8) && $0.server.bytes == $0.client.bytes })
        #expect(content.connections.count == proxied + around.count && content.holes == 0)
    }
}
