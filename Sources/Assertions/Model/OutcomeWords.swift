internal import SessionTrace

/// A field of a request whose name speaks of how something ended or how long it took, with what stands beside it.
struct OutcomeWord: Hashable, Sendable {
    /// The field's name, as sent.
    var name: String
    /// Where it stands: `query:dwell`, `json:/events/*/outcome`, `form:duration`.
    var place: String
    /// Hashes of the texts beside it: in the same element of the innermost list around it, or in the whole message.
    var beside: Set<ContentHash>
    /// Whether a field beside it has a name by which items are called.
    var isBesideItemName: Bool

    /// Words kept of one request, and texts beside one.
    static let limit = 16
    static let besideLimit = 256

    // MARK: vocabulary

    private static let words: Set<String> = [
        "completed", "converted", "returned", "outcome", "duration", "dwell", "elapsed", "elapsedms", "sessionresult",
    ]
    private static let prefixes = ["is", "has", "was", "session", "handoff", "checkout", "chia", "visit", "browser"]
    private static let suffixes = ["ms", "s", "sec", "secs", "seconds", "millis", "milliseconds", "time", "at"]
    private static let itemNames: Set<String> = [
        "catalogid", "itemid", "productid", "selectionid", "handoffid", "catalogitemid",
    ]

    /// Whether a name is one of the words, in any spelling of it (`elapsed_ms`, `sessionResult`, `dwell-time`).
    static func isOutcome(_ name: some StringProtocol) -> Bool {
        guard (5...40).contains(name.utf8.count) else { return false }
        let plain = plain(name)
        if words.contains(plain) { return true }
        let start = prefixes.first { plain.hasPrefix($0) && words.contains(String(plain.dropFirst($0.utf8.count))) }
        let end = suffixes.first { plain.hasSuffix($0) && words.contains(String(plain.dropLast($0.utf8.count))) }
        return start != nil || end != nil
    }

    private static func isItem(_ name: some StringProtocol) -> Bool { itemNames.contains(plain(name)) }

    private static func plain(_ name: some StringProtocol) -> String {
        name.lowercased().filter { $0 != "_" && $0 != "-" && $0 != "." && $0 != "$" }
    }

    // MARK: reading

    /// The words of a request's query, form or JSON text.
    static func all(in request: Request, content: [UInt8], _ facts: BodyFacts) -> [OutcomeWord] {
        let target = request.pathAndQuery
        let path = target.prefix { $0 != "?" && $0 != "#" }
        let query = target[path.endIndex...].dropFirst().prefix { $0 != "#" }
        var words = fields(query, "query", with: path.split(separator: "/").map(String.init))
        read(content, facts, into: &words)
        return words
    }

    /// The words of a WebSocket message.
    static func all(inMessage content: [UInt8], _ facts: BodyFacts) -> [OutcomeWord] {
        var words: [OutcomeWord] = []
        read(content, facts, into: &words)
        return words
    }

    private static func read(_ content: [UInt8], _ facts: BodyFacts, into words: inout [OutcomeWord]) {
        guard facts.keys.contains(where: isOutcome) else { return }
        switch facts.kind {
        case .form:
            words += fields(Substring(String(decoding: content, as: UTF8.self)), "form", with: [])
        case .json, .image, .video, .replay:
            for document in documents(content) {
                guard words.count < limit else { break }
                walk(document, "json:", root: document, into: &words)
            }
        case .none, .text, .binary: break
        }
    }

    private static func documents(_ content: [UInt8]) -> [JSONValue] {
        let limits = JSONLimits(bytes: BodyFacts.limit, depth: 64, values: 20_000)
        if let value = try? JSONValue.parse(content, limits: limits) { return [value] }
        // One text a line, as log collectors take them.
        return content.split(separator: 0x0A).prefix(200).compactMap {
            try? JSONValue.parse(Array($0), limits: limits)
        }
    }

    private static func fields(_ text: Substring, _ kind: String, with more: [String]) -> [OutcomeWord] {
        let pairs = text.split(separator: "&").prefix(besideLimit).map { pair in
            let name = pair.prefix { $0 != "=" }
            return (name: name, value: name.endIndex < pair.endIndex ? pair[name.endIndex...].dropFirst() : "")
        }
        guard pairs.contains(where: { isOutcome($0.name) }) else { return [] }
        let beside = Set((pairs.map { String($0.value) } + more).map { ContentHash(text: $0) })
        let isBesideItem = pairs.contains { isItem($0.name) }
        return pairs.filter { isOutcome($0.name) }.prefix(limit).map {
            OutcomeWord(
                name: String($0.name), place: "\(kind):\($0.name)", beside: beside, isBesideItemName: isBesideItem)
        }
    }

    /// `root` is the element of the innermost list around `value`.
    private static func walk(_ value: JSONValue, _ place: String, root: JSONValue, into words: inout [OutcomeWord]) {
        switch value {
        case .object(let members):
            for member in members {
                if isOutcome(member.name), words.count < limit {
                    var texts: Set<ContentHash> = []
                    var isBesideItem = false
                    gather(root, &texts, &isBesideItem)
                    words.append(
                        OutcomeWord(
                            name: member.name, place: "\(place)/\(member.name)", beside: texts,
                            isBesideItemName: isBesideItem))
                }
                walk(member.value, "\(place)/\(member.name)", root: root, into: &words)
            }
        case .array(let elements):
            for element in elements where words.count < limit {
                walk(element, "\(place)/*", root: element, into: &words)
            }
        case .string, .number, .bool, .null: return
        }
    }

    private static func gather(_ value: JSONValue, _ texts: inout Set<ContentHash>, _ isBesideItem: inout Bool) {
        switch value {
        case .object(let members):
            for member in members {
                if isItem(member.name) { isBesideItem = true }
                gather(member.value, &texts, &isBesideItem)
            }
        case .array(let elements):
            for element in elements { gather(element, &texts, &isBesideItem) }
        case .string(let text), .number(let text):
            if texts.count < besideLimit { texts.insert(ContentHash(text: text)) }
        case .bool, .null: return
        }
    }
}

extension ContentHash {
    /// The hash of a text's bytes.
    init(text: String) {
        self = Array(text.utf8).withUnsafeBytes { ContentHash($0) }
    }
}
