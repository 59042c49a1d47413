internal import ContentCodings

/// Detectors and decoders: what a view holds in another form becomes a view of its own, when it deserves a look.
extension ViewScan {
    mutating func decompress(_ starts: [Int], of bytes: UnsafeRawBufferPointer, number: Int) {
        var starts = starts
        if ContentCodings.sniff(bytes) != nil, !starts.contains(0) { starts.append(0) }
        let guesses = ZlibGuess.starts(in: bytes)
        if guesses.count >= ZlibGuess.maximumGuesses { note("zlib-guesses", number) }
        starts += guesses
        for start in starts.sorted() where start > 0 || !undone.contains(number) {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
            guard let coding = ContentCodings.sniff(rest), let room = room(for: number) else { continue }
            var output: [UInt8] = []
            var decoder = ContentDecoder(
                coding, expansion: ContentDecoder.ExpansionLimit(ratio: limits.expansion, floor: 1 << 20))
            do {
                let progress = try decoder.decode(rest, into: &output, limit: room)
                if progress.status == .outputFull { note("decoded-bytes", number) }
            } catch {
                // Bytes that only look like a compressed stream are nothing; a stream that stops early gave what it had.
                if error.code == .expansionLimit { note("expansion", number) }
            }
            guard output.count >= EncodedPattern.shortest else { continue }
            consider(output, from: number, at: start, .codings([coding.rawValue]), source: nil)
        }
    }

    mutating func decodeInline(
        _ bytes: UnsafeRawBufferPointer, number: Int, isText: Bool, hasPercentToken: Bool
    ) {
        guard isText || hasPercentToken else { return decodeInlineRuns(bytes, number: number) }
        var source = Novelty(escapesOf: bytes)
        guard source.percents > 0 || source.references > 0 || source.quoted > 0 else { return }
        source.addRuns(of: bytes)
        // Markup escapes what quoted-printable left as it was, so its references are undone first.
        let isMarkedUp = source.references > 0 && source.quoted > 0 && 2 * source.quoted >= bytes.count { $0 == 0x3D }
        var output: [UInt8] = []
        for (inline, count) in [
            (TextDecoding.Inline.percent, source.percents), (.html, source.references),
            (.quotedPrintable, isMarkedUp ? 0 : source.quoted),
        ] where count > 0 {
            guard room(for: number) != nil else { return }
            output.removeAll(keepingCapacity: true)
            TextDecoding.undo(inline, of: bytes, into: &output)
            // Escapes of another kind are new where there are more of them; another layer of the same always is.
            var shown = source.without(inline)
            if inline == .html, isMarkedUp { shown.quoted = 0 }
            consider(output, from: number, at: 0, .inline(inline), source: shown)
        }
        if source.percents > 0 { decodeBehindLengths(bytes, number: number) }
    }

    /// A percent sign close behind a byte that is no text, or at the start of what a decoding gave, may be the length of what
    /// follows, whose first letters then read as digits.
    private mutating func decodeBehindLengths(_ bytes: UnsafeRawBufferPointer, number: Int) {
        let isDecoded = views[number].step.isDecoding
        var next = 0
        var output: [UInt8] = []
        while let place = ByteSearch.first(0x25, in: bytes, from: next) {
            next = place + 1
            guard ByteClass.isBehindBinary(place, in: bytes) || (isDecoded && place <= 2),
                TextDecoding.Inline.percent.step(bytes, at: place).used > 1
            else { continue }
            let run = place + 1..<ByteClass.textRun(around: place, in: bytes).upperBound
            next = run.upperBound
            guard run.count >= Self.shortestRun else { continue }
            guard room(for: number) != nil else { return }
            let text = UnsafeRawBufferPointer(rebasing: bytes[run])
            output.removeAll(keepingCapacity: true)
            TextDecoding.undo(.percent, of: text, into: &output)
            consider(
                output, from: number, at: run.lowerBound, .inlineRun(.percent),
                source: Novelty(of: text).without(.percent))
        }
    }

    /// The same for runs of text in bytes that are none.
    private mutating func decodeInlineRuns(_ bytes: UnsafeRawBufferPointer, number: Int) {
        var output: [UInt8] = []
        for inline in [TextDecoding.Inline.percent, .html, .quotedPrintable] {
            var next = 0
            while let place = ByteSearch.first(inline.mark, in: bytes, from: next) {
                next = place + 1
                guard inline.step(bytes, at: place).used > 1 else { continue }
                let run = ByteClass.textRun(around: place, in: bytes)
                next = max(next, run.upperBound)
                guard run.count >= Self.shortestRun else { continue }
                guard room(for: number) != nil else { return }
                let text = UnsafeRawBufferPointer(rebasing: bytes[run])
                output.removeAll(keepingCapacity: true)
                TextDecoding.undo(inline, of: text, into: &output)
                consider(
                    output, from: number, at: run.lowerBound, .inlineRun(inline),
                    source: Novelty(of: text).without(inline))
            }
        }
    }

    /// Runs of text in other bytes that are shorter hold no value.
    private static let shortestRun = 20

    /// Strings with escapes in bytes that are no text.
    mutating func decodeStringRuns(_ bytes: UnsafeRawBufferPointer, number: Int) {
        var next = 0
        while let place = ByteSearch.first(0x5C, in: bytes, from: next) {
            let run = ByteClass.textRun(around: place, in: bytes)
            next = max(place + 1, run.upperBound)
            guard run.count >= Self.shortestRun else { continue }
            decodeStrings(UnsafeRawBufferPointer(rebasing: bytes[run]), number: number, offset: run.lowerBound)
        }
    }

    mutating func decodeStrings(_ bytes: UnsafeRawBufferPointer, number: Int, offset: Int = 0) {
        var cursor = 0
        while cursor < bytes.count, let backslash = ByteSearch.first(0x5C, in: bytes, from: cursor) {
            var start = backslash
            while start > cursor, bytes[start - 1] != 0x22, bytes[start - 1] != 0 { start -= 1 }
            if start == 0 || bytes[start - 1] != 0x22 {
                // Outside of quotes a field of a form begins behind its name.
                var field = backslash
                while field > start, bytes[field - 1] != 0x26, bytes[field - 1] != 0x3D { field -= 1 }
                start = field
            }
            guard room(for: number) != nil else { return }
            cursor = start + decodeString(bytes, from: start, number: number, offset: offset) + 1
            // In a binary container the length before an escape may read as a backslash, and takes the escape's own.
            if backslash + 1 < bytes.count, bytes[backslash + 1] == 0x5C,
                ByteClass.isGlued(backslash..<backslash + 1, in: bytes) || backslash + offset <= 2
            {
                _ = decodeString(bytes, from: backslash + 1, number: number, offset: offset)
            }
        }
    }

    /// Reads one string and returns how many bytes it takes.
    private mutating func decodeString(
        _ bytes: UnsafeRawBufferPointer, from start: Int, number: Int, offset: Int
    ) -> Int {
        var output: [UInt8] = []
        let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
        let used = TextDecoding.escapes(rest, into: &output)
        let text = UnsafeRawBufferPointer(rebasing: rest[..<used])
        guard output.count >= EncodedPattern.shortest, ByteClass.looksLikeText(text) else { return used }
        var source = Novelty(of: text)
        source.backslashes = 0
        if JSONPlaces.mayBegin(output) {
            // A text of its own: what is escaped in one of its fields is that field's.
            source.percents = 0
            source.references = 0
            source.quoted = 0
        }
        consider(output, from: number, at: offset + start, .string, source: source)
        return used
    }

    /// Text of two bytes a character, anywhere.
    mutating func decodeWideText(_ bytes: UnsafeRawBufferPointer, number: Int) {
        var runs = UTF16Runs()
        var output: [UInt8] = []
        while let (run, isBigEndian) = runs.nextRun(in: bytes) {
            guard room(for: number) != nil else { return }
            output.removeAll(keepingCapacity: true)
            UTF16Runs.decode(UnsafeRawBufferPointer(rebasing: bytes[run]), into: &output)
            // The first character may be a neighbour's.
            consider(output, from: number, at: run.lowerBound + 4, .utf16(isBigEndian: isBigEndian), source: nil)
        }
    }

    /// brotli, and deflate without a header, which have no mark, over a whole view.
    mutating func decodeUnmarked(_ bytes: UnsafeRawBufferPointer, number: Int) {
        guard !undone.contains(number), let room = room(for: number),
            let (text, coding) = Self.unmarked(in: bytes, limit: room)
        else { return }
        if text.count >= room { note("decoded-bytes", number) }
        consider(text, from: number, at: 0, .codings([coding.rawValue]), source: nil)
    }

    /// What bytes without a mark decode to when they are all of a compressed text.
    static func unmarked(
        in bytes: UnsafeRawBufferPointer, limit: Int
    ) -> (text: [UInt8], coding: ContentDecoder.Coding)? {
        if let text = BrotliGuess.text(in: bytes, limit: limit) { return (text, .brotli) }
        return DeflateGuess.text(in: bytes, limit: limit).map { ($0, .deflate) }
    }

    /// Bytes that are written as numbers.
    mutating func decodeCodes(_ bytes: UnsafeRawBufferPointer, number: Int, members: [Int]) {
        var runs = CodeRuns(bytes)
        var output: [UInt8] = []
        while let start = runs.nextRun(into: &output) {
            guard room(for: number) != nil else { return }
            consider(output, from: number, at: start, .codes, source: nil)
        }
        for start in members {
            guard room(for: number) != nil else { return }
            CodeRuns.members(bytes, from: start, into: &output)
            consider(output, from: number, at: start, .codes, source: nil)
        }
    }

    // MARK: Parts

    mutating func decodeParts(_ bytes: UnsafeRawBufferPointer, number: Int) {
        guard let multipart = MultipartParts(bytes, boundary: boundaries[number]) else { return }
        if multipart.parts.count >= MultipartParts.maximumParts { note("parts", number) }
        for part in multipart.parts {
            let content = UnsafeRawBufferPointer(rebasing: bytes[part.content])
            if let archive = SealedArchive.name(of: content) { closed.append((archive, number)) }
            guard !content.isEmpty, let room = room(for: number) else { continue }
            if !part.contentEncoding.isEmpty {
                let decoded = ContentCodings.decodeAll(content, codings: part.contentEncoding, limit: room)
                // In what an inline decoding made, a part that is broken was whole before.
                if !decoded.isWhole, !views[number].step.isInline {
                    closed.append((part.contentEncoding.joined(separator: ", "), number))
                }
                if !decoded.undone.isEmpty {
                    consider(
                        decoded.bytes, from: number, at: part.content.lowerBound,
                        .codings(decoded.undone.map(\.rawValue)), source: nil)
                }
            } else if part.transferEncoding == "quoted-printable" {
                var output: [UInt8] = []
                TextDecoding.undo(.quotedPrintable, of: content, into: &output)
                consider(output, from: number, at: part.content.lowerBound, .part, source: nil)
            } else if let (text, coding) = Self.unmarked(in: content, limit: room) {
                consider(
                    text, from: number, at: part.content.lowerBound, .codings([coding.rawValue]), source: nil)
            }
        }
    }

    /// Values that a container cuts into chunks: rows of SQLite over several pages, chunked strings of CBOR. What looks like
    /// either may be neither, so the view is searched as it stands, too (`RepeatedHits`).
    mutating func unpack(_ bytes: UnsafeRawBufferPointer, databases: [Int], number: Int) {
        var found: [Range<Int>] = []
        defer { if !found.isEmpty { chunks[number] = Self.apart(found) } }
        for start in databases {
            guard let room = room(for: number) else { return }
            guard let database = SQLitePayloads(UnsafeRawBufferPointer(rebasing: bytes[start...])) else { continue }
            var payloads: [SQLitePayloads.Payload] = []
            if !database.forEach(limit: room, { payloads.append($0) }) { note("decoded-bytes", number) }
            for payload in payloads {
                consider(payload.bytes, from: number, at: start + payload.cell, .container("sqlite"), source: nil)
                found += payload.parts.map { start + $0.lowerBound..<start + $0.upperBound }
            }
        }
        for (string, range) in CBORChunks(bytes)?.strings ?? [] {
            guard room(for: number) != nil else { return }
            consider(string, from: number, at: range.lowerBound, .container("cbor"), source: nil)
            found.append(range)
        }
    }

    /// The same places in order, each once.
    private static func apart(_ ranges: [Range<Int>]) -> [Range<Int>] {
        var result: [Range<Int>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = result.last, range.lowerBound <= last.upperBound {
                result[result.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                result.append(range)
            }
        }
        return result
    }
}
