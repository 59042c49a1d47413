internal import ContentCodings

/// One scan: from the bytes of a message through all that can be made of them, breadth first, within the budgets.
///
/// ```
/// roots ─► queue ─► process ─┬─ patterns ─► raw hits
///            ▲               └─ detectors ─► decoders ─► consider ─┐
///            └───────────────────────────────── worth a look ◄────┘
/// ```
/// A decoded piece becomes a view only when patterns match in it or when it shows something that its source did not
/// (`Novelty`), so that the many harmless runs of an ordinary body cost a decoding and no more.
struct ViewScan {
    /// A match at a place in a view.
    struct RawHit: Hashable {
        var view: Int
        var range: Range<Int>
        /// The needle's number in the scanner, −1 for the token's shape.
        var needle: Int32
        var form: NeedleForm
        /// The number of the layers under which the pattern is written.
        var layers: Int32
    }

    let index: PatternIndex
    let limits: ScanLimits
    private(set) var views: [View] = []
    private(set) var rawHits: [RawHit] = []
    /// Budgets that ran out, and the view in which they did.
    private(set) var exhausted: [(budget: String, view: Int)] = []
    /// Content codings that stayed closed, and the view that holds them.
    private(set) var closed: [(coding: String, view: Int)] = []
    /// Boundaries of multipart roots, by view.
    private var boundaries: [Int: [UInt8]] = [:]
    /// Roots whose declared content coding was undone.
    private var undone: Set<Int> = []
    private var nextView = 0
    /// Decoded pieces that deserved a look so far.
    private var worthwhile = 0
    private var decodedBytes = 0
    private var known: [ContentHash: Int] = [:]
    private var matches: [PatternIndex.Match] = []
    /// Runs in heads whose decoding showed nothing, under the needles of now: a session's cookies and credentials come
    /// with every request.
    private(set) var innocentRuns: Set<ContentHash>

    init(index: PatternIndex, limits: ScanLimits, innocentRuns: Set<ContentHash> = []) {
        self.index = index
        self.limits = limits
        self.innocentRuns = innocentRuns
    }

    /// Adds bytes as they were sent.
    mutating func addRoot(
        _ bytes: [UInt8], _ step: View.Step, shapes: View.ShapeSearch = .exact, boundary: [UInt8]? = nil
    ) {
        guard !bytes.isEmpty else { return }
        if let boundary { boundaries[views.count] = boundary }
        views.append(
            View(
                bytes: bytes, origins: [View.Origin(parent: -1, sourceOffset: 0, step: step)], depth: 0,
                shapes: shapes))
    }

    /// Undoes the declared content codings of the latest root and adds what comes out.
    mutating func undo(codings: [String], isWhole: Bool, boundary: [UInt8]?) {
        guard !codings.isEmpty, let root = views.indices.last else { return }
        let bytes = views[root].bytes
        let decoded = ContentCodings.decodeAll(
            bytes, codings: codings, limit: limits.decodedBytes,
            expansion: ContentDecoder.ExpansionLimit(ratio: limits.expansion, floor: 1 << 20))
        for problem in decoded.problems {
            switch problem {
            case .truncated(let coding):
                // Of a body that was cut the reader has told already.
                if isWhole { closed.append((coding, root)) }
            case .corrupt(let coding, _), .unknownCoding(let coding):
                closed.append((coding, root))
            case .outputLimit: note("decoded-bytes", root)
            case .expansionLimit: note("expansion", root)
            case .tooManyCodings(let count): closed.append(("\(count) codings", root))
            case .trailingBytes, .mislabelled: break
            }
        }
        guard !decoded.undone.isEmpty else { return }
        decodedBytes += decoded.bytes.count
        undone.insert(root)
        boundaries[views.count] = boundary
        views.append(
            View(
                bytes: decoded.bytes,
                origins: [View.Origin(parent: root, sourceOffset: 0, step: .codings(decoded.undone.map(\.rawValue)))],
                depth: 0, shapes: .exact))
    }

    /// Looks into everything.
    mutating func run() {
        while nextView < views.count {
            process(nextView)
            nextView += 1
        }
    }

    private mutating func note(_ budget: String, _ view: Int) {
        if !exhausted.contains(where: { $0.budget == budget }) { exhausted.append((budget, view)) }
    }

    // MARK: One view

    private mutating func process(_ number: Int) {
        let view = views[number]
        view.bytes.withUnsafeBytes { bytes in
            let signs = findPatterns(in: bytes, view: view, number: number)
            decompress(signs.compressed, of: bytes, number: number)
            let isText = ByteClass.looksLikeText(bytes)
            if isText || signs.hasPercentToken { decodePercent(bytes, number: number, isForced: signs.hasPercentToken) }
            if isText { decodeStrings(bytes, number: number) }
            decodeRuns(bytes, number: number, signs: signs)
            decodeParts(bytes, number: number)
        }
    }

    /// What the patterns say about where to look more closely.
    private struct Signs {
        var compressed: [Int] = []
        var base64: [Int] = []
        var hex: [Int] = []
        var hasPercentToken = false
    }

    private mutating func findPatterns(in bytes: UnsafeRawBufferPointer, view: View, number: Int) -> Signs {
        var signs = Signs()
        matches.removeAll(keepingCapacity: true)
        if !index.scan(bytes, limit: max(0, limits.matches - rawHits.count), into: &matches) { note("matches", number) }
        for match in matches {
            switch index.meaning(match) {
            case .needle(let needle, let form, let layers):
                rawHits.append(
                    RawHit(
                        view: number, range: match.start..<match.start + index.length(match), needle: needle,
                        form: form, layers: layers))
            case .signature(.token):
                guard view.shapes == .exact, let range = TokenShape.token(at: match.start, in: bytes, foldCase: false)
                else { continue }
                rawHits.append(RawHit(view: number, range: range, needle: -1, form: .token, layers: 0))
            case .signature(.base64Token(let before)): signs.base64.append(match.start - before)
            case .signature(.hexToken): signs.hex.append(match.start)
            case .signature(.percentToken): signs.hasPercentToken = true
            case .signature(.gzip), .signature(.zstd): signs.compressed.append(match.start)
            }
        }
        if view.shapes == .anyCase { findFoldedTokens(in: bytes, number: number) }
        return signs
    }

    /// Names are short and few: the shape is looked for at every position, in any case.
    private mutating func findFoldedTokens(in bytes: UnsafeRawBufferPointer, number: Int) {
        var start = 0
        while start < bytes.count {
            if let range = TokenShape.token(at: start, in: bytes, foldCase: true) {
                rawHits.append(RawHit(view: number, range: range, needle: -1, form: .token, layers: 0))
                start = range.upperBound
            } else {
                start += 1
            }
        }
    }

    // MARK: Detectors and decoders

    private mutating func decompress(_ starts: [Int], of bytes: UnsafeRawBufferPointer, number: Int) {
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

    private mutating func decodePercent(_ bytes: UnsafeRawBufferPointer, number: Int, isForced: Bool) {
        guard ByteSearch.first(0x25, in: bytes, from: 0) != nil else { return }
        let source = Novelty(of: bytes)
        guard source.percents > 0, room(for: number) != nil else { return }
        var output: [UInt8] = []
        TextDecoding.percent(bytes, into: &output)
        // Escapes inside a percent-decoding are new where there are more of them; another layer of percent always is.
        consider(
            output, from: number, at: 0, .percent,
            source: Novelty(runBytes: source.runBytes, percents: 0, backslashes: source.backslashes))
    }

    private mutating func decodeStrings(_ bytes: UnsafeRawBufferPointer, number: Int) {
        var cursor = 0
        var output: [UInt8] = []
        while cursor < bytes.count, let backslash = ByteSearch.first(0x5C, in: bytes, from: cursor) {
            var start = backslash
            while start > cursor, bytes[start - 1] != 0x22, bytes[start - 1] != 0 { start -= 1 }
            output.removeAll(keepingCapacity: true)
            let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
            let used = TextDecoding.escapes(rest, into: &output)
            cursor = start + used + 1
            let text = UnsafeRawBufferPointer(rebasing: rest[..<used])
            guard output.count >= EncodedPattern.shortest, ByteClass.looksLikeText(text) else { continue }
            guard room(for: number) != nil else { return }
            var source = Novelty(of: text)
            source.backslashes = 0
            consider(output, from: number, at: start, .string, source: source)
        }
    }

    private mutating func decodeRuns(_ bytes: UnsafeRawBufferPointer, number: Int, signs: Signs) {
        var runs = AlphabetRuns(.base64)
        var output: [UInt8] = []
        let isHead = views[number].step == .head
        while let run = runs.nextRun(in: bytes) {
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
            var end = group
            while end < bytes.count, ByteClass.base64Value[Int(bytes[end])] != 255 { end += 1 }
            decodeBase64(bytes, start..<end, number: number, into: &output)
        }
        for digits in signs.hex {
            var start = digits
            while start >= 2, Hex.byte(bytes[start - 2], bytes[start - 1]) != nil { start -= 2 }
            output.removeAll(keepingCapacity: true)
            TextDecoding.hex(UnsafeRawBufferPointer(rebasing: bytes[start...]), into: &output)
            consider(output, from: number, at: start, .hex, source: nil)
        }
    }

    private mutating func decodeRun(
        _ run: Range<Int>, of bytes: UnsafeRawBufferPointer, number: Int, into output: inout [UInt8]
    ) {
        let text = UnsafeRawBufferPointer(rebasing: bytes[run])
        if AlphabetRuns.isHex(text) {
            output.removeAll(keepingCapacity: true)
            TextDecoding.hex(text, into: &output)
            consider(output, from: number, at: run.lowerBound, .hex, source: nil)
            return
        }
        decodeBase64(bytes, run, number: number, into: &output)
        for phase in AlphabetRuns.laterPhases(text) {
            decodeBase64(bytes, run.lowerBound + phase..<run.upperBound, number: number, into: &output)
        }
        decodeInside(run, of: bytes, number: number, into: &output)
    }

    /// Decodes what a run of base64 characters may hold besides base64: hex digits between other characters, and segments
    /// of a path.
    private mutating func decodeInside(
        _ run: Range<Int>, of bytes: UnsafeRawBufferPointer, number: Int, into output: inout [UInt8]
    ) {
        let text = UnsafeRawBufferPointer(rebasing: bytes[run])
        var digits = AlphabetRuns(.hex)
        while let found = digits.nextRun(in: text) {
            output.removeAll(keepingCapacity: true)
            TextDecoding.hex(UnsafeRawBufferPointer(rebasing: text[found]), into: &output)
            consider(output, from: number, at: run.lowerBound + found.lowerBound, .hex, source: nil)
        }
        // In a path the value begins after some slash; base64 may hold slashes itself, so it is read to the end.
        var slash = ByteSearch.first(0x2F, in: text, from: 0)
        var tried = 0
        while let found = slash, tried < Self.triedSegments, text.count - found > AlphabetRuns.shortest {
            decodeBase64(bytes, run.lowerBound + found + 1..<run.upperBound, number: number, into: &output)
            slash = ByteSearch.first(0x2F, in: text, from: found + 1)
            tried += 1
        }
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

    private mutating func decodeParts(_ bytes: UnsafeRawBufferPointer, number: Int) {
        guard let multipart = MultipartParts(bytes, boundary: boundaries[number]) else { return }
        if multipart.parts.count >= MultipartParts.maximumParts { note("parts", number) }
        for part in multipart.parts {
            let content = UnsafeRawBufferPointer(rebasing: bytes[part.content])
            guard !content.isEmpty, let room = room(for: number) else { continue }
            if !part.contentEncoding.isEmpty {
                let decoded = ContentCodings.decodeAll(content, codings: part.contentEncoding, limit: room)
                if !decoded.isWhole { closed.append((part.contentEncoding.joined(separator: ", "), number)) }
                if !decoded.undone.isEmpty {
                    consider(
                        decoded.bytes, from: number, at: part.content.lowerBound,
                        .codings(decoded.undone.map(\.rawValue)), source: nil)
                }
            } else if part.transferEncoding == "quoted-printable" {
                var output: [UInt8] = []
                TextDecoding.quotedPrintable(content, into: &output)
                consider(output, from: number, at: part.content.lowerBound, .quotedPrintable, source: nil)
            }
        }
    }

    // MARK: Budgets

    /// Bytes that decodings of a view may still produce; nil, and noted, when there are none.
    private mutating func room(for view: Int) -> Int? {
        guard decodedBytes < limits.decodedBytes else {
            note("decoded-bytes", view)
            return nil
        }
        return limits.decodedBytes - decodedBytes
    }

    /// Queues what a decoding made when it deserves a look. `source` tells what its source showed already.
    private mutating func consider(
        _ bytes: [UInt8], from parent: Int, at offset: Int, _ step: View.Step, source: Novelty?
    ) {
        decodedBytes &+= bytes.count
        guard bytes.count >= EncodedPattern.shortest else { return }
        let isWorthIt = bytes.withUnsafeBytes { bytes -> Bool in
            matches.removeAll(keepingCapacity: true)
            if !index.scan(bytes, limit: 1, into: &matches) || !matches.isEmpty { return true }
            if ContentCodings.sniff(bytes) != nil || !ZlibGuess.starts(in: bytes).isEmpty { return true }
            return Novelty(of: bytes).exceeds(source, isText: ByteClass.looksLikeText(bytes))
        }
        guard isWorthIt else { return }
        worthwhile += 1
        let origin = View.Origin(parent: parent, sourceOffset: offset, step: step)
        let hash = bytes.withUnsafeBytes { ContentHash($0) }
        if let same = known[hash] {
            if views[same].origins.count < Self.maximumOrigins { views[same].origins.append(origin) }
            return
        }
        guard views[parent].depth < limits.depth else { return note("depth", parent) }
        guard views.count < limits.views else { return note("views", parent) }
        known[hash] = views.count
        views.append(
            View(
                bytes: bytes, origins: [origin], depth: views[parent].depth + 1,
                shapes: views[parent].shapes))
    }

    /// Runs that are remembered as innocent.
    static let maximumInnocentRuns = 4_096
    /// Slashes of one run after which base64 is tried.
    private static let triedSegments = 4
    /// Places that are remembered for one piece of content.
    private static let maximumOrigins = 64
}
