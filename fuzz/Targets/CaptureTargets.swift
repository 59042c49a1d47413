import Foundation

@testable import Assertions
@testable import CaptureAnalyzer
@testable import Reports
@testable import SessionTrace
@testable import WireFormats

/// Reads all records of a capture, in windows of at most `window` bytes more than what is asked for.
func readCapture(
    _ bytes: UnsafeRawBufferPointer, window: Int = .max, _ take: (CaptureRecord) -> Void
) -> CaptureParser? {
    var parser = CaptureParser()
    var start = 0
    var wanted = min(window, bytes.count)
    while true {
        let end = min(bytes.count, start + wanted)
        guard
            let step = try? parser.step(
                UnsafeRawBufferPointer(rebasing: bytes[start..<end]), isFinal: end == bytes.count)
        else { return nil }
        switch step {
        case .record(let record, let length):
            check(length > 0 && length <= end - start, "a record of \(length) bytes in a window of \(end - start)")
            take(record)
            start += length
            wanted = min(window, bytes.count)
        case .passed(let length):
            check(length > 0 && length <= end - start, "\(length) bytes passed in a window of \(end - start)")
            start += length
            wanted = min(window, bytes.count)
        case .needsMore(let count):
            check(count > end - start, "asks for \(count) bytes and has \(end - start)")
            check(end < bytes.count, "asks for more than there is")
            wanted = count
        case .end:
            return parser
        }
    }
}

/// Any bytes as a file; the same records whatever the window.
@Sendable func fuzzCaptureFile(_ bytes: UnsafeRawBufferPointer) {
    func text(window: Int) -> [String] {
        var lines: [String] = []
        let parser = readCapture(bytes, window: window) { record in
            switch record {
            case .packet(let packet):
                lines.append(
                    "\(packet.reference) \(packet.linkType) \(packet.bytes.count) \(packet.originalLength) \(packet.comments)"
                )
            case .section(let section): lines.append("\(section)")
            case .interface(let interface): lines.append("\(interface)")
            case .statistics(let statistics): lines.append("\(statistics)")
            case .secrets(let secrets): lines.append("\(secrets)")
            case .names(let names): lines.append("\(names)")
            case .opaque(let block): lines.append("\(block)")
            }
        }
        if let parser { lines.append("\(parser.notes) \(parser.isCutShort) \(parser.isDamaged) \(parser.packets)") }
        return lines
    }
    let whole = text(window: .max)
    if bytes.count <= 2_048 { check(text(window: 1) == whole, "windows change what is read") }
}

/// One link type, then frames: `[length, 2 bytes][frame]…`.
@Sendable func fuzzPackets(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count > 2 else { return }
    let link = LinkType(rawValue: UInt32(bytes[0]) | UInt32(bytes[1]) << 8)
    var rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(2))
    var streams = PacketStreams()
    var sink = OrderSink()
    var number = 0
    while rest.count >= 2 {
        let length = Int(rest[0]) | Int(rest[1] & 0x7F) << 8
        let isCut = rest[1] & 0x80 != 0
        let frame = UnsafeRawBufferPointer(rebasing: rest.dropFirst(2).prefix(length))
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(2 + frame.count))
        number += 1
        streams.receive(
            CapturedPacket(
                reference: PacketReference(number: number, time: Instant(nanoseconds: Int64(number) * 1_000_000)),
                linkType: link, originalLength: frame.count + (isCut ? 100 : 0), bytes: frame), into: &sink)
    }
    streams.finish(into: &sink)
    check(sink.open.isEmpty, "connections left open: \(sink.open)")
}

/// Checks the promises of `StreamSink`: opened first, closed last, offsets without a gap.
struct OrderSink: StreamSink {
    var count = 0
    var open: Set<ConnectionID> = []
    var offsets: [ConnectionID: [UInt64]] = [:]

    mutating func nextConnectionID() -> ConnectionID {
        count += 1
        return ConnectionID(count)
    }

    mutating func opened(_ connection: Connection) {
        check(open.insert(connection.id).inserted, "opened twice")
        offsets[connection.id] = [0, 0]
    }

    private mutating func advance(_ side: Side, _ length: Int?, to end: UInt64, on id: ConnectionID) {
        check(open.contains(id), "stream bytes of a connection that is not open")
        let before = offsets[id]?[Int(side.rawValue)] ?? 0
        if let length { check(before + UInt64(length) == end, "\(length) bytes from \(before) to \(end)") }
        check(length.map { $0 > 0 } ?? true, "nothing given")
        offsets[id]?[Int(side.rawValue)] = end
    }

    mutating func received(
        _ bytes: UnsafeRawBufferPointer, from side: Side, endOffset: UInt64, at: PacketReference, on id: ConnectionID
    ) {
        advance(side, bytes.count, to: endOffset, on: id)
        _ = bytes.reduce(0) { $0 ^ $1 }
    }

    mutating func hole(
        length: Int?, from side: Side, endOffset: UInt64, noticed: PacketReference, span: TimeSpan, cause: HoleCause,
        on id: ConnectionID
    ) {
        advance(side, length, to: endOffset, on: id)
    }

    mutating func acknowledged(by side: Side, upTo offset: UInt64, at: PacketReference, on id: ConnectionID) {
        check(open.contains(id), "not open")
    }

    mutating func overlapConflict(from side: Side, at: PacketReference, on id: ConnectionID) {
        check(open.contains(id), "not open")
    }

    mutating func finished(side: Side, at: PacketReference, on id: ConnectionID) {
        check(open.contains(id), "not open")
    }

    mutating func closed(_ end: ConnectionEnd) {
        check(open.remove(end.id) != nil, "closed twice")
    }

    mutating func datagram(
        _ bytes: UnsafeRawBufferPointer, length: Int, from side: Side, at: PacketReference, on id: ConnectionID
    ) {
        check(open.contains(id), "not open")
        _ = bytes.reduce(0) { $0 ^ $1 }
    }

    mutating func identified(_ process: ProcessIdentity, of id: ConnectionID) {
        check(open.contains(id), "not open")
    }

    mutating func blind(_ spot: BlindSpot) {}
}

private let policy: Policy = {
    guard let path = ProcessInfo.processInfo.environment["FUZZ_POLICY"],
        let text = try? String(contentsOfFile: path, encoding: .utf8)
    else { return Policy.defaults }
    do {
        return try Policy.parse(yaml: text, file: path)
    } catch {
        fatalError("\(error)")
    }
}()

/// A capture file through everything: events in order, a verdict, all reports.
@Sendable func fuzzPipeline(_ bytes: UnsafeRawBufferPointer) {
    var order = EventOrder()
    var judge = SessionJudge(policy: policy, options: JudgeOptions())
    let redactor = Redactor(installationKey: [1, 2, 3])
    let json = EventJSON(redactor: redactor)
    var timeline = Timeline(style: .plain, redactor: redactor, role: { policy.roleName(of: $0) })
    let take: (SessionEvent) -> Void = { event in
        order.take(event)
        judge.receive(event)
        timeline.receive(event)
        _ = json.line(event)
    }
    var session = TraceSession(companions: Companions(), options: TraceOptions())
    session.begin(Companions(), into: take)
    guard let parser = readCapture(bytes, { session.take($0, into: take) }) else { return }
    var summary = CaptureFileSummary()
    summary.packets = parser.packets
    summary.isCutShort = parser.isCutShort
    summary.isDamaged = parser.isDamaged
    summary.hasUnreadSections = parser.hasUnreadSections
    summary.notes = parser.notes.map(\.description)
    let reading = session.finish(summary, into: take)
    order.finish()
    _ = reading.facts.lines(version: "0")
    let trace = JudgedTrace(path: "fuzz.pcap", verdict: judge.finish())
    let set = SetVerdict(traces: [trace], options: SetOptions())
    if let verdict = trace.verdict {
        _ = VerdictTable(path: trace.path, verdict: verdict, style: .plain).text(isVerbose: true)
    }
    _ = SetSummary(set: set, style: .plain).text
    let report = JSONReport(set: set, version: "0", digests: [:]).text
    check((try? JSONValue.parse(report)) != nil, "the JSON report can't be read back")
    _ = JUnitReport(set: set).text
}

/// Checks the promises of the event stream.
struct EventOrder {
    private var opened: Set<ConnectionID> = []
    private var closed: Set<ConnectionID> = []
    private var started: Set<ExchangeID> = []
    private var ended: Set<ExchangeID> = []
    private var hasEnded = false

    private func expectOpen(_ id: ConnectionID, _ what: String) {
        check(opened.contains(id), "\(what) before its connection was opened")
        check(!closed.contains(id), "\(what) after its connection was closed")
    }

    mutating func take(_ event: SessionEvent) {
        check(!hasEnded, "an event after the trace has ended")
        switch event {
        case .connectionOpened(let connection):
            check(opened.insert(connection.id).inserted, "opened twice")
            if let outer = connection.enclosing { check(opened.contains(outer), "a tunnel in nothing") }
        case .processIdentified(let id, _): expectOpen(id, "process")
        case .clientHello(let hello): expectOpen(hello.connection, "hello")
        case .nameLookup(let lookup): if let id = lookup.connection as ConnectionID? { expectOpen(id, "lookup") }
        case .requestStarted(let id, _, _):
            expectOpen(id.connection, "request")
            check(started.insert(id).inserted, "\(id) started twice")
            check(!ended.contains(id), "\(id) started after its end")
        case .exchange(let exchange):
            expectOpen(exchange.id.connection, "exchange")
            check(ended.insert(exchange.id).inserted, "\(exchange.id) ended twice")
            check(
                // A request whose head was not seen has no method.
                exchange.request?.method.isEmpty ?? true || exchange.isPushed || started.contains(exchange.id),
                "\(exchange.id) has a request that never started")
        case .delivery(let id, _, _):
            check(ended.contains(id), "delivery of an exchange that has not ended")
        case .message(let message): expectOpen(message.exchange.connection, "message")
        case .mark, .proxyEvent: break
        case .secureSession(let session): expectOpen(session.connection, "secure session")
        case .blindSpot: break
        case .connectionClosed(let end):
            expectOpen(end.id, "close")
            closed.insert(end.id)
        case .traceEnded: hasEnded = true
        }
    }

    func finish() {
        check(hasEnded, "the trace has no end")
        check(opened == closed, "connections left open: \(opened.subtracting(closed))")
        check(started.subtracting(ended).isEmpty, "requests without an exchange: \(started.subtracting(ended))")
    }
}
