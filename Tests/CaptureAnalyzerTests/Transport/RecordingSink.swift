import CaptureAnalyzer
import SessionTrace

/// A `StreamSink` that keeps everything, and checks what every sink may rely on: offsets that go on without a jump,
/// nothing after `finished` but acknowledgements, nothing at all after `closed`.
struct RecordingSink: StreamSink {
    struct Hole: Equatable {
        var length: Int?
        var endOffset: UInt64
        var cause: HoleCause
    }

    struct Stream {
        /// The bytes, with nothing in place of holes.
        var bytes: [UInt8] = []
        var holes: [Hole] = []
        var conflicts = 0
        var conflictPackets: [Int] = []
        var acknowledged: UInt64 = 0
        var isFinished = false
        var end: UInt64 = 0
        /// Packet numbers of the pieces, in stream order.
        var packets: [Int] = []
    }

    struct Record {
        var connection: Connection
        var client = Stream()
        var server = Stream()
        var datagrams: [(side: Side, bytes: [UInt8], length: Int)] = []
        var end: ConnectionEnd?
        var identified: ProcessIdentity?

        subscript(side: Side) -> Stream {
            get { side == .client ? client : server }
            set { if side == .client { client = newValue } else { server = newValue } }
        }
    }

    var records: [Record] = []
    var spots: [BlindSpot] = []
    /// Broken promises, in words.
    var faults: [String] = []
    var keepsBytes = true

    mutating func nextConnectionID() -> ConnectionID { ConnectionID(records.count) }

    mutating func opened(_ connection: Connection) {
        if connection.id.number != records.count { faults.append("id \(connection.id.number) out of order") }
        records.append(Record(connection: connection))
    }

    private mutating func check(_ id: ConnectionID, _ side: Side?, _ what: String) {
        if records[id.number].end != nil { faults.append("\(what) after closed on \(id.number)") }
        if let side, records[id.number][side].isFinished { faults.append("\(what) after finished on \(id.number)") }
    }

    mutating func received(
        _ bytes: UnsafeRawBufferPointer, from side: Side, endOffset: UInt64, at: PacketReference, on id: ConnectionID
    ) {
        check(id, side, "bytes")
        if bytes.isEmpty { faults.append("no bytes") }
        modify(id, side) { stream, keepsBytes in
            if keepsBytes { stream.bytes.append(contentsOf: bytes) }
            stream.end += UInt64(bytes.count)
            stream.packets.append(at.number)
        }
        if records[id.number][side].end != endOffset { faults.append("bytes end at \(endOffset)") }
    }

    mutating func hole(
        length: Int?, from side: Side, endOffset: UInt64, noticed: PacketReference, span: TimeSpan, cause: HoleCause,
        on id: ConnectionID
    ) {
        check(id, side, "hole")
        if let length, length <= 0 { faults.append("hole of \(length)") }
        modify(id, side) { stream, _ in
            stream.holes.append(Hole(length: length, endOffset: endOffset, cause: cause))
            stream.end += UInt64(length ?? 0)
        }
        if records[id.number][side].end != endOffset { faults.append("hole ends at \(endOffset)") }
    }

    mutating func acknowledged(by side: Side, upTo offset: UInt64, at: PacketReference, on id: ConnectionID) {
        check(id, nil, "acknowledgement")
        modify(id, side.peer) { stream, _ in stream.acknowledged = max(stream.acknowledged, offset) }
    }

    mutating func overlapConflict(from side: Side, at: PacketReference, on id: ConnectionID) {
        check(id, nil, "conflict")
        modify(id, side) { stream, _ in
            stream.conflicts += 1
            stream.conflictPackets.append(at.number)
        }
    }

    mutating func finished(side: Side, at: PacketReference, on id: ConnectionID) {
        check(id, side, "finished")
        modify(id, side) { stream, _ in stream.isFinished = true }
    }

    mutating func closed(_ end: ConnectionEnd) {
        check(end.id, nil, "closed")
        records[end.id.number].end = end
    }

    mutating func datagram(
        _ bytes: UnsafeRawBufferPointer, length: Int, from side: Side, at: PacketReference, on id: ConnectionID
    ) {
        check(id, nil, "datagram")
        records[id.number].datagrams.append((side, keepsBytes ? [UInt8](bytes) : [], length))
    }

    mutating func identified(_ process: ProcessIdentity, of id: ConnectionID) {
        records[id.number].identified = process
    }

    mutating func blind(_ spot: BlindSpot) { spots.append(spot) }

    private mutating func modify(_ id: ConnectionID, _ side: Side, _ change: (inout Stream, Bool) -> Void) {
        if side == .client {
            change(&records[id.number].client, keepsBytes)
        } else {
            change(&records[id.number].server, keepsBytes)
        }
    }
}
