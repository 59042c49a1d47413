import EventLoop
import Foundation
import SessionTrace
import Synchronization

@testable import HandoffProxy

/// What a control plane under test has been told to do.
final class ControlDeeds: Sendable {
    let marks = Mutex<[Mark]>([])
    let faults = Mutex<[String]>([])
    let stops = Mutex(0)
}

/// A control plane with its sockets on a loop of its own: the control API, marks by datagram, and the devices' site.
struct ControlFixture {
    let plane: ControlPlane
    let deeds = ControlDeeds()
    let control: Endpoint
    let site: Endpoint
    let marks: Endpoint
    private let loop: EventLoop
    private let listeners: ControlListeners
    private let devices: DeviceListener

    static let downloads = CertificateDownloads(
        name: "handoff CA lab 2026-11-29", fingerprint: "AB:CD:EF:01:23:45:67:89", pem: Array("pem".utf8),
        der: [0x30, 0x03, 0x02, 0x01, 0x00], mobileconfig: Array("profile".utf8), android: Array("pem".utf8),
        androidName: "0a1b2c3d.0")

    static func plane(_ deeds: ControlDeeds) throws -> ControlPlane {
        let plane = try ControlPlane(
            version: "test", downloads: downloads,
            seams: ControlPlane.Seams { mark, _, _, _ in
                deeds.marks.withLock { marks in
                    marks.append(mark)
                    return RecordedMark(sequence: marks.count, files: ["a.pcapng"])
                }
            }, started: WallClock.now())
        plane.connect { seams in
            seams.stop = { deeds.stops.withLock { $0 += 1 } }
            seams.status = { [JSONMember(name: "connections", value: .number("0"))] }
            seams.faults = FaultControls(
                list: { deeds.faults.withLock { $0.map(JSONValue.string) } },
                add: { rule throws(ControlRefusal) in
                    guard rule.contains(":") else { throw ControlRefusal("no colon in '\(rule)'") }
                    deeds.faults.withLock { $0.append(rule) }
                },
                removeAll: {
                    deeds.faults.withLock { faults in
                        defer { faults = [] }
                        return faults.count
                    }
                })
        }
        return plane
    }

    /// Opens everything on loopback, on ports of the kernel's choice.
    init() async throws {
        let loopback = Endpoint(address: IPAddress(ipv4: 0x7F00_0001), port: 0)
        loop = try EventLoop(name: "control-test")
        plane = try Self.plane(deeds)
        listeners = ControlListeners(plane: plane, loop: loop)
        try await listeners.start(control: loopback, marks: [loopback])
        control = try await listeners.controlAddress ?? { throw POSIXError(.EADDRNOTAVAIL) }()
        marks = try await listeners.markAddresses.first ?? { throw POSIXError(.EADDRNOTAVAIL) }()
        devices = DeviceListener(plane: plane, loop: loop)
        site = try await devices.start(loopback)
        plane.listenerBound(site)
    }

    /// Ends it, and waits for that.
    func end() async {
        await listeners.stop()
        await devices.stop()
        let loop = loop
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                loop.stop()
                continuation.resume()
            }
        }
    }

    /// Runs `body` with a fixture, and ends the fixture whatever happens.
    static func with(_ body: (ControlFixture) async throws -> Void) async throws {
        let fixture = try await ControlFixture()
        do {
            try await body(fixture)
        } catch {
            await fixture.end()
            throw error
        }
        await fixture.end()
    }
}

/// What the proxy does with a connection that is for the proxy itself, without the proxy.
actor DeviceListener {
    private let plane: ControlPlane
    private let loop: EventLoop
    private var listener: TCPListener?
    private var task: Task<Void, Never>?

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(plane: ControlPlane, loop: EventLoop) {
        self.plane = plane
        self.loop = loop
    }

    func start(_ endpoint: Endpoint) throws -> Endpoint {
        let listener = try TCPListener.listen(on: endpoint, loop: loop)
        self.listener = listener
        task = Task { await self.acceptAll() }
        return listener.local
    }

    func stop() async {
        listener?.close()
        task?.cancel()
        await task?.value
    }

    private func acceptAll() async {
        await withDiscardingTaskGroup { group in
            while let accepted = try? await listener?.accept() { group.addTask { await self.serve(accepted) } }
            group.cancelAll()
        }
    }

    private func serve(_ accepted: AcceptedSocket) async {
        guard let stream = try? TCPStream(adopting: accepted, on: loop) else { return }
        let connection = LocalConnection(
            plane: plane, site: .device, client: stream.peer, local: stream.local, isSecure: false)
        await connection.serve(TimedStream(stream, idle: .seconds(30)), arrival: accepted.accepted)
        stream.close()
    }
}
