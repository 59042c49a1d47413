internal import SessionTrace

/// Reads what an answer to the app holds for names and states that must not stand in it.
///
/// Most answers hold none: their strings are run through once, and the text is read as JSON only when one of them is of
/// interest.
struct AnswerReader {
    /// One thing found.
    struct Mark: Hashable {
        var kind: ContentFinding.Kind
        var place: JSONPlace
    }

    private let bytes: [UInt8]
    private let keys: ForbiddenKeys
    private let hidden: [String]
    private(set) var marks: [Mark] = []
    private(set) var isCropped = false
    private var isProjection = false

    /// Things kept of one answer.
    static let markLimit = 40
    /// URLs looked at on one domain in one answer.
    static let urlLimit = 200
    private static let stateNames: Set<String> = ["mode", "visibility", "display"]
    private static let flagNames: Set<String> = ["hidden", "isHidden", "is_hidden"]
    private static let ownItemNames: Set<String> = ["catalogId", "catalog_id", "itemId"]

    init(_ bytes: [UInt8], keys: ForbiddenKeys, hidden: [String]) {
        self.bytes = bytes
        self.keys = keys
        self.hidden = hidden
    }

    mutating func readJSON(isProjection: Bool) {
        self.isProjection = isProjection
        let names = interesting()
        guard let names else { return }
        if let value = Self.parse(bytes[...]) { return walk(value, at: .root, name: nil) }
        // Lines of JSON, or an event stream.
        let texts = Self.lines(bytes)
        let values = texts.compactMap(Self.parse)
        for value in values { walk(value, at: .root, name: nil) }
        guard values.isEmpty || values.count < texts.count else { return }
        // What can't be read as JSON holds the name all the same.
        for name in names {
            if let reason = keys.reason(for: name), !marks.contains(where: { $0.kind == .key(reason) }) {
                add(.key(reason), JSONPlace.root.member(name))
            }
        }
        keepID(String(decoding: bytes, as: UTF8.self), at: .root)
    }

    private static func parse(_ bytes: ArraySlice<UInt8>) -> JSONValue? {
        try? JSONValue.parse(
            Array(bytes), limits: JSONLimits(bytes: Projection.limit, depth: 128, values: 500_000))
    }

    /// The JSON texts of a content that has one in each line, or of the events of a stream, whose data may have several.
    private static func lines(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var texts: [ArraySlice<UInt8>] = []
        var isOpen = false
        for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
            let isData = line.starts(with: "data:".utf8)
            let text = isData ? line.dropFirst(5) : line
            let begins = text.first { $0 > 0x20 }.map { $0 == 0x7B || $0 == 0x5B } ?? false
            if isData, isOpen {
                texts[texts.count - 1] += [0x0A] + text
            } else if begins {
                texts.append(text)
            }
            isOpen = isData && (isOpen || begins)
        }
        return texts
    }

    /// The forbidden names that stand in the text; nil when nothing in it is of interest.
    private func interesting() -> [String]? {
        var known: [String: Bool] = [:]
        var found: [String] = []
        var isInteresting = false
        bytes.withUnsafeBytes { bytes in
            var strings = JSONStrings(bytes)
            while let (range, isName) = strings.next() {
                if isName {
                    let name = String(decoding: bytes[range], as: UTF8.self)
                    if let isKnown = known[name] {
                        isInteresting = isInteresting || isKnown
                        continue
                    }
                    let isForbidden = keys.reason(for: name) != nil
                    known[name] = isForbidden || Self.flagNames.contains(name)
                    if isForbidden, found.count < Self.markLimit { found.append(name) }
                    isInteresting = isInteresting || isForbidden || Self.flagNames.contains(name)
                } else if range.count == 6, zip(bytes[range], "hidden".utf8).allSatisfy({ $0 | 0x20 == $1 }) {
                    isInteresting = true
                }
            }
            isInteresting =
                isInteresting
                || hidden.contains { id in
                    Array(id.utf8).withUnsafeBytes { ByteSearch.contains($0, in: bytes) }
                }
        }
        return isInteresting ? found : nil
    }

    private mutating func add(_ kind: ContentFinding.Kind, _ place: JSONPlace) {
        let mark = Mark(kind: kind, place: place)
        guard !marks.contains(where: { $0.kind == kind && $0.place.template == place.template }) else { return }
        if marks.count < Self.markLimit { marks.append(mark) } else { isCropped = true }
    }

    private mutating func walk(_ value: JSONValue, at place: JSONPlace, name: String?) {
        switch value {
        case .object(let members):
            keepState(of: members, value, at: place, name: name)
            for member in members {
                let inner = place.member(member.name)
                if let reason = keys.reason(for: member.name) { add(.key(reason), inner) }
                keepID(member.name, at: inner)
                walk(member.value, at: inner, name: member.name)
            }
        case .array(let elements):
            for (index, element) in elements.enumerated() { walk(element, at: place.element(index), name: name) }
        case .string(let text), .number(let text): keepID(text, at: place)
        case .null, .bool: return
        }
    }

    // MARK: hidden items

    private mutating func keepState(
        of members: [JSONMember], _ value: JSONValue, at place: JSONPlace, name: String?
    ) {
        guard isItem(value, at: place, name: name) else { return }
        for member in members {
            let isHidden =
                Self.stateNames.contains(member.name) && member.value.stringValue?.lowercased() == "hidden"
                || Self.flagNames.contains(member.name) && member.value == .bool(true)
            if isHidden { add(.hiddenState(member.name), place.member(member.name)) }
        }
    }

    /// Whether an object is an item or a decision, of which it means something to be hidden.
    private func isItem(_ value: JSONValue, at place: JSONPlace, name: String?) -> Bool {
        guard let members = value.members else { return false }
        let names = Set(members.map(\.name))
        if !names.isDisjoint(with: Self.ownItemNames) || !names.isDisjoint(with: DecisionSchema.tellingMembers)
            || !names.isDisjoint(with: ProjectionReader.decisionNames)
            || name.map(ProjectionReader.decisionNames.contains) ?? false
        {
            return true
        }
        return isProjection && (place == .root || names.contains("id"))
    }

    private mutating func keepID(_ text: String, at place: JSONPlace) {
        for (index, id) in hidden.enumerated() where Self.holds(text, id) { add(.hiddenID(index), place) }
    }

    /// Whether a text is an id, or holds one of four characters or more as a word of its own.
    private static func holds(_ text: String, _ id: String) -> Bool {
        if text == id { return true }
        guard id.utf8.count >= 4, text.utf8.count > id.utf8.count, text.holds(id) else { return false }
        func isWordCharacter(_ character: Character) -> Bool { character.isLetter || character.isNumber }
        var rest = Substring(text)
        while let range = rest.firstRange(of: id) {
            let before = text[..<range.lowerBound].last.map(isWordCharacter) ?? false
            let after = text[range.upperBound...].first.map(isWordCharacter) ?? false
            if !before, !after { return true }
            rest = rest[range.upperBound...]
        }
        return false
    }

    // MARK: URLs

    /// The http and https URLs in a text whose host is `domain` or below it; escaped slashes and ampersands undone.
    static func urls(on domain: String, in bytes: [UInt8]) -> [String] {
        let name = Array(domain.utf8)
        guard !name.isEmpty, bytes.count >= name.count else { return [] }
        let isThere = name.withUnsafeBytes { name in bytes.withUnsafeBytes { ByteSearch.contains(name, in: $0) } }
        guard isThere else { return [] }
        var urls: [String] = []
        var seen: Set<String> = []
        var start = 0
        while start + name.count <= bytes.count, urls.count < urlLimit {
            guard bytes[start] == name[0], bytes[start..<start + name.count].elementsEqual(name) else {
                start += 1
                continue
            }
            var begin = start
            while begin > 0, isHostByte(bytes[begin - 1]) { begin -= 1 }
            var end = start + name.count
            while end < bytes.count, isURLByte(bytes[end]) { end += 1 }
            if let url = url(before: begin, bytes[begin..<end], in: bytes), seen.insert(url).inserted {
                urls.append(url)
            }
            start = end
        }
        return urls
    }

    private static func url(before begin: Int, _ rest: ArraySlice<UInt8>, in bytes: [UInt8]) -> String? {
        // `//` or `\/\/` before the host, and the scheme before that.
        let lead = String(decoding: bytes[max(0, begin - 16)..<begin], as: UTF8.self)
            .replacing("\\/", with: "/").lowercased()
        let tail = String(decoding: rest, as: UTF8.self).replacing("\\/", with: "/").replacing("&amp;", with: "&")
            .replacing("\\u0026", with: "&")
        if lead.hasSuffix("http://") { return "http://" + tail }
        return lead.hasSuffix("//") ? "https://" + tail : nil
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E: true
        default: false
        }
    }

    /// What may stand in a URL, and the backslash that escapes a slash.
    private static func isURLByte(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && ![0x22, 0x27, 0x28, 0x29, 0x3C, 0x3E, 0x60].contains(byte)
    }
}
