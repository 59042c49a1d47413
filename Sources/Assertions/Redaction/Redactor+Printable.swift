internal import SessionTrace

extension Redactor {
    /// Text that may go to a terminal whatever it was made of: handoff tokens masked, and characters that a terminal would
    /// obey instead of showing (controls, line separators, bidirectional overrides) written as `\u{1B}`.
    ///
    /// The last safeguard for what traffic, marks and file names bring into a sentence; what is known to be a secret is
    /// redacted where evidence is made.
    public static func printable(_ text: String) -> String {
        let masked = withoutTokens(text)
        if masked.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return masked }
        guard masked.unicodeScalars.contains(where: isObeyed) else { return masked }
        var result = ""
        for scalar in masked.unicodeScalars {
            if isObeyed(scalar) {
                result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func isObeyed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
        default: false
        }
    }
}

/// The same for all that a verdict says.
extension TraceVerdict {
    /// This verdict with every text in it printable.
    var printable: TraceVerdict {
        var verdict = self
        verdict.rules = rules.map(\.printable)
        verdict.attributes = [:]
        for (name, value) in attributes { verdict.attributes[Redactor.printable(name)] = Redactor.printable(value) }
        verdict.notes = notes.map(Redactor.printable)
        verdict.summary.notes = summary.notes.map(Redactor.printable)
        verdict.summary.unreadableMarks = summary.unreadableMarks.map(Redactor.printable)
        return verdict
    }
}

extension RuleResult {
    var printable: RuleResult {
        var result = self
        result.sentence = Redactor.printable(sentence)
        result.reason = reason?.printable
        result.doubt = doubt?.printable
        result.assumptions = assumptions.map {
            Assumption(code: $0.code, sentence: Redactor.printable($0.sentence))
        }
        result.findings = findings.map { finding in
            var finding = finding
            finding.message = Redactor.printable(finding.message)
            finding.evidence = finding.evidence.map(\.printable)
            return finding
        }
        result.lookedAt = lookedAt.map(\.printable)
        return result
    }
}

extension InconclusiveReason {
    fileprivate var printable: InconclusiveReason {
        InconclusiveReason(code: code, sentence: Redactor.printable(sentence), remedy: Redactor.printable(remedy))
    }
}

extension Evidence {
    fileprivate var printable: Evidence {
        var evidence = self
        evidence.label = Redactor.printable(label)
        evidence.subject = Redactor.printable(subject)
        evidence.place = place.map(Redactor.printable)
        return evidence
    }
}
