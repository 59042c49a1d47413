internal import SessionTrace

/// Gathers the content of one message: keeps its start up to a limit and counts everything.
struct BodyCollector {
    private var bytes: [UInt8] = []
    private var length = 0
    private var missing = 0
    private var expected = 0
    private let limit: Int

    /// Room that an announced length alone makes.
    private static let roomAtOnce = 1 << 20

    /// Keeps at most `limit` bytes.
    init(limit: Int) {
        self.limit = max(0, limit)
    }

    /// Bytes kept so far.
    var keptCount: Int { bytes.count }

    /// Content bytes that were dropped because of the limit.
    var droppedCount: Int { length - bytes.count }

    /// Adds content in one copy.
    mutating func append(_ content: UnsafeRawBufferPointer) {
        length &+= content.count
        let room = limit - bytes.count
        guard room > 0 else { return }
        // Once the first of it came there is room for all of it: doubling would take half as much again.
        if bytes.count + content.count > bytes.capacity, bytes.count + content.count > Self.roomAtOnce {
            bytes.reserveCapacity(expected)
        }
        if content.count <= room {
            bytes.append(contentsOf: content)
        } else {
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: content[..<room]))
        }
    }

    /// Room for a body whose length is announced; a lying length costs at most 1 MiB, and no more than `limit`
    /// once so much came.
    mutating func expect(_ announced: Int) {
        expected = max(0, min(announced, limit))
        bytes.reserveCapacity(min(expected, Self.roomAtOnce))
    }

    /// Counts content bytes that the capture does not hold.
    mutating func skip(_ count: Int) {
        missing = missing.addingReportingOverflow(count).overflow ? Int.max : missing + count
    }

    /// The body, leaving this collector empty.
    mutating func take(isComplete: Bool) -> Body {
        let body = Body(
            bytes: bytes, length: length, missing: missing, isComplete: isComplete, isCut: length > bytes.count)
        bytes = []
        expected = 0
        length = 0
        missing = 0
        return body
    }
}
