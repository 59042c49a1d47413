import Foundation
import SessionTrace
import Testing
import WireFormats

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

    @Test func tellsMarksThatCanNotBeRead() throws {
        var writer = PcapngWriter()
        writer.section()
        writer.interface(linkType: .ethernet)
        let time = try #require(Instant(rfc3339: "2026-11-29T12:00:00Z"))
        writer.packet([UInt8](repeating: 0, count: 60), at: time, comments: ["handoff-mark/1 {\"kind\":"])
        try Self.inFolder { folder in
            let file = folder.appending(path: "odd.pcapng")
            try Data(writer.takeBytes()).write(to: file)
            let summary = try Self.read(file.path).reading.summary
            #expect(summary.unreadableMarks.count == 1)
            #expect(summary.unreadableMarks.first?.hasPrefix("packet 1: ") == true)
        }
    }

    /// Each packet twice, as the `any` interface or a mirror port gives them: neither marks nor requests double.
    @Test func packetsCapturedTwiceCountOnce() throws {
        let recordings = Self.golden.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "pcaps")
        try Self.inFolder { folder in
            for name in ["conforming-share.pcapng", "double-tap-joined-before.pcapng"] {
                let original = recordings.appending(path: name)
                let doubled = folder.appending(path: name)
                try Data(try Self.doubled(original.path)).write(to: doubled)
                let once = try Self.read(original.path).events
                let twice = try Self.read(doubled.path).events
                #expect(Self.kinds(once) == Self.kinds(twice))
            }
        }
    }

    /// How often each kind of event comes that a doubled packet must not double.
    private static func kinds(_ events: [SessionEvent]) -> [String: Int] {
        var counts: [String: Int] = [:]
        for event in events {
            switch event {
            case .mark(let mark): counts["mark \(mark.kind.rawValue)", default: 0] += 1
            case .exchange(let exchange): counts["\(exchange.request?.method ?? "") \(exchange.end)", default: 0] += 1
            case .connectionOpened(let connection): counts[connection.transport.rawValue, default: 0] += 1
            case .clientHello: counts["hello", default: 0] += 1
            default: break
            }
        }
        return counts
    }

    /// The capture with every packet written twice, 40 µs apart.
    private static func doubled(_ path: String) throws -> [UInt8] {
        var file = try CaptureFile(path: path)
        var writer = PcapngWriter()
        writer.section()
        while let record = try file.next() {
            switch record {
            case .interface(let interface): writer.interface(linkType: interface.linkType)
            case .secrets(let secrets): writer.secrets(secrets)
            case .packet(let packet):
                for copy in 0..<2 {
                    let time = packet.reference.time.advanced(byNanoseconds: Int64(copy) * 40_000)
                    writer.packet(withoutMarkID(packet.bytes), at: time, originalLength: packet.originalLength)
                }
            default: break
            }
        }
        return writer.takeBytes()
    }

    /// The frame, and if it holds a mark, its `id` member under another name: then only the reader's own care tells the
    /// copies apart.
    private static func withoutMarkID(_ frame: UnsafeRawBufferPointer) -> [UInt8] {
        var bytes = Array(frame)
        let text = Array("handoff-mark/1 ".utf8)
        guard let start = bytes.indices.first(where: { bytes[$0...].starts(with: text) }) else { return bytes }
        let member = Array("\"id\"".utf8)
        if let place = bytes.indices.first(where: { $0 >= start && bytes[$0...].starts(with: member) }) {
            bytes.replaceSubrange(place..<(place + 4), with: Array("\"di\"".utf8))
        }
        return bytes
    }

    /// A capture beside the proxy that ended early has watched for nothing after that: the file says so by its statistics.
    @Test(arguments: [Set<Int>(), [0]])
    func watchesForBypassOnlyToTheEnd(endedEarly: Set<Int>) throws {
        let time = Instant(nanoseconds: 1_700_000_000_000_000_000)
        var writer = TraceWriter(
            version: "test", started: time, passive: [.init(name: "wlan0", linkType: .ethernet)])
        let device = Endpoint(address: IPAddress(ipv4: 0x0A00_0002), port: 40_000)
        let proxy = Endpoint(address: IPAddress(ipv4: 0x0A00_0001), port: 4_773)
        writer.open(ConnectionID(0), client: device, server: proxy, at: time)
        writer.end(at: time, passiveDropped: [0], endedEarly: endedEarly)
        let path = FileManager.default.temporaryDirectory.appending(path: "passive-\(UUID().uuidString).pcapng")
        try Data(writer.takeBytes()).write(to: path)
        defer { try? FileManager.default.removeItem(at: path) }
        let reading = try TraceReader.read(path: path.path, options: TraceOptions()) { _ in }
        #expect(reading.summary.watchedForBypass == endedEarly.isEmpty)
        #expect(reading.summary.notes.contains { $0.contains("beside the proxy") } == !endedEarly.isEmpty)
    }

    /// Bytes that the proxy could not read, and for which it reached no origin, went nowhere: they hide nothing.
    @Test(arguments: [false, true])
    func strayBytesToTheProxyHideNothing(isDialled: Bool) throws {
        let time = Instant(nanoseconds: 1_700_000_000_000_000_000)
        var writer = TraceWriter(version: "test", started: time)
        let device = Endpoint(address: IPAddress(ipv4: 0x0A00_0002), port: 40_000)
        let proxy = Endpoint(address: IPAddress(ipv4: 0x0A00_0001), port: 4_773)
        writer.open(ConnectionID(0), client: device, server: proxy, at: time)
        if isDialled { writer.event(ProxyEvent(kind: .dialed, at: time), on: ConnectionID(0), at: time) }
        writer.send([0, 0, 0, 7, 7], from: .client, on: ConnectionID(0), at: time)
        writer.finish(.client, on: ConnectionID(0), at: time)
        writer.finish(.server, on: ConnectionID(0), at: time)
        writer.end(at: time)
        let path = FileManager.default.temporaryDirectory.appending(path: "stray-\(UUID().uuidString).pcapng")
        try Data(writer.takeBytes()).write(to: path)
        defer { try? FileManager.default.removeItem(at: path) }
        var spots = 0
        _ = try TraceReader.read(path: path.path, options: TraceOptions()) { event in
            if case .blindSpot(let spot) = event, spot.reason == .unknownProtocol { spots += 1 }
        }
        #expect(spots == (isDialled ? 1 : 0))
    }
}
