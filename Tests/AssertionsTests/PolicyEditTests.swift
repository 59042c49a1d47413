import SessionTrace
import Testing

@testable import Assertions

@Suite struct PolicyEditTests {
    static func exception(_ fingerprint: String = "3fd1aa02bb03cc04", reason: String = "shop id") throws
        -> PolicyEdit.NewException
    {
        PolicyEdit.NewException(
            rule: "HR-48", fingerprint: fingerprint, reason: reason, owner: "ana",
            expires: try #require(CalendarDay("2027-01-31")))
    }

    /// Every way in which the list can stand there; what was written before stays as it was, in order.
    @Test(arguments: [
        "version: 1\n",
        "version: 1",
        "",
        "version: 1\nexceptions:   # accepted for a while\ngate: full\n",
        "exceptions: []\ngate: full\n",
        "exceptions: [ ]   # none\n",
        "exceptions: [{rule: HR-46, scope: telemetry-leak, reason: r, owner: o, expires: 2027-01-01}]   # one\n",
        "exceptions:\n  # the first\n  - {rule: HR-46, scope: telemetry-leak, reason: r, owner: o, expires: 2027-01-01}\ngate: full\n",
        "exceptions:\n- rule: HR-46\n  scope: telemetry-leak\n  reason: r\n  owner: o\n  expires: 2027-01-01\n",
        "exceptions:\n    -   {rule: HR-46, scope: x, reason: \"ä: é\", owner: o, expires: 2027-01-01}\n",
    ])
    func isAddedOnceAndChangesNothingElse(text: String) throws {
        let before = try Policy.parse(yaml: text, file: "p.yml")
        let edited: String
        do {
            edited = try PolicyEdit.adding(try Self.exception(), to: text, file: "p.yml")
        } catch let refusal as PolicyEdit.Refusal {
            // A list without an item has no place of its own: it is left to the person, with the line to add.
            #expect(
                text.contains("exceptions:   #") && refusal.description.contains("fingerprint: \"3fd1aa02bb03cc04\""))
            return
        }
        let after = try Policy.parse(yaml: edited, file: "p.yml")
        #expect(after.exceptions.count == before.exceptions.count + 1)
        let added = try #require(after.exceptions.first { $0.fingerprint == "3fd1aa02bb03cc04" })
        #expect(added.rule == "HR-48" && added.reason == "shop id" && added.owner == "ana")
        #expect(added.expires.description == "2027-01-31")
        #expect(after.gate == before.gate)
        for line in text.split(separator: "\n") where !line.contains("[") { #expect(edited.contains(line), "\(line)") }
        #expect(text.contains("#") == edited.contains("#"))
    }

    /// What an editor does not show stands there as an escape, as short as there is one for it.
    @Test(arguments: [
        (" ", " "), ("é", "é"), ("\u{1}", "\\x01"), ("\u{7F}", "\\x7f"), ("\u{A0}", "\\xa0"), ("\u{AD}", "\\xad"),
        ("ÿ", "ÿ"),
        ("\u{600}", "\\u0600"), ("\u{378}", "\\u0378"), ("\u{2028}", "\\u2028"), ("\u{2029}", "\\u2029"),
        ("\u{E000}", "\\ue000"), ("\u{FFFF}", "\\uffff"), ("\u{10000}", "\u{10000}"), ("\u{1FFFF}", "\\U0001ffff"),
        ("\u{E0001}", "\\U000e0001"), ("\u{10FFFD}", "\\U0010fffd"), ("\n", "\\n"), ("\t", "\\t"), ("\"", "\\\""),
        ("\\", "\\\\"),
    ])
    func whatIsUnseenIsEscaped(text: String, form: String) throws {
        #expect(PolicyEdit.quoted(text) == "\"\(form)\"")
        let edited = try PolicyEdit.adding(try Self.exception(reason: "a\(text)b"), to: "version: 1\n", file: "p.yml")
        #expect(try Policy.parse(yaml: edited, file: "p.yml").exceptions.first?.reason == "a\(text)b")
    }

    @Test func theSameOneIsNotAddedTwice() throws {
        let text = try PolicyEdit.adding(try Self.exception(), to: "version: 1\n", file: "p.yml")
        #expect(throws: PolicyEdit.Refusal.self) {
            try PolicyEdit.adding(try Self.exception(), to: text, file: "p.yml")
        }
        let more = try PolicyEdit.adding(try Self.exception("aaaa"), to: text, file: "p.yml")
        #expect(try Policy.parse(yaml: more, file: "p.yml").exceptions.count == 2)
    }

    @Test(arguments: [
        "it's \"quoted\"", "a: b # c", "back\\slash", "tab\tand\nline", "{[,]}", "ü€😀", "\u{7}bell", "- dash", "null",
        " x",
    ])
    func anyReasonComesBack(reason: String) throws {
        let text = try PolicyEdit.adding(try Self.exception(reason: reason), to: "version: 1\n", file: "p.yml")
        #expect(try Policy.parse(yaml: text, file: "p.yml").exceptions[0].reason == reason)
    }

    @Test func aBrokenPolicyIsLeftAlone() {
        #expect(throws: PolicyError.self) {
            try PolicyEdit.adding(try Self.exception(), to: "hots: {}\n", file: "p.yml")
        }
    }
}
