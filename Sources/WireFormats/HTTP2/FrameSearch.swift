internal import SessionTrace

/// Finds the frames of an HTTP/2 direction again after a hole, or when the connection was joined in the middle.
///
/// Enters: stream bytes in any pieces, with the packet of each. Leaves: the place of the first frame header whose
/// successors are frame headers too, and the bytes from there on. The answer depends on the bytes alone, not on how
/// they were cut: the chain whose third header is completed first wins, the earlier one among equals.
struct FrameSearch {
    /// Bytes found to be frames, in pieces with their packets.
    struct Replay {
        var bytes: [UInt8]
        var pieces: [(range: Range<Int>, at: PacketReference)]
    }

    /// Bytes held while searching; at the limit the older half is given up.
    static let window = 256 << 10
    /// Bytes searched before the direction is given up.
    static let budget = 8 << 20
    /// Consecutive plausible headers that make a chain.
    static let chainLength = 3
    /// Possible chains followed at once.
    static let chainLimit = 256

    private struct Chain {
        var start: Int
        var next: Int
        var count: Int
        /// The stream whose header block must continue, when the last header left one open.
        var openBlock: UInt32?
    }

    private var buffer: [UInt8] = []
    private var pieces: [(offset: Int, at: PacketReference)] = []
    private var chains: [Chain] = []
    private var scanned = 0
    /// Bytes that were dropped: they belong to no frame that could be told.
    private(set) var dropped = 0
    /// Whether the budget is used up.
    var isExhausted: Bool { dropped >= Self.budget }

    /// Takes bytes from `input` until a chain is complete or the input is used up; true when a chain is complete.
    mutating func receive(
        _ input: inout UnsafeRawBufferPointer, at packet: PacketReference, largestFrame: Int
    ) -> Bool {
        while !input.isEmpty, !isExhausted {
            if buffer.count >= Self.window { dropOlder(Self.window / 2) }
            let before = buffer.count
            let count = min(input.count, Self.window - before)
            if pieces.last?.at != packet { pieces.append((before, packet)) }
            buffer.append(contentsOf: input[..<count])
            guard let (start, end) = firstComplete(largestFrame: largestFrame) else {
                input = UnsafeRawBufferPointer(rebasing: input[count...])
                continue
            }
            buffer.removeLast(buffer.count - end)
            input = UnsafeRawBufferPointer(rebasing: input[(end - before)...])
            dropOlder(start)
            return true
        }
        return false
    }

    /// At an end of what can be seen (a hole, the end of the stream): takes a chain that is shorter but fits, that is,
    /// ends exactly where the bytes end, or has two headers. False when there is none.
    mutating func settleForLess() -> Bool {
        guard let chain = chains.first(where: { $0.next == buffer.count || $0.count > 1 }) else { return false }
        dropOlder(chain.start)
        return true
    }

    /// Hands out what is held, and is empty afterwards; `dropped` stays.
    mutating func take() -> Replay {
        var ranges: [(range: Range<Int>, at: PacketReference)] = []
        for (index, piece) in pieces.enumerated() {
            let end = index + 1 < pieces.count ? pieces[index + 1].offset : buffer.count
            if end > piece.offset { ranges.append((piece.offset..<end, piece.at)) }
        }
        let replay = Replay(bytes: buffer, pieces: ranges)
        self = FrameSearch(dropped: dropped)
        return replay
    }

    /// Drops all that is held and starts again.
    mutating func restart() {
        self = FrameSearch(dropped: dropped + buffer.count)
    }

    /// A search that has dropped `dropped` bytes before.
    init(dropped: Int = 0) {
        self.dropped = dropped
    }

    private mutating func firstComplete(largestFrame: Int) -> (start: Int, end: Int)? {
        var best: (start: Int, end: Int)?
        buffer.withUnsafeBytes { bytes in
            var kept = 0
            for index in chains.indices {
                var chain = chains[index]
                guard Self.follow(&chain, in: bytes, largestFrame: largestFrame) else { continue }
                Self.consider(chain, &best)
                chains[kept] = chain
                kept += 1
            }
            chains.removeLast(chains.count - kept)
            while scanned + FrameHeader.size <= bytes.count {
                var chain = Chain(start: scanned, next: scanned, count: 0, openBlock: nil)
                scanned += 1
                guard chains.count < Self.chainLimit,
                    Self.follow(&chain, in: bytes, largestFrame: largestFrame)
                else { continue }
                Self.consider(chain, &best)
                chains.append(chain)
            }
        }
        return best
    }

    private static func consider(_ chain: Chain, _ best: inout (start: Int, end: Int)?) {
        guard chain.count == chainLength else { return }
        // `next` of a complete chain is the end of its last header.
        if let known = best, known.end <= chain.next { return }
        best = (chain.start, chain.next)
    }

    /// Follows a chain as far as the bytes go; false when it breaks.
    private static func follow(
        _ chain: inout Chain, in bytes: UnsafeRawBufferPointer, largestFrame: Int
    ) -> Bool {
        while chain.count < chainLength, chain.next + FrameHeader.size <= bytes.count {
            let header = FrameHeader(bytes, at: chain.next)
            guard header.isPlausible(largestFrame: largestFrame) else { return false }
            if chain.count > 0 {
                let continues = header.kind == .continuation
                guard continues == (chain.openBlock != nil), !continues || header.streamID == chain.openBlock else {
                    return false
                }
            }
            switch header.kind {
            case .headers, .pushPromise, .continuation:
                chain.openBlock = header.has(FrameHeader.Flag.endHeaders) ? nil : header.streamID
            default: break
            }
            chain.count += 1
            chain.next += FrameHeader.size + (chain.count < chainLength ? header.length : 0)
        }
        return true
    }

    private mutating func dropOlder(_ count: Int) {
        guard count > 0 else { return }
        buffer.removeFirst(count)
        dropped += count
        scanned = max(0, scanned - count)
        chains = chains.compactMap {
            $0.start < count
                ? nil : Chain(start: $0.start - count, next: $0.next - count, count: $0.count, openBlock: $0.openBlock)
        }
        var moved: [(offset: Int, at: PacketReference)] = []
        for piece in pieces {
            if piece.offset <= count { moved.removeAll() }
            moved.append((max(0, piece.offset - count), piece.at))
        }
        pieces = moved
    }
}
