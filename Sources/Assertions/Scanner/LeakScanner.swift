internal import ContentCodings
public import SessionTrace

/// Searches what the device sent for values that must not be there, under every encoding and container that the
/// wire formats carry (RULES section 2).
///
/// Bytes in, hits out; needles are learned as the trace shows them, and a learned needle concerns everything that is
/// scanned after it. The token's shape is a needle from the start.
public struct LeakScanner: Sendable {
    /// The bounds of one scan.
    public let limits: ScanLimits
    private let redactor: Redactor
    private(set) var index = PatternIndex()
    private var needles: [LearnedNeedle] = []
    private var learned: Set<Needle> = []
    /// See `ViewScan.innocentRuns`; forgotten with every new needle.
    private var innocentRuns: Set<ContentHash> = []

    private struct LearnedNeedle: Sendable {
        var needle: Needle
        var essence: Secret
        var digest: String
        /// Bytes of the token behind `phs_`; 0 without a token.
        var bodyLength: Int
    }

    /// Keys under which values may be hashed (HMAC).
    private let digestKeys: [Secret]
    /// Patterns that were entered in depth so far.
    private var nestedNeedles = 0

    /// Needles whose encodings on top of each other, and digests of digests, are entered; later ones are searched under
    /// single layers, and wherever decoding leads.
    static let nestedLimit = 32

    /// Makes a scanner that knows the token's shape only.
    ///
    /// - Parameter digestKeys: keys under which the app may send HMACs of what it must not send.
    public init(limits: ScanLimits = ScanLimits(), redactor: Redactor, digestKeys: [Secret] = []) {
        self.limits = limits
        self.redactor = redactor
        self.digestKeys = digestKeys
        Signature.enterAll(into: &index)
    }

    /// Bytes of memory that the patterns take, and how many there are.
    var patternMemory: (bytes: Int, count: Int) { (index.memory, index.count) }

    /// Adds a value to be found from now on; takes a few milliseconds. Values that are too short or too uniform
    /// to mean anything (under 8 bytes or an estimated 40 bits) are not searched.
    ///
    /// - Parameters:
    ///   - isNested: whether encodings on top of each other are entered too, for the token and plain values. A
    ///   needle of another trace, one of many, is entered under single ones only: what is decoded is searched again anyway.
    ///   - fieldNames: names of the field that holds it; a value that is too short to be searched is found behind one.
    public mutating func learn(needle: Needle, isNested: Bool = true, fieldNames: [String] = []) {
        guard learned.insert(needle).inserted, !needle.value.bytes.isEmpty else { return }
        innocentRuns.removeAll()
        let forms = NeedleForms(of: needle)
        let number = Int32(needles.count)
        let essence = Secret(forms.essence)
        let body = forms.forms.first { $0.form == .tokenBody }?.bytes ?? []
        needles.append(
            LearnedNeedle(
                needle: needle, essence: essence, digest: redactor.digest(essence), bodyLength: body.count))
        enterPieces(of: body, needle: number)
        let isDeep = isNested && nestedNeedles < Self.nestedLimit
        if isDeep { nestedNeedles += 1 }
        for (form, bytes) in forms.forms {
            // What holds in a part is entered in depth for the part alone.
            let isCore = form == .tokenBody || form == .value || (body.isEmpty && form == .path)
            let depth: EncodedPattern.Depth = !isDeep ? .single : isCore ? .nested : .wholeValue
            enter(EncodedPattern.all(of: bytes, depth: depth), needle: number, form: form)
            let lower = bytes.map(ByteClass.lower)
            if isCore || form == .token || form == .url, lower != bytes {
                // In clear, case is disregarded anyway; under base64 and hex the lower-cased value reads otherwise.
                enter(
                    EncodedPattern.all(of: lower, depth: depth).filter { !$0.layers.isEmpty }, needle: number,
                    form: form)
            }
        }
        if forms.forms.isEmpty { enterBound(needle.value.bytes, to: fieldNames, needle: number) }
        let keys = digestKeys.map(\.bytes)
        for (form, bytes) in forms.digested {
            let isMain = form == .token || bytes == needle.value.bytes
            if !isDeep, !isMain { continue }
            let depth: DigestPatterns.Depth = !isDeep ? .plain : isMain ? .nested : .encoded
            for pattern in DigestPatterns.all(of: bytes, keys: keys, depth: depth) {
                index.insert(
                    pattern.bytes, isCaseSensitive: pattern.isCaseSensitive, isRandom: true,
                    meaning: .needle(number, form, pattern.layers))
            }
            for pattern in DigestPatterns.weak(of: bytes) {
                index.insert(pattern.bytes, isCaseSensitive: false, meaning: .weak(number, form, pattern.layers))
            }
        }
    }

    /// A value too short to be searched by itself, behind the names of its field as JSON and forms write them.
    private mutating func enterBound(_ value: [UInt8], to names: [String], needle: Int32) {
        for name in names where !name.isEmpty {
            for text in ["\"\(name)\":\"", "\"\(name)\": \"", "\"\(name)\":", "\"\(name)\": ", "\(name)="] {
                index.insert(
                    Array(text.utf8) + value, isCaseSensitive: false,
                    meaning: .bound(needle, hasQuote: text.utf8.first == 0x22))
            }
        }
    }

    /// Every stretch of a token's body that chance does not make: 12 bytes, 16 of hex digits.
    private mutating func enterPieces(of body: [UInt8], needle: Int32) {
        let length = body.allSatisfy { Hex.value($0) != nil } ? 16 : 12
        guard body.count > length else { return }
        for offset in 0...body.count - length {
            index.insert(
                Array(body[offset..<offset + length]), isCaseSensitive: true, isRandom: true,
                meaning: .piece(needle, offset: Int32(offset)))
        }
    }

    private mutating func enter(_ patterns: [EncodedPattern], needle: Int32, form: NeedleForm) {
        for pattern in patterns {
            index.insert(
                pattern.bytes, isCaseSensitive: pattern.isCaseSensitive, meaning: .needle(needle, form, pattern.layers))
        }
    }

    // MARK: What is scanned

    /// Scans the request of an exchange; a response is no leak.
    public mutating func scan(_ exchange: Exchange) -> ScanResult {
        guard let request = exchange.request, !exchange.isPushed else { return .clean }
        return scan(request)
    }

    /// Scans a request: line, header fields, trailers, body.
    public mutating func scan(_ request: Request) -> ScanResult {
        var head: [UInt8] = []
        head.reserveCapacity(
            request.target.utf8.count + request.fields.storage.count + 2 * request.fields.fields.count + 64)
        var noPlaces: FieldPlaces?
        MessageHead.append(request, to: &head, places: &noPlaces)
        return scan(head: head, fields: request.fields, body: request.body) { places in
            var again: [UInt8] = []
            MessageHead.append(request, to: &again, places: &places)
        }
    }

    /// Scans what came back (for rules about what the app receives); locations are as for requests.
    public mutating func scan(_ response: Response) -> ScanResult {
        var head: [UInt8] = []
        var noPlaces: FieldPlaces?
        MessageHead.append(response, to: &head, places: &noPlaces)
        return scan(head: head, fields: response.fields, body: response.body) { places in
            var again: [UInt8] = []
            MessageHead.append(response, to: &again, places: &places)
        }
    }

    /// Scans a WebSocket message.
    public mutating func scan(_ message: Message) -> ScanResult {
        scan(bytes: message.payload.bytes, location: "message")
    }

    /// Scans the name of a DNS question, as sent and with its labels joined; letters' case means nothing (0x20).
    public mutating func scan(_ lookup: NameLookup) -> ScanResult {
        scan(name: lookup.rawName, location: "dns-name")
    }

    /// Scans a TLS server name.
    public mutating func scan(serverName: HostName) -> ScanResult {
        scan(name: Array(serverName.text.utf8), location: "server-name")
    }

    /// Scans the protocol names that a client offers (ALPN, RFC 7301).
    public mutating func scan(applicationProtocols names: [String]) -> ScanResult {
        // `h2` and `http/1.1` hide nothing, and nearly every client offers no other.
        guard names.contains(where: { $0.utf8.count >= NeedleForms.shortest && $0 != "http/1.1" }) else {
            return .clean
        }
        return scan(bytes: Array(names.joined(separator: "\u{1F}").utf8), location: "application-protocol")
    }

    /// The needle whose URL or token stands in `bytes` as it is, in either case; for small texts, without any decoding.
    func token(in bytes: [UInt8]) -> Needle? {
        var matches: [PatternIndex.Match] = []
        _ = bytes.withUnsafeBytes { index.scan($0, limit: 256, into: &matches) }
        for match in matches {
            guard case .needle(let number, _, let layers) = index.meaning(match), layers.isEmpty else { continue }
            let needle = needles[Int(number)].needle
            if needle.kind == .handoffURL || needle.kind == .token { return needle }
        }
        return nil
    }

    /// Scans any bytes under a location of the caller's choice.
    public mutating func scan(bytes: [UInt8], location: String) -> ScanResult {
        var scan = ViewScan(index: index, limits: limits)
        scan.addRoot(bytes, .root(location))
        scan.run()
        return result(of: scan, boundary: nil) { _ in }
    }

    private func scan(name: [UInt8], location: String) -> ScanResult {
        var scan = ViewScan(index: index, limits: limits)
        scan.addRoot(name, .root(location), shapes: .anyCase)
        // A label holds 63 bytes at most, so a longer value is spread over several, which others may stand before.
        var labels = name.split(separator: 0x2E)
        for _ in 0..<Self.labelsBeforeValue where labels.count > 1 {
            scan.addRoot(Array(labels.joined()), .root(location), shapes: .none)
            labels.removeFirst()
        }
        scan.run()
        return result(of: scan, boundary: nil, isName: true) { _ in }
    }

    private mutating func scan(
        head: [UInt8], fields: FieldSection, body: Body, places: (inout FieldPlaces?) -> Void
    ) -> ScanResult {
        if innocentRuns.count >= ViewScan.maximumInnocentRuns { innocentRuns.removeAll() }
        var scan = ViewScan(index: index, limits: limits, innocentRuns: innocentRuns)
        // One owner, so that remembering a run does not copy the set.
        innocentRuns = []
        scan.addRoot(head, .head)
        var boundary: [UInt8]?
        if !body.bytes.isEmpty {
            boundary = fields.first("content-type").flatMap(MultipartParts.boundary(ofContentType:))
            let codings = ContentCodings.tokens(fields.values("content-encoding"))
            scan.addRoot(body.bytes, .root("body"), boundary: boundary)
            scan.undo(codings: codings, isWhole: body.isWhole, boundary: boundary)
        }
        scan.run()
        innocentRuns = scan.innocentRuns
        return result(of: scan, boundary: boundary, places: places)
    }

    // MARK: What is told

    private func result(
        of scan: ViewScan, boundary: [UInt8]?, isName: Bool = false, places fill: (inout FieldPlaces?) -> Void
    ) -> ScanResult {
        let sealed = scan.views.indices.compactMap { view in
            SealedArchive.name(of: scan.views[view].bytes).map { (view: view, archive: $0) }
        }
        if scan.rawHits.isEmpty, scan.rawPieces.isEmpty, scan.exhausted.isEmpty, scan.closed.isEmpty, sealed.isEmpty {
            return .clean
        }
        var head: FieldPlaces? = FieldPlaces()
        fill(&head)
        var places = HitPlaces(views: scan.views, head: head ?? FieldPlaces(), boundary: boundary)
        var hits = HitCollector()
        var hints = HitCollector()
        var texts: [Int: Bool] = [:]
        for hit in RepeatedHits(in: scan).removed(from: scan.rawHits) {
            if !isName, isPartOfWord(hit, in: scan, &texts) { continue }
            let template = leak(for: hit, in: scan)
            for place in places.places(of: hit.view, at: hit.range.lowerBound) {
                var leak = template
                leak.location = place.location
                leak.chain = place.steps + hit.layers.encodings.map(\.name)
                if hit.isWeak {
                    hints.add(leak, structure: place.structure)
                } else {
                    hits.add(leak, structure: place.structure)
                }
            }
        }
        var gaps: [ScanGap] = []
        func gap(_ reason: ScanGap.Reason, _ view: Int) {
            let place = places.places(of: view, at: 0).first
            let location = place.map { scan.views[view].step == .head ? "head" : $0.location } ?? ""
            gaps.append(ScanGap(reason: reason, place: location))
        }
        for entry in scan.exhausted { gap(.budget(entry.budget), entry.view) }
        for entry in scan.closed { gap(.undecodable(entry.coding), entry.view) }
        for entry in sealed { gap(.undecodable(entry.archive), entry.view) }
        let found = Self.withoutParts(hits.hits)
        return ScanResult(
            hits: found, gaps: gaps, hints: hints.hits, pieces: pieces(of: scan, besides: found, &places))
    }

    /// Whether the name of an item, or of another thing that has names alike, stands in a text as part of a longer one
    /// (`item-12` in `item-123`). In bytes that are no text a letter may be a length or a tag.
    private func isPartOfWord(_ hit: ViewScan.RawHit, in scan: ViewScan, _ texts: inout [Int: Bool]) -> Bool {
        guard hit.needle >= 0, hit.layers.isEmpty else { return false }
        switch needles[Int(hit.needle)].needle.kind {
        case .catalogID, .disclosureVersion, .cookie: break
        case .handoffURL, .token, .neutralURL, .idempotencyKey, .sessionIdentifier, .canary, .secret: return false
        }
        let bytes = scan.views[hit.view].bytes
        guard !bytes.withUnsafeBytes({ WordSearch.isWhole(hit.range, in: $0, .exact) }) else { return false }
        if let isText = texts[hit.view] { return isText }
        let isBinary = bytes.contains { byte in
            byte < 0x09 || ((0x0E..<0x20).contains(byte) && byte != MessageHead.separator)
        }
        let isText = !isBinary && String(validating: bytes, as: UTF8.self) != nil
        texts[hit.view] = isText
        return isText
    }

    /// Something of a token's shape is no further token where it is part of a known one (a name's first label).
    private static func withoutParts(_ hits: [LeakHit]) -> [LeakHit] {
        guard hits.count > 1 else { return hits }
        return hits.filter { hit in
            guard hit.match == .tokenShape else { return true }
            let part = hit.matched.bytes.prefix(TokenShape.prefix.count + Self.recognised).map(ByteClass.lower)
            return !hits.contains { other in
                guard other.match != .tokenShape, other.location == hit.location else { return false }
                let whole = other.matched.bytes.map(ByteClass.lower)
                return whole.withUnsafeBytes { whole in part.withUnsafeBytes { ByteSearch.contains($0, in: whole) } }
            }
        }
    }

    /// Pieces of tokens of which nothing whole was found.
    private func pieces(of scan: ViewScan, besides hits: [LeakHit], _ places: inout HitPlaces) -> [TokenPiece] {
        var result: [TokenPiece] = []
        let whole = Set(hits.map(\.matchedDigest))
        for piece in RepeatedHits(in: scan).removed(from: scan.rawPieces) where result.count < Self.pieceLimit {
            let learned = needles[Int(piece.needle)]
            guard !whole.contains(learned.digest),
                let place = places.places(of: piece.view, at: piece.range.lowerBound).first
            else { continue }
            result.append(
                TokenPiece(
                    needle: learned.needle, range: piece.offset..<piece.offset + piece.range.count,
                    length: learned.bodyLength, location: place.location, chain: place.steps,
                    matchedDigest: learned.digest))
        }
        return result
    }

    /// Characters of a token's body by which a part of it is known.
    private static let recognised = 12
    /// Pieces that are told of one message.
    private static let pieceLimit = 256
    /// Labels of a name before those over which a value is spread, at most.
    private static let labelsBeforeValue = 5

    private func leak(for hit: ViewScan.RawHit, in scan: ViewScan) -> LeakHit {
        let bytes = scan.views[hit.view].bytes
        if hit.needle >= 0 {
            let learned = needles[Int(hit.needle)]
            var leak = LeakHit(
                match: .known(learned.needle, hit.form), location: "", chain: [], matched: learned.essence,
                matchedDigest: learned.digest)
            leak.isInURL = bytes.withUnsafeBytes { EnclosingURL.holds(hit.range.lowerBound, in: $0) }
            return leak
        }
        let token = Secret(Array(bytes[hit.range]))
        return LeakHit(
            match: .tokenShape, location: "", chain: [], matched: token, matchedDigest: redactor.digest(token))
    }
}
