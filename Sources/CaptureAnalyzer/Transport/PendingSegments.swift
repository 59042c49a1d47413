internal import SessionTrace

/// Segments of one side that wait behind a gap: sorted by offset, without overlap (the first bytes win).
struct PendingSegments {
    /// A stretch of stream bytes from one packet.
    struct Segment {
        /// Stream offset of the first byte.
        var offset: Int64
        /// Length on the wire; `bytes` may be shorter (snapshot length).
        var length: Int
        var bytes: [UInt8]
        var reference: PacketReference
        /// The connection's packet count at which it came, and at which the peer's acknowledgement was first seen to
        /// reach its start (or past it); nil until then.
        var arrived: Moment
        var acknowledged: Moment?

        var end: Int64 { offset + Int64(length) }
    }

    /// A place in a connection: how many of its packets were seen, and the packet time.
    struct Moment {
        var packets: Int
        var time: Instant

        /// The later of two.
        func later(_ other: Moment?) -> Moment {
            guard let other, other.packets > packets else { return self }
            return other
        }
    }

    private var segments: [Segment] = []
    private var head = 0
    /// How many segments from `head` on have `acknowledged` set.
    private var acknowledgedCount = 0
    /// Bytes held, with `segmentOverhead` for each segment: many tiny segments cost more than their payload.
    private(set) var byteCount = 0
    /// What a segment costs beside its payload, in bytes (its entry, and its own allocation).
    static let segmentOverhead = 128

    var isEmpty: Bool { head == segments.count }
    var count: Int { segments.count - head }
    var first: Segment? { isEmpty ? nil : segments[head] }
    /// The offset after the last segment; 0 when there is none.
    var end: Int64 { segments.last?.end ?? 0 }

    /// Takes the first segment out.
    mutating func removeFirst() -> Segment? {
        guard !isEmpty else { return nil }
        let segment = segments[head]
        segments[head].bytes = []
        head += 1
        acknowledgedCount = max(acknowledgedCount - 1, 0)
        byteCount -= segment.bytes.count + Self.segmentOverhead
        if isEmpty {
            segments.removeAll(keepingCapacity: segments.count <= 64)
            head = 0
        } else if head >= 256, head * 2 > segments.count {
            segments.removeFirst(head)
            head = 0
        }
        return segment
    }

    /// Drops everything.
    mutating func clear() {
        segments = []
        head = 0
        acknowledgedCount = 0
        byteCount = 0
    }

    /// Moves all offsets by `distance`: the stream's start turned out to lie elsewhere.
    mutating func shift(by distance: Int64) {
        for index in head..<segments.count { segments[index].offset += distance }
    }

    /// The peer has acknowledged everything before `offset`.
    mutating func acknowledge(upTo offset: Int64, at moment: Moment) {
        while head + acknowledgedCount < segments.count, segments[head + acknowledgedCount].offset <= offset {
            segments[head + acknowledgedCount].acknowledged = moment
            acknowledgedCount += 1
        }
    }

    /// Puts a segment in its place; of bytes that are there already the old ones stay.
    ///
    /// - Parameter acknowledged: the offset up to which the peer has acknowledged.
    /// - Returns: how many bytes were new, and whether an overlap differed.
    mutating func insert(
        _ bytes: UnsafeRawBufferPointer, at offset: Int64, length: Int, reference: PacketReference, arrived: Moment,
        acknowledged: Int64
    ) -> (newBytes: Int, isConflict: Bool) {
        let end = offset + Int64(length)
        var index = lowerBound(offset)
        var position = offset
        var newBytes = 0
        var isConflict = false
        while position < end {
            let next = index < segments.count ? segments[index].offset : Int64.max
            if position < next {
                let pieceEnd = min(end, next)
                let piece = Self.slice(bytes, of: offset, position..<pieceEnd)
                segments.insert(
                    Segment(
                        offset: position, length: Int(pieceEnd - position), bytes: [UInt8](piece),
                        reference: reference, arrived: arrived,
                        acknowledged: position <= acknowledged ? arrived : nil),
                    at: index)
                if position <= acknowledged { acknowledgedCount += 1 }
                byteCount += piece.count + Self.segmentOverhead
                newBytes += Int(pieceEnd - position)
                index += 1
                position = pieceEnd
            } else {
                let old = segments[index]
                let overlapEnd = min(end, old.end)
                if overlapEnd > position {
                    if !isConflict { isConflict = Self.differ(old, bytes, at: offset, position..<overlapEnd) }
                    position = overlapEnd
                }
                index += 1
            }
        }
        return (newBytes, isConflict)
    }

    /// Whether `bytes` at `offset` differ from what waits at the same offsets.
    func differs(from bytes: UnsafeRawBufferPointer, at offset: Int64) -> Bool {
        let end = offset + Int64(bytes.count)
        var index = lowerBound(offset)
        while index < segments.count, segments[index].offset < end {
            let from = max(offset, segments[index].offset)
            let to = min(end, segments[index].end)
            if from < to, Self.differ(segments[index], bytes, at: offset, from..<to) { return true }
            index += 1
        }
        return false
    }

    /// The first segment that ends after `offset`.
    private func lowerBound(_ offset: Int64) -> Int {
        // Most segments come at the end.
        if let last = segments.last, last.end <= offset { return segments.count }
        var low = head
        var high = segments.count
        while low < high {
            let middle = (low + high) / 2
            if segments[middle].end <= offset { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The captured bytes of `range`, given that `bytes` start at `offset`.
    private static func slice(
        _ bytes: UnsafeRawBufferPointer, of offset: Int64, _ range: Range<Int64>
    ) -> Slice<UnsafeRawBufferPointer> {
        let from = min(Int(range.lowerBound - offset), bytes.count)
        let to = min(Int(range.upperBound - offset), bytes.count)
        return bytes[from..<to]
    }

    private static func differ(
        _ old: Segment, _ bytes: UnsafeRawBufferPointer, at offset: Int64, _ range: Range<Int64>
    ) -> Bool {
        let new = slice(bytes, of: offset, range)
        let from = min(Int(range.lowerBound - old.offset), old.bytes.count)
        let to = min(from + new.count, old.bytes.count)
        return !old.bytes[from..<to].elementsEqual(new.prefix(to - from))
    }
}
