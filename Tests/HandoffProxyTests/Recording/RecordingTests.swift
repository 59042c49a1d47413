import CaptureAnalyzer
import Foundation
import HandoffProxy
import SessionTrace
import Synchronization
import Testing

@Suite struct RecordingTests {
    private static let start = Instant(rfc3339: "2026-11-29T12:00:00Z") ?? .distantPast

    /// One device, whatever the address family.
    private static func options() -> RecordingOptions {
        var options = RecordingOptions()
        options.device = .named("phone")
        return options
    }

    /// What the trace has to hold of each script, whatever was recorded beside it.
    private static func expect(_ content: TraceContent, holds scripts: [RecordedScript]) {
        #expect(content.connections.count == scripts.count)
        #expect(content.holes == 0 && content.spots.isEmpty)
        let flows = Dictionary(
            content.connections.map { ($0.connection.client, $0) }, uniquingKeysWith: { first, _ in first })
        for script in scripts {
            guard let flow = flows[script.client] else {
                Issue.record("\(script.client) is not in the trace")
                continue
            }
            #expect(flow.connection.server == script.server && flow.connection.startSeen)
            #expect(flow.client.bytes == script.fromClient)
            #expect(flow.server.bytes == script.fromServer)
            #expect(flow.client.acknowledged == UInt64(script.fromClient.count))
            #expect(flow.server.acknowledged == script.acknowledged)
            #expect(flow.events.map { $0.attributes["detail"] } == script.events)
            #expect(flow.end?.cause == script.end)
        }
    }

    @Test(
        "connections from several threads at once are read back byte by byte", arguments: 1...4 as ClosedRange<UInt64>)
    func interleaved(seed: UInt64) throws {
        let folder = try ScratchFolder()
        var random = SeededGenerator(seed: seed)
        let scripts = (0..<48).map { RecordedScript($0, using: &random) }
        let recording = try Recording(
            path: folder["trace"], version: "1", started: Self.start, options: Self.options())
        let clock = Atomic<Int64>(Self.start.nanoseconds)
        DispatchQueue.concurrentPerform(iterations: 6) { thread in
            // Each thread goes round its connections, a step of each at a time.
            let own = scripts.indices.filter { $0 % 6 == thread }.map { scripts[$0] }
            func tick() -> Instant { Instant(nanoseconds: clock.add(1_000, ordering: .relaxed).newValue) }
            let connections = own.map { recording.open(client: $0.client, server: $0.server, at: tick()) }
            for step in 0..<(own.map(\.steps.count).max() ?? 0) {
                for (script, connection) in zip(own, connections) where step < script.steps.count {
                    RecordedScript.play(script.steps[step], on: connection, at: tick())
                }
            }
        }
        recording.stop(at: Self.start.advanced(byNanoseconds: 60_000_000_000))
        let status = try #require(recording.status.first)
        #expect(recording.status.count == 1 && status.isComplete && status.stopped == nil)
        #expect(status.path == folder["trace.pcapng"] && status.device == .named("phone"))
        let size = try FileManager.default.attributesOfItem(atPath: status.path)[.size] as? UInt64
        #expect(size == status.bytes)
        let content = try TraceContent(path: status.path)
        #expect(content.summary.isComplete && content.summary.isOwnRecording)
        #expect(content.statistics.count == 1 && content.packets == Int(status.packets))
        Self.expect(content, holds: scripts)
    }

    @Test("Wireshark's own reader finds no fault", .enabled(if: Tshark.path != nil, "no tshark here"))
    func tshark() throws {
        let folder = try ScratchFolder()
        for seed in 10...12 as ClosedRange<UInt64> {
            var random = SeededGenerator(seed: seed)
            let scripts = (0..<32).map { RecordedScript($0, using: &random) }
            let recording = try Recording(
                path: folder["\(seed)"], version: "1", started: Self.start, options: Self.options())
            var time = Self.start
            for script in scripts {
                script.play(on: recording) {
                    time = time.advanced(byNanoseconds: 1_000)
                    return time
                }
            }
            recording.stop(at: time)
            let bad =
                "_ws.malformed || tcp.analysis.lost_segment || tcp.analysis.ack_lost_segment"
                + " || tcp.analysis.out_of_order || tcp.analysis.retransmission || tcp.checksum.status == 0"
                + " || ip.checksum.status == 0 || udp.checksum.status == 0 || tcp.analysis.window_full"
            let lines = try Tshark.run(
                [
                    "-n", "-r", folder["\(seed).pcapng"], "-o", "tcp.check_checksum:TRUE", "-o",
                    "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE", "-Y", bad,
                ])
            #expect(lines == [])
            let streams = try Tshark.run(["-n", "-r", folder["\(seed).pcapng"], "-T", "fields", "-e", "tcp.stream"])
            #expect(Set(streams).count == scripts.count)
        }
    }

    @Test("what was recorded is in the file soon, in whole blocks, while recording goes on")
    func follows() throws {
        let folder = try ScratchFolder()
        let sizes = Mutex<[UInt64]>([])
        let ended = Mutex<[FileStatus]>([])
        let recording = try Recording(
            path: folder["live.pcapng"], version: "1", started: Self.start, options: Self.options(),
            onFile: { file in
                RecordingFollower(
                    onWritten: { size in
                        // What is told is there, and reads to a proper end.
                        let content = try? TraceContent(path: file.path)
                        if content?.summary.isCutShort != false { Issue.record("\(size) bytes end inside a block") }
                        sizes.withLock { $0.append(size) }
                    },
                    onEnded: { status in ended.withLock { $0.append(status) } })
            })
        let connection = recording.open(
            client: .of("192.0.2.10", 50_000), server: .of("192.0.2.1", 4_773), at: Self.start)
        for round in 1...5 {
            [UInt8](repeating: 7, count: 1_000).withUnsafeBytes { connection.received($0, at: Self.start) }
            let deadline = Date().addingTimeInterval(30)
            var length = 0
            while Date() < deadline, length < 1_000 * round {
                let content = try? TraceContent(path: folder["live.pcapng"])
                length = content?.connections.first?.client.bytes.count ?? 0
            }
            #expect(length == 1_000 * round)
        }
        recording.stop(at: Self.start)
        #expect(sizes.withLock { $0 == $0.sorted() && $0.last == recording.status[0].bytes })
        #expect(ended.withLock { $0.count } == 1)
        #expect(ended.withLock { $0.first?.isComplete } == true)
    }

    @Test("a file is private, and none is ever written over")
    func files() throws {
        let folder = try ScratchFolder()
        let recording = try Recording(path: folder["a.pcapng"], version: "1", started: Self.start)
        let mode = try FileManager.default.attributesOfItem(atPath: folder["a.pcapng"])[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect {
            _ = try Recording(path: folder["a"], version: "1", started: Self.start)
        } throws: {
            ($0 as? RecordingError)?.code == .fileExists && "\($0)".contains("--out")
        }
        #expect {
            _ = try Recording(path: folder["none/a"], version: "1", started: Self.start)
        } throws: {
            ($0 as? RecordingError)?.code == .notWritable && "\($0)".contains("--out")
        }
        try FileManager.default.createSymbolicLink(atPath: folder["l.pcapng"], withDestinationPath: folder["x.pcapng"])
        #expect(throws: RecordingError.self) {
            _ = try Recording(path: folder["l"], version: "1", started: Self.start)
        }
        recording.stop(at: Self.start)
    }
}
