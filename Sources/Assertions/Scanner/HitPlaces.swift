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
        let inner = inside(view, at: offset)
        var result: [Place] = []
        for origin in views[view].origins where result.count < Self.maximumWays {
            switch origin.step {
            case .head:
                result.append(Place(location: inner.first ?? "head", steps: Array(inner.dropFirst())))
            case .root(let location):
                result.append(Place(location: location, steps: inner))
            default:
                let source = sourceOffset(of: origin, decoded: offset)
                for outer in places(of: origin.parent, at: source) where result.count < Self.maximumWays {
                    result.append(
                        Place(
                            location: outer.location, steps: outer.steps + names(of: origin.step, after: outer) + inner)
                    )
                }
            }
        }
        return result
    }

    private func names(of step: View.Step, after outer: Place) -> [String] {
        switch step {
        case .head, .root, .slice: []
        case .codings(let names): names
        case .base64: ["base64"]
        case .base64url: ["base64url"]
        case .hex: ["hex"]
        case .percent: ["percent"]
        case .quotedPrintable: ["quoted-printable"]
        // A JSON string's place implies that it was read as JSON.
        case .string: outer.steps.last?.hasPrefix("json:") == true ? [] : ["escapes"]
        }
    }

    private func sourceOffset(of origin: View.Origin, decoded offset: Int) -> Int {
        guard origin.step == .percent else { return origin.sourceOffset }
        return views[origin.parent].bytes.withUnsafeBytes { TextDecoding.percentSource($0, decoded: offset) }
    }

    /// The steps inside a view; for a head, the location comes first.
    private mutating func inside(_ number: Int, at offset: Int) -> [String] {
        let view = views[number]
        if view.step == .percent, case .fields(let fields) = structure(of: view.origins[0].parent) {
            return insideDecodedField(fields, of: view.origins[0].parent, at: offset)
        }
        switch structure(of: number) {
        case .none: return []
        case .json(let places): return view.bytes.withUnsafeBytes { places.steps(at: offset, in: $0) }
        case .fields(let fields):
            guard let field = fields.field(at: offset) else { return [] }
            let slice = Array(view.bytes[field.range])
            return [field.step] + Self.jsonSteps(in: slice, at: offset - field.range.lowerBound)
        }
    }

    /// The percent-decoding of a form or head is one view, but each field is a text of its own.
    private func insideDecodedField(_ fields: FieldPlaces, of parent: Int, at offset: Int) -> [String] {
        views[parent].bytes.withUnsafeBytes { bytes in
            let source = TextDecoding.percentSource(bytes, decoded: offset)
            guard let field = fields.field(at: source) else { return [] }
            var before: [UInt8] = []
            TextDecoding.percent(UnsafeRawBufferPointer(rebasing: bytes[..<field.range.lowerBound]), into: &before)
            var slice: [UInt8] = []
            TextDecoding.percent(UnsafeRawBufferPointer(rebasing: bytes[field.range]), into: &slice)
            return Self.jsonSteps(in: slice, at: offset - before.count)
        }
    }

    private static func jsonSteps(in bytes: [UInt8], at offset: Int) -> [String] {
        bytes.withUnsafeBytes { bytes in JSONPlaces(bytes)?.steps(at: offset, in: bytes) ?? [] }
    }

    private mutating func structure(of number: Int) -> Structure {
        if let known = structures[number] { return known }
        let found = makeStructure(of: number)
        structures[number] = found
        return found
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
            if let fields = FieldPlaces.form(bytes) { return .fields(fields) }
            return JSONPlaces(bytes).map(Structure.json) ?? .none
        }
    }
}
