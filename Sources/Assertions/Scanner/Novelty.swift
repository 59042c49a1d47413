/// What a text shows that a further decoding could open.
struct Novelty {
    /// Bytes in alphabet runs.
    var runBytes = 0
    /// Percent escapes.
    var percents = 0
    /// Backslashes.
    var backslashes = 0

    init(runBytes: Int, percents: Int, backslashes: Int) {
        self.runBytes = runBytes
        self.percents = percents
        self.backslashes = backslashes
    }

    init(of bytes: UnsafeRawBufferPointer) {
        var runs = AlphabetRuns(.base64)
        while let run = runs.nextRun(in: bytes) {
            if !AlphabetRuns.isUUID(UnsafeRawBufferPointer(rebasing: bytes[run])) { runBytes &+= run.count }
        }
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
    }

    /// Whether there is more here than in the source, or anything at all when the source can't be compared.
    func exceeds(_ source: Novelty?, isText: Bool) -> Bool {
        let source = source ?? Novelty(runBytes: 0, percents: 0, backslashes: 0)
        if runBytes > source.runBytes { return true }
        return isText && (percents > source.percents || backslashes > source.backslashes)
    }
}
