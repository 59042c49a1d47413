import CaptureAnalyzer
import Crypto
import EventLoop
import Foundation
import SessionTrace
import Synchronization
import Testing

@testable import HandoffProxy

/// A proxy on loopback with an authority, a recording and origins' authority of its own.
final class ProxyUnderTest: Sendable {
    /// The name of the origin in most tests.
    static let name = "origin.test"

    let scratch: ScratchFolder
    let authority: CertificateAuthority
    /// Who signs the origins' certificates; the proxy trusts it.
    let originAuthority: CertificateAuthority
    let proxy: HandoffProxy
    let recording: Recording
    private let loops: EventLoopGroup
    private let live: Task<[LiveEvent], Never>

    init(
        journey: (any JourneyGuide)? = nil, faults: FaultTable = FaultTable(),
        _ configure: (inout ProxyConfiguration) throws -> Void = { _ in }
    ) async throws {
        scratch = try ScratchFolder()
        authority = try CertificateAuthority.inMemory(hostName: "lab")
        originAuthority = try CertificateAuthority.inMemory(hostName: "origins")
        try authority.certificate.pem.write(toFile: scratch["ca.pem"], atomically: true, encoding: .utf8)
        try originAuthority.certificate.pem.write(toFile: scratch["origins.pem"], atomically: true, encoding: .utf8)
        var configuration = ProxyConfiguration()
        configuration.listeners = [ListenAddress(endpoint: .of("127.0.0.1", 0))]
        configuration.upstreamAuthorities = scratch["origins.pem"]
        configuration.resolveOverrides = [try #require(ResolveOverride("*:*:127.0.0.1"))]
        configuration.timeouts.stopGrace = .milliseconds(200)
        try configure(&configuration)
        recording = try Recording(path: scratch["trace.pcapng"], version: "0", started: WallClock.now())
        loops = try EventLoopGroup(count: 1)
        proxy = try HandoffProxy(
            configuration: configuration, authority: authority, recording: recording, journey: journey,
            faults: faults, loops: loops)
        let events = proxy.events
        live = Task {
            var all: [LiveEvent] = []
            for await event in events { all.append(event) }
            return all
        }
        try await proxy.start()
    }

    var port: UInt16 { proxy.addresses.first?.port ?? 0 }
    /// File with the proxy's own authority.
    var ca: String { scratch["ca.pem"] }

    /// A certificate of an origin, valid as of `now`.
    func identity(_ names: String..., at now: Instant? = nil) throws -> ServerIdentity {
        try originAuthority.leaf(for: names.compactMap { SubjectName($0) }, at: now)
    }

    /// A connection through CONNECT.
    func tunnel(to port: UInt16, host: String = name) throws -> BlockingSocket {
        let socket = try BlockingSocket(port: self.port)
        socket.write("CONNECT \(host):\(port) HTTP/1.1\r\nHost: \(host):\(port)\r\n\r\n".utf8)
        let head = socket.read(through: "\r\n\r\n")
        guard head.contains(" 200 ") else { throw POSIXError(.ECONNREFUSED) }
        return socket
    }

    /// Waits until `condition` holds; false when it does not within 20 s.
    func eventually(_ condition: () throws -> Bool) async -> Bool {
        for _ in 0..<2_000 {
            if (try? condition()) == true { return true }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return false
    }

    /// Stops everything and reads the recording back.
    func finish() async throws -> FinishedProxy {
        await proxy.stop()
        recording.stop(at: WallClock.now())
        let loops = loops
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                loops.stop()
                continuation.resume()
            }
        }
        let path = scratch["trace.pcapng"]
        var events: [SessionEvent] = []
        _ = try TraceReader.read(path: path, options: TraceOptions()) { events.append($0) }
        return FinishedProxy(scratch: scratch, path: path, live: await live.value, events: events)
    }
}

/// What a proxy left behind.
struct FinishedProxy {
    let scratch: ScratchFolder
    let path: String
    let live: [LiveEvent]
    let events: [SessionEvent]

    var exchanges: [Exchange] {
        events.compactMap { if case .exchange(let exchange) = $0 { exchange } else { nil } }
    }

    var proxyEvents: [ProxyEvent] {
        events.compactMap { if case .proxyEvent(let event) = $0 { event } else { nil } }
    }

    func proxyEvents(_ kind: ProxyEvent.Kind) -> [ProxyEvent] { proxyEvents.filter { $0.kind == kind } }

    /// What was asked of origins, CONNECT aside.
    var targets: [String] {
        exchanges.compactMap(\.request).filter { $0.method != "CONNECT" }.map(\.target)
    }

    /// The value of a field in every frame that has it, as tshark sees the recording alone.
    func tshark(_ filter: String, _ field: String) throws -> [String] {
        try Tshark.run(["-r", path, "-Y", filter, "-T", "fields", "-e", field])
    }

    /// The frames, as tshark sees them, of the connection of a request that it does not show: for a test's message.
    func frames(ofFirstBut seen: [String]) -> String {
        let unseen = exchanges.compactMap(\.request).first { $0.method != "CONNECT" && !seen.contains($0.target) }
        guard let unseen,
            let stream = try? tshark("frame.number == \(unseen.started.number)", "tcp.stream").first,
            let frames = try? Tshark.run(["-r", path, "-Y", "tcp.stream == \(stream)", "-t", "r"])
        else { return "" }
        return (["tshark does not see \(unseen.target) in frame \(unseen.started.number):"] + frames)
            .joined(separator: "\n")
    }
}
