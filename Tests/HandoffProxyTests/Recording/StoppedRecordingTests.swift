import CaptureAnalyzer
import Foundation
import SessionTrace
import Synchronization
import Testing
import WireFormats

@testable import HandoffProxy

/// What is left of a recording that could not be ended in order.
@Suite struct StoppedRecordingTests {
    private static let time = Instant(rfc3339: "2026-11-29T12:00:00Z") ?? .distantPast

    /// Reads the file as `handoff check` does.
    private static func reading(_ path: String) throws -> (summary: TraceSummary, reasons: [BlindSpot.Reason]) {
        var reasons: [BlindSpot.Reason] = []
        let reading = try TraceReader.read(path: path, options: TraceOptions()) { event in
            if case .blindSpot(let spot) = event { reasons.append(spot.reason) }
        }
        return (reading.summary, reasons)
    }

    /// Records pieces until nothing more is taken; gives what was recorded.
    private static func fill(_ recording: Recording, most: Int) -> RecordedConnection {
        let connection = recording.open(client: .of("192.0.2.10", 50_000), server: .of("192.0.2.1", 4_773), at: time)
        let piece = [UInt8](repeating: 1, count: 10_007)
        for _ in 0..<most where recording.status[0].stopped == nil {
            piece.withUnsafeBytes { connection.received($0, at: time) }
        }
        return connection
    }

    private static func waitForStop(_ recording: Recording) -> RecordingStop? {
        let deadline = Date().addingTimeInterval(30)
        while Date() < deadline, recording.status[0].stopped == nil { usleep(1_000) }
        return recording.status[0].stopped
    }

    @Test("at the quota recording stops with a notice; the file ends with a whole block and says so when read")
    func quota() throws {
        let folder = try ScratchFolder()
        let notices = Mutex<[RecordingNotice]>([])
        var options = RecordingOptions()
        options.maximumFileSize = 1_000_000
        let recording = try Recording(
            path: folder["q"], version: "1", started: Self.time, options: options,
            onNotice: { notice in notices.withLock { $0.append(notice) } })
        let connection = Self.fill(recording, most: 100_000)
        #expect(Self.waitForStop(recording) == .quota(1_000_000))
        let path = folder["q.pcapng"]
        // From here on nothing is taken, and nobody has to care.
        connection.event(.fault, at: Self.time)
        connection.closed(at: Self.time)
        _ = recording.open(client: .of("192.0.2.10", 50_001), server: .of("192.0.2.1", 4_773), at: Self.time)
        let mark = Mark(kind: .end, span: TimeSpan(Self.time), isOnTraceClock: true, source: .control)
        let receipt = recording.mark(
            mark, from: .of("192.0.2.10", 1), to: .of("192.0.2.1", 4_774), at: Self.time)
        #expect(receipt.sequenceNumber == 1 && receipt.files == [])
        recording.stop(at: Self.time)
        #expect(notices.withLock { $0 } == [.stopped(path: path, .quota(1_000_000))])
        #expect(notices.withLock { "\($0[0])" }.contains("RECORDING STOPPED"))
        let status = recording.status[0]
        #expect(!status.isComplete && status.bytes <= 1_000_000 && status.bytes > 980_000)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.size] as? UInt64 == status.bytes)
        let content = try TraceContent(path: path)
        #expect(content.summary.isComplete && content.statistics.isEmpty && content.connections.count == 1)
        let (_, reasons) = try Self.reading(path)
        #expect(reasons.contains(.recordingStopped) && !reasons.contains(.fileCutShort))
    }

    @Test(
        "a write that fails half-way is taken back to the last whole block", arguments: [0, 1, 11, 12, 10_089, 10_090])
    func fullDisk(taken: Int) throws {
        let folder = try ScratchFolder()
        let path = folder["d.pcapng"]
        // Room for so many bytes beyond the first 50,000.
        let room = Mutex(50_000 + taken)
        let file = try BlockFile(path: path, limit: nil) { descriptor, bytes in
            let left = room.withLock { $0 }
            guard left > 0 else {
                errno = ENOSPC
                return -1
            }
            let count = write(descriptor, bytes.baseAddress, min(bytes.count, left))
            room.withLock { $0 -= count }
            return count
        }
        let stops = Mutex<[RecordingStop]>([])
        let ends = Mutex<[FileStatus]>([])
        let trace = TraceFile(
            file, trace: TraceWriter(version: "1", started: Self.time), queueLimit: 1 << 20,
            onStop: { reason in stops.withLock { $0.append(reason) } })
        trace.follow(RecordingFollower(onEnded: { status in ends.withLock { $0.append(status) } }))
        trace.append {
            $0.open(ConnectionID(0), client: .of("192.0.2.10", 5), server: .of("192.0.2.1", 6), at: Self.time)
        }
        var appended = 0
        while trace.append({
            $0.send([UInt8](repeating: 3, count: 10_000), from: .client, on: ConnectionID(0), at: Self.time)
        }) { appended += 1 }
        #expect(appended >= 5)
        trace.end { $0.end(at: Self.time) }
        #expect(stops.withLock { $0 } == [.system(ENOSPC)])
        #expect(ends.withLock { $0.map(\.stopped) } == [.system(ENOSPC)])
        let content = try TraceContent(path: path)
        #expect(content.summary.isComplete && content.statistics.isEmpty)
        // Sequence numbers are unbroken, and everything that fitted is there.
        let bytes = try #require(content.connections.first).client.bytes.count
        #expect(content.holes == 0 && (bytes == 40_000 || bytes == 50_000))
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        #expect(size ?? .max <= 50_000 + taken)
    }

    @Test("who follows a file that has ended already is told so")
    func followedLate() throws {
        let folder = try ScratchFolder()
        let file = try BlockFile(path: folder["l.pcapng"], limit: nil) { _, _ in
            errno = ENOSPC
            return -1
        }
        let trace = TraceFile(
            file, trace: TraceWriter(version: "1", started: Self.time), queueLimit: 1 << 20, onStop: { _ in })
        trace.end { _ in }
        let ends = Mutex<[FileStatus]>([])
        trace.follow(RecordingFollower(onEnded: { status in ends.withLock { $0.append(status) } }))
        #expect(ends.withLock { $0.map(\.stopped) } == [.system(ENOSPC)])
    }

    @Test("who follows late is told of what was written before")
    func followedWhileWriting() throws {
        let folder = try ScratchFolder()
        let file = try BlockFile(path: folder["w.pcapng"], limit: nil)
        let trace = TraceFile(
            file, trace: TraceWriter(version: "1", started: Self.time), queueLimit: 1 << 20, onStop: { _ in })
        trace.end { $0.end(at: Self.time) }
        let written = Mutex<UInt64>(0)
        let ends = Mutex<[FileStatus]>([])
        trace.follow(
            RecordingFollower(
                onWritten: { size in written.withLock { $0 = size } },
                onEnded: { status in ends.withLock { $0.append(status) } }))
        let (told, size) = (ends.withLock { $0 }, written.withLock { $0 })
        #expect(told.map(\.isComplete) == [true])
        #expect(told.first?.bytes == size)
    }

    @Test("a real disk that is full", .enabled(if: getuid() == 0, "mounting needs root"))
    func tmpfs() throws {
        let folder = try ScratchFolder()
        guard let mount = FinishedCommand.find("mount"), let unmount = FinishedCommand.find("umount"),
            try FinishedCommand(mount, ["-t", "tmpfs", "-o", "size=1m", "none", folder.path]).status == 0
        else { try Test.cancel("no tmpfs can be mounted here") }
        defer { _ = try? FinishedCommand(unmount, ["-l", folder.path]) }
        let recording = try Recording(path: folder["t"], version: "1", started: Self.time)
        _ = Self.fill(recording, most: 100_000)
        #expect(Self.waitForStop(recording) == .system(ENOSPC))
        recording.stop(at: Self.time)
        let content = try TraceContent(path: folder["t.pcapng"])
        #expect(content.summary.isComplete && content.statistics.isEmpty)
        #expect((content.connections.first?.client.bytes.count ?? 0) > 500_000)
    }

    @Test("killed at any time, the file reads up to its last whole block")
    func killed() throws {
        let folder = try ScratchFolder()
        for round in 0..<3 {
            let path = folder["k\(round).pcapng"]
            let child = try SpawnedProcess(
                "/proc/self/exe", ["--testing-library", "swift-testing", "--filter", "KilledRecorder"],
                environment: [KilledRecorder.variable: path])
            let deadline = Date().addingTimeInterval(60)
            var size = 0
            while Date() < deadline, size < 3_000_000 * (round + 1) {
                usleep(1_000)
                size = (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
            }
            child.kill()
            #expect(size >= 3_000_000, "the child recorded nothing")
            let content = try TraceContent(path: path)
            let flow = try #require(content.connections.first)
            #expect(content.holes == 0 && flow.client.bytes.count > 2_000_000)
            #expect(!flow.client.bytes.enumerated().contains { $1 != UInt8(truncatingIfNeeded: $0) })
            let (summary, reasons) = try Self.reading(path)
            #expect(summary.isOwnRecording && reasons.contains(.recordingStopped))
        }
    }

    @Test("a slow disk makes the recorder wait: memory stays at the queue's limit")
    func backPressure() throws {
        let folder = try ScratchFolder()
        let gate = Mutex(false)
        let file = try BlockFile(path: folder["s.pcapng"], limit: nil) { descriptor, bytes in
            while !gate.withLock({ $0 }) { usleep(1_000) }
            return write(descriptor, bytes.baseAddress, bytes.count)
        }
        let limit = 1 << 20
        let trace = TraceFile(
            file, trace: TraceWriter(version: "1", started: Self.time), queueLimit: limit, onStop: { _ in })
        let most = Mutex(0)
        let appended = Mutex(0)
        let pieces = 200
        let worker = Thread {
            trace.append {
                $0.open(ConnectionID(0), client: .of("192.0.2.10", 5), server: .of("192.0.2.1", 6), at: Self.time)
            }
            for _ in 0..<pieces {
                trace.append { writer in
                    writer.send([UInt8](repeating: 3, count: 50_000), from: .client, on: ConnectionID(0), at: Self.time)
                    let count = writer.byteCount
                    most.withLock { $0 = max($0, count) }
                }
                appended.withLock { $0 += 1 }
            }
        }
        worker.start()
        // With the disk standing still the queue fills up, and then nothing more is taken.
        let deadline = Date().addingTimeInterval(30)
        while Date() < deadline, most.withLock({ $0 }) < limit { usleep(1_000) }
        #expect(most.withLock { $0 } >= limit)
        usleep(50_000)
        #expect(appended.withLock { $0 } < pieces)
        gate.withLock { $0 = true }
        while Date() < deadline, appended.withLock({ $0 }) < pieces { usleep(1_000) }
        trace.end { $0.end(at: Self.time) }
        #expect(most.withLock { $0 } < limit + 60_000)
        #expect(try TraceContent(path: folder["s.pcapng"]).connections[0].client.bytes.count == pieces * 50_000)
    }
}

/// The recorder that `StoppedRecordingTests` kills: runs in a process of its own, and only there.
@Suite struct KilledRecorder {
    static let variable = "HANDOFF_KILLED_RECORDER"

    @Test(.enabled(if: ProcessInfo.processInfo.environment[variable] != nil, "runs in a process of its own"))
    func record() throws {
        let path = try #require(ProcessInfo.processInfo.environment[Self.variable])
        let time = Instant(nanoseconds: 1_790_000_000_000_000_000)
        let recording = try Recording(path: path, version: "1", started: time)
        let connection = recording.open(client: .of("192.0.2.10", 5), server: .of("192.0.2.1", 6), at: time)
        var offset = 0
        // Ends by itself should nobody end it.
        while offset < 256 << 20 {
            let piece = (0..<9_973).map { UInt8(truncatingIfNeeded: offset + $0) }
            piece.withUnsafeBytes { connection.received($0, at: time) }
            offset += piece.count
        }
    }
}
