import Testing

@testable import CommandLine

/// `handoff policy check` tells what a policy can't be used for, and what of a valid one no longer holds or may not be meant.
@Suite struct PolicyCheckCommandTests {
    private func check(_ text: String) throws -> CommandRun {
        let scratch = try Scratch()
        defer { scratch.remove() }
        let path = try scratch.file("handoff.yml", text)
        let run = CommandRun(["policy", "check", path])
        #expect(run.status == (run.result == "\(path): valid\n" ? .conforming : .usage))
        return run
    }

    @Test func aPolicyWithoutAnythingToTellIsValid() throws {
        let run = try check("hosts: {partner: [api.partner.example]}\n")
        #expect(run.status == .conforming && run.talk.isEmpty, "\(run.talk)")
    }

    @Test func whatNoLongerHoldsIsTold() throws {
        let run = try check(
            """
            hosts: {telemetry: [logs.partner.example], opaque-ok: [{host: sdk.vendor.example, reason: pinned, expires: 2020-01-31}]}
            exceptions:
              - {rule: HR-46, scope: telemetry-leak, reason: old, owner: ana, expires: 2020-02-28}
              - {rule: HR-46, scope: telemetry-leek, reason: slip, owner: ana, expires: 2200-01-31}
            """)
        #expect(run.status == .conforming)
        let lines = run.talk.split(separator: "\n").map(String.init)
        #expect(lines.count == 5 && lines.allSatisfy { $0.hasPrefix("handoff: ") }, "\(run.talk)")
        for words in [
            "handoff.yml:1:20: \"telemetry\" leaves the built-in list out", "did you mean \"telemetry-leak\"?",
            "handoff.yml:3: the exception for HR-46 (old) expired on 2020-02-28",
            "handoff.yml:4: the exception for HR-46 (slip) is not applied",
            "handoff.yml:1: opaque-ok for sdk.vendor.example (pinned) expired on 2020-01-31",
        ] {
            #expect(run.talk.contains(words), "\(words): \(run.talk)")
        }
    }

    @Test func whatNothingCanMeanIsAFault() throws {
        let run = try check(
            """
            hosts: {partner: [com]}
            must-exercise: [M-01]
            exceptions: [{rule: HR-46, scope: HR-99, reason: "", owner: ana, expires: 2027-01-31}]
            """)
        #expect(run.status == .usage && run.result.isEmpty)
        for words in [
            "handoff.yml:1:19: \"partner\" must hold names of one site", "handoff.yml:2:17: traffic can't show M-01",
            "\"scope\" is a kind of finding", "\"reason\" must be text, and this one is empty",
        ] {
            #expect(run.talk.contains(words), "\(words): \(run.talk)")
        }
        #expect(!run.talk.contains("not text"))
    }
}
