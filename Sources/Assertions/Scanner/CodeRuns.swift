/// Runs of numbers, each a byte's: text as JSON writes an array of bytes (`[104,116,…]`; Java's bytes are negative beyond 127), or
/// an object whose members are counted (`{"0":104,"1":116,…}`), as `Uint8Array` is written.
struct CodeRuns {
    /// Numbers of the shortest run.
    static let shortest = 8
    /// Bytes that the shortest run writes; a value of eight printable characters makes no less.
    private static let shortestText = 23

    private let bytes: UnsafeRawBufferPointer
    private var next = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// Where the next run at or after the last one's end begins, and what it says.
    mutating func nextRun(into output: inout [UInt8]) -> Int? {
        while let start = nextStart() {
            output.removeAll(keepingCapacity: true)
            var end = start
            while let (value, after) = Self.number(bytes, at: end) {
                output.append(value)
                end = after
                guard let following = Self.separator(bytes, at: end) else { break }
                end = following
            }
            // A number that is no byte's is passed whole.
            next = max(end, start + 1)
            while next < bytes.count, bytes[next] &- 0x30 < 10 { next += 1 }
            if output.count >= Self.shortest { return start }
        }
        return nil
    }

    /// What counted members from `start` (`{"0":`) on say.
    static func members(_ bytes: UnsafeRawBufferPointer, from start: Int, into output: inout [UInt8]) {
        output.removeAll(keepingCapacity: true)
        var place = start + 1
        while place < bytes.count, bytes[place] == 0x22 {
            var index = place + 1
            var count = 0
            while index < bytes.count, bytes[index] &- 0x30 < 10, count < 1 << 24 {
                count = count * 10 + Int(bytes[index] &- 0x30)
                index += 1
            }
            guard count == output.count, index + 1 < bytes.count, bytes[index] == 0x22, bytes[index + 1] == 0x3A,
                let (value, after) = number(bytes, at: index + 2)
            else { return }
            output.append(value)
            guard after < bytes.count, bytes[after] == 0x2C else { return }
            place = after + 1
        }
    }

    /// The first number of a stretch of numbers.
    private mutating func nextStart() -> Int? {
        Self.isMember.withUnsafeBufferPointer { isMember -> Int? in
            // Any run covers one of these places.
            var sample = next &+ Self.shortestText &- 1
            while sample < bytes.count {
                guard isMember[Int(bytes[sample])], Self.isInside(sample, of: bytes, isMember) else {
                    sample &+= Self.shortestText
                    continue
                }
                var start = sample
                while start > next, isMember[Int(bytes[start &- 1])] { start &-= 1 }
                while start <= sample, !Self.begins(bytes, at: start) { start &+= 1 }
                if start <= sample { return start }
                sample &+= Self.shortestText
            }
            return nil
        }
    }

    /// Whether the bytes just before a place or just behind it may all be a run's, as on one side of any place of one they are.
    private static func isInside(
        _ place: Int, of bytes: UnsafeRawBufferPointer, _ isMember: UnsafeBufferPointer<Bool>
    ) -> Bool {
        var before = place >= 6
        var behind = place &+ 6 < bytes.count
        for distance in 1...6 {
            if before { before = isMember[Int(bytes[place &- distance])] }
            if behind { behind = isMember[Int(bytes[place &+ distance])] }
            if !before, !behind { return false }
        }
        return true
    }

    /// Whether a number begins here.
    private static func begins(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Bool {
        bytes[index] &- 0x30 < 10
            || (bytes[index] == 0x2D && index &+ 1 < bytes.count && bytes[index &+ 1] &- 0x30 < 10)
    }

    /// The byte that is written at `start`, and the place behind it.
    private static func number(_ bytes: UnsafeRawBufferPointer, at start: Int) -> (value: UInt8, end: Int)? {
        let isNegative = start < bytes.count && bytes[start] == 0x2D
        var index = isNegative ? start &+ 1 : start
        let first = index
        var value = 0
        while index < bytes.count, bytes[index] &- 0x30 < 10, index &- first < 4 {
            value = value &* 10 &+ Int(bytes[index] &- 0x30)
            index &+= 1
        }
        guard index > first, value <= (isNegative ? 128 : 255) else { return nil }
        return (UInt8(truncatingIfNeeded: isNegative ? -value : value), index)
    }

    /// The place behind a comma and the space that follows it.
    private static func separator(_ bytes: UnsafeRawBufferPointer, at start: Int) -> Int? {
        guard start < bytes.count, bytes[start] == 0x2C else { return nil }
        var index = start &+ 1
        while index < bytes.count,
            bytes[index] == 0x20 || bytes[index] == 0x0A || bytes[index] == 0x0D || bytes[index] == 0x09
        {
            index &+= 1
        }
        return index
    }

    /// Digits, commas, signs and space.
    private static let isMember: [Bool] = (0...255).map {
        (0x30...0x39).contains($0) || [0x2C, 0x2D, 0x20, 0x0A, 0x0D, 0x09].contains($0)
    }
}
