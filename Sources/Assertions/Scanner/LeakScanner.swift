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
    private var index = PatternIndex()
    private var needles: [LearnedNeedle] = []
    private var learned: Set<Needle> = []
    /// Sequences of encodings that patterns are written in; the first is none.
    private var layers: [[ValueEncoding]] = [[]]
    private var layerNumbers: [[ValueEncoding]: Int32] = [[]: 0]

    /// See `ViewScan.innocentRuns`; forgotten with every new needle.
    private var innocentRuns: Set<ContentHash> = []

    private struct LearnedNeedle: Sendable {
        var needle: Needle
        var essence: Secret
        var digest: String
    }

    /// Makes a scanner that knows the token's shape only.
    public init(limits: ScanLimits = ScanLimits(), redactor: Redactor) {
        self.limits = limits
        self.redactor = redactor
        Signature.enterAll(into: &index)
    }

    /// Adds a value to be found from now on; takes a few milliseconds. Values that are too short or too uniform
    /// to mean anything (under 8 bytes or an estimated 40 bits) are not searched.
    ///
    /// - Parameter isNested: whether encodings on top of each other are entered too, for the token and plain values. A
    ///   needle of another trace, one of many, is entered under single ones only: what is decoded is searched again anyway.
    public mutating func learn(needle: Needle, isNested: Bool = true) {
        guard learned.insert(needle).inserted, !needle.value.bytes.isEmpty else { return }
        innocentRuns.removeAll()
        let forms = NeedleForms(of: needle)
        let number = Int32(needles.count)
        let essence = Secret(forms.essence)
        needles.append(LearnedNeedle(needle: needle, essence: essence, digest: redactor.digest(essence)))
        for (form, bytes) in forms.forms {
            let isCore = form == .token || form == .tokenBody || form == .value
            enter(EncodedPattern.all(of: bytes, isNested: isCore && isNested), needle: number, form: form)
            let lower = bytes.map(ByteClass.lower)
            if isCore, lower != bytes {
                // In clear, case is disregarded anyway; under base64 and hex the lower-cased value reads otherwise.
                enter(
                    EncodedPattern.all(of: lower, isNested: false).filter { !$0.layers.isEmpty }, needle: number,
                    form: form)
            }
        }
    }

    private mutating func enter(_ patterns: [EncodedPattern], needle: Int32, form: NeedleForm) {
        for pattern in patterns {
            let number: Int32
            if let known = layerNumbers[pattern.layers] {
                number = known
            } else {
                number = Int32(layers.count)
                layers.append(pattern.layers)
                layerNumbers[pattern.layers] = number
            }
            index.insert(
                pattern.bytes, isCaseSensitive: pattern.isCaseSensitive, meaning: .needle(needle, form, layers: number))
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
        return scan(bytes: Array(names.joined(separator: "\0").utf8), location: "application-protocol")
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
        // A label holds 63 bytes at most, so a longer value is spread over several.
        let joined = name.filter { $0 != 0x2E }
        if joined.count < name.count { scan.addRoot(joined, .root(location), shapes: .none) }
        scan.run()
        return result(of: scan, boundary: nil) { _ in }
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
        of scan: ViewScan, boundary: [UInt8]?, places fill: (inout FieldPlaces?) -> Void
    ) -> ScanResult {
        if scan.rawHits.isEmpty, scan.exhausted.isEmpty, scan.closed.isEmpty { return .clean }
        var head: FieldPlaces? = FieldPlaces()
        fill(&head)
        var places = HitPlaces(views: scan.views, head: head ?? FieldPlaces(), boundary: boundary)
        var collector = HitCollector()
        for hit in Self.withoutKnownShapes(scan.rawHits) {
            let template = leak(for: hit, in: scan)
            for place in places.places(of: hit.view, at: hit.range.lowerBound) {
                var leak = template
                leak.location = place.location
                leak.chain = place.steps + layers[Int(hit.layers)].map(\.rawValue)
                collector.add(leak, structure: place.structure)
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
        return ScanResult(hits: collector.hits, gaps: gaps)
    }

    private func leak(for hit: ViewScan.RawHit, in scan: ViewScan) -> LeakHit {
        if hit.needle >= 0 {
            let learned = needles[Int(hit.needle)]
            return LeakHit(
                match: .known(learned.needle, hit.form), location: "", chain: [], matched: learned.essence,
                matchedDigest: learned.digest)
        }
        let token = Secret(Array(scan.views[hit.view].bytes[hit.range]))
        return LeakHit(
            match: .tokenShape, location: "", chain: [], matched: token, matchedDigest: redactor.digest(token))
    }

    /// A token that was found as a known one is not also found by its shape.
    private static func withoutKnownShapes(_ hits: [ViewScan.RawHit]) -> [ViewScan.RawHit] {
        guard hits.contains(where: { $0.needle < 0 }) else { return hits }
        var starts: [Int: [Range<Int>]] = [:]
        for hit in hits where hit.needle >= 0 { starts[hit.view, default: []].append(hit.range) }
        return hits.filter { hit in
            hit.needle >= 0 || starts[hit.view]?.contains { $0.overlaps(hit.range) } != true
        }
    }
}
