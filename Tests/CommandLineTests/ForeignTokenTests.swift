import Foundation
import SessionTrace
import Testing
import WireFormats

@testable import Assertions
@testable import CaptureAnalyzer
@testable import CommandLine

/// A token of one trace, found in another trace of the set in a form that its shape does not give away.
@Suite struct ForeignTokenTests {
    static func token(of recording: String) throws -> [UInt8] {
        var judge = SessionJudge(policy: .defaults, options: JudgeOptions())
        let path = Places.recordings.appending(path: recording).path
        _ = try TraceReader.read(path: path, options: TraceOptions()) { judge.receive($0) }
        return try #require(judge.tokens.first).bytes
    }

    /// A clear-text request with this body to a telemetry host, recorded in our own grammar.
    static func trace(body: String) throws -> [UInt8] {
        let start = try #require(Instant(rfc3339: "2026-11-29T12:00:00Z"))
        func after(_ milliseconds: Int64) -> Instant { start.advanced(byNanoseconds: milliseconds * 1_000_000) }
        let address = try #require(IPAddress("192.0.2.10"))
        var writer = TraceWriter(version: "test", started: start)
        let id = ConnectionID(0)
        writer.open(
            id, client: Endpoint(address: address, port: 50_000),
            server: Endpoint(address: try #require(IPAddress("192.0.2.20")), port: 80), at: after(1))
        let head = "POST /2/httpapi HTTP/1.1\r\nHost: api2.amplitude.com\r\nUser-Agent: okhttp/4.12.0\r\n"
        writer.send(
            Array("\(head)Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8),
            from: .client, on: id, at: after(2))
        let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)
        writer.send(answer, from: .server, on: id, at: after(3))
        writer.acknowledge(upTo: UInt64(answer.count), on: id, at: after(4))
        writer.end(at: after(5))
        return writer.takeBytes()
    }

    @Test func aTokenIsANeedleInAllTracesOfTheSet() throws {
        let recording = "conforming-share.pcapng"
        // Without its prefix the token has no shape of its own: only who knows it finds it.
        let rest = String(decoding: try Self.token(of: recording).dropFirst(4), as: UTF8.self)
        let folder = FileManager.default.temporaryDirectory.appending(path: "handoff-foreign-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let morning = folder.appending(path: "next-morning.pcapng")
        try Data(try Self.trace(body: "{\"trace\":\"\(rest)\"}")).write(to: morning)
        let policy = Places.recordings.appending(path: "handoff.yml").path

        let alone = CommandRun(["check", morning.path, "--policy", policy])
        #expect(alone.status == .inconclusive)
        let together = CommandRun([
            "check", morning.path, Places.recordings.appending(path: recording).path, "--policy", policy,
        ])
        #expect(together.status == .violation)
        #expect(together.result.contains("HR-46"))
        #expect(!together.result.contains(rest))
    }
}
