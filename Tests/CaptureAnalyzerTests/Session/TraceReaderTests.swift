import Foundation
import SessionTrace
import Testing

@testable import CaptureAnalyzer

/// Whole files to events: our own trace grammar, companions beside a trace, and inputs that are no traces.
@Suite struct TraceReaderTests {
    static let golden = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "WireFormatsTests/Golden/trace.pcapng")

    static func read(_ path: String, _ options: TraceOptions = TraceOptions()) throws -> (
        events: [SessionEvent], reading: TraceReading
    ) {
        var events: [SessionEvent] = []
        let reading = try TraceReader.read(path: path, options: options) { events.append($0) }
        return (events, reading)
    }

    static func inFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "handoff-reader-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    @Test func readsOurOwnGrammar() throws {
        let (events, reading) = try Self.read(Self.golden.path)
        let marks = events.compactMap { if case .mark(let mark) = $0 { mark } else { nil } }
        // The mark stands in the file twice, as a datagram and as that packet's comment.
        #expect(marks.count == 1)
        #expect(marks.first?.kind == .tap && marks.first?.target == .share && marks.first?.isOnTraceClock == true)
        let words = events.compactMap { if case .proxyEvent(let word) = $0 { word } else { nil } }
        #expect(words.map(\.kind) == [.dialed, .fault])
        #expect(words.allSatisfy { $0.connection == ConnectionID(1) })
        let deliveries = events.compactMap { if case .delivery(_, let answer, _) = $0 { answer } else { nil } }
        #expect(deliveries == [.yes])
        #expect(reading.summary.isOwnRecording && reading.summary.isComplete && reading.summary.droppedPackets == 2)
        #expect(!reading.summary.layers.contains(.dns) && !reading.summary.watchedForBypass)
        #expect(events.last == .traceEnded(reading.summary))
        #expect(events.filter { if case .traceEnded = $0 { true } else { false } }.count == 1)
    }

    @Test func saysThatTheRecorderWasStoppedHard() throws {
        try Self.inFolder { folder in
            // The statistics block is the file's last; its total length stands in its last four bytes.
            let bytes = try Data(contentsOf: Self.golden)
            let length = bytes.suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            let cut = folder.appending(path: "stopped.pcapng")
            try bytes.dropLast(length).write(to: cut)
            let (events, reading) = try Self.read(cut.path)
            let reasons = events.compactMap { if case .blindSpot(let spot) = $0 { spot.reason } else { nil } }
            #expect(reasons.contains(.recordingStopped))
            #expect(reading.summary.isComplete, "everything that was written is there")
            #expect(reading.summary.notes.contains { $0.contains("stopped hard") })
        }
    }

    @Test func findsMarksBesideATrace() throws {
        try Self.inFolder { folder in
            let trace = folder.appending(path: "night.pcapng")
            try FileManager.default.copyItem(at: Self.golden, to: trace)
            try #"{"kind":"tap","target":"cta","at":"2026-11-29T12:00:00.5Z","id":"x"}"#
                .write(to: folder.appending(path: "night.marks.jsonl"), atomically: true, encoding: .utf8)
            let marks = try Self.read(trace.path).events.compactMap {
                if case .mark(let mark) = $0 { mark } else { nil }
            }
            #expect(marks.map(\.source) == [.sideFile, .datagram])
            #expect(marks.first?.isOnTraceClock == false)
            var alone = TraceOptions()
            alone.readsCompanions = false
            let without = try Self.read(trace.path, alone).events.filter { if case .mark = $0 { true } else { false } }
            #expect(without.count == 1)
        }
    }

    @Test(
        arguments: [
            ("missing.pcap", nil), ("empty.pcap", ""), ("words.pcap", "this is no capture file at all, only words\n"),
        ] as [(String, String?)])
    func refusesWhatIsNoTrace(name: String, content: String?) throws {
        try Self.inFolder { folder in
            let file = folder.appending(path: name)
            if let content { try content.write(to: file, atomically: true, encoding: .utf8) }
            let error = try #require(throws: TraceError.self) { _ = try Self.read(file.path) }
            #expect(error.description.hasPrefix(file.path))
            #expect(!error.description.contains("\n"))
        }
    }

    @Test func namesTheLineOfABadMark() throws {
        try Self.inFolder { folder in
            let marks = folder.appending(path: "m.jsonl")
            try "{\"kind\":\"launch\",\"at\":\"2026-11-29T12:00:00Z\"}\n{\"kind\":7}\n"
                .write(to: marks, atomically: true, encoding: .utf8)
            var options = TraceOptions()
            options.markFiles = [marks.path]
            let error = try #require(throws: TraceError.self) { _ = try Self.read(Self.golden.path, options) }
            #expect(error.description.hasPrefix("\(marks.path):2:"))
        }
    }
}
