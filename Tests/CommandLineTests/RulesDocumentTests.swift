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

    /// Codes as the rules' sources write them: the first argument of `doubt` and `assume`.
    @Test func theVerdictsDocumentNamesEveryCode() throws {
        let path = Places.root.appending(path: "docs").appending(path: "verdicts.md")
        let document = try String(contentsOf: path, encoding: .utf8)
        let code = try Regex(
            #"(?:doubt|assume)\(\s*(?:[a-zA-Z.]+ \? )?"([a-z]+(?:-[a-z]+)*)""#, as: (Substring, Substring).self)
        var codes: Set<String> = []
        let folder = Places.root.appending(path: "Sources").appending(path: "Assertions")
        let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        for file in files where file.hasSuffix(".swift") {
            let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            for match in text.matches(of: code) { codes.insert(String(match.output.1)) }
        }
        #expect(codes.count > 25)
        for code in codes.sorted() { #expect(document.contains("\n| `\(code)` | "), "\(code) is not explained") }
    }
}
