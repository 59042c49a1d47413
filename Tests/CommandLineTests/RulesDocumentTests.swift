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

    /// Codes as the rules' sources write them: all literals in the first argument of `doubt` and `assume`, of which a
    /// condition may choose one, and what is called `code`.
    @Test func theVerdictsDocumentNamesEveryCode() throws {
        let path = Places.root.appending(path: "docs").appending(path: "verdicts.md")
        let document = try String(contentsOf: path, encoding: .utf8)
        let call = try Regex(#"(?:(?:doubt|assume)\(|[ (]code: (?!String))\s*"#)
        var codes: Set<String> = []
        let folder = Places.root.appending(path: "Sources").appending(path: "Assertions")
        let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        for file in files where file.hasSuffix(".swift") {
            let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            for match in text.matches(of: call) { codes.formUnion(Self.literals(text[match.range.upperBound...])) }
        }
        #expect(codes.count > 75)
        #expect(codes.isSuperset(of: ["no-tap-mark", "generic-tap-mark", "marks-inconsistent", "unreadable-mark"]))
        for code in codes.sorted() { #expect(document.contains("\n| `\(code)` | "), "\(code) is not explained") }
    }
    /// The words in quotes of the expression at the beginning of a text, which ends at a comma or parenthesis of its own
    /// depth.
    private static func literals(_ text: Substring) -> [String] {
        var literals: [String] = []
        var literal: String?
        var depth = 0
        for character in text {
            if let open = literal {
                literal = character == "\"" ? nil : open + String(character)
                if character == "\"" { literals.append(open) }
                continue
            }
            switch character {
            case "\"": literal = ""
            case "(", "[", "{": depth += 1
            case ",": if depth == 0 { return literals }
            case ")", "]", "}":
                if depth == 0 { return literals }
                depth -= 1
            default: break
            }
        }
        return literals
    }

    @Test func everyBranchOfAConditionIsRead() {
        #expect(Self.literals(#"a ? "one" : b(c, d) ? "two" : "three", "four""#) == ["one", "two", "three"])
        #expect(Self.literals(#"code) { "five" }"#) == [])
    }
}
