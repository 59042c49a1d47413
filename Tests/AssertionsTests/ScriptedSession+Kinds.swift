import Testing

@testable import Assertions

extension TraceVerdict {
    /// Expects each kind of finding that weighs something in the table by which policies are checked.
    func expectKnownKinds() {
        for rule in rules {
            for finding in rule.findings where finding.severity != .info {
                #expect(FindingKinds.of[rule.id]?.contains(finding.kind) ?? false, "\(rule.id) \(finding.kind)")
            }
        }
    }
}
