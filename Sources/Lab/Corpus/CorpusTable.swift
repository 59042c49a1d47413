/// What the rules said of the sessions of a corpus, held against what the stories say that they must.

/// The columns of the table: what a session is for a rule.
public enum CorpusKind: String, Hashable, Sendable, CaseIterable {
    /// The rule must pass.
    case pass
    /// The rule must fail.
    case fail
    /// The rule must be inconclusive.
    case inconclusive
    /// The session invites the rule to a wrong verdict.
    case trap
    /// The rule has nothing to judge.
    case notApplicable = "not-applicable"

    /// What the words of an expectation are.
    public init(_ expectation: Expectation) {
        self = expectation.trap.isEmpty ? CorpusKind(rawValue: expectation.verdict) ?? .notApplicable : .trap
    }
}

/// The table of a corpus: sessions by rule and kind, and what came out otherwise than it must.
public struct CorpusTable: Sendable {
    /// Sessions of one rule and kind.
    public struct Cell: Hashable, Sendable {
        /// How many.
        public var sessions = 0
        /// Of how many the rule said what it must.
        public var right = 0
    }

    /// One verdict that is not what the story says.
    public struct Miss: Hashable, Sendable {
        /// The rule.
        public var rule: String
        /// `STORY/TRANSPORT`.
        public var session: String
        /// In words: what it must be, what it is.
        public var reason: String
    }

    /// The cells, by rule.
    public private(set) var cells: [String: [CorpusKind: Cell]] = [:]
    /// What is wrong.
    public private(set) var misses: [Miss] = []
    /// Rules of which a story does not say what they must be, and which did not fail there.
    public private(set) var unlabelled: [String: Int] = [:]
    /// How many sessions were judged.
    public private(set) var sessionCount = 0

    /// An empty table.
    public init() {}

    /// Counts a session.
    public mutating func addSession() {
        sessionCount += 1
    }

    /// Takes what a rule said of a session.
    public mutating func add(
        rule: String, verdict: String, reason: String, sentence: String, of story: Story, over transport: LabTransport
    ) {
        let session = "\(story.name)/\(transport.name)"
        let came = reason.isEmpty ? verdict : "\(verdict) \(reason)"
        guard let expectation = story.expectation(of: rule, over: transport) else {
            if verdict == "fail" {
                misses.append(Miss(rule: rule, session: session, reason: "nothing expected, came fail: \(sentence)"))
            } else {
                unlabelled[rule, default: 0] += 1
            }
            return
        }
        let isRight =
            expectation.verdict == verdict && (expectation.reason.isEmpty || expectation.reason == reason)
        let kind = CorpusKind(expectation)
        var cell = cells[rule, default: [:]][kind] ?? Cell()
        cell.sessions += 1
        if isRight { cell.right += 1 }
        cells[rule, default: [:]][kind] = cell
        guard !isRight else { return }
        let must =
            expectation.reason.isEmpty ? expectation.verdict : "\(expectation.verdict) \(expectation.reason)"
        misses.append(
            Miss(
                rule: rule, session: session,
                reason: "must be \(must) (\(expectation.place)), is \(came): \(sentence)"))
    }

    /// The rules, in the order of the catalogue.
    public var rules: [String] {
        cells.keys.sorted { ($0.hasPrefix("HC") ? 1 : 0, $0) < ($1.hasPrefix("HC") ? 1 : 0, $1) }
    }

    /// The table in Markdown; `reasons` say why a rule has no session of a kind.
    public func markdown(_ reasons: EmptyCells) -> String {
        var text = "| rule | pass | fail | inconclusive | trap | not applicable |\n|---|---|---|---|---|---|\n"
        for rule in rules {
            let columns = CorpusKind.allCases.map { kind -> String in
                guard let cell = cells[rule]?[kind], cell.sessions > 0 else {
                    return reasons.number(rule, kind).map { "–[^\($0)]" } ?? "–"
                }
                return cell.right == cell.sessions
                    ? "\(cell.sessions)" : "\(cell.sessions), **\(cell.sessions - cell.right) wrong**"
            }
            text += "| \(rule) | \(columns.joined(separator: " | ")) |\n"
        }
        return text
    }

    /// Cells that hold nothing although nobody says why, and reasons for cells that hold something.
    public func gaps(_ reasons: EmptyCells) -> [String] {
        var gaps: [String] = []
        for rule in rules {
            for kind in CorpusKind.allCases where kind != .notApplicable {
                let isEmpty = (cells[rule]?[kind]?.sessions ?? 0) == 0
                let hasReason = reasons.reason(rule, kind) != nil
                if isEmpty, !hasReason { gaps.append("\(rule) has no session of kind \(kind.rawValue)") }
                if !isEmpty, hasReason {
                    gaps.append("\(rule) has sessions of kind \(kind.rawValue), and a reason for having none")
                }
            }
        }
        return gaps
    }
}

/// Why rules have no session of a kind: `RULE`, `KIND`, reason, a line each, by tabs.
public struct EmptyCells: Sendable {
    private struct Place: Hashable {
        var rule: String
        var kind: CorpusKind
    }

    private var reasons: [Place: String] = [:]
    /// The reasons, each once, in the order of the file.
    public private(set) var texts: [String] = []

    /// Reads the file's text.
    public init(_ text: String, file: String) throws(StoryError) {
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.isEmpty || line.first == "#" { continue }
            let parts = line.split(separator: "\t").map(String.init)
            guard parts.count == 3, let kind = CorpusKind(rawValue: parts[1]) else {
                throw StoryError(place: "\(file):\(index + 1)", reason: "RULE, KIND and reason, with tabs between")
            }
            for rule in parts[0].split(separator: " ") {
                reasons[Place(rule: String(rule), kind: kind)] = parts[2]
            }
            if !texts.contains(parts[2]) { texts.append(parts[2]) }
        }
    }

    /// Why there is none; nil: nobody says.
    public func reason(_ rule: String, _ kind: CorpusKind) -> String? { reasons[Place(rule: rule, kind: kind)] }

    /// The number of that reason among all.
    func number(_ rule: String, _ kind: CorpusKind) -> Int? {
        reason(rule, kind).flatMap { texts.firstIndex(of: $0) }.map { $0 + 1 }
    }
}
