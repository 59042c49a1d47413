/// Runs of hex with one byte, a space or a colon, between each two digits and the next.
struct SpacedHexRuns {
    /// Bytes that the shortest run writes: what base64 makes of a value of eight.
    static let shortest = 11

    private var next = 0

    init() {}

    /// The next run at or after the last one's end.
    mutating func nextRun(in bytes: UnsafeRawBufferPointer) -> Range<Int>? {
        // A run of the shortest kind covers one of these places and the six bytes behind it.
        while next &+ 9 <= bytes.count {
            let place = next
            next &+= 3 &* (Self.shortest &- 4)
            for phase in 0..<3 {
                var first = place &+ phase
                let separator = bytes[first]
                guard separator == 0x20 || separator == 0x3A, bytes[first &+ 3] == separator,
                    bytes[first &+ 6] == separator
                else { continue }
                var end = first
                while end < bytes.count, bytes[end] == separator, Self.isPair(bytes, at: end &+ 1) { end &+= 3 }
                var start = first &+ 1
                while Self.isPair(bytes, at: first &- 2) {
                    start = first &- 2
                    guard start > 0, bytes[start &- 1] == separator else { break }
                    first = start &- 1
                }
                next = max(next, end)
                if end &- start >= 3 &* Self.shortest &- 1 { return start..<end }
            }
        }
        return nil
    }

    private static func isPair(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Bool {
        index >= 0 && index &+ 1 < bytes.count && Hex.byte(bytes[index], bytes[index &+ 1]) != nil
    }
}
