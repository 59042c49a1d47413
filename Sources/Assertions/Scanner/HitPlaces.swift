/// Turns raw hits into places that people understand: the location in the message and the way from there.
struct HitPlaces {
    /// A place: the location, and the steps from it to the value.
    struct Place: Hashable {
        var location: String
        var steps: [String] = []

        /// Steps that name a place rather than a decoding.
        var structure: [String] { steps.filter(Self.isStructural) }

        static func isStructural(_ step: String) -> Bool {
            step.hasPrefix("json:") || step.hasPrefix("form:") || step.hasPrefix("multipart:")
                || step.hasPrefix("line:")
        }
    }

    private enum Structure {
        case none
        case json(JSONPlaces)
        case fields(FieldPlaces)
    }

    /// Ways from the message to one piece of content that are told.
    private static let maximumWays = 16

    private let views: [View]
    private let head: FieldPlaces
    private var structures: [Int: Structure] = [:]
    private var visiting: Set<Int> = []
    private let boundary: [UInt8]?

    /// - Parameters:
    ///   - head: the places of the view whose step is `.head`.
    ///   - boundary: of the body, when it is multipart by its Content-Type.
    init(views: [View], head: FieldPlaces, boundary: [UInt8]?) {
        self.views = views
        self.head = head
        self.boundary = boundary
    }

    /// All places of a byte of a view, the first found first.
    mutating func places(of view: Int, at offset: Int) -> [Place] {
        // Content can turn up again below itself: a way never passes a view twice.
        guard visiting.insert(view).inserted else { return [] }
        defer { visiting.remove(view) }
        var result: [Place] = []
        for origin in views[view].origins where result.count < Self.maximumWays {
            let inner = inside(view, by: origin, at: offset)
            switch origin.step {
            case .head:
                result.append(Place(location: inner.steps.first ?? "head", steps: Array(inner.steps.dropFirst())))
            case .root(let location):
                result.append(Place(location: location, steps: inner.steps))
            default:
                let source = sourceOffset(of: origin, decoded: offset)
                let isPlaced =
                    inside(origin.parent, by: views[origin.parent].origins[0], at: source).steps.last?.hasPrefix(
                        "json:") == true
                for outer in places(of: origin.parent, at: source) where result.count < Self.maximumWays {
                    result.append(
                        Place(
                            location: outer.location,
                            steps: outer.steps + names(of: origin.step, isPlaced: isPlaced) + inner.steps)
                    )
                }
            }
        }
        return result
    }

    /// - Parameter isPlaced: whether the step's source was named as a JSON string, which implies that it is read as one.
    private func names(of step: View.Step, isPlaced: Bool) -> [String] {
        switch step {
        case .head, .root: []
        case .codings(let names): names
        case .base64: ["base64"]
        case .base64url: ["base64url"]
        case .base32: ["base32"]
        case .base32hex: ["base32hex"]
        case .base58: ["base58"]
        case .hex: ["hex"]
        case .inline(.percent), .inlineRun(.percent): ["percent"]
        case .inline(.html), .inlineRun(.html): ["html"]
        case .inline(.quotedPrintable), .inlineRun(.quotedPrintable), .part: ["quoted-printable"]
        case .utf16(let isBigEndian): [isBigEndian ? "utf-16be" : "utf-16le"]
        case .rot13: ["rot13"]
        case .reversed: ["reversed"]
        case .codes: ["codes"]
        case .container(let kind): [kind]
        case .string: isPlaced ? [] : ["escapes"]
        }
    }

    private func sourceOffset(of origin: View.Origin, decoded offset: Int) -> Int {
        guard case .inline(let inline) = origin.step else { return origin.sourceOffset }
        return views[origin.parent].bytes.withUnsafeBytes { TextDecoding.source(of: offset, inline, in: $0) }
    }

    /// What holds a byte inside a view: the steps to it (for a head, the location comes first), and where it lies.
    private mutating func inside(
        _ number: Int, by origin: View.Origin, at offset: Int
    ) -> (steps: [String], range: Range<Int>) {
        let view = views[number]
        if case .inline(let inline) = origin.step {
            // The undoing of a form, a head or a JSON text is one view, but each field is a text of its own.
            let parent = origin.parent
            let source = sourceOffset(of: origin, decoded: offset)
            let outer = inside(parent, by: views[parent].origins[0], at: source)
            if outer.range != views[parent].bytes.indices {
                let range = views[parent].bytes.withUnsafeBytes { bytes in
                    TextDecoding.outputCount(
                        inline, of: bytes, upTo: outer.range.lowerBound)..<TextDecoding.outputCount(
                            inline, of: bytes, upTo: outer.range.upperBound)
                }
                return Self.jsonSteps(in: view.bytes, range, at: offset)
            }
        }
        let whole = view.bytes.indices
        switch structure(of: number) {
        case .none: return ([], whole)
        case .json(let places):
            return view.bytes.withUnsafeBytes { places.steps(at: offset, in: $0) } ?? ([], whole)
        case .fields(let fields):
            guard let field = fields.field(at: offset) else { return ([], whole) }
            let inner = Self.jsonSteps(in: view.bytes, field.range, at: offset)
            return ([field.step] + inner.steps, inner.range)
        }
    }

    /// The steps inside a stretch of a view.
    private static func jsonSteps(
        in bytes: [UInt8], _ range: Range<Int>, at offset: Int
    ) -> (steps: [String], range: Range<Int>) {
        bytes.withUnsafeBytes { bytes in
            let slice = UnsafeRawBufferPointer(rebasing: bytes[range.clamped(to: bytes.indices)])
            guard let found = JSONPlaces(slice)?.steps(at: offset - range.lowerBound, in: slice) else {
                return ([], range)
            }
            let start = found.range.lowerBound + range.lowerBound
            return (found.steps, start..<start + found.range.count)
        }
    }

    private mutating func structure(of number: Int) -> Structure {
        if let known = structures[number] { return known }
        let found = makeStructure(of: number)
        structures[number] = found
        return found
    }

    /// Whether a view shows a run of text among bytes that are none.
    private func isRunOfText(_ number: Int) -> Bool {
        var number = number
        while true {
            switch views[number].step {
            case .inlineRun: return true
            case .inline: number = views[number].origins[0].parent
            default: return false
            }
        }
    }

    /// Whether the first character of a text of two bytes a character is the length that a property list writes before it, rather
    /// than a field's name.
    private static func beginsWithLength(_ view: View) -> Bool {
        guard case .utf16 = view.step, let first = view.bytes.first else { return false }
        return Int(first) == view.bytes.count - 1
    }

    private func makeStructure(of number: Int) -> Structure {
        let view = views[number]
        if view.step == .head { return .fields(head) }
        return view.bytes.withUnsafeBytes { bytes in
            let declared: [UInt8]? =
                if case .root = view.step { boundary } else if case .codings = view.step { boundary } else { nil }
            if let multipart = MultipartParts(bytes, boundary: declared) {
                var fields = FieldPlaces()
                for (number, part) in multipart.parts.enumerated() {
                    let name = part.name.map { TextMask.word(Substring($0)) } ?? "#\(number + 1)"
                    fields.append(part.range, "multipart:" + name)
                }
                return .fields(fields)
            }
            if !Self.beginsWithLength(view), let fields = FieldPlaces.form(bytes) { return .fields(fields) }
            return JSONPlaces(bytes, isAmongOthers: isRunOfText(number)).map(Structure.json) ?? .none
        }
    }
}
