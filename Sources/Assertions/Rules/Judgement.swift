internal import Crypto
internal import SessionTrace

/// What a rule wrote down about a session; turned into a `RuleResult` by the laws of verdicts:
/// a violation needs evidence and wins; a pass needs that something was judged and that nothing is in doubt; with
/// nothing to judge the rule is not applicable; all else is inconclusive.
struct Judgement {
    /// The rule.
    let rule: RuleDescription
    /// Whether the trace reached the rule's trigger.
    private(set) var isExercised = false
    /// Violations and things worth knowing.
    private(set) var findings: [Finding] = []
    /// Why a violation can't be excluded, most telling first.
    private(set) var doubts: [InconclusiveReason] = []
    /// What a pass rests on.
    private(set) var assumptions: [Assumption] = []
    /// What was looked at.
    private(set) var lookedAt: [Evidence] = []
    /// The sentence of a pass, with its numbers.
    var passSentence = ""
    /// The sentence when there was nothing to judge.
    var idleSentence = ""

    /// Pieces of evidence kept for one rule, and for one finding.
    static let evidenceLimit = 200
    /// Findings of one severity kept for one rule; violations beyond are counted. What weighs nothing takes no room from
    /// what does.
    static let findingLimit = 100

    /// Kinds of violations that rest on something not having been seen.
    private var silent: Set<String> = []

    /// Violations beyond the limit, by severity.
    private var beyond: [Severity: Int] = [:]
    /// Findings kept, by the severity that they were found with.
    private var kept: [Severity: Int] = [:]
    /// Violations that an exception of the policy accepts; they weigh nothing, but prove nothing either.
    private(set) var accepted = 0

    /// Whether what was looked at is kept.
    private let keepsLookedAt: Bool

    init(_ rule: RuleDescription, keepsLookedAt: Bool = true) {
        self.rule = rule
        self.keepsLookedAt = keepsLookedAt
    }

    /// The rule had something to judge; `evidence` is what.
    mutating func looked(at evidence: Evidence) {
        isExercised = true
        if keepsLookedAt, lookedAt.count < Self.evidenceLimit { lookedAt.append(evidence) }
    }

    /// The rule had something to judge.
    mutating func exercised() {
        isExercised = true
    }

    /// A definite violation. `place` is the stable part of where: role, path template, field, needle kind.
    ///
    /// - Parameter restsOnSilence: whether it is one only because something was not seen, so that a doubt undoes it.
    mutating func violation(
        _ kind: String, severity: Severity? = nil, _ message: String, place: [String] = [], evidence: [Evidence],
        restsOnSilence: Bool = false
    ) {
        isExercised = true
        if restsOnSilence { silent.insert(kind) }
        append(kind, severity ?? rule.severity, message, place, evidence)
    }

    /// Something worth knowing that the app is not to be blamed for.
    mutating func information(_ kind: String, _ message: String, place: [String] = [], evidence: [Evidence]) {
        append(kind, .info, message, place, evidence)
    }

    /// A violation can be neither shown nor excluded.
    mutating func doubt(_ code: String, _ sentence: String, remedy: String) {
        let reason = InconclusiveReason(code: code, sentence: sentence, remedy: remedy)
        if !doubts.contains(where: { $0.code == code && $0.sentence == sentence }), doubts.count < 50 {
            doubts.append(reason)
        }
    }

    /// A pass rests on this.
    mutating func assume(_ code: String, _ sentence: String) {
        if !assumptions.contains(where: { $0.code == code }) {
            assumptions.append(Assumption(code: code, sentence: sentence))
        }
    }

    /// What weighs something, in the order in which it was found.
    var violations: [Finding] { findings.filter { $0.severity != .info } }

    /// The violation that decides: an error before a warning; none that a doubt undoes.
    var decisive: Finding? {
        let standing = violations.filter { doubts.isEmpty || !silent.contains($0.kind) }
        return standing.first { $0.severity == .error } ?? standing.first
    }

    /// Violations beyond the limit.
    var uncounted: Int { beyond.values.reduce(0, +) }

    /// Violations beyond the limit that weigh as much as an error: where those that are kept are accepted or warnings, one
    /// of these may decide.
    func overflow(atLeast severity: Severity) -> InconclusiveReason? {
        let count = severity == .error ? beyond[.error, default: 0] : uncounted
        guard count > 0 else { return nil }
        return InconclusiveReason(
            code: "findings-full",
            sentence:
                "\(counted(count, "violation")) more than the \(Self.findingLimit) that a rule keeps could not be weighed",
            remedy: "mend or except the others, or judge a shorter trace")
    }

    /// Lets exceptions change what was found; one whose weight they take is accepted.
    mutating func changeFindings(_ change: (inout Finding) -> Void) {
        for index in findings.indices {
            let wasViolation = findings[index].severity != .info
            change(&findings[index])
            if wasViolation, findings[index].severity == .info { accepted += 1 }
        }
    }

    private mutating func append(
        _ kind: String, _ severity: Severity, _ message: String, _ place: [String], _ evidence: [Evidence]
    ) {
        guard kept[severity, default: 0] < Self.findingLimit else {
            if severity != .info { beyond[severity, default: 0] += 1 }
            return
        }
        let finding = Finding(
            kind: kind, severity: severity, message: message, evidence: Array(evidence.prefix(Self.evidenceLimit)),
            fingerprint: Self.fingerprint([rule.id, kind] + place))
        guard !findings.contains(where: { $0.fingerprint == finding.fingerprint && $0.message == message }) else {
            return
        }
        findings.append(finding)
        kept[severity, default: 0] += 1
    }

    /// 16 hex digits of SHA-256 over the parts, which hold no value, position or time.
    static func fingerprint(_ parts: [String]) -> String {
        let digest = HashFunction.sha256.digest(of: Array(parts.joined(separator: "\u{1F}").utf8))
        return digest.prefix(8).map { byte in
            let text = String(byte, radix: 16)
            return text.utf8.count == 1 ? "0" + text : text
        }.joined()
    }
}
