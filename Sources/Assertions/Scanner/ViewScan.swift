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
        /// The layers under which the pattern is written.
        var layers: Layers
        /// Whether chance can make it.
        var isWeak = false
    }

    /// Bytes of a token, without the rest of it.
    struct RawPiece: Hashable {
        var view: Int
        /// Where in the view.
        var range: Range<Int>
        var needle: Int32
        /// From where in the token's body.
        var offset: Int
    }

    let index: PatternIndex
    let limits: ScanLimits
    private(set) var views: [View] = []
    private(set) var rawHits: [RawHit] = []
    private(set) var rawPieces: [RawPiece] = []
    /// Budgets that ran out, and the view in which they did.
    private(set) var exhausted: [(budget: String, view: Int)] = []
    /// Content codings that stayed closed, and the view that holds them.
    var closed: [(coding: String, view: Int)] = []
    /// Boundaries of multipart roots, by view.
    private(set) var boundaries: [Int: [UInt8]] = [:]
    /// Roots whose declared content coding was undone.
    private(set) var undone: Set<Int> = []
    /// Roots of which undoing the declared coding gave all that they hold.
    private var spent: Set<Int> = []
    /// Where a view holds chunks of what a container joins: in order, apart from each other.
    var chunks: [Int: [Range<Int>]] = [:]
    /// Views that declared content codings gave.
    private var declared: Set<Int> = []
    private var nextView = 0
    /// Decoded pieces that deserved a look so far.
    private(set) var worthwhile = 0
    private var decodedBytes = 0
    private var known: [ContentHash: Int] = [:]
    private var matches: [PatternIndex.Match] = []
    /// Runs in heads whose decoding showed nothing, under the needles of now: a session's cookies and credentials come
    /// with every request.
    var innocentRuns: Set<ContentHash>

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
        if decoded.problems.isEmpty { spent.insert(root) }
        boundaries[views.count] = boundary
        declared.insert(views.count)
        known[decoded.bytes.withUnsafeBytes { ContentHash($0) }] = views.count
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

    mutating func note(_ budget: String, _ view: Int) {
        if !exhausted.contains(where: { $0.budget == budget }) { exhausted.append((budget, view)) }
    }

    // MARK: One view

    private mutating func process(_ number: Int) {
        let view = views[number]
        var signs = view.bytes.withUnsafeBytes { findPatterns(in: $0, view: view, number: number) }
        // What coded bytes seem to hold in another form is in them by chance, and a garbled copy of what they code.
        guard !spent.contains(number) else { return }
        view.bytes.withUnsafeBytes { bytes in
            unpack(bytes, databases: signs.databases, number: number)
            decompress(signs.compressed, of: bytes, number: number)
            let isText = ByteClass.looksLikeText(bytes)
            signs.isText = isText
            decodeInline(bytes, number: number, isText: isText, hasPercentToken: signs.hasPercentToken)
            decodeWideText(bytes, number: number)
            if isText {
                decodeStrings(bytes, number: number)
            } else {
                decodeStringRuns(bytes, number: number)
                decodeUnmarked(bytes, number: number)
            }
            decodeRuns(bytes, number: number, signs: signs)
            decodeCodes(bytes, number: number, members: signs.members)
            decodeParts(bytes, number: number)
        }
    }

    /// What the patterns say about where to look more closely.
    struct Signs {
        var compressed: [Int] = []
        var base64: [Int] = []
        var hex: [Int] = []
        var hasPercentToken = false
        var isText = true
        var databases: [Int] = []
        var rot13: [Int] = []
        var reversed: [Int] = []
        var members: [Int] = []
    }

    private mutating func findPatterns(in bytes: UnsafeRawBufferPointer, view: View, number: Int) -> Signs {
        var signs = Signs()
        var pieces: [RawPiece] = []
        matches.removeAll(keepingCapacity: true)
        if !view.isSearched,
            !index.scan(bytes, limit: Self.matchesPerHit * limits.matches, into: &matches)
        {
            note("matches", number)
        }
        for match in matches {
            let range = match.start..<match.start + index.length(match)
            switch index.meaning(match) {
            case .needle(let needle, let form, let layers):
                keep(RawHit(view: number, range: range, needle: needle, form: form, layers: layers))
            case .weak(let needle, let form, let layers):
                guard !ByteClass.isInsideWord(range, in: bytes) else { continue }
                keep(RawHit(view: number, range: range, needle: needle, form: form, layers: layers, isWeak: true))
            case .bound(let needle, let hasQuote):
                guard !ByteClass.goesOn(after: range, in: bytes), hasQuote || !ByteClass.isInsideWord(range, in: bytes)
                else { continue }
                keep(RawHit(view: number, range: range, needle: needle, form: .value, layers: .none))
            case .piece(let needle, let offset):
                pieces.append(RawPiece(view: number, range: range, needle: needle, offset: Int(offset)))
            case .signature(.token):
                guard view.shapes == .exact, let range = TokenShape.token(at: match.start, in: bytes, foldCase: false)
                else { continue }
                keep(RawHit(view: number, range: range, needle: -1, form: .token, layers: .none))
            case .signature(.base64Token(let before)): signs.base64.append(match.start - before)
            case .signature(.hexToken): signs.hex.append(match.start)
            case .signature(.percentToken): signs.hasPercentToken = true
            case .signature(.gzip), .signature(.zstd): signs.compressed.append(match.start)
            case .signature(.database): signs.databases.append(match.start)
            case .signature(.rot13Run): signs.rot13.append(match.start)
            case .signature(.reversedRun): signs.reversed.append(match.start)
            case .signature(.countedMembers): signs.members.append(match.start)
            }
        }
        if !pieces.isEmpty { keep(pieces) }
        if view.shapes == .anyCase { findFoldedTokens(in: bytes, number: number) }
        return signs
    }

    private mutating func keep(_ hit: RawHit) {
        guard rawHits.count < limits.matches else { return note("matches", hit.view) }
        rawHits.append(hit)
    }

    /// Joins pieces that overlap and lie in the text as they lie in the token.
    private mutating func keep(_ pieces: [RawPiece]) {
        var joined: RawPiece?
        let inOrder = pieces.sorted {
            ($0.needle, $0.range.lowerBound - $0.offset, $0.range.lowerBound)
                < ($1.needle, $1.range.lowerBound - $1.offset, $1.range.lowerBound)
        }
        for piece in inOrder {
            if let known = joined, known.needle == piece.needle,
                known.range.lowerBound - known.offset == piece.range.lowerBound - piece.offset,
                piece.range.lowerBound <= known.range.upperBound
            {
                joined?.range = known.range.lowerBound..<max(known.range.upperBound, piece.range.upperBound)
            } else {
                if let joined { append(joined) }
                joined = piece
            }
        }
        if let joined { append(joined) }
    }

    private mutating func append(_ piece: RawPiece) {
        guard rawPieces.count < limits.matches else { return note("matches", piece.view) }
        rawPieces.append(piece)
    }

    /// Names are short and few: the shape is looked for at every position, in any case.
    private mutating func findFoldedTokens(in bytes: UnsafeRawBufferPointer, number: Int) {
        var start = 0
        while start < bytes.count {
            if let range = TokenShape.token(at: start, in: bytes, foldCase: true) {
                keep(RawHit(view: number, range: range, needle: -1, form: .token, layers: .none))
                start = range.upperBound
            } else {
                start += 1
            }
        }
    }

    /// Whether a view shows a body whose declared coding was undone as if it had none.
    func isBesideCoding(_ view: Int) -> Bool {
        var number = view
        while let origin = views[number].origins.first, origin.parent >= 0 {
            if case .codings = origin.step, undone.contains(origin.parent), number == origin.parent + 1 { return false }
            number = origin.parent
        }
        return undone.contains(number)
    }

    // MARK: Budgets

    /// Bytes that decodings of a view may still produce; nil, and noted, when there are none.
    mutating func room(for view: Int) -> Int? {
        guard decodedBytes < limits.decodedBytes else {
            note("decoded-bytes", view)
            return nil
        }
        return limits.decodedBytes - decodedBytes
    }

    /// Queues what a decoding made when it deserves a look. `source` tells what its source showed already.
    mutating func consider(
        _ bytes: [UInt8], from parent: Int, at offset: Int, _ step: View.Step, source: Novelty?
    ) {
        decodedBytes &+= bytes.count
        guard bytes.count >= EncodedPattern.shortest else { return }
        matches.removeAll(keepingCapacity: true)
        let holdsPattern =
            bytes.withUnsafeBytes { !index.scan($0, limit: 1, into: &matches) } || !matches.isEmpty
        let isWorthIt =
            holdsPattern
            || bytes.withUnsafeBytes { bytes -> Bool in
                guard ByteClass.isVaried(bytes) else { return false }
                if ContentCodings.sniff(bytes) != nil || ZlibGuess.holdsStream(bytes) { return true }
                let isText = ByteClass.looksLikeText(bytes)
                // Less than a run holds no run, and is told by its escapes alone.
                if !isText, bytes.count < AlphabetRuns.shortest { return false }
                if let source {
                    if Novelty(of: bytes).exceeds(source, isText: isText) { return true }
                } else if Novelty.showsAnything(in: bytes, isText: isText) {
                    return true
                }
                var wide = UTF16Runs()
                if wide.nextRun(in: bytes) != nil { return true }
                return !isText && Self.unmarked(in: bytes, limit: 1 << 16) != nil
            }
        guard isWorthIt else { return }
        worthwhile += 1
        let origin = View.Origin(parent: parent, sourceOffset: offset, step: step)
        let hash = bytes.withUnsafeBytes { ContentHash($0) }
        if let same = known[hash] {
            // What a declared coding gave needs no other way to it.
            if !declared.contains(same), views[same].origins.count < Self.maximumOrigins {
                views[same].origins.append(origin)
            }
            return
        }
        // Reading a string or a container's chunks is no decoding of its own.
        let percents = views[parent].percents + (step.isPercent ? 1 : 0)
        let isSecondPercent = step.isPercent && percents % 2 == 0
        let depth = views[parent].depth + (step.isDecoding && !isSecondPercent ? 1 : 0)
        guard depth <= limits.depth else { return note("depth", parent) }
        guard views.count < limits.views else { return note("views", parent) }
        known[hash] = views.count
        views.append(
            View(
                bytes: bytes, origins: [origin], depth: depth,
                shapes: views[parent].shapes, isSearched: !holdsPattern, percents: percents))
    }

    /// Runs that are remembered as innocent.
    static let maximumInnocentRuns = 4_096
    /// Matches that one raw hit may come with: its other forms, and the pieces of it.
    private static let matchesPerHit = 64
    /// Places that are remembered for one piece of content.
    private static let maximumOrigins = 64
}
