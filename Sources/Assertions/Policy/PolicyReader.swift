internal import SessionTrace

extension Policy {
    /// Reads `handoff.yml`. `file` is how errors name it.
    ///
    /// - Throws: every fault of the text at once, each with line, column, and the nearest known word.
    public static func parse(yaml text: String, file: String) throws(PolicyError) -> Policy {
        let root: YAMLNode?
        do throws(YAMLDocument.SyntaxError) {
            root = try YAMLDocument.read(text)
        } catch {
            throw PolicyError(
                file: file,
                issues: [.init(line: error.place.line, column: error.place.column, message: error.message)])
        }
        var policy = Policy()
        policy.file = file
        var reader = PolicyReader()
        if let root, !root.isNull { reader.readRoot(root, into: &policy) }
        guard reader.issues.isEmpty else {
            throw PolicyError(file: file, issues: Self.inOrder(reader.issues))
        }
        policy.remarks = Self.inOrder(reader.remarks)
        return policy
    }

    private static func inOrder(_ issues: [PolicyError.Issue]) -> [PolicyError.Issue] {
        issues.sorted { ($0.line, $0.column) < ($1.line, $1.column) }
    }
}

/// Walks the tree of a policy file; collects faults instead of stopping at the first.
struct PolicyReader {
    var issues: [PolicyError.Issue] = []
    /// What can be meant, and seldom is: the policy counts, and reports say so.
    var remarks: [PolicyError.Issue] = []

    mutating func remark(_ node: YAMLNode, _ message: String) {
        remarks.append(.init(line: node.place.line, column: node.place.column, message: message))
    }

    mutating func fault(_ node: YAMLNode, _ message: String) {
        issues.append(.init(line: node.place.line, column: node.place.column, message: message))
    }

    /// What one known key does with its value.
    typealias Member = (name: String, read: (inout PolicyReader, YAMLNode) -> Void)

    /// Reads a mapping: each key once, known ones only.
    mutating func mapping(_ node: YAMLNode, at path: String, _ members: [Member]) {
        guard case .mapping(let pairs) = node.content else {
            let place = path.isEmpty ? "a policy" : "\"\(path)\""
            return fault(node, "\(place) must be a mapping of keys, not \(node.kind)")
        }
        var seen: [String: Int] = [:]
        for pair in pairs {
            guard let key = pair.key.text else {
                fault(pair.key, "a key must be text, not \(pair.key.kind)")
                continue
            }
            if let first = seen[key] {
                fault(pair.key, "duplicate key \"\(key)\"; it is already on line \(first)")
                continue
            }
            seen[key] = pair.key.place.line
            guard let member = members.first(where: { $0.name == key }) else {
                unknown(pair.key, "key", key, path.isEmpty ? "" : " in \"\(path)\"", among: members.map(\.name))
                continue
            }
            member.read(&self, pair.value)
        }
    }

    /// Reports an unknown word with the nearest known one, or with all of them when none is near.
    mutating func unknown(_ node: YAMLNode, _ what: String, _ word: String, _ place: String, among known: [String]) {
        let advice =
            if let near = NearestWord.to(word, among: known) {
                "did you mean \"\(near)\"?"
            } else {
                "known: \(known.joined(separator: ", "))"
            }
        fault(node, "unknown \(what) \"\(word)\"\(place); \(advice)")
    }

    mutating func text(_ node: YAMLNode, _ name: String) -> String? {
        guard let text = node.text, !node.isNull else {
            fault(node, "\"\(name)\" must be text, not \(node.kind)")
            return nil
        }
        guard text.contains(where: { !$0.isWhitespace }) else {
            fault(node, "\"\(name)\" must be text, and this one is empty")
            return nil
        }
        return text
    }

    mutating func flag(_ node: YAMLNode, _ name: String) -> Bool? {
        if case .scalar(let text, true) = node.content, text == "true" || text == "false" { return text == "true" }
        fault(node, "\"\(name)\" must be true or false, not \(node.text.map { "\"\($0)\"" } ?? node.kind)")
        return nil
    }

    mutating func list(_ node: YAMLNode, _ name: String) -> [YAMLNode] {
        if case .sequence(let items) = node.content { return items }
        if node.isNull { return [] }
        fault(node, "\"\(name)\" must be a list, not \(node.kind)")
        return []
    }

    mutating func texts(_ node: YAMLNode, _ name: String) -> [(YAMLNode, String)] {
        list(node, name).compactMap { item in text(item, name).map { (item, $0) } }
    }

    mutating func word<Word: RawRepresentable & CaseIterable>(
        _ node: YAMLNode, _ name: String, _: Word.Type
    ) -> Word? where Word.RawValue == String {
        guard let text = text(node, name) else { return nil }
        if let word = Word(rawValue: text) { return word }
        unknown(node, "value", text, " for \"\(name)\"", among: Word.allCases.map(\.rawValue))
        return nil
    }

    mutating func duration(_ node: YAMLNode, _ name: String) -> Nanoseconds? {
        guard let text = text(node, name) else { return nil }
        if let duration = Nanoseconds(text) { return duration }
        fault(node, "\"\(name)\" must be a length of time such as 500ms, 10s, 15m or 24h, not \"\(text)\"")
        return nil
    }

    mutating func pointer(_ node: YAMLNode, _ name: String) -> String? {
        guard let text = text(node, name) else { return nil }
        guard text.hasPrefix("/") else {
            fault(node, "\"\(name)\" must be a JSON pointer such as /catalogId, not \"\(text)\"")
            return nil
        }
        return text
    }

    mutating func template(_ node: YAMLNode, _ name: String) -> RequestTemplate? {
        guard let text = text(node, name) else { return nil }
        if let template = RequestTemplate(text) { return template }
        fault(
            node,
            "\"\(name)\" must hold templates such as \"GET /orders/{id}\" (a path from /, {name} for a whole segment, "
                + "no query), not \"\(text)\"")
        return nil
    }

    mutating func templates(_ node: YAMLNode, _ name: String) -> [RequestTemplate] {
        list(node, name).compactMap { template($0, name) }
    }

    mutating func path(_ node: YAMLNode, _ name: String) -> PathTemplate? {
        guard let text = text(node, name) else { return nil }
        if let path = PathTemplate(text) { return path }
        fault(node, "\"\(name)\" must be a path such as /catalog/{id}/handoff, not \"\(text)\"")
        return nil
    }

    mutating func day(_ node: YAMLNode, _ name: String) -> CalendarDay? {
        guard let text = text(node, name) else { return nil }
        if let day = CalendarDay(text) { return day }
        fault(node, "\"\(name)\" must be a day such as 2027-01-31, not \"\(text)\"")
        return nil
    }
}
