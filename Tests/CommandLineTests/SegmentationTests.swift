import Foundation
import SessionTrace
import Testing
import WireFormats

@testable import Assertions
@testable import CaptureAnalyzer
@testable import CommandLine

/// Splitting property: however the TCP streams are cut into pieces, and however the file reader gets its bytes, the
/// events are the same.
@Suite struct SegmentationTests {
    /// How a piece of stream bytes is cut before the analyser sees it.
    enum Cut {
        case not
        case atRandom(seed: UInt64)
        case everyByte
    }

    /// Hands every call on to the analyser, stream bytes in smaller pieces.
    struct CuttingSink: StreamSink {
        var analyzer: SessionAnalyzer
        var generator: SeededGenerator?
        var cutsEveryByte = false

        mutating func received(
            _ bytes: UnsafeRawBufferPointer, from side: Side, endOffset: UInt64, at packet: PacketReference,
            on id: ConnectionID
        ) {
            var start = 0
            while start < bytes.count {
                let left = bytes.count - start
                var length = left
                if cutsEveryByte {
                    length = 1
                } else if var generator {
                    // Small pieces are the telling ones; large ones keep it fast.
                    let most = Bool.random(using: &generator) ? min(left, 8) : left
                    length = Int.random(in: 1...most, using: &generator)
                    self.generator = generator
                }
                let piece = UnsafeRawBufferPointer(rebasing: bytes[start..<start + length])
                start += length
                analyzer.received(
                    piece, from: side, endOffset: endOffset - UInt64(bytes.count - start), at: packet, on: id)
            }
        }

        mutating func nextConnectionID() -> ConnectionID { analyzer.nextConnectionID() }
        mutating func opened(_ connection: Connection) { analyzer.opened(connection) }
        mutating func hole(
            length: Int?, from side: Side, endOffset: UInt64, noticed: PacketReference, span: TimeSpan,
            cause: HoleCause, on id: ConnectionID
        ) {
            analyzer.hole(
                length: length, from: side, endOffset: endOffset, noticed: noticed, span: span, cause: cause, on: id)
        }
        mutating func acknowledged(by side: Side, upTo offset: UInt64, at: PacketReference, on id: ConnectionID) {
            analyzer.acknowledged(by: side, upTo: offset, at: at, on: id)
        }
        mutating func overlapConflict(from side: Side, at: PacketReference, on id: ConnectionID) {
            analyzer.overlapConflict(from: side, at: at, on: id)
        }
        mutating func finished(side: Side, at: PacketReference, on id: ConnectionID) {
            analyzer.finished(side: side, at: at, on: id)
        }
        mutating func closed(_ end: ConnectionEnd) { analyzer.closed(end) }
        mutating func datagram(
            _ bytes: UnsafeRawBufferPointer, length: Int, from side: Side, at: PacketReference, on id: ConnectionID
        ) {
            analyzer.datagram(bytes, length: length, from: side, at: at, on: id)
        }
        mutating func identified(_ process: ProcessIdentity, of id: ConnectionID) {
            analyzer.identified(process, of: id)
        }
        mutating func blind(_ spot: BlindSpot) { analyzer.blind(spot) }
    }

    /// A trace read record by record, as `TraceSession` reads it.
    struct Reading {
        var sink: CuttingSink
        var streams = PacketStreams()
        var events: [SessionEvent] = []

        init(path: String, keyLog: String?, cut: Cut) throws {
            var options = TraceOptions()
            if let keyLog { options.keyLogs = [keyLog] }
            var decryption = DecryptionContext()
            for log in try Companions.load(for: path, options: options).keyLogs {
                log.bytes.withUnsafeBytes { decryption.keys.add(nss: $0) }
            }
            sink = CuttingSink(
                analyzer: SessionAnalyzer(state: SessionState(decryption: decryption, limits: ConversationLimits())))
            switch cut {
            case .not: break
            case .atRandom(let seed): sink.generator = SeededGenerator(seed: seed)
            case .everyByte: sink.cutsEveryByte = true
            }
        }

        mutating func take(_ record: CaptureRecord) {
            switch record {
            case .packet(let packet):
                let owner = streams.receive(packet, into: &sink)
                for comment in packet.comments {
                    sink.analyzer.state.take(comment: comment, at: packet.reference, on: owner)
                }
            case .secrets(let secrets):
                if secrets.kind == .tlsKeyLog {
                    secrets.bytes.withUnsafeBytes { sink.analyzer.state.decryption.keys.add(nss: $0) }
                }
            case .interface(let interface):
                if let name = interface.name { streams.name(interface: interface.index, name) }
            case .section, .statistics, .names, .opaque:
                break
            }
            events += sink.analyzer.state.takeEvents()
        }

        mutating func finish() -> [SessionEvent] {
            streams.finish(into: &sink)
            return events + sink.analyzer.state.takeEvents()
        }
    }

    static func events(_ path: String, keyLog: String? = nil, cut: Cut) throws -> [SessionEvent] {
        var reading = try Reading(path: path, keyLog: keyLog, cut: cut)
        var file = try CaptureFile(path: path)
        while let record = try file.next() { reading.take(record) }
        return reading.finish()
    }

    /// The first place where two readings part, in words short enough for a test's output.
    static func difference(_ one: [SessionEvent], _ other: [SessionEvent]) -> String? {
        guard one != other else { return nil }
        let place = zip(one, other).prefix { $0 == $1 }.count
        func text(_ events: [SessionEvent]) -> String {
            place < events.count ? String("\(events[place])".prefix(400)) : "nothing"
        }
        return "event \(place) of \(one.count) and \(other.count): \(text(one)) / \(text(other))"
    }

    static func expectSame(_ path: String, keyLog: String? = nil, seeds: Int) throws {
        let whole = try events(path, keyLog: keyLog, cut: .not)
        for seed in 1...seeds {
            let cut = try events(path, keyLog: keyLog, cut: .atRandom(seed: UInt64(seed)))
            #expect(difference(whole, cut) == nil, "seed \(seed)")
        }
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        if size < 40_000 {
            let bytes = try events(path, keyLog: keyLog, cut: .everyByte)
            #expect(difference(whole, bytes) == nil, "byte by byte")
        }
    }

    @Test(arguments: RecordingsTests.files)
    func recordingsDoNotDependOnSegments(file: String) throws {
        let path = Places.recordings.appending(path: file).path
        try Self.expectSame(path, seeds: 1)
        // And this way of reading is the product's own.
        var events: [SessionEvent] = []
        _ = try TraceReader.read(path: path, options: TraceOptions()) { events.append($0) }
        let bare = try Self.events(path, cut: .not)
        #expect(Self.difference(Array(events.prefix(bare.count)), bare) == nil)
    }

    /// Captures of other projects with the most protocols in them, each with its key log.
    static func captures() -> [(file: String, keyLog: String)] {
        guard let folder = Places.captures, let rows = try? Places.table(folder.appending(path: "index.tsv")) else {
            return []
        }
        let sized = rows.filter { !$0[0].hasSuffix(".har") }.map { row -> (row: [String], size: Int) in
            let path = folder.appending(path: row[0]).path
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            return (row, attributes?[.size] as? Int ?? 0)
        }
        // With a key log first, then the largest below a limit that keeps the test fast.
        let fit = sized.filter { $0.size > 0 && $0.size < 300_000 }
        let ordered = fit.filter { !$0.row[4].isEmpty } + fit.filter { $0.row[4].isEmpty }.sorted { $0.size > $1.size }
        return ordered.prefix(48).map { ($0.row[0], $0.row[4]) }
    }

    @Test(
        .enabled(if: Places.captures != nil, "the shared captures are not beside the repository"), arguments: captures()
    )
    func capturesDoNotDependOnSegments(file: String, keyLog: String) throws {
        let folder = try #require(Places.captures)
        try Self.expectSame(
            folder.appending(path: file).path,
            keyLog: keyLog.isEmpty ? nil : folder.appending(path: keyLog).path, seeds: 1)
    }

    /// The parser is given windows that grow by a few bytes at a time.
    @Test(arguments: RecordingsTests.files)
    func recordingsDoNotDependOnReads(file: String) throws {
        let url = Places.recordings.appending(path: file)
        let bytes = [UInt8](try Data(contentsOf: url))
        var generator = SeededGenerator(seed: UInt64(bytes.count))
        var reading = try Reading(path: url.path, keyLog: nil, cut: .not)
        var parser = CaptureParser()
        var start = 0
        var end = 0
        try bytes.withUnsafeBytes { buffer in
            while true {
                let window = UnsafeRawBufferPointer(rebasing: buffer[start..<end])
                switch try parser.step(window, isFinal: end == buffer.count) {
                case .record(let record, let length):
                    reading.take(record)
                    start += length
                case .passed(let length): start += length
                case .needsMore:
                    // Less than it asks for, or more: it must ask again, or not mind.
                    end = min(buffer.count, end + Int.random(in: 1...600, using: &generator))
                case .end: return
                }
            }
        }
        #expect(start == bytes.count)
        #expect(Self.difference(try Self.events(url.path, cut: .not), reading.finish()) == nil)
    }

    /// Events of connections that have nothing to do with each other may come in another order: the verdicts stay.
    @Test(arguments: RecordingsTests.files)
    func verdictsDoNotDependOnTheOrderOfConnections(file: String) throws {
        let path = Places.recordings.appending(path: file).path
        var events: [SessionEvent] = []
        var lookups: [SessionEvent] = []
        var ending: [SessionEvent] = []
        var streams: [Int: [SessionEvent]] = [:]
        _ = try TraceReader.read(path: path, options: TraceOptions()) { event in
            events.append(event)
            switch event {
            case .nameLookup, .mark: lookups.append(event)
            case .traceEnded: ending.append(event)
            default: streams[Self.connection(of: event) ?? -1, default: []].append(event)
            }
        }
        var generator = SeededGenerator(seed: UInt64(events.count))
        // Names are known before they are used, as on every device; all else is dealt at random.
        var shuffled = lookups
        var rest = streams.sorted { $0.key < $1.key }.map { ArraySlice($0.value) }
        while !rest.isEmpty {
            let place = Int.random(in: 0..<rest.count, using: &generator)
            let length = Int.random(in: 1...min(3, rest[place].count), using: &generator)
            shuffled += rest[place].prefix(length)
            rest[place] = rest[place].dropFirst(length)
            if rest[place].isEmpty { rest.remove(at: place) }
        }
        shuffled += ending
        #expect(shuffled.count == events.count)
        func verdicts(_ events: [SessionEvent]) throws -> [String] {
            var judge = SessionJudge(policy: try RecordingsTests.policy(), options: JudgeOptions())
            for event in events { judge.receive(event) }
            return judge.finish().rules.map { "\($0.id) \($0.verdict.rawValue) \($0.reason?.code ?? "")" }
        }
        #expect(try verdicts(events) == verdicts(shuffled))
    }

    static func connection(of event: SessionEvent) -> Int? {
        switch event {
        case .connectionOpened(let connection): connection.id.number
        case .processIdentified(let id, _): id.number
        case .clientHello(let hello): hello.connection.number
        case .nameLookup(let lookup): lookup.connection.number
        case .requestStarted(let id, _, _): id.connection.number
        case .exchange(let exchange): exchange.id.connection.number
        case .delivery(let id, _, _): id.connection.number
        case .message(let message): message.exchange.connection.number
        case .secureSession(let session): session.connection.number
        case .blindSpot(let spot): spot.connection?.number
        case .connectionClosed(let end): end.id.number
        case .proxyEvent(let event): event.connection?.number
        case .mark, .activityStarted, .traceEnded: nil
        }
    }
}
