/// Finds any of many byte patterns in one pass.
///
/// Each pattern is entered under two of its four-byte grams that start at neighbouring offsets (its *anchors*), so a
/// look at every second position of the text finds one of the two. A bitmap of 64 Ki hashed grams answers "no pattern
/// here" for nearly all positions without a dependent load; a second one, of the five bytes that both anchors lie in, for
/// nearly all others, since base64 has few enough letters for four of them to meet by chance. What passes is looked up
/// exactly and compared. Unlike an
/// automaton it has no state to walk and no failure links to rebuild: entering a pattern costs microseconds, and the
/// cost of a scan hardly depends on how many patterns there are. Grams are hashed with the case bit set, so one pass
/// serves patterns with and without regard to case.
struct PatternIndex: Sendable {
    /// What a pattern is there for.
    enum Meaning: Hashable, Sendable {
        /// A form of a needle under these layers.
        case needle(Int32, NeedleForm, Layers)
        /// A digest of a needle that chance can make: it counts only as a whole word.
        case weak(Int32, NeedleForm, Layers)
        /// A needle too short to be told by itself, written after its field's name: it must end here, and the
        /// name begin there.
        case bound(Int32, hasQuote: Bool)
        /// Bytes of a needle's token from this place on.
        case piece(Int32, offset: Int32)
        /// Something that is looked at more closely.
        case signature(Signature)
    }

    /// A match.
    struct Match: Hashable, Sendable {
        var pattern: Int32
        var start: Int
    }

    private struct Pattern: Sendable {
        var start: Int32
        var length: Int32
        var isCaseSensitive: Bool
        var meaning: Meaning
    }

    private struct Anchor: Sendable {
        var gram: UInt32
        var pattern: Int32
        var offset: Int32
        var next: Int32
    }

    /// All patterns back to back.
    private var storage: [UInt8] = []
    private var patterns: [Pattern] = []
    private var anchors: [Anchor] = []
    /// First anchor by the hash's first bits, or −1: two bits fewer than the bitmap has.
    private var heads: [Int32]
    private var bitmap: [UInt64]
    /// The same for the five bytes that a pattern's two anchors cover.
    private var windows: [UInt64]
    /// Every window entered, for when the bitmaps grow.
    private var enteredWindows: [UInt64] = []
    /// The hash's length in bits.
    private var hashBits: UInt32

    init() {
        hashBits = 16
        heads = Array(repeating: -1, count: 1 << 14)
        bitmap = Array(repeating: 0, count: 1 << 10)
        windows = bitmap
    }

    /// Bytes of memory that it takes.
    var memory: Int {
        storage.capacity + patterns.capacity * MemoryLayout<Pattern>.stride
            + anchors.capacity * MemoryLayout<Anchor>.stride + heads.capacity * 4
            + (bitmap.capacity + windows.capacity + enteredWindows.capacity) * 8
    }

    /// Patterns entered.
    var count: Int { patterns.count }

    func meaning(_ match: Match) -> Meaning { patterns[Int(match.pattern)].meaning }

    func length(_ match: Match) -> Int { Int(patterns[Int(match.pattern)].length) }

    /// Enters a pattern of at least five bytes; shorter ones are not entered.
    ///
    /// - Parameter isRandom: whether any of its bytes is as rare as any other (digests).
    mutating func insert(_ bytes: [UInt8], isCaseSensitive: Bool, isRandom: Bool = false, meaning: Meaning) {
        guard bytes.count >= 5, storage.count + bytes.count < Int32.max else { return }
        let anchor = isRandom ? 0 : Self.rarest(in: bytes)
        let number = append(bytes, isCaseSensitive: isCaseSensitive, meaning: meaning)
        for offset in anchor...anchor + 1 { enter(Self.gram(bytes, at: offset), pattern: number, offset: offset) }
        enter(window: Self.window(Self.gram(bytes, at: anchor), bytes[anchor + 4]))
    }

    /// Enters a four-byte pattern that must be followed by one of `followers`.
    mutating func insert(_ bytes: [UInt8], followers: some Sequence<UInt8>, meaning: Meaning) {
        guard bytes.count == 4 else { return }
        let number = append(bytes, isCaseSensitive: true, meaning: meaning)
        enter(Self.gram(bytes, at: 0), pattern: number, offset: 0)
        for window in Set(followers.map { Self.window(Self.gram(bytes, at: 0), $0) }) { enter(window: window) }
        for gram in Set(followers.map { Self.gram(Array(bytes.dropFirst()) + [$0], at: 0) }) {
            enter(gram, pattern: number, offset: 1)
        }
    }

    private mutating func append(_ bytes: [UInt8], isCaseSensitive: Bool, meaning: Meaning) -> Int32 {
        patterns.append(
            Pattern(
                start: Int32(storage.count), length: Int32(bytes.count), isCaseSensitive: isCaseSensitive,
                meaning: meaning))
        storage += bytes
        return Int32(patterns.count - 1)
    }

    private mutating func enter(_ gram: UInt32, pattern: Int32, offset: Int) {
        // Beyond a 32nd of the bits set, too many positions would pass; 4 Mi bits is where memory would suffer.
        if anchors.count >= 1 << (hashBits - 5), hashBits < 22 { grow() }
        let hash = Self.hash(gram, bits: hashBits)
        anchors.append(Anchor(gram: gram, pattern: pattern, offset: Int32(offset), next: heads[hash >> 2]))
        heads[hash >> 2] = Int32(anchors.count - 1)
        bitmap[hash >> 6] |= 1 << UInt64(hash & 63)
    }

    private mutating func enter(window: UInt64) {
        enteredWindows.append(window)
        let hash = Self.hash(window: window, bits: hashBits)
        windows[hash >> 6] |= 1 << UInt64(hash & 63)
    }

    private mutating func grow() {
        hashBits += 1
        heads = Array(repeating: -1, count: 1 << Int(hashBits - 2))
        bitmap = Array(repeating: 0, count: 1 << Int(hashBits - 6))
        windows = bitmap
        for window in enteredWindows {
            let hash = Self.hash(window: window, bits: hashBits)
            windows[hash >> 6] |= 1 << UInt64(hash & 63)
        }
        for index in anchors.indices {
            let hash = Self.hash(anchors[index].gram, bits: hashBits)
            anchors[index].next = heads[hash >> 2]
            heads[hash >> 2] = Int32(index)
            bitmap[hash >> 6] |= 1 << UInt64(hash & 63)
        }
    }

    /// Appends every match in `bytes` to `matches`, in no particular order. False when `limit` matches were reached and
    /// the rest was not looked at.
    func scan(_ bytes: UnsafeRawBufferPointer, limit: Int, into matches: inout [Match]) -> Bool {
        guard let base = bytes.baseAddress, bytes.count >= 5 else { return true }
        let end = bytes.count - 4
        let shift = 32 - hashBits
        return bitmap.withUnsafeBufferPointer { bitmap -> Bool in
            windows.withUnsafeBufferPointer { windows -> Bool in
                guard let bits = bitmap.baseAddress, let windowBits = windows.baseAddress else { return true }
                var index = 0
                // Four grams at even positions a round. Loads stay within bounds: index + 6 + 4 ≤ count.
                while index &+ 6 <= end {
                    let h0 = Self.hash(base, index, shift)
                    let h1 = Self.hash(base, index &+ 2, shift)
                    let h2 = Self.hash(base, index &+ 4, shift)
                    let h3 = Self.hash(base, index &+ 6, shift)
                    let b0 = bits[h0 &>> 6] &>> UInt64(h0 & 63) & 1
                    let b1 = bits[h1 &>> 6] &>> UInt64(h1 & 63) & 1
                    let b2 = bits[h2 &>> 6] &>> UInt64(h2 & 63) & 1
                    let b3 = bits[h3 &>> 6] &>> UInt64(h3 & 63) & 1
                    var passed = b0 | b1 &<< 1 | b2 &<< 2 | b3 &<< 3
                    while passed != 0 {
                        let position = index &+ 2 &* passed.trailingZeroBitCount
                        passed &= passed &- 1
                        guard isWindow(at: position, in: bytes, windowBits) else { continue }
                        guard look(at: position, in: bytes, limit: limit, into: &matches) else { return false }
                    }
                    index &+= 8
                }
                while index <= end {
                    let hash = Self.hash(base, index, shift)
                    if bits[hash &>> 6] &>> UInt64(hash & 63) & 1 == 1, isWindow(at: index, in: bytes, windowBits),
                        !look(at: index, in: bytes, limit: limit, into: &matches)
                    {
                        return false
                    }
                    index &+= 2
                }
                return true
            }
        }
    }

    /// Whether the five bytes from `position` on, or from the byte before it, are a pattern's.
    @inline(__always)
    private func isWindow(
        at position: Int, in bytes: UnsafeRawBufferPointer, _ windows: UnsafePointer<UInt64>
    ) -> Bool {
        // The gram at `position` is in bounds.
        let gram = bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self) | Self.caseBits
        if position &+ 4 < bytes.count {
            let hash = Self.hash(window: Self.window(gram, bytes[position &+ 4]), bits: hashBits)
            if windows[hash &>> 6] &>> UInt64(hash & 63) & 1 == 1 { return true }
        }
        guard position > 0 else { return false }
        let earlier = bytes.loadUnaligned(fromByteOffset: position &- 1, as: UInt32.self) | Self.caseBits
        let hash = Self.hash(window: Self.window(earlier, bytes[position &+ 3]), bits: hashBits)
        return windows[hash &>> 6] &>> UInt64(hash & 63) & 1 == 1
    }

    /// Looks exactly at one position.
    @inline(never)
    private func look(
        at position: Int, in bytes: UnsafeRawBufferPointer, limit: Int, into matches: inout [Match]
    ) -> Bool {
        let gram = bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self) | Self.caseBits
        var next = heads[Self.hash(gram, bits: hashBits) >> 2]
        while next >= 0 {
            let anchor = anchors[Int(next)]
            next = anchor.next
            guard anchor.gram == gram else { continue }
            let begin = position - Int(anchor.offset)
            guard matchesPattern(anchor.pattern, at: begin, in: bytes) else { continue }
            guard matches.count < limit else { return false }
            matches.append(Match(pattern: anchor.pattern, start: begin))
        }
        return true
    }

    private func matchesPattern(_ number: Int32, at begin: Int, in bytes: UnsafeRawBufferPointer) -> Bool {
        let pattern = patterns[Int(number)]
        let start = Int(pattern.start)
        let length = Int(pattern.length)
        guard begin >= 0, begin + length <= bytes.count else { return false }
        return storage.withUnsafeBytes { storage in
            if pattern.isCaseSensitive {
                for index in 0..<length where storage[start &+ index] != bytes[begin &+ index] { return false }
                return true
            }
            for index in 0..<length
            where ByteClass.lower(storage[start &+ index]) != ByteClass.lower(bytes[begin &+ index]) {
                return false
            }
            return true
        }
    }

    private static let caseBits: UInt32 = 0x2020_2020
    /// Knuth's multiplier for 32 bits; the high bits of the product are the hash.
    private static let multiplier: UInt32 = 2_654_435_761

    @inline(__always)
    private static func hash(_ base: UnsafeRawPointer, _ offset: Int, _ shift: UInt32) -> Int {
        let gram = base.loadUnaligned(fromByteOffset: offset, as: UInt32.self) | caseBits
        return Int(truncatingIfNeeded: (gram &* multiplier) &>> shift)
    }

    private static func hash(_ gram: UInt32, bits: UInt32) -> Int { Int((gram &* multiplier) >> (32 - bits)) }

    /// Five bytes in one number: a gram, and the byte behind it.
    @inline(__always)
    private static func window(_ gram: UInt32, _ following: UInt8) -> UInt64 {
        UInt64(gram) | UInt64(following | 0x20) &<< 32
    }

    /// The same kind of hash for five bytes (the multiplier is 2⁶⁴ over the golden ratio).
    @inline(__always)
    private static func hash(window: UInt64, bits: UInt32) -> Int {
        Int(truncatingIfNeeded: (window &* 0x9E37_79B9_7F4A_7C15) &>> UInt64(64 &- bits))
    }

    /// The gram at `offset`, in the byte order of a load from memory.
    private static func gram(_ bytes: [UInt8], at offset: Int) -> UInt32 {
        bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) } | caseBits
    }

    /// Where to anchor: the five bytes that other text is least likely to hold, the last ones among equals (the token
    /// stands at the end of most patterns, and what stands before it is in many texts).
    private static func rarest(in bytes: [UInt8]) -> Int {
        bytes.withUnsafeBufferPointer { bytes in
            rarities.withUnsafeBufferPointer { rarities in
                var best = 0
                var bestScore = -1
                var sum = 0
                for index in 0..<min(bytes.count, searchedForAnchor) {
                    sum += rarities[Int(bytes[index])]
                    guard index >= 4 else { continue }
                    let offset = index - 4
                    var distinct = 5
                    var later = offset + 1
                    while later <= index {
                        var earlier = offset
                        while earlier < later, bytes[earlier] != bytes[later] { earlier += 1 }
                        if earlier < later { distinct -= 1 }
                        later += 1
                    }
                    if sum + distinct >= bestScore {
                        best = offset
                        bestScore = sum + distinct
                    }
                    sum -= rarities[Int(bytes[offset])]
                }
                return best
            }
        }
    }

    /// Bytes of a pattern among which its anchor is chosen: long ones repeat themselves.
    private static let searchedForAnchor = 128

    /// `rarity` of each byte.
    private static let rarities = (0...255).map { rarity(UInt8($0)) }

    private static func rarity(_ byte: UInt8) -> Int {
        switch ByteClass.lower(byte) {
        case 0x71, 0x78, 0x7A, 0x6A, 0x6B: 5  // q x z j k
        case 0x77, 0x76, 0x79, 0x62: 4  // w v y b
        case 0x31...0x39: 4
        case 0x30, 0x25, 0x5C, 0x2F, 0x2E, 0x3A: 2
        case 0x61...0x7A: 3
        default: 3
        }
    }
}
