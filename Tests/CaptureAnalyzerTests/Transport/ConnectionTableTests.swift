import SessionTrace
import Testing
import WireFormats

@testable import CaptureAnalyzer

/// A table that segments are put into by hand.
private struct Bench {
    var conversation: MadeConversation
    var table: ConnectionTable
    var sink = RecordingSink()
    var number = 0
    var time: Int64 = 1_000_000_000_000_000_000

    init(limits: TransportLimits = .init(), clientISN: UInt32 = 1000, serverISN: UInt32 = 9000) {
        conversation = MadeConversation(clientISN: clientISN, serverISN: serverISN)
        table = ConnectionTable(limits: limits)
    }

    /// A segment of the client at a stream offset.
    mutating func client(
        _ offset: Int, _ text: String = "", _ flags: TCPHeader.Flags = .ack, acknowledges: Int = 0,
        wireLength: Int? = nil
    ) {
        put(.client, offset, text, flags, acknowledges, wireLength)
    }

    mutating func server(
        _ offset: Int, _ text: String = "", _ flags: TCPHeader.Flags = .ack, acknowledges: Int = 0,
        wireLength: Int? = nil
    ) {
        put(.server, offset, text, flags, acknowledges, wireLength)
    }

    private mutating func put(
        _ side: Side, _ offset: Int, _ text: String, _ flags: TCPHeader.Flags, _ acknowledges: Int, _ wireLength: Int?
    ) {
        number += 1
        time += 1_000_000
        conversation.feed(
            MadeSegment(
                side: side, offset: offset, bytes: Array(text.utf8), flags: flags, acknowledges: acknowledges,
                wireLength: wireLength),
            number: number, time: Instant(nanoseconds: time), into: &sink, table: &table)
    }

    mutating func handshake() {
        client(-1, "", .syn)
        server(-1, "", [.syn, .ack])
        client(0)
    }

    mutating func finish() { table.finish(into: &sink) }

    func text(_ side: Side, of connection: Int = 0) -> String {
        String(decoding: sink.records[connection][side].bytes, as: UTF8.self)
    }

    func holes(_ side: Side, of connection: Int = 0) -> [RecordingSink.Hole] { sink.records[connection][side].holes }
}

@Suite struct ConnectionTableTests {
    // MARK: - Overlaps and repeats

    @Test func firstByteWinsAndTheConflictIsFlagged() {
        var bench = Bench()
        bench.handshake()
        bench.client(0, "GET /a")
        bench.client(4, "/b HTTP")  // differs from delivered bytes at offset 5
        bench.client(13, "1")
        bench.client(12, "02")  // differs from a byte that waits
        bench.client(11, ".")
        bench.finish()
        #expect(bench.text(.client) == "GET /a HTTP.01")
        #expect(bench.sink.records[0].client.conflicts == 2)
        #expect(bench.sink.faults.isEmpty)
    }

    @Test func equalRepeatsAreNothingNew() {
        var bench = Bench()
        bench.handshake()
        for _ in 0..<3 { bench.client(0, "POST / HTTP/1.1\r\n\r\n") }
        bench.client(5, "/ HTTP/1.1\r\n\r\nmore")
        bench.finish()
        #expect(bench.text(.client) == "POST / HTTP/1.1\r\n\r\nmore")
        #expect(bench.sink.records[0].client.conflicts == 0)
        #expect(bench.table.counters.repeatedSegments == 2)
    }

    @Test func keepAliveByteIsNoConflict() {
        var bench = Bench()
        bench.handshake()
        bench.client(0, "abc")
        bench.client(2, "\0")
        bench.client(2)
        bench.client(3, "d")
        bench.finish()
        #expect(bench.text(.client) == "abcd")
        #expect(bench.sink.records[0].client.conflicts == 0)
        #expect(bench.table.counters.keepAlives == 1)
    }

    /// A probe into a closed window carries the next byte, and the sender sends it again.
    @Test func zeroWindowProbe() {
        var bench = Bench()
        bench.handshake()
        bench.client(0, "abc")
        bench.client(3, "d")
        bench.server(0, acknowledges: 3)
        bench.client(3, "d")
        bench.server(0, acknowledges: 3)
        bench.client(3, "defg")
        bench.finish()
        #expect(bench.text(.client) == "abcdefg")
        #expect(bench.holes(.client).isEmpty)
    }

    @Test func conflictBeyondTheHistoryIsNotSeen() {
        var limits = TransportLimits()
        limits.historyBytes = 4
        var bench = Bench(limits: limits)
        bench.handshake()
        bench.client(0, "abcdefgh")
        bench.client(0, "XXXX")
        #expect(bench.sink.records[0].client.conflicts == 0)
        bench.client(4, "efgX")
        #expect(bench.sink.records[0].client.conflicts == 1)
    }

    // MARK: - Gaps

    /// The acknowledgement was captured before the bytes that it acknowledges (a reordered capture).
    @Test func acknowledgedBeforeItWasCaptured() {
        var bench = Bench()
        bench.handshake()
        bench.client(0, "one ")
        bench.client(8, "three")
        bench.server(0, acknowledges: 13)
        bench.server(0, "ok", acknowledges: 13)
        for _ in 0..<100 { bench.server(2, acknowledges: 13) }
        bench.client(4, "two ")
        bench.finish()
        #expect(bench.text(.client) == "one two three")
        #expect(bench.holes(.client).isEmpty)
    }

    @Test func acknowledgedGapIsAHoleAfterEnoughPackets() {
        var limits = TransportLimits()
        limits.acknowledgedGapPackets = 20
        var bench = Bench(limits: limits)
        bench.handshake()
        bench.client(0, "one ")
        bench.client(8, "three")
        for _ in 0..<50 { bench.server(0) }
        #expect(bench.text(.client) == "one ", "not acknowledged: may still come")
        for _ in 0..<20 { bench.server(0, acknowledges: 13) }
        #expect(bench.text(.client) == "one ")
        bench.server(0, acknowledges: 13)
        #expect(bench.text(.client) == "one three")
        #expect(bench.holes(.client) == [.init(length: 4, endOffset: 8, cause: .notCaptured)])
        bench.client(4, "two ")
        bench.finish()
        #expect(bench.text(.client) == "one three", "too late")
        #expect(bench.sink.faults.isEmpty)
    }

    @Test func acknowledgedGapIsAHoleAfterEnoughTime() {
        var bench = Bench()
        bench.handshake()
        bench.client(4, "later", acknowledges: 0)
        bench.server(0, acknowledges: 9)
        for _ in 0..<7 { bench.server(0, acknowledges: 9) }
        bench.time += 1_000_000_000
        #expect(bench.text(.client) == "")
        bench.server(0, acknowledges: 9)
        #expect(bench.text(.client) == "later")
    }

    /// Holes that come faster than one waiting time after another are each told in time: each waits from its own
    /// acknowledgement.
    @Test func manyHolesDoNotPileUp() {
        var limits = TransportLimits()
        limits.acknowledgedGapPackets = 100
        var bench = Bench(limits: limits)
        bench.handshake()
        for index in 0..<1000 {
            bench.client(index * 10 + (index % 10 == 9 ? 5 : 0), index % 10 == 9 ? "56789" : "0123456789")
            bench.server(0, acknowledges: index * 10 + 10)
        }
        #expect(bench.sink.records[0].client.holes.count >= 93)
        #expect(bench.table.counters.mostPendingBytes < 100 * (10 + PendingSegments.segmentOverhead))
        bench.finish()
        #expect(bench.sink.records[0].client.holes.count == 100)
    }

    @Test func oneSidedGapWaitsLonger() {
        var limits = TransportLimits()
        limits.oneSidedGapPackets = 30
        var bench = Bench(limits: limits)
        bench.client(-1, "", .syn)
        bench.client(0, "one ")
        bench.client(8, "three")
        for index in 0..<29 { bench.client(13 + index, "+") }
        #expect(bench.text(.client) == "one ")
        bench.client(42, "+")
        #expect(bench.text(.client).hasPrefix("one three+"))
    }

    @Test func pendingLimitOfASide() {
        var limits = TransportLimits()
        limits.pendingBytesPerSide = 10 + PendingSegments.segmentOverhead
        var bench = Bench(limits: limits)
        bench.handshake()
        bench.client(5, "0123456789")
        #expect(bench.text(.client) == "")
        bench.client(15, "x")
        #expect(bench.text(.client) == "0123456789x")
        #expect(bench.holes(.client) == [.init(length: 5, endOffset: 5, cause: .stateGivenUp)])
    }

    @Test func pendingSegmentLimit() {
        var limits = TransportLimits()
        limits.pendingSegmentsPerSide = 3
        var bench = Bench(limits: limits)
        bench.handshake()
        for offset in [2, 4, 6, 8] { bench.client(offset, "x") }
        #expect(bench.holes(.client).map(\.cause) == [.stateGivenUp])
        #expect(bench.text(.client) == "x")
    }

    @Test func pendingLimitOfTheTable() {
        var limits = TransportLimits()
        limits.pendingBytes = 100_000
        var bench = Bench(limits: limits)
        let piece = String(repeating: "x", count: 1000)
        for connection in 0..<400 {
            bench.conversation.clientEndpoint = Endpoint(
                address: IPAddress(ipv4: 0x0A00_0001), port: UInt16(10_000 + connection))
            bench.handshake()
            bench.client(10, piece)
            #expect(bench.table.counters.pendingBytes <= 100_000)
        }
        #expect(bench.table.counters.mostPendingBytes <= 101_000 + PendingSegments.segmentOverhead)
        bench.finish()
        #expect(bench.sink.records.allSatisfy { $0.client.bytes.count == 1000 && $0.client.holes.count == 1 })
        #expect(bench.table.counters.pendingBytes == 0)
    }

    // MARK: - Ends

    @Test func bytesBeforeAnEarlyFINCount() {
        var bench = Bench()
        bench.handshake()
        bench.client(6, "", [.fin, .ack])
        bench.client(3, "def")
        bench.client(0, "abc")
        bench.server(0, "", [.fin, .ack], acknowledges: 7)
        bench.finish()
        #expect(bench.text(.client) == "abcdef")
        #expect(bench.sink.records[0].client.isFinished)
        #expect(bench.sink.records[0].end?.cause == .finished)
        #expect(bench.sink.faults.isEmpty)
    }

    @Test func resetMakesNoGap() {
        var bench = Bench()
        bench.handshake()
        bench.client(0, "abc")
        bench.server(50, "", [.rst, .ack], acknowledges: 3)
        bench.client(3, "captured late")
        bench.finish()
        #expect(bench.text(.client) == "abccaptured late")
        #expect(bench.holes(.server).isEmpty && bench.holes(.client).isEmpty)
        #expect(bench.sink.records[0].end?.cause == .reset(by: .server))
    }

    @Test func forgedResetIsIgnored() {
        var bench = Bench()
        bench.handshake()
        bench.client(0, "abc")
        bench.server(500_000_000, "", .rst)
        bench.server(0, "answer", acknowledges: 3)
        bench.finish()
        #expect(bench.text(.server) == "answer")
        #expect(bench.sink.records[0].end?.cause == .traceEnded)
        #expect(bench.table.counters.implausibleSegments == 1)
    }

    @Test func refusedConnection() {
        var bench = Bench()
        bench.client(-1, "", .syn)
        bench.server(-9001, "", [.rst, .ack])
        bench.finish()
        #expect(bench.sink.records.count == 1)
        #expect(bench.sink.records[0].end?.cause == .reset(by: .server))
    }

    @Test func acknowledgedTailIsAHoleButAnUnseenFINIsNot() {
        var bench = Bench()
        bench.handshake()
        bench.client(0, "abc")
        bench.server(0, acknowledges: 4)  // a FIN that was not captured
        bench.server(0, "xyz", acknowledges: 4)
        bench.client(4, acknowledges: 103)  // 100 bytes that were not
        bench.finish()
        #expect(bench.holes(.client).isEmpty && bench.sink.records[0].client.isFinished)
        #expect(bench.holes(.server) == [.init(length: 100, endOffset: 103, cause: .notCaptured)])
    }

    @Test func latePacketsOfAnEndedConnectionOpenNothing() {
        var limits = TransportLimits()
        limits.closingPackets = 4
        var bench = Bench(limits: limits)
        bench.handshake()
        bench.client(0, "abc", [.fin, .ack])
        bench.server(0, "xyz", [.fin, .ack], acknowledges: 4)
        for _ in 0..<6 { bench.client(4, acknowledges: 4) }
        #expect(bench.sink.records[0].end?.cause == .finished)
        bench.client(0, "abc", [.fin, .ack])
        bench.server(0, "xyz", [.fin, .ack], acknowledges: 4)
        bench.finish()
        #expect(bench.sink.records.count == 1)
        #expect(bench.sink.faults.isEmpty)
    }

    // MARK: - Which connection

    @Test func repeatedSYNIsTheSameConnection() {
        var bench = Bench()
        bench.client(-1, "", .syn)
        bench.client(-1, "", .syn)
        bench.server(-1, "", [.syn, .ack])
        bench.server(-1, "", [.syn, .ack])
        bench.client(0, "abc")
        bench.client(-1, "", .syn)
        bench.client(3, "def")
        bench.finish()
        #expect(bench.sink.records.count == 1)
        #expect(bench.text(.client) == "abcdef")
    }

    @Test(arguments: ["open", "finished", "reset"])
    func newSYNIsANewConnection(_ ending: String) {
        var bench = Bench()
        bench.handshake()
        bench.client(0, "abc")
        bench.server(0, "xyz", acknowledges: 3)
        if ending == "finished" {
            bench.client(3, "", [.fin, .ack], acknowledges: 3)
            bench.server(3, "", [.fin, .ack], acknowledges: 4)
        } else if ending == "reset" {
            bench.client(3, "", .rst)
        }
        let old = bench.conversation
        bench.conversation.clientISN = 77_000_000
        bench.conversation.serverISN = 88_000_000
        bench.handshake()
        bench.client(0, "second")
        bench.conversation = old
        bench.client(-1, "", .syn)  // the old SYN, captured late
        bench.finish()
        #expect(bench.sink.records.count == 2)
        #expect(bench.text(.client) == "abc" && bench.text(.client, of: 1) == "second")
        #expect(bench.sink.records.allSatisfy { $0.connection.startSeen })
        #expect(bench.sink.faults.isEmpty)
    }

    @Test func answerBeforeTheSYN() {
        var bench = Bench()
        bench.server(-1, "", [.syn, .ack])
        bench.client(-1, "", .syn)
        bench.client(0, "abc")
        bench.server(0, "xyz", acknowledges: 3)
        bench.finish()
        #expect(bench.sink.records.count == 1)
        #expect(bench.sink.records[0].connection.client == bench.conversation.clientEndpoint)
        #expect(bench.text(.client) == "abc" && bench.text(.server) == "xyz")
    }

    @Test(arguments: [false, true])
    func fastOpen(answerFirst: Bool) {
        var bench = Bench()
        if answerFirst {
            bench.server(-1, "", [.syn, .ack], acknowledges: 5)
            bench.client(-1, "hello", .syn)
        } else {
            bench.client(-1, "hello", .syn)
            bench.server(-1, "", [.syn, .ack], acknowledges: 5)
        }
        bench.client(5, " world")
        bench.finish()
        #expect(bench.sink.records.count == 1)
        #expect(bench.text(.client) == "hello world")
        #expect(bench.holes(.client).isEmpty)
    }

    @Test func farAwaySegmentsNeedASecondOne() {
        var bench = Bench()
        bench.handshake()
        bench.client(0, "abc")
        bench.client(200_000_000, "stray")
        bench.client(3, "def")
        bench.client(300_000_000, "capture paused")
        bench.client(300_000_014, " here")
        bench.finish()
        #expect(bench.sink.records.count == 1)
        #expect(bench.text(.client) == "abcdef here")
        #expect(bench.holes(.client).map(\.length) == [300_000_008])
        #expect(bench.table.counters.implausibleSegments == 2)
    }

    // MARK: - Limits of the table

    @Test func openConnectionLimit() {
        var limits = TransportLimits()
        limits.openConnections = 2
        var bench = Bench(limits: limits)
        for port in [UInt16(40_000), 40_001, 40_002, 40_000] {
            bench.conversation.clientEndpoint = Endpoint(address: IPAddress(ipv4: 0x0A00_0001), port: port)
            if bench.sink.records.count < 3 { bench.handshake() }
            bench.client(0, "abc")
        }
        bench.finish()
        #expect(bench.table.counters.givenUpConnections == 2)
        #expect(bench.sink.records.count == 4, "the first is joined again in the middle")
        #expect(bench.sink.records[0].end?.cause == .idle)
        #expect(bench.holes(.client).map(\.cause) == [.stateGivenUp] && bench.holes(.client)[0].length == nil)
        #expect(!bench.sink.records[3].connection.startSeen)
        #expect(bench.sink.faults.isEmpty)
    }

    @Test func idleConnectionsAreReleased() {
        var bench = Bench()
        bench.handshake()
        bench.client(5, "waits")
        bench.time += 3_700_000_000_000
        bench.conversation.clientEndpoint = Endpoint(address: IPAddress(ipv4: 0x0A00_0009), port: 5)
        for _ in 0..<(2 * PacketClock.run) { bench.client(0) }
        #expect(bench.sink.records[0].end?.cause == .idle)
        #expect(bench.text(.client) == "waits")
        #expect(bench.table.counters.pendingBytes == 0)
    }

    @Test func oneAbsurdTimestampReleasesNothing() {
        var bench = Bench()
        bench.handshake()
        for index in 0..<200 {
            let jump: Int64 = index % 31 == 0 ? 4_000_000_000_000_000_000 : 0
            bench.time += jump
            bench.client(index, "x")
            bench.time -= jump
        }
        bench.finish()
        #expect(bench.sink.records.count == 1)
        #expect(bench.sink.records[0].end?.cause == .traceEnded)
    }

    @Test func oneSidedConnectionThatFinishedIsReleased() {
        var bench = Bench()
        bench.client(-1, "", .syn)
        bench.client(0, "abc", [.fin, .ack])
        bench.time += 61_000_000_000
        bench.conversation.clientEndpoint = Endpoint(address: IPAddress(ipv4: 0x0A00_0009), port: 5)
        for _ in 0..<(2 * PacketClock.run) { bench.client(0) }
        #expect(bench.sink.records[0].end?.cause == .idle)
    }

    @Test func endedConnectionLimit() {
        var limits = TransportLimits()
        limits.endedConnections = 3
        limits.closingPackets = 1
        var bench = Bench(limits: limits)
        for port in UInt16(40_000)..<40_010 {
            bench.conversation.clientEndpoint = Endpoint(address: IPAddress(ipv4: 0x0A00_0001), port: port)
            bench.client(-1, "", .syn)
            bench.server(0, "", [.rst, .ack])
        }
        bench.conversation.clientEndpoint = Endpoint(address: IPAddress(ipv4: 0x0A00_0001), port: 40_009)
        bench.server(0, "", [.rst, .ack])
        #expect(bench.sink.records.count == 10)
        bench.conversation.clientEndpoint = Endpoint(address: IPAddress(ipv4: 0x0A00_0001), port: 40_001)
        bench.server(0, "", [.rst, .ack])
        #expect(bench.sink.records.count == 11, "forgotten, so a new one")
    }
}
