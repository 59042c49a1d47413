import CommandLine
import Foundation
import SessionTrace
import Testing

@testable import Assertions

/// `handoff rules --markdown` and the file that is kept of it.
@Suite struct RulesDocumentTests {
    @Test func theDocumentInTheRepositoryIsTheCommandsOutput() throws {
        let run = CommandRun(["rules", "--markdown"])
        #expect(run.status == .conforming)
        let file = try String(
            contentsOf: Places.root.appending(path: "docs").appending(path: "rules.md"), encoding: .utf8)
        #expect(run.result == file, "write docs/rules.md anew with Scripts/rules-doc.sh")
    }

    @Test func everyRuleHasItsSection() {
        let text = CommandRun(["rules", "--markdown"]).result
        for rule in RuleCatalogue.all {
            #expect(text.contains("\n### \(rule.id) \(rule.name)\n"))
            #expect(text.contains(rule.sentence))
            #expect(text.contains("(#\(rule.id.lowercased())-\(rule.name))"))
        }
    }

    @Test func oneRuleAsMarkdownIsWrongUsage() {
        let run = CommandRun(["rules", "--markdown", "HR-01"])
        #expect(run.status == .usage)
        #expect(run.result.isEmpty)
    }

    @Test(arguments: ["README.md", "docs/verdicts.md"])
    func theExitStatusesInTheDocumentsAreTheProgrammes(document: String) throws {
        let text = try String(contentsOf: Places.root.appending(path: document), encoding: .utf8)
        for status in 0...5 { #expect(text.contains("\n| \(status) | "), "\(document) lacks status \(status)") }
        #expect(ExitStatus(rawValue: 6) == nil)
    }

    @Test func theVerdictsDocumentNamesEveryBlindSpot() throws {
        let path = Places.root.appending(path: "docs").appending(path: "verdicts.md")
        let text = try String(contentsOf: path, encoding: .utf8)
        for reason in BlindSpot.Reason.allCases {
            #expect(text.contains("\n| `\(reason.rawValue)` | "), "\(reason.rawValue) is not explained")
        }
    }
}
