/// All stories of a corpus, read from their files: documents, senders, fragments, the policy, and stories made from stories.

/// The stories of a corpus, and what they share.
public struct StoryBook: Sendable {
    /// The stories, in the order of the files.
    public private(set) var stories: [Story] = []
    /// Texts that servers answer with and bodies are made of, by name.
    public private(set) var documents: [String: String] = [:]
    /// The fields that a sender puts into each request, by its name.
    public private(set) var senders: [String: [StoryStep.Option]] = [:]
    /// The policy of all sessions: a dotted key and its value.
    public private(set) var policy: [StoryStep.Option] = []

    private var fragments: [String: [StoryStep]] = [:]
    private var labels: [String: [Expectation]] = [:]
    private var finished: [String: Story] = [:]

    /// Reads files (name and text), in order. What a file uses must be defined before.
    public init(files: [(name: String, text: String)]) throws(StoryError) {
        for file in files {
            let lines = try StoryLine.lines(of: file.text, file: file.name)
            var index = 0
            while index < lines.count {
                let head = lines[index]
                guard !head.isIndented else {
                    throw StoryError(place: head.place, reason: "is indented, but nothing above it takes it")
                }
                let end = lines[(index + 1)...].firstIndex { !$0.isIndented } ?? lines.count
                try read(head, Array(lines[index + 1..<end]))
                index = end
            }
        }
        if let twice = Dictionary(grouping: stories, by: \.name).first(where: { $0.value.count > 1 }) {
            throw StoryError(place: twice.key, reason: "two stories have this name")
        }
    }

    /// The story of that name.
    public func story(_ name: String) -> Story? { finished[name] }

    /// The policy of a story as YAML.
    public func policyText(of story: Story) -> String {
        StoryPolicy.text(policy + story.policy)
    }

    // MARK: What stands at the margin

    private static let heads = ["story", "ground", "fragment", "labels", "document", "sender", "policy"]

    private mutating func read(_ head: StoryLine, _ lines: [StoryLine]) throws(StoryError) {
        let words = head.words.map(\.text)
        guard let kind = words.first, Self.heads.contains(kind) else {
            throw StoryError(
                place: head.place,
                reason: "\"\(words.first ?? "|")\" is none of \(Self.heads.joined(separator: ", "))"
                    + StorySpelling.hint(for: words.first ?? "", among: Self.heads))
        }
        if kind == "policy" {
            for line in lines { policy.append(try Self.setting(line, words: line.words)) }
            return
        }
        guard words.count >= 2 else { throw StoryError(place: head.place, reason: "\(kind) needs a name") }
        let name = words[1]
        switch kind {
        case "document":
            documents[name] = try Self.verbatim(lines).joined(
                separator: words.dropFirst(2).first == "lines" ? "\n" : "")
        case "sender":
            senders[name] = try Self.verbatim(lines).map { line in
                let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
                let value = parts.count == 2 ? String(parts[1].drop { $0 == " " }) : ""
                return StoryStep.Option(name: parts.first ?? "", value: value)
            }
        case "fragment":
            fragments[name] = try steps(lines)
        case "labels":
            var found: [Expectation] = []
            for line in lines { found += try expectations(line) }
            labels[name] = found
        default:
            try readStory(head, words, lines)
        }
    }

    private static func verbatim(_ lines: [StoryLine]) throws(StoryError) -> [String] {
        var texts: [String] = []
        for line in lines {
            guard let text = line.verbatim else {
                throw StoryError(place: line.place, reason: "each line here begins with | and a space")
            }
            texts.append(text)
        }
        return texts
    }

    private static func setting(
        _ line: StoryLine, words: [StoryLine.Word]
    ) throws(StoryError) -> StoryStep.Option {
        guard words.count >= 2 else { throw StoryError(place: line.place, reason: "a policy key and its value") }
        return StoryStep.Option(
            name: words[0].text, value: words.dropFirst().map(\.text).joined(separator: " "))
    }

    // MARK: Stories

    private mutating func readStory(
        _ head: StoryLine, _ words: [String], _ lines: [StoryLine]
    ) throws(StoryError) {
        let name = words[1]
        var story = Story(
            name: name, about: "", steps: [], policy: [], expectations: [], capture: [], cast: [], only: [],
            transports: 2,
            isKept: false)
        if words.count > 2 {
            guard words.count == 4, words[2] == "like" else {
                throw StoryError(place: head.place, reason: "story NAME, or story NAME like OTHER")
            }
            guard let other = finished[words[3]] else {
                throw StoryError(
                    place: head.place,
                    reason: "there is no story \"\(words[3])\" before this one"
                        + StorySpelling.hint(for: words[3], among: finished.keys))
            }
            story = other
            story.name = name
            story.isKept = false
            story.about = ""
            story.transports = 2
            // What was a trap of the other story is none of this one, which must say so itself.
            story.expectations = story.expectations.map { expectation in
                var expectation = expectation
                expectation.trap = ""
                return expectation
            }
        }
        for line in lines { try change(&story, line) }
        guard !story.about.isEmpty else { throw StoryError(place: head.place, reason: "\(name) has no `about`") }
        if !LabTransport.all.contains(where: story.allows) {
            throw StoryError(place: head.place, reason: "no transport is left for \(name)")
        }
        finished[name] = story
        // A story that is only the ground of others is not played.
        if words[0] == "story" { stories.append(story) }
    }

    /// Anything of a line that is no step.
    private func change(_ story: inout Story, _ line: StoryLine) throws(StoryError) {
        guard let word = line.words.first, line.verbatim == nil else {
            throw StoryError(place: line.place, reason: "a step, or one of about, set, expect, trap …")
        }
        let rest = Array(line.words.dropFirst())
        let texts = rest.map(\.text)
        switch word.text {
        case "about": story.about = texts.joined(separator: " ")
        case "set": story.policy.append(try Self.setting(line, words: rest))
        case "keep": story.isKept = true
        case "transports":
            guard let count = texts.first.flatMap(Int.init), (1...LabTransport.all.count).contains(count) else {
                throw StoryError(place: line.place, reason: "transports N, up to \(LabTransport.all.count)")
            }
            story.transports = count
        case "capture": story.capture += rest.map { StoryStep.Option(name: $0.name, value: $0.text) }
        case "cast":
            guard texts.count == 2, senders[texts[1]] != nil else {
                throw StoryError(
                    place: line.place,
                    reason: "cast SENDER OTHER, with one of \(senders.keys.sorted().joined(separator: ", "))")
            }
            story.cast.append(StoryStep.Option(name: texts[0], value: texts[1]))
        case "only":
            for word in rest {
                guard LabTransport.parts.contains(word.name) else {
                    throw StoryError(
                        place: line.place, reason: "only takes \(LabTransport.parts.joined(separator: "=, "))=")
                }
                story.only.append(StoryStep.Option(name: word.name, value: word.text))
            }
        case "labels":
            guard let name = texts.first, let found = labels[name] else {
                throw StoryError(
                    place: line.place,
                    reason: "there are no labels \"\(texts.first ?? "")\""
                        + StorySpelling.hint(for: texts.first ?? "", among: labels.keys))
            }
            story.expectations += found
        case "expect", "trap": story.expectations += try expectations(line)
        case "before", "after", "replace", "drop": try mutate(&story, line, word.text, rest)
        default: story.steps += try steps([line])
        }
    }

    /// `before LABEL: STEP`, `after LABEL: STEP`, `replace LABEL: STEP`, `drop LABEL`.
    private func mutate(
        _ story: inout Story, _ line: StoryLine, _ verb: String, _ rest: [StoryLine.Word]
    ) throws(StoryError) {
        guard let name = rest.first?.text else { throw StoryError(place: line.place, reason: "\(verb) which step?") }
        let label = name.last == ":" ? String(name.dropLast()) : name
        guard let index = story.steps.firstIndex(where: { $0.label == label }) else {
            let known = story.steps.map(\.label).filter { !$0.isEmpty }
            throw StoryError(
                place: line.place,
                reason: "no step is labelled \"\(label)\"" + StorySpelling.hint(for: label, among: known)
                    + " (labels here: \(known.joined(separator: ", ")))")
        }
        if verb == "drop" {
            story.steps.remove(at: index)
            return
        }
        var inserted = line
        inserted.words = Array(rest.dropFirst())
        var steps = try steps([inserted])
        switch verb {
        case "before": story.steps.insert(contentsOf: steps, at: index)
        case "replace":
            if let last = steps.indices.last, steps[last].label.isEmpty { steps[last].label = label }
            story.steps.replaceSubrange(index...index, with: steps)
        default:
            // Several lines `after` one label stay in their order.
            let end = story.steps[(index + 1)...].firstIndex { $0.anchor != label } ?? story.steps.count
            for position in steps.indices { steps[position].anchor = label }
            story.steps.insert(contentsOf: steps, at: end)
        }
    }

    private func steps(_ lines: [StoryLine]) throws(StoryError) -> [StoryStep] {
        var steps: [StoryStep] = []
        for line in lines {
            guard line.verbatim == nil, var first = line.words.first else {
                throw StoryError(place: line.place, reason: "a step begins with a verb")
            }
            var words = Array(line.words.dropFirst())
            var label = ""
            if first.name.isEmpty, first.text.last == ":", let verb = words.first {
                label = String(first.text.dropLast())
                first = verb
                words.removeFirst()
            }
            if first.text == "use" {
                guard let name = words.first?.text, let fragment = fragments[name] else {
                    throw StoryError(
                        place: line.place,
                        reason: "there is no fragment \"\(words.first?.text ?? "")\""
                            + StorySpelling.hint(for: words.first?.text ?? "", among: fragments.keys))
                }
                steps += fragment
                continue
            }
            let step = StoryStep(
                place: line.place, label: label, verb: first.text,
                words: words.filter(\.name.isEmpty).map(\.text),
                options: words.filter { !$0.name.isEmpty }.map { StoryStep.Option(name: $0.name, value: $0.text) })
            try StoryVerb.check(step)
            steps.append(step)
        }
        return steps
    }

    /// `expect RULE… VERDICT [REASON] [PART=VALUE…]`, `trap RULE VERDICT [REASON] "WHY"`.
    private func expectations(_ line: StoryLine) throws(StoryError) -> [Expectation] {
        let isTrap = line.words.first?.text == "trap"
        guard isTrap || line.words.first?.text == "expect" else {
            throw StoryError(place: line.place, reason: "expect or trap")
        }
        let words = line.words.dropFirst().filter(\.name.isEmpty).map(\.text)
        let conditions = line.words.filter { !$0.name.isEmpty }
        for condition in conditions where !LabTransport.parts.contains(condition.name) {
            throw StoryError(place: line.place, reason: "\"\(condition.name)\" is no part of a transport")
        }
        let rules = words.prefix { ($0.hasPrefix("H") && $0.contains("-")) || $0.hasPrefix("rest") }
        guard !rules.isEmpty, words.count > rules.count, Expectation.verdicts.contains(words[rules.count]) else {
            throw StoryError(
                place: line.place,
                reason: "rules, then one of \(Expectation.verdicts.joined(separator: ", ")), then a reason code")
        }
        var rest = Array(words.dropFirst(rules.count + 1))
        var why = ""
        if isTrap {
            guard let last = rest.popLast(), last.contains(" ") else {
                throw StoryError(place: line.place, reason: "a trap says what it is, in quotes, at the end")
            }
            why = last
        }
        guard rest.count <= 1 else {
            throw StoryError(place: line.place, reason: "one reason code, not \(rest.joined(separator: " "))")
        }
        return rules.map { rule in
            Expectation(
                rule: rule, verdict: words[rules.count], reason: rest.first ?? "", trap: why,
                conditions: conditions.map { StoryStep.Option(name: $0.name, value: $0.text) }, place: line.place)
        }
    }
}

/// The policy of a session, from dotted keys to YAML.
enum StoryPolicy {
    private indirect enum Node {
        case value(String)
        case mapping([(key: String, node: Node)])
    }

    /// Later values of a key replace earlier ones.
    static func text(_ settings: [StoryStep.Option]) -> String {
        var root = Node.mapping([])
        for setting in settings {
            root = place(setting.value, setting.name.split(separator: ".").map(String.init)[...], root)
        }
        return write(root, "")
    }

    private static func place(_ value: String, _ path: ArraySlice<String>, _ node: Node) -> Node {
        guard let key = path.first else { return .value(value) }
        var members: [(key: String, node: Node)] = []
        if case .mapping(let known) = node { members = known }
        if let index = members.firstIndex(where: { $0.key == key }) {
            members[index].node = place(value, path.dropFirst(), members[index].node)
        } else {
            members.append((key, place(value, path.dropFirst(), .mapping([]))))
        }
        return .mapping(members)
    }

    private static func write(_ node: Node, _ indent: String) -> String {
        switch node {
        case .value(let text): text
        case .mapping(let members):
            members.map { member in
                switch member.node {
                case .value(let text): "\(indent)\(member.key): \(text)\n"
                case .mapping: "\(indent)\(member.key):\n" + write(member.node, indent + "  ")
                }
            }.joined()
        }
    }
}
