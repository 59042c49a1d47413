/// Runs of characters that may be a value in base64, base32, base58 or hex.
extension ViewScan {
    mutating func decodeRuns(_ bytes: UnsafeRawBufferPointer, number: Int, signs: Signs) {
        var runs = AlphabetRuns(.base64)
        var output: [UInt8] = []
        let isHead = views[number].step == .head
        while let run = runs.nextRun(in: bytes) {
            // An escape before a value reads as its first letters.
            let tail = ByteClass.escapeTail(before: run.lowerBound, in: bytes)
            if tail > 0, run.count - tail >= AlphabetRuns.shortest {
                guard room(for: number) != nil else { return }
                decodeRun(run.lowerBound + tail..<run.upperBound, of: bytes, number: number, into: &output)
            }
            let text = UnsafeRawBufferPointer(rebasing: bytes[run])
            if AlphabetRuns.isUUID(text) { continue }
            guard room(for: number) != nil else { return }
            guard isHead else {
                decodeRun(run, of: bytes, number: number, into: &output)
                continue
            }
            let hash = ContentHash(text)
            if innocentRuns.contains(hash) { continue }
            let before = (worthwhile, exhausted.count)
            decodeRun(run, of: bytes, number: number, into: &output)
            if before == (worthwhile, exhausted.count), innocentRuns.count < Self.maximumInnocentRuns {
                innocentRuns.insert(hash)
            }
        }
        for group in signs.base64 where group >= 0 {
            var start = group
            while start >= 4, bytes[(start - 4)..<start].allSatisfy({ ByteClass.base64Value[Int($0)] != 255 }) {
                start -= 4
            }
            decodeBase64(bytes, start..<Self.runEnd(bytes, from: group), number: number, into: &output)
        }
        for digits in signs.hex {
            var start = digits
            while start >= 2, Hex.byte(bytes[start - 2], bytes[start - 1]) != nil { start -= 2 }
            decodeHex(bytes, start..<bytes.count, number: number, into: &output)
        }
        var spaced = SpacedHexRuns()
        while let run = spaced.nextRun(in: bytes) {
            guard room(for: number) != nil else { return }
            output.removeAll(keepingCapacity: true)
            TextDecoding.spacedHex(UnsafeRawBufferPointer(rebasing: bytes[run]), into: &output)
            consider(output, from: number, at: run.lowerBound, .hex, source: nil)
        }
        for place in signs.rot13 {
            var start = place
            while start > 0, ByteClass.base64Value[Int(bytes[start - 1])] != 255 { start -= 1 }
            turn(start..<Self.runEnd(bytes, from: place), of: bytes, number: number, .rot13, stream: place)
        }
        for place in signs.reversed {
            var start = place
            while start > 0, ByteClass.base64Value[Int(bytes[start - 1])] != 255 { start -= 1 }
            let end = Self.runEnd(bytes, from: place)
            turn(start..<end, of: bytes, number: number, .reversed, stream: place + Signature.turnedLength)
        }
    }

    private static func runEnd(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var end = start
        while end < bytes.count, ByteClass.base64Value[Int(bytes[end])] != 255 { end += 1 }
        return end
    }

    private mutating func decodeRun(
        _ run: Range<Int>, of bytes: UnsafeRawBufferPointer, number: Int, into output: inout [UInt8]
    ) {
        let text = UnsafeRawBufferPointer(rebasing: bytes[run])
        let isGlued = ByteClass.isGlued(run, in: bytes)
        let isShifted =
            isGlued || AlphabetRuns.isCounted(text)
            || (run.lowerBound <= 2 && text.count <= Self.longestShifted && views[number].step.isDecoding)
        if text.allSatisfy({ ByteClass.hexValue[Int($0)] != 255 }) {
            decodeHex(bytes, run, number: number, into: &output)
            for phase in isShifted ? [1] : AlphabetRuns.laterHexPhases(text) {
                decodeHex(bytes, run.lowerBound + phase..<run.upperBound, number: number, into: &output)
            }
            return
        }
        // A zlib stream begins "eJ", "eA", "eF" or "eN" in base64; a letter beside it may be a container's.
        for skipped in 0...(isShifted ? 2 : 0) where text.count >= AlphabetRuns.shortest {
            if text[skipped] == 0x72, [0x57, 0x4E, 0x53, 0x41].contains(text[skipped + 1]) {
                turn(run, of: bytes, number: number, .rot13, stream: run.lowerBound + skipped)
            }
            let last = text.count - 1 - skipped
            if text[last] == 0x65, [0x4A, 0x41, 0x46, 0x4E].contains(text[last - 1]) {
                turn(run, of: bytes, number: number, .reversed, stream: run.upperBound - skipped)
            }
        }
        decodeBase64(bytes, run, number: number, into: &output)
        for phase in isShifted ? [1, 2, 3] : AlphabetRuns.laterPhases(text) where text.count > phase {
            decodeBase64(bytes, run.lowerBound + phase..<run.upperBound, number: number, into: &output)
        }
        let trims = isGlued ? Self.trims.count : isShifted ? Self.headTrims : 1
        decodeInside(run, of: bytes, number: number, trims: trims, into: &output)
    }

    /// Decodes what a run of base64 characters may hold besides base64: words in base32 and base58, hex digits between
    /// other characters, and segments of a path.
    private mutating func decodeInside(
        _ run: Range<Int>, of bytes: UnsafeRawBufferPointer, number: Int, trims: Int, into output: inout [UInt8]
    ) {
        let text = UnsafeRawBufferPointer(rebasing: bytes[run])
        if text.count > Self.longestShifted {
            decodeLongInside(run, of: bytes, number: number, into: &output)
        } else {
            decodeHexInside(run, of: bytes, number: number, into: &output)
            var words = AlphabetRuns(.alphanumeric)
            while let found = words.nextRun(in: text) {
                decodeWord(
                    run.lowerBound + found.lowerBound..<run.lowerBound + found.upperBound, of: bytes, number: number,
                    trims: found.lowerBound > 2 && trims == Self.headTrims ? 1 : trims, into: &output)
            }
        }
        // In a path the value begins after some slash, in a name after some hyphen or underscore; base64 may hold these
        // itself, so it is read to the end. In long base64 they are nearly always its own.
        for separator in text.count <= Self.longestPath ? [0x2F, 0x2D, 0x5F] : [0x2F] as [UInt8] {
            var next = ByteSearch.first(separator, in: text, from: 0)
            var tried = 0
            while let found = next, tried < Self.triedSegments, text.count - found > AlphabetRuns.shortest {
                if text.count <= Self.longestPath || AlphabetRuns.reads(text, from: found + 1) {
                    decodeBase64(bytes, run.lowerBound + found + 1..<run.upperBound, number: number, into: &output)
                }
                next = ByteSearch.first(separator, in: text, from: found + 1)
                tried += 1
            }
        }
    }

    /// Hex digits between other characters.
    private mutating func decodeHexInside(
        _ run: Range<Int>, of bytes: UnsafeRawBufferPointer, number: Int, into output: inout [UInt8]
    ) {
        let text = UnsafeRawBufferPointer(rebasing: bytes[run])
        var digits = AlphabetRuns(.hex)
        while let found = digits.nextRun(in: text) {
            decodeHex(
                bytes, run.lowerBound + found.lowerBound..<run.lowerBound + found.upperBound, number: number,
                into: &output)
        }
    }

    /// The same for a long run, of which nearly every word is base64's own: only what a few characters around each 15th
    /// place say to be base32 or hex is read. (base58 has no separators; what is glued to so much else is no base58.)
    private mutating func decodeLongInside(
        _ run: Range<Int>, of bytes: UnsafeRawBufferPointer, number: Int, into output: inout [UInt8]
    ) {
        var sample = run.lowerBound + AlphabetRuns.shortest - 1
        while sample < run.upperBound {
            guard ByteClass.isNarrow(around: sample, in: bytes, run) else {
                sample += AlphabetRuns.shortest
                continue
            }
            var start = sample
            while start > run.lowerBound, ByteClass.isAlphanumeric(bytes[start - 1]) { start -= 1 }
            var end = sample
            while end < run.upperBound, ByteClass.isAlphanumeric(bytes[end]) { end += 1 }
            if end - start >= AlphabetRuns.shortest {
                decodeHexInside(start..<end, of: bytes, number: number, into: &output)
                decodeWord(start..<end, of: bytes, number: number, trims: 1, into: &output)
            }
            sample = max(sample, end) + AlphabetRuns.shortest
        }
    }

    /// A word of letters and digits. In a binary container the length before it, or the tag behind it, may read as a
    /// letter too, and so may what a decoding gave before the value.
    private mutating func decodeWord(
        _ word: Range<Int>, of bytes: UnsafeRawBufferPointer, number: Int, trims: Int, into output: inout [UInt8]
    ) {
        let isName = views[number].shapes != .exact
        for (head, tail) in Self.trims.prefix(trims)
        where word.count - head - tail >= AlphabetRuns.shortest {
            let range = word.lowerBound + head..<word.upperBound - tail
            let text = UnsafeRawBufferPointer(rebasing: bytes[range])
            let alphabets = ByteClass.alphabets(of: text)
            // Case means nothing in a name (DNS 0x20).
            let isBase32 = !alphabets.isDisjoint(with: [.base32, .base32InLowerCase])
            let isBase32Hex = !alphabets.isDisjoint(with: [.base32Hex, .base32HexInLowerCase])
            if isBase32 || (isName && reachesIntoName(text, ByteClass.base32Value)) {
                output.removeAll(keepingCapacity: true)
                TextDecoding.base32(text, isHex: false, into: &output)
                consider(output, from: number, at: range.lowerBound, .base32, source: nil)
            }
            if isBase32Hex || (isName && reachesIntoName(text, ByteClass.base32HexValue)) {
                output.removeAll(keepingCapacity: true)
                TextDecoding.base32(text, isHex: true, into: &output)
                consider(output, from: number, at: range.lowerBound, .base32hex, source: nil)
            }
            guard alphabets.contains(.base58) else { continue }
            output.removeAll(keepingCapacity: true)
            if Base58.decode(text, into: &output) {
                consider(output, from: number, at: range.lowerBound, .base58, source: nil)
            } else {
                note("base58", number)
            }
        }
    }

    /// Whether enough of a name is in an alphabet: the labels of a host follow the value.
    private func reachesIntoName(_ text: UnsafeRawBufferPointer, _ value: (UInt8) -> UInt8?) -> Bool {
        text.prefix(AlphabetRuns.shortest).allSatisfy { value($0) != nil }
    }

    private mutating func decodeHex(
        _ bytes: UnsafeRawBufferPointer, _ run: Range<Int>, number: Int, into output: inout [UInt8]
    ) {
        output.removeAll(keepingCapacity: true)
        TextDecoding.hex(UnsafeRawBufferPointer(rebasing: bytes[run]), into: &output)
        consider(output, from: number, at: run.lowerBound, .hex, source: nil)
    }

    private mutating func decodeBase64(
        _ bytes: UnsafeRawBufferPointer, _ run: Range<Int>, number: Int, into output: inout [UInt8]
    ) {
        output.removeAll(keepingCapacity: true)
        let text = UnsafeRawBufferPointer(rebasing: bytes[run])
        TextDecoding.base64(text, into: &output)
        let isURL = ByteSearch.first(0x2D, in: text, from: 0) != nil || ByteSearch.first(0x5F, in: text, from: 0) != nil
        consider(output, from: number, at: run.lowerBound, isURL ? .base64url : .base64, source: nil)
    }

    /// Undoes `rot13` or `reversed` over one run in which base64 of a compressed stream begins at `stream` (turned round: ends
    /// there, the start being behind). Other values are patterns under either, so a run without a stream is not turned.
    private mutating func turn(
        _ run: Range<Int>, of bytes: UnsafeRawBufferPointer, number: Int, _ step: View.Step, stream: Int
    ) {
        guard room(for: number) != nil else { return }
        func turned(_ range: Range<Int>) -> [UInt8] {
            let text = UnsafeRawBufferPointer(rebasing: bytes[range])
            return step == .rot13 ? text.map(ValueEncoder.rot13) : text.reversed()
        }
        let tried = 4 * ZlibGuess.triedBytes / 3
        let head =
            step == .rot13
            ? stream..<min(run.upperBound, stream + tried) : max(run.lowerBound, stream - tried)..<stream
        var start: [UInt8] = []
        turned(head).withUnsafeBytes { TextDecoding.base64($0, into: &start) }
        guard start.withUnsafeBytes(ZlibGuess.isStream) else { return }
        consider(turned(run), from: number, at: run.lowerBound, step, source: nil)
    }

    /// Runs up to this length are decoded behind each slash, whatever comes out.
    private static let longestPath = 256
    /// Separators of a kind in one run after which base64 is tried.
    private static let triedSegments = 4
    /// The first of `trims` leave out something at the start only.
    private static let headTrims = 3
    /// Runs up to this length at the start of what a decoding gave are read from their later characters on, too.
    private static let longestShifted = 1 << 14
    /// Characters left out at a word's start and end.
    private static let trims = [(0, 0), (1, 0), (2, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 1), (2, 2)]
}
