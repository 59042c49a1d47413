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
        for index in bytes.indices {
            switch bytes[index] {
            case 0x25:
                if index &+ 2 < bytes.count, Hex.byte(bytes[index &+ 1], bytes[index &+ 2]) != nil { percents &+= 1 }
            case 0x5C: backslashes &+= 1
            default: break
            }
        }
    }

    /// Whether there is more here than in the source, or anything at all when the source can't be compared.
    func exceeds(_ source: Novelty?, isText: Bool) -> Bool {
        let source = source ?? Novelty(runBytes: 0, percents: 0, backslashes: 0)
        if runBytes > source.runBytes { return true }
        return isText && (percents > source.percents || backslashes > source.backslashes)
    }
}
