import Foundation
import SessionTrace
import Synchronization
import Testing
import WireFormats

@testable import CaptureAnalyzer

/// A trace that is read while it is written gives what it gives when it is whole.
@Suite struct TraceGrowthTests {
    static let device = Endpoint(address: IPAddress("10.0.0.2") ?? IPAddress(ipv4: 0), port: 40_000)
    static let origin = Endpoint(address: IPAddress("10.0.0.1") ?? IPAddress(ipv4: 0), port: 80)

    static func time(_ milliseconds: Int64) -> Instant {
        Instant(nanoseconds: 1_700_000_000_000_000_000 + milliseconds * 1_000_000)
    }

    /// The blocks of a recording with `exchanges` requests on one connection.
    static func blocks(exchanges: Int) -> [[UInt8]] {
        var writer = TraceWriter(version: "test", started: time(0))
        var blocks: [[UInt8]] = []
        let id = ConnectionID(0)
        writer.open(id, client: device, server: origin, at: time(1))
        blocks.append(writer.takeBytes())
        for index in 0..<exchanges {
            writer.send(
                Array("GET /\(index) HTTP/1.1\r\nHost: a.example\r\n\r\n".utf8), from: .client, on: id,
                at: time(Int64(index) + 2))
            blocks.append(writer.takeBytes())
            writer.send(
                Array("HTTP/1.1 204 No Content\r\n\r\n".utf8), from: .server, on: id, at: time(Int64(index) + 2))
            blocks.append(writer.takeBytes())
        }
        writer.finish(.client, on: id, at: time(5_000))
        writer.finish(.server, on: id, at: time(5_000))
        writer.end(at: time(5_001))
        blocks.append(writer.takeBytes())
        return blocks
    }

    /// Reads `path` on a thread of its own, giving each event to `receive`, and returns when it has ended.
    static func follow(
        _ path: String, _ growth: TraceGrowth, while write: () throws -> Void
    ) throws -> [SessionEvent] {
        let events = Mutex<[SessionEvent]>([])
        let done = DispatchSemaphore(value: 0)
        let thread = Thread {
            var options = TraceOptions()
            options.growth = growth
            _ = try? TraceReader.read(path: path, options: options) { event in events.withLock { $0.append(event) } }
            done.signal()
        }
        thread.start()
        try write()
        growth.end()
        try #require(done.wait(timeout: .now() + 60) == .success)
        return events.withLock { $0 }
    }

    @Test("a reader that has given up keeps nobody waiting")
    func givenUp() throws {
        let growth = try #require(TraceGrowth())
        let answers = Mutex<[Int]>([])
        growth.whenRead(upTo: 1_000) { answers.withLock { $0.append(1) } }
        let early = answers.withLock { $0 }
        #expect(early.isEmpty)
        growth.giveUpReading()
        growth.whenRead(upTo: 2_000) { answers.withLock { $0.append(2) } }
        let late = answers.withLock { $0 }
        #expect(late == [1, 2])
    }

    static func temporaryFile() -> String {
        FileManager.default.temporaryDirectory.appending(path: "growth-\(UUID().uuidString).pcapng").path
    }

    @Test func whatIsFollowedIsWhatIsReadLater() throws {
        let path = Self.temporaryFile()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try #require(FileManager.default.createFile(atPath: path, contents: nil))
        let growth = try #require(TraceGrowth())
        let file = try #require(FileHandle(forWritingAtPath: path))
        let live = try Self.follow(path, growth) {
            var written: UInt64 = 0
            for block in Self.blocks(exchanges: 50) {
                // In two pieces, as a reader may meet them; only the whole is announced.
                try file.write(contentsOf: block.prefix(block.count / 2))
                try file.write(contentsOf: block.dropFirst(block.count / 2))
                written += UInt64(block.count)
                growth.wrote(upTo: written)
            }
        }
        var later: [SessionEvent] = []
        _ = try TraceReader.read(path: path, options: TraceOptions()) { later.append($0) }
        #expect(live == later)
        #expect(later.contains { if case .exchange = $0 { true } else { false } })
    }

    @Test func whoIsFarBehindIsNotHurried() throws {
        let growth = try #require(TraceGrowth())
        growth.wrote(upTo: 2 * TraceGrowth.hurryLimit)
        growth.hurry(upTo: TraceGrowth.hurryLimit + 1)
        #expect(!growth.isHurried)
        growth.hurry(upTo: TraceGrowth.hurryLimit)
        #expect(growth.isHurried)
        #expect(growth.bytesToRead(behind: TraceGrowth.hurryLimit) == TraceGrowth.hurryLimit)
        #expect(!growth.isHurried)
        growth.hurry(upTo: TraceGrowth.hurryLimit)
        #expect(!growth.isHurried, "it is there already")
    }

    @Test func aBlockThatIsTakenBackIsNeverSeen() throws {
        let path = Self.temporaryFile()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try #require(FileManager.default.createFile(atPath: path, contents: nil))
        let growth = try #require(TraceGrowth())
        let file = try #require(FileHandle(forWritingAtPath: path))
        let blocks = Self.blocks(exchanges: 3)
        let live = try Self.follow(path, growth) {
            var written: UInt64 = 0
            for block in blocks.dropLast() {
                try file.write(contentsOf: block)
                written += UInt64(block.count)
                growth.wrote(upTo: written)
            }
            try file.write(contentsOf: [1, 2, 3, 4, 5, 6, 7])
            try file.truncate(atOffset: written)
        }
        var later: [SessionEvent] = []
        _ = try TraceReader.read(path: path, options: TraceOptions()) { later.append($0) }
        #expect(live == later)
    }

    @Test func whoAsksIsToldOnceTheReaderHasGotThere() throws {
        let path = Self.temporaryFile()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try #require(FileManager.default.createFile(atPath: path, contents: nil))
        let growth = try #require(TraceGrowth())
        let file = try #require(FileHandle(forWritingAtPath: path))
        let told = DispatchSemaphore(value: 0)
        _ = try Self.follow(path, growth) {
            var written: UInt64 = 0
            for block in Self.blocks(exchanges: 2) {
                try file.write(contentsOf: block)
                written += UInt64(block.count)
                growth.wrote(upTo: written)
            }
            growth.whenRead(upTo: written) { told.signal() }
            try #require(told.wait(timeout: .now() + 60) == .success)
            // Beyond the end it is told when nothing more can come.
            growth.whenRead(upTo: written + 1_000) { told.signal() }
        }
        #expect(told.wait(timeout: .now() + 60) == .success)
    }

    /// A writer that never rests: small batches are gathered, and still read in time.
    @Test func aBusyWriterIsFollowed() throws {
        let path = Self.temporaryFile()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try #require(FileManager.default.createFile(atPath: path, contents: nil))
        let growth = try #require(TraceGrowth())
        let file = try #require(FileHandle(forWritingAtPath: path))
        let blocks = Self.blocks(exchanges: 10)
        let told = DispatchSemaphore(value: 0)
        let live = try Self.follow(path, growth) {
            var written: UInt64 = 0
            for block in blocks {
                try file.write(contentsOf: block)
                // The same word again and again keeps the reader from resting, as a flood would.
                for step in 1...block.count where step % 16 == 0 || step == block.count {
                    growth.wrote(upTo: written + UInt64(step == block.count ? step : 0))
                }
                written += UInt64(block.count)
            }
            growth.whenRead(upTo: written) { told.signal() }
            try #require(told.wait(timeout: .now() + 60) == .success)
        }
        var later: [SessionEvent] = []
        _ = try TraceReader.read(path: path, options: TraceOptions()) { later.append($0) }
        #expect(live == later)
    }
}
