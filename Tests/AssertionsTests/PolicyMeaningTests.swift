import SessionTrace
import Testing

@testable import Assertions

/// Policies that would switch checks off, or say nothing, are faults with what to write instead; what may be meant, and
/// seldom is, counts and is told of.
@Suite struct PolicyMeaningTests {
    private func read(_ yaml: String) -> (faults: [String], remarks: [String]) {
        do throws(PolicyError) {
            return ([], try Policy.parse(yaml: yaml, file: "handoff.yml").remarkLines)
        } catch {
            return (error.description.split(separator: "\n").map(String.init), [])
        }
    }

    // MARK: hosts

    @Test(arguments: [
        (
            "telemetry: [built-in]", "handoff.yml:1:21: \"telemetry\" must hold names of one site, and not",
            "did you mean \"builtin\"?"
        ),
        ("telemetry: [builtins, a.example]", "handoff.yml:1:21: ", "did you mean \"builtin\"?"),
        (
            "partner: [com]", "handoff.yml:1:19: \"partner\" must hold names of one site, and \"com\" stands for every",
            "such as partner.example"
        ),
        ("partner: [\"*.com\"]", "and \"*.com\" stands for every site below it", "localhost or *.test"),
        ("partner: [\"*\"]", "must hold host names such as", "not \"*\""),
        ("return: [\"*.ne.jp\"]", "and \"*.ne.jp\" stands", ""), ("partner: [de]", "and \"de\" stands", ""),
        ("partner: [\"*.xn--p1ai\"]", "and \"*.xn--p1ai\" stands", ""), ("telemetry: [app]", "\"app\" stands", ""),
        ("return: [co.uk]", "and \"co.uk\" stands for every site below it", ""),
        ("chia: [health]", "and \"health\" stands for every site below it", ""),
        ("chia-api: [\"*.com.au\"]", "and \"*.com.au\" stands", ""), ("partner-assets: [COM.]", "\"COM.\" stands", ""),
        ("opaque-ok: [{host: \"*.com\", reason: x}]", "handoff.yml:1:28: \"host\" must hold names of one site", ""),
        ("opaque-ok: [{host: com, reason: x}]", "\"com\" stands", ""),
        ("opaque-ok: [{host: \"*\", reason: x}]", "must hold host names", ""),
        ("opaque-ok: \"*.com\"", "handoff.yml:1:20: \"opaque-ok\" must be a list, not text", ""),
        ("chia: []", "handoff.yml:1:15: \"chia\" names no host", "leave it out for chia.health"),
        (
            "partner: [chia.health]", "\"partner\" names chia.health, which chia.health makes Chia's",
            "would never count"
        ),
        (
            "partner-assets: [www.chia.health]",
            "\"partner-assets\" names www.chia.health, which chia.health makes", ""
        ),
        (
            "chia: [lab.example], telemetry: [builtin, t.lab.example]",
            "handoff.yml:1:51: \"telemetry\" names t.lab.example", ""
        ),
    ]) func aHostThatMeansEverythingOrNothingIsAFault(hosts: String, fault: String, advice: String) {
        let found = read("hosts: {\(hosts)}").faults
        #expect(found.count == 1 && found[0].contains(fault), "\(found)")
        #expect(found.first?.contains(advice) ?? false, "\(found)")
    }

    @Test(arguments: [
        "localhost", "127.0.0.1", "10.0.0.5", "\"2001:db8::5\"", "\"*.test\"", "\"*.local\"", "\"*.localhost\"",
        "\"*.internal\"", "\"*.lan\"", "\"*.home\"", "\"*.corp\"", "\"*.home.arpa\"",
        "api.test", "phone.lan", "partner.co.uk", "\"*.partner.com.au\"", "co.example", "t.co", "uk.com",
    ]) func aLabsHostsAndNamesOfOnesOwnArePossible(host: String) {
        for key in ["partner", "return", "chia-api", "telemetry: [builtin], partner-assets"] {
            let (faults, remarks) = read("hosts: {\(key): [\(host)]}")
            #expect(faults.isEmpty && remarks.isEmpty, "\(faults) \(remarks)")
        }
        #expect(read("hosts: {opaque-ok: [{host: \(host), reason: x}]}").faults.isEmpty)
    }

    /// A container of a lab has a name of one label, and an organisation may have the name that others register under.
    @Test(arguments: [
        ("backend", "only a lab has"), ("\"*.cluster\"", "only a lab has"), ("test", "only a lab has"),
        ("lan", "only a lab has"), ("nhs.uk", "a whole sector"), ("\"*.gov.uk\"", "a whole sector"),
        ("ac.uk", "a whole sector"), ("gob.mx", "a whole sector"),
    ]) func whatIsWideButSomebodysIsTold(host: String, why: String) {
        for key in ["partner", "return", "chia-api"] {
            let (faults, remarks) = read("hosts: {\(key): [\(host)]}")
            #expect(faults.isEmpty && remarks.count == 1, "\(faults) \(remarks)")
            #expect(remarks.first?.contains(why) ?? false, "\(remarks)")
        }
    }

    /// What may lie below Chia's domain, since rules ask for it by itself and not by its role.
    @Test func theReturnHostMayBeBelowChias() {
        let (faults, remarks) = read("hosts: {return: [www.chia.health]}")
        #expect(faults.isEmpty && remarks.isEmpty, "\(faults) \(remarks)")
    }

    @Test func whatMayBeMeantIsTold() throws {
        #expect(
            read("hosts: {partner: [cloudfront.net]}").remarks == [
                "handoff.yml:1:19: \"partner\" names cloudfront.net, below which a platform gives every customer names; name the one that is meant"
            ])
        #expect(read("hosts: {partner: [d1.cloudfront.net], telemetry: [builtin, cloudfront.net]}").remarks.isEmpty)
        for list in ["[]", "[logs.partner.example]"] {
            #expect(
                read("hosts: {telemetry: \(list)}").remarks == [
                    "handoff.yml:1:20: \"telemetry\" leaves the built-in list out; write builtin into it to keep it"
                ])
        }
        #expect(read("forbidden: {secrets: []}").remarks.first?.contains("HR-55 then knows no secret") ?? false)
        #expect(read("forbidden: {response-keys: []}").remarks.first?.contains("HR-60 then knows no name") ?? false)
        #expect(
            read("requests: {home: [\"GET /{lang}\"]}").remarks.first?.contains("every path of 1 segment;") ?? false)
    }

    /// A key with nothing behind it, as it stays when all entries are commented out, keeps its default.
    @Test func nothingBehindAKeyIsItsDefault() throws {
        let text = """
            hosts: {chia: , telemetry: , partner: , opaque-ok: }
            outcomes: {either: }
            forbidden: {secrets: , response-keys: }
            requests: {session: {credential: , abandon-on: }}
            exceptions:
            must-exercise:
            """
        var policy = try Policy.parse(yaml: text, file: "handoff.yml")
        #expect(policy.remarks.isEmpty)
        policy.file = nil
        #expect(policy == .defaults)
    }

    @Test func theReportTellsRemarksAndWhatHasExpired() throws {
        var session = ScriptedSession.conformingShare()
        session.policyText += """
              telemetry: [logs.partner.example]
              opaque-ok:
                - {host: sdk.vendor.example, reason: pinned, expires: 2026-01-31}
                - {host: cdn.vendor.example, reason: big, expires: 2036-01-31}

            """
        session.dark(.app, "sdk.vendor.example", at: 20, lastData: 21)
        session.dark(.app, "cdn.vendor.example", at: 20, lastData: 21)
        let verdict = try session.judge()
        #expect(
            verdict.notes == [
                "handoff.yml:3:14: \"telemetry\" leaves the built-in list out; write builtin into it to keep it",
                "handoff.yml:5: opaque-ok for sdk.vendor.example (pinned) expired on 2026-01-31",
            ])
        for rule in ["HR-46", "HR-47"] {
            #expect(
                verdict[rule].reason?.sentence.hasSuffix("; its opaque-ok expired on 2026-01-31") ?? false,
                "\(verdict[rule])")
        }
    }

    // MARK: requests

    @Test(arguments: [
        ("allow: [\"POST /handoff-session\"]", "session"), ("allow: [/handoff-session]", "session"),
        ("allow: [\"/{any}\"]", "session"), ("allow: [\"GET /catalog/{x}/{y}\"]", "projection"),
        ("status: [\"GET /orders/{id}\"], allow: [\"/orders/{n}\"]", "status"),
        ("allow: [\"GET /v2/{a}\"], catalog: [\"GET /v2/catalog\"]", "catalog"),
    ]) func whatIsAllowedLeavesTheRequestsThatRulesAreAbout(requests: String, name: String) {
        let found = read("requests: {\(requests)}").faults
        #expect(found.count == 1 && found[0].contains("and with it the request of \"\(name)\""), "\(found)")
    }

    @Test(arguments: ["allow: [\"GET /handoff-session\"]", "allow: [\"GET /orders/{id}\"]", "home: [\"GET /\"]"])
    func otherRequestsMayBeAllowed(requests: String) {
        let (faults, remarks) = read("requests: {\(requests)}")
        #expect(faults.isEmpty && remarks.isEmpty, "\(faults) \(remarks)")
    }

    @Test func aCredentialIsSomewhere() {
        #expect(read("requests: {session: {credential: []}}").faults.first?.contains("names no place") ?? false)
    }

    // MARK: outcomes

    @Test(arguments: [429, 500, 502, 503, 504, 599]) func anUncertainEndIsTheContracts(status: Int) {
        #expect(
            read("outcomes: {either: [409, \(status)]}").faults == [
                "handoff.yml:1:26: \"either\" can't hold \(status): it is an uncertain end by the contract, after which the key stays"
            ])
    }

    @Test(arguments: [(401, "a challenge"), (407, "a challenge"), (417, "the same attempt"), (421, "the same attempt")])
    func whatEndsNothingStays(status: Int, why: String) {
        let found = read("outcomes: {either: [\(status)]}").faults
        #expect(found.count == 1 && found[0].contains(why), "\(found)")
    }

    @Test func aRejectionMayBeMovedAndIsTold() {
        for status in [408, 409, 423, 424, 425] {
            let (faults, remarks) = read("outcomes: {either: [\(status)]}")
            #expect(faults.isEmpty && remarks.isEmpty, "\(status)")
        }
        for status in [400, 403, 404, 410, 422, 499] {
            let (faults, remarks) = read("outcomes: {either: [\(status)]}")
            #expect(faults.isEmpty && remarks.count == 1, "\(status)")
            #expect(remarks[0].contains("HR-15 and HR-16 then ask nothing"), "\(remarks)")
        }
        for status in ["200", "399", "600", "x"] {
            #expect(read("outcomes: {either: [\(status)]}").faults.first?.contains("statuses from 400 to 499") ?? false)
        }
    }

    // MARK: timing

    @Test(arguments: [
        "double-tap", "tap-to-request", "url-lifetime", "observe-after", "hand-mark", "retry-horizon", "refresh",
        "after-return", "away", "foreign-link", "quiet-start",
    ]) func aTimeInWhichNothingIsLookedAtIsAFault(key: String) {
        let found = read("timing: {\(key): 0s}").faults
        #expect(found.count == 1 && found[0].contains("\"\(key)\" can't be 0"), "\(found)")
        #expect(read("timing: {\(key): 1ms}").faults.isEmpty)
    }

    @Test(arguments: [
        ("url-lifetime", "15m", "901s"), ("refresh", "5m", "301s"), ("projection-max-age", "24h", "86401s"),
    ])
    func aTimeThatLetsEverythingPassIsAFault(key: String, most: String, more: String) {
        #expect(read("timing: {\(key): \(most)}").faults.isEmpty)
        let found = read("timing: {\(key): \(more)}").faults
        #expect(found.count == 1 && found[0].contains("\"\(key)\" can be \(most) at most"), "\(found)")
    }

    @Test(arguments: ["clock-error", "url-margin", "projection-max-age"]) func zeroIsATimeWhereItIsStrict(key: String) {
        #expect(read("timing: {\(key): 0s}").faults.isEmpty)
    }

    // MARK: must-exercise and exceptions

    @Test(arguments: [
        ("[M-01]", "handoff.yml:1:17: traffic can't show M-01 (card fields fit at accessibility sizes)"),
        ("[M-12]", "traffic can't show M-12"), ("[M-14]", "did you mean \"M-04\"?"),
        ("[HR-67]", "did you mean \"HR-07\"?"),
    ]) func whatNothingCanExerciseIsAFault(list: String, fault: String) {
        let found = read("must-exercise: \(list)").faults
        #expect(found.count == 1 && found[0].contains(fault), "\(found)")
    }

    @Test func rowsRulesAndWordsCanBeExercised() {
        #expect(read("must-exercise: [M-10, HR-13, HR-62, HC-10, share]").faults.isEmpty)
    }

    private func exception(_ members: String) -> (faults: [String], remarks: [String]) {
        read("exceptions: [{rule: HR-46, owner: ana, expires: 2027-01-31, \(members)}]")
    }

    @Test func anExceptionNamesAFindingOfItsRule() {
        #expect(exception("reason: r, scope: telemetry-leak").remarks.isEmpty)
        #expect(
            exception("reason: r, scope: telemetry-leaks").remarks.first?.contains("did you mean \"telemetry-leak\"?")
                ?? false)
        #expect(
            exception("reason: r, scope: lookup").remarks.first?.hasSuffix(
                "HR-46 has no finding of the kind \"lookup\"; HR-01 has") ?? false)
        #expect(
            exception("reason: r, scope: whatever-else").remarks.first?.hasSuffix(
                "it has partial-leak, split-leak, telemetry-leak") ?? false)
        #expect(exception("reason: r, scope: HR-99").faults.first?.contains("the rule's id goes to \"rule\"") ?? false)
        let rule = read("exceptions: [{rule: HR-99, owner: ana, expires: 2027-01-31, reason: r, scope: x}]")
        #expect(rule.faults.first?.contains("unknown rule \"HR-99\"") ?? false)
        let silent = read(
            "exceptions: [{rule: HR-54, owner: ana, expires: 2027-01-31, reason: r, scope: key-in-telemetry}]")
        #expect(silent.remarks.first?.contains("none that weighs something") ?? false)
    }

    @Test func anExceptionsFingerprintIsOne() {
        for good in ["3fd1", "3fd1…", "\"3fd1aa02bb03cc04\""] {
            #expect(exception("reason: r, fingerprint: \(good)").faults.isEmpty)
        }
        for bad in ["zzzz", "3fd1aa02bb03cc0411", "telemetry-leak"] {
            #expect(exception("reason: r, fingerprint: \(bad)").faults.first?.contains("is no fingerprint") ?? false)
        }
        #expect(exception("reason: r, fingerprint: 3fd…").faults.first?.contains("at least 4 digits") ?? false)
    }

    @Test(arguments: ["\"\"", "\"  \""]) func anEmptyReasonIsCalledEmpty(reason: String) {
        #expect(
            exception("scope: telemetry-leak, reason: \(reason)").faults == [
                "handoff.yml:1:92: \"reason\" must be text, and this one is empty"
            ])
    }

    @Test func whatHasExpiredOrIsTooFarIsTold() throws {
        let text = """
            hosts: {opaque-ok: [{host: a.example, reason: old, expires: 2026-11-29}]}
            exceptions:
              - {rule: HR-46, scope: telemetry-leak, reason: past, owner: ana, expires: 2026-11-30}
              - {rule: HR-46, scope: split-leak, reason: now, owner: ana, expires: 2026-12-01}
              - {rule: HR-47, scope: token-sent, reason: far, owner: ana, expires: 2028-01-01}
            """
        let policy = try Policy.parse(yaml: text, file: "handoff.yml")
        let today = try #require(Instant(rfc3339: "2026-12-01T12:00:00Z"))
        #expect(
            policy.lapses(on: today) == [
                "handoff.yml:3: the exception for HR-46 (past) expired on 2026-11-30; mend what it accepts, or renew it",
                "handoff.yml:5: the exception for HR-47 (far) is not applied, since it expires more than 180 days from now; take a nearer day",
                "handoff.yml:1: opaque-ok for a.example (old) expired on 2026-11-29; give the trace its keys, or renew it",
            ])
    }
}
