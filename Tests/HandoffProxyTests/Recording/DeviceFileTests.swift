import CaptureAnalyzer
import Foundation
import SessionTrace
import Synchronization
import Testing

@testable import HandoffProxy

/// Which device is recorded where, and which marks go with it.
@Suite struct DeviceFileTests {
    private static let time = Instant(rfc3339: "2026-11-29T12:00:00Z") ?? .distantPast
    private static let listener = Endpoint.of("192.0.2.1", 4_773)

    private static func mark(_ id: String, _ kind: Mark.Kind = .tap, device: String? = nil) -> Mark {
        Mark(
            id: id, kind: kind, target: kind == .tap ? .share : nil, span: TimeSpan(time), isOnTraceClock: true,
            source: .control, device: device)
    }

    @Test("the first device has the file, each further one a file of its own")
    func devices() throws {
        let folder = try ScratchFolder()
        let files = Mutex<[RecordingFile]>([])
        let recording = try Recording(
            path: folder["n.pcapng"], version: "1", started: Self.time,
            onFile: { file in
                files.withLock { $0.append(file) }
                return RecordingFollower()
            })
        // Taken by somebody else: left alone.
        try Data("mine".utf8).write(to: URL(filePath: folder["n.192.0.2.11.pcapng"]))
        let addresses = ["192.0.2.10", "192.0.2.11", "2001:db8::1", "::ffff:192.0.2.10", "192.0.2.11"]
        let connections = addresses.enumerated().map { number, address in
            recording.open(client: .of(address, UInt16(1_000 + number)), server: Self.listener, at: Self.time)
        }
        let named = recording.open(
            client: .of("192.0.2.10", 7), server: Self.listener, at: Self.time, device: .named("a/../b ü"))
        recording.stop(at: Self.time)
        let first = folder["n.pcapng"]
        let second = folder["n.192.0.2.11-2.pcapng"]
        let third = folder["n.2001-db8--1.pcapng"]
        #expect(connections.map(\.path) == [first, second, third, first, second])
        #expect(named.path == folder["n.a-..-b---.pcapng"])
        #expect(connections[3].client == .of("192.0.2.10", 1_003))
        #expect(recording.status.map(\.path) == [first, second, third, folder["n.a-..-b---.pcapng"]])
        #expect(recording.status.map(\.device?.description) == ["192.0.2.10", "192.0.2.11", "2001:db8::1", "a/../b ü"])
        #expect(files.withLock { $0.map(\.path) } == recording.status.map(\.path))
        #expect(try TraceContent(path: first).connections.count == 2)
        #expect(try TraceContent(path: second).connections.count == 2)
        #expect(try String(contentsOfFile: folder["n.192.0.2.11.pcapng"], encoding: .utf8) == "mine")
    }

    @Test("two addresses of one device share a file")
    func addressesOfOneDevice() throws {
        let folder = try ScratchFolder()
        var options = RecordingOptions()
        let phone = DeviceKey.hardware(0x0200_5E10_0001)
        options.knownDevices = [IPAddress(ipv4: 0xC000_020A): phone, Endpoint.of("2001:db8::a", 0).address: phone]
        let recording = try Recording(path: folder["n"], version: "1", started: Self.time, options: options)
        for address in ["192.0.2.10", "2001:db8::a"] {
            let connection = recording.open(client: .of(address, 5), server: Self.listener, at: Self.time)
            #expect(connection.device == phone && connection.path == folder["n.pcapng"])
        }
        #expect("\(phone)" == "02:00:5e:10:00:01")
        recording.stop(at: Self.time)
        #expect(recording.status.count == 1)
    }

    @Test("devices beyond the limit are not recorded, and that is said once for each")
    func limit() throws {
        let folder = try ScratchFolder()
        let notices = Mutex<[RecordingNotice]>([])
        var options = RecordingOptions()
        options.fileLimit = 2
        let recording = try Recording(
            path: folder["n"], version: "1", started: Self.time, options: options,
            onNotice: { notice in notices.withLock { $0.append(notice) } })
        for round in 0..<3 as Range<UInt16> {
            for device in 1...4 {
                let connection = recording.open(
                    client: .of("192.0.2.\(device)", round + 1), server: Self.listener, at: Self.time)
                #expect((connection.path != nil) == (device <= 2))
                // Nothing happens, and nothing breaks.
                connection.event(.fault, at: Self.time)
            }
        }
        recording.stop(at: Self.time)
        #expect(
            notices.withLock { $0 }
                == [3, 4].map {
                    .tooManyDevices(.address(Endpoint.of("192.0.2.\($0)", 0).address), limit: 2)
                })
    }

    @Test("marks go to their device, or to all of them; the first device takes over what came before it")
    func marks() throws {
        let folder = try ScratchFolder()
        let recording = try Recording(path: folder["n"], version: "1", started: Self.time)
        let script = Endpoint.of("127.0.0.1", 40_009)
        let to = Endpoint.of("127.0.0.1", 7)
        let first = Endpoint.of("192.0.2.10", 1)
        let second = Endpoint.of("192.0.2.11", 1)
        var receipts: [MarkReceipt] = []
        func send(_ mark: Mark, from: Endpoint, device: DeviceKey? = nil) {
            receipts.append(recording.mark(mark, from: from, to: to, at: Self.time, device: device))
        }
        send(Self.mark("before", .launch), from: script)
        send(Self.mark("about", .scenario), from: script)
        _ = recording.open(client: first, server: Self.listener, at: Self.time)
        _ = recording.open(client: second, server: Self.listener, at: Self.time)
        send(Self.mark("all"), from: script)
        send(Self.mark("own"), from: second)
        send(Self.mark("named", device: "192.0.2.10"), from: second)
        send(Self.mark("given"), from: script, device: .address(second.address))
        send(Self.mark("nobody's", device: "unheard of"), from: script)
        // Sent three times over, as datagrams are.
        for _ in 0..<2 { send(Self.mark("own"), from: second) }
        recording.stop(at: Self.time)

        #expect(receipts.map(\.sequenceNumber) == Array(1...9))
        #expect(receipts.map(\.files.count) == [1, 1, 2, 1, 1, 1, 2, 1, 1])
        func marks(_ path: String) throws -> [String?] {
            var ids: [String?] = []
            _ = try TraceReader.read(path: path, options: TraceOptions()) { event in
                if case .mark(let mark) = event { ids.append(mark.id) }
            }
            return ids
        }
        #expect(try marks(folder["n.pcapng"]) == ["before", "about", "all", "named", "nobody's"])
        #expect(try marks(folder["n.192.0.2.11.pcapng"]) == ["about", "all", "own", "given", "nobody's"])
        let content = try TraceContent(path: folder["n.pcapng"])
        #expect(content.marks.map(\.id) == ["before", "about", "all", "named", "nobody's"])
        #expect(content.flows.first?.connection.server.port == 4_774)
    }

    @Test("secrets are in the file before what is recorded after them")
    func secrets() throws {
        let folder = try ScratchFolder()
        let recording = try Recording(path: folder["n"], version: "1", started: Self.time)
        let connection = recording.open(client: .of("192.0.2.10", 1), server: Self.listener, at: Self.time)
        connection.secrets(Array("SECRET_A\n".utf8))
        connection.secrets([])
        Array("after".utf8).withUnsafeBytes { connection.received($0, at: Self.time) }
        recording.stop(at: Self.time)
        let bytes = try Data(contentsOf: URL(filePath: folder["n.pcapng"]))
        let secret = try #require(bytes.range(of: Data("SECRET_A\n".utf8)))
        let piece = try #require(bytes.range(of: Data("after".utf8)))
        #expect(secret.upperBound <= piece.lowerBound)
        #expect(try TraceContent(path: folder["n.pcapng"]).secrets == Array("SECRET_A\n".utf8))
    }
}
