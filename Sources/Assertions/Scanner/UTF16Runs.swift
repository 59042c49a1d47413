/// Runs of text with two bytes a character, each of which is ASCII.
struct UTF16Runs {
    /// Characters of the shortest run that is decoded.
    static let shortest = 15

    private var next = 0

    init() {}

    /// The next run at or after the last one's end, and its byte order.
    mutating func nextRun(in bytes: UnsafeRawBufferPointer) -> (range: Range<Int>, isBigEndian: Bool)? {
        // Half the shortest run: any run holds four whole units at one of these places.
        while next + 8 <= bytes.count {
            let place = next
            next += Self.shortest
            guard (bytes[place] == 0) != (bytes[place + 1] == 0) else { continue }
            // Text of one order reads as the other one from its second byte on, but for its last character.
            var best: (range: Range<Int>, isBigEndian: Bool)?
            for isBigEndian in [false, true] {
                guard let range = Self.run(around: place, in: bytes, isBigEndian: isBigEndian) else { continue }
                if best.map({ range.count > $0.range.count }) ?? true { best = (range, isBigEndian) }
            }
            guard var best else { continue }
            // With a character before it that belongs to no text, either reading is as long; what both hold is whole.
            if let other = Self.run(around: place, in: bytes, isBigEndian: !best.isBigEndian),
                other.count == best.range.count
            {
                best.range =
                    min(other.lowerBound, best.range.lowerBound)..<max(other.upperBound, best.range.upperBound)
            }
            next = max(next, best.range.upperBound)
            if best.range.count >= 2 * Self.shortest { return best }
        }
        return nil
    }

    private static func run(around place: Int, in bytes: UnsafeRawBufferPointer, isBigEndian: Bool) -> Range<Int>? {
        for phase in 0...1 where areUnits(bytes, from: place + phase, isBigEndian: isBigEndian) {
            var start = place + phase
            while isUnit(bytes, at: start - 2, isBigEndian: isBigEndian) { start -= 2 }
            var end = place + phase
            while isUnit(bytes, at: end, isBigEndian: isBigEndian) { end += 2 }
            return start..<end
        }
        return nil
    }

    private static func areUnits(_ bytes: UnsafeRawBufferPointer, from start: Int, isBigEndian: Bool) -> Bool {
        (0..<3).allSatisfy { isUnit(bytes, at: start + 2 * $0, isBigEndian: isBigEndian) }
    }

    private static func isUnit(_ bytes: UnsafeRawBufferPointer, at index: Int, isBigEndian: Bool) -> Bool {
        guard index >= 0, index + 1 < bytes.count else { return false }
        let (zero, byte) = isBigEndian ? (bytes[index], bytes[index + 1]) : (bytes[index + 1], bytes[index])
        return zero == 0 && ByteClass.isPrintable(byte)
    }

    /// The text of a run.
    static func decode(_ run: UnsafeRawBufferPointer, into output: inout [UInt8]) {
        output.reserveCapacity(output.count + run.count / 2 + 1)
        for byte in run where byte != 0 { output.append(byte) }
    }
}
