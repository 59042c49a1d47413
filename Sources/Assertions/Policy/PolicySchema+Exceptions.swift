internal import SessionTrace

/// `must-exercise:` and `exceptions:` of `handoff.yml`: both name what must exist to count.
extension PolicyReader {
    mutating func readMustExercise(_ node: YAMLNode, into items: inout [String]) {
        let rows = ContractMatrix.rows
        for (item, word) in texts(node, "must-exercise") {
            if let row = rows.first(where: { $0.id == word }), !row.isDecidable {
                fault(
                    item,
                    "traffic can't show \(word) (\(row.title)), so that no trace could ever exercise it; leave it out")
            } else if rows.contains(where: { $0.id == word }) || Policy.exercises.contains(word)
                || RuleCatalogue.description(of: word) != nil
            {
                items.append(word)
            } else {
                unknown(
                    item, "item", word, " for \"must-exercise\"",
                    among: Policy.exercises + rows.filter(\.isDecidable).map(\.id)
                        + (NearestWord.to(word, among: RuleNumbers.all).map { [$0] } ?? []))
            }
        }
    }

    mutating func readExceptions(_ node: YAMLNode, into exceptions: inout [Policy.Exception]) {
        for item in list(node, "exceptions") {
            var texts: [String: String] = [:]
            var expires: CalendarDay?
            func member(_ name: String) -> Member { (name, { reader, node in texts[name] = reader.text(node, name) }) }
            mapping(
                item, at: "exceptions",
                [
                    (
                        "rule",
                        { reader, node in
                            guard let id = reader.text(node, "rule"), reader.isRule(id, node) else { return }
                            texts["rule"] = id
                        }
                    ),
                    member("fingerprint"), member("scope"), member("reason"), member("owner"),
                    ("expires", { expires = $0.day($1, "expires") }),
                ])
            guard case .mapping(let pairs) = item.content else { continue }
            let present = Set(pairs.compactMap(\.key.text))
            for name in ["rule", "reason", "owner", "expires"] where !present.contains(name) {
                fault(item, "an exception needs \"\(name)\"")
            }
            if present.isDisjoint(with: ["fingerprint", "scope"]) {
                fault(item, "an exception needs a \"fingerprint\" (printed with each finding) or a \"scope\"")
            }
            check(fingerprint: texts["fingerprint"], item)
            if let scope = texts["scope"] { check(scope: scope, of: texts["rule"], item) }
            guard let rule = texts["rule"], let reason = texts["reason"], let owner = texts["owner"], let expires else {
                continue
            }
            exceptions.append(
                .init(
                    rule: rule, fingerprint: texts["fingerprint"], scope: texts["scope"], reason: reason,
                    owner: owner, expires: expires, line: item.place.line))
        }
    }

    /// 4 to 16 hexadecimal digits, or their beginning as reports cut it (`3fd1…`).
    private mutating func check(fingerprint: String?, _ node: YAMLNode) {
        guard var digits = fingerprint else { return }
        if digits.hasSuffix("…") { digits.removeLast() }
        if digits.count < 4 {
            fault(node, "a fingerprint needs at least 4 digits, \"\(digits)\" has \(digits.count)")
        } else if digits.count > 16 || !digits.allSatisfy(\.isHexDigit) {
            fault(node, "\"\(digits)\" is no fingerprint: 4 to 16 hexadecimal digits, as printed with each finding")
        }
    }

    /// A kind of finding of the exception's own rule: another one would accept nothing.
    private mutating func check(scope: String, of rule: String?, _ node: YAMLNode) {
        if scope.first?.isUppercase ?? false {
            return fault(
                node,
                "\"scope\" is a kind of finding, such as lookup or telemetry-leak (\"kind\" in the JSON report), and \"\(scope)\" is none; the rule's id goes to \"rule\""
            )
        }
        guard let rule else { return }
        let kinds = FindingKinds.of[rule] ?? []
        guard !kinds.contains(scope) else { return }
        let others = FindingKinds.of.keys.sorted().filter { FindingKinds.of[$0]?.contains(scope) ?? false }
        let advice =
            if let near = NearestWord.to(scope, among: kinds) {
                "did you mean \"\(near)\"?"
            } else if !others.isEmpty {
                "\(others.joined(separator: ", ")) \(others.count == 1 ? "has" : "have")"
            } else {
                kinds.isEmpty ? "it has none that weighs something" : "it has \(kinds.joined(separator: ", "))"
            }
        remark(node, "\(rule) has no finding of the kind \"\(scope)\"; \(advice)")
    }
}

/// Every rule number of the catalogue, judged by this version or not.
enum RuleNumbers {
    static let all: [String] =
        (1...66).map { $0 < 10 ? "HR-0\($0)" : "HR-\($0)" } + (1...10).map { $0 < 10 ? "HC-0\($0)" : "HC-\($0)" }
}
