/// What a text shows that a further decoding could open.
struct Novelty {
    /// Bytes in alphabet runs.
    var runBytes = 0
    /// Percent escapes.
    var percents = 0
    /// Bytes of the longest run: escapes between two runs may write more than what they stand for.
    var longestRun = 0
    /// Bytes of hex with something between.
    var spacedBytes = 0
    /// Bytes that are written as numbers.
    var codes = 0
    /// Backslashes.
    var backslashes = 0
    /// Character references.
    var references = 0
    /// Escapes of quoted-printable, when there are enough to be some.
    var quoted = 0

    init() {}

    init(of bytes: UnsafeRawBufferPointer) {
        self.init(escapesOf: bytes)
        addRuns(of: bytes)
    }

    /// Counts escapes alone.
    init(escapesOf bytes: UnsafeRawBufferPointer) {
        var next = 0
        while let found = ByteSearch.first(0x25, in: bytes, from: next) {
            if found &+ 2 < bytes.count, Hex.byte(bytes[found &+ 1], bytes[found &+ 2]) != nil { percents &+= 1 }
            next = found &+ 1
        }
        next = 0
        while let found = ByteSearch.first(0x5C, in: bytes, from: next) {
            backslashes &+= 1
            next = found &+ 1
        }
        references = CharacterReference.count(in: bytes)
        quoted = Self.quotedCount(in: bytes)
    }

    /// Counts runs too.
    mutating func addRuns(of bytes: UnsafeRawBufferPointer) {
        var runs = AlphabetRuns(.base64)
        while let run = runs.nextRun(in: bytes) {
            if !AlphabetRuns.isUUID(UnsafeRawBufferPointer(rebasing: bytes[run])) {
                runBytes &+= run.count
                longestRun = max(longestRun, run.count)
            }
        }
        var spaced = SpacedHexRuns()
        while let run = spaced.nextRun(in: bytes) { spacedBytes &+= run.count }
        var numbers = CodeRuns(bytes)
        var output: [UInt8] = []
        while numbers.nextRun(into: &output) != nil { codes &+= output.count }
    }

    /// The same with nothing of what an inline encoding writes, for comparison with what its undoing shows.
    func without(_ inline: TextDecoding.Inline) -> Novelty {
        var result = self
        switch inline {
        case .percent: result.percents = 0
        case .html: result.references = 0
        case .quotedPrintable: result.quoted = 0
        }
        return result
    }

    /// Escapes and soft line breaks of quoted-printable: none unless there is a soft break or eight escapes, since
    /// `=20` is in many a query too.
    static func quotedCount(in bytes: UnsafeRawBufferPointer) -> Int {
        var escapes = 0
        var breaks = 0
        var next = 0
        while let found = ByteSearch.first(0x3D, in: bytes, from: next) {
            next = found &+ 1
            guard next < bytes.count else { break }
            if bytes[next] == 0x0A || bytes[next] == 0x0D {
                if isSoftBreak(at: found, in: bytes) { breaks &+= 1 }
            } else if next &+ 1 < bytes.count, Hex.byte(bytes[next], bytes[next &+ 1]) != nil {
                escapes &+= 1
            }
        }
        return breaks > 0 || escapes >= 8 ? escapes &+ breaks : 0
    }

    /// Whether the `=` before a line break joins two lines, rather than being the padding that base64 ends with.
    private static func isSoftBreak(at equals: Int, in bytes: UnsafeRawBufferPointer) -> Bool {
        if equals > 0, bytes[equals &- 1] == 0x3D { return false }
        var next = equals &+ 1
        if bytes[next] == 0x0D { next &+= 1 }
        guard next &+ 1 < bytes.count, bytes[next] == 0x0A else { return false }
        next &+= 1
        // A boundary line follows, or nothing does.
        let isBoundary = next &+ 1 < bytes.count && bytes[next] == 0x2D && bytes[next &+ 1] == 0x2D
        return !isBoundary && bytes[next] != 0x0A && bytes[next] != 0x0D
    }

    /// Whether there is anything at all, for a source that can't be compared.
    static func showsAnything(in bytes: UnsafeRawBufferPointer, isText: Bool) -> Bool {
        var runs = AlphabetRuns(.base64)
        while let run = runs.nextRun(in: bytes) {
            if !AlphabetRuns.isUUID(UnsafeRawBufferPointer(rebasing: bytes[run])) { return true }
        }
        var spaced = SpacedHexRuns()
        if spaced.nextRun(in: bytes) != nil { return true }
        var numbers = CodeRuns(bytes)
        var output: [UInt8] = []
        if numbers.nextRun(into: &output) != nil { return true }
        return isText && Novelty(escapesOf: bytes).exceeds(Novelty(), isText: true)
    }

    /// Whether there is more here than in the source.
    func exceeds(_ source: Novelty, isText: Bool) -> Bool {
        if runBytes > source.runBytes || longestRun > source.longestRun || spacedBytes > source.spacedBytes
            || codes > source.codes
        {
            return true
        }
        return isText
            && (percents > source.percents || backslashes > source.backslashes || references > source.references
                || quoted > source.quoted)
    }
}
