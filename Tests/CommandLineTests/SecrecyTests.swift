import Foundation
import SessionTrace
import Testing

@testable import Assertions
@testable import CaptureAnalyzer
@testable import CommandLine
@testable import Reports

/// No output holds a secret of the traffic: handoff tokens and URLs, idempotency keys, cookies, credentials. What is
/// looked for is taken from the recordings themselves, and searched raw, in any case, and percent-encoded.
@Suite struct SecrecyTests {
    /// The secrets of one trace, lower-cased, in every form that is looked for.
    struct Secrets {
        private(set) var forms: Set<String> = []
        private(set) var kinds: Set<String> = []

        mutating func add(_ text: some StringProtocol, _ kind: String) {
            let text = text.lowercased()
            // Shorter ones would be found by chance.
            guard text.utf8.count >= 8 else { return }
            kinds.insert(kind)
            forms.insert(text)
            let encoded = text.utf8.map { byte in
                Self.isUnreserved(byte)
                    ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }.joined()
            forms.insert(encoded.lowercased())
            forms.insert(encoded.replacing("%", with: "%25").lowercased())
        }

        private static func isUnreserved(_ byte: UInt8) -> Bool {
            UnicodeScalar(byte).properties.isAlphabetic && byte < 0x80 || (0x30...0x39).contains(byte)
                || [0x2D, 0x2E, 0x5F, 0x7E].contains(byte)
        }

        /// Takes what an event shows.
        mutating func learn(_ event: SessionEvent) {
            guard case .exchange(let exchange) = event else { return }
            if let request = exchange.request {
                add(tokensOf: request.target)
                for name in ["idempotency-key", "cookie", "authorization", "proxy-authorization"] {
                    for value in request.fields.values(name) { add(value, name) }
                }
                for value in request.fields.values("cookie") {
                    for pair in value.split(separator: ";") { add(pair.drop { $0 != "=" }.dropFirst(), "cookie") }
                }
                for value in request.fields.values("authorization") {
                    add(value.drop { $0 != " " }.dropFirst(), "authorization")
                }
                for value in request.fields.values("referer") { add(tokensOf: value) }
                add(tokensOf: String(decoding: request.body.bytes, as: UTF8.self))
            }
            if let response = exchange.response {
                for value in response.fields.values("set-cookie") {
                    add(value.prefix { $0 != ";" }.drop { $0 != "=" }.dropFirst(), "set-cookie")
                }
                for value in response.fields.values("location") { add(tokensOf: value) }
                add(tokensOf: String(decoding: response.body.bytes, as: UTF8.self))
            }
        }

        /// Tokens, and the path of the URL around each.
        private mutating func add(tokensOf text: String) {
            for match in text.matches(of: /phs_[A-Za-z0-9_\-]{8,}/) {
                add(match.output, "token")
                // The token's own body would do for an attacker.
                add(match.output.dropFirst(4), "token body")
                let head = text[..<match.range.lowerBound]
                let before = head[
                    (head.lastIndex { "\" \n&=".contains($0) }.map(head.index(after:)) ?? head.startIndex)...]
                if before.contains("/") { add(before + match.output, "URL") }
            }
        }

        func found(in text: String) -> [String] {
            let text = text.lowercased()
            return forms.filter(text.contains)
        }
    }

    @Test(arguments: RecordingsTests.files)
    func noReportHoldsASecret(file: String) throws {
        let path = Places.recordings.appending(path: file).path
        var options = JudgeOptions()
        options.installationKey = [UInt8](repeating: 7, count: 32)
        let policy = try RecordingsTests.policy()
        var judge = SessionJudge(policy: policy, options: options)
        let redactor = Redactor(installationKey: options.installationKey)
        let writer = EventJSON(redactor: redactor)
        var timeline = Timeline(style: .plain, redactor: redactor) { policy.roleName(of: $0) }
        var secrets = Secrets()
        var events = ""
        _ = try TraceReader.read(path: path, options: TraceOptions()) { event in
            judge.receive(event)
            timeline.receive(event)
            events += writer.line(event) + "\n"
            secrets.learn(event)
        }
        let trace = JudgedTrace(path: path, verdict: judge.finish())
        let verdict = try #require(trace.verdict)
        let set = SetVerdict(traces: [trace], options: SetOptions())
        let table = VerdictTable(path: path, verdict: verdict, outcome: .violation, style: .plain)
        let outputs = [
            "text": table.text() + SetSummary(set: set, style: .plain).text, "verbose": table.text(isVerbose: true),
            "json": JSONReport(set: set, version: "0", digests: [:]).text,
            "junit": JUnitReport(set: set).text, "show": timeline.text, "show --json": events,
        ]
        if !file.hasPrefix("no-keys") {
            #expect(!secrets.forms.isEmpty)
        }
        for (name, text) in outputs {
            #expect(!text.isEmpty)
            #expect(secrets.found(in: text).isEmpty, "\(name)")
            #expect(!text.lowercased().contains("phs_"), "\(name)")
        }
    }

    /// The same through the command line, for recordings with the most to hide.
    @Test(arguments: ["url-in-analytics-query.pcapng", "url-in-app-referer.pcapng", "auth-refresh-same-key.pcapng"])
    func noCommandPrintsASecret(file: String) throws {
        let path = Places.recordings.appending(path: file).path
        var secrets = Secrets()
        _ = try TraceReader.read(path: path, options: TraceOptions()) { secrets.learn($0) }
        #expect(secrets.kinds.isSuperset(of: ["token", "URL", "idempotency-key"]))
        let rules = RuleCatalogue.all.map { ["show", "--rule", $0.id, path] }
        let commands =
            rules + [
                ["check", path], ["check", "--verbose", path], ["check", "--report", "json=-", path],
                ["check", "--report", "junit=-", path], ["show", path], ["show", "--json", path],
                ["show", "--facts", path], ["policy", "init", "--from", path],
            ]
        for words in commands {
            let run = CommandRun(words)
            #expect(!run.result.isEmpty)
            #expect(secrets.found(in: run.result + run.talk).isEmpty, "\(words.dropLast())")
        }
    }

    /// A search that finds nothing proves nothing: it finds these.
    @Test func theSearchFindsEveryForm() {
        var secrets = Secrets()
        secrets.add("Phs_abcdefgh/ijk==", "token")
        for text in ["phs_ABCDEFGH/ijk==", "x%3Dphs_abcdefgh%2Fijk%3d%3D", "phs_abcdefgh%252Fijk%253D%253D"] {
            #expect(!secrets.found(in: text).isEmpty, "\(text)")
        }
        #expect(Redactor.withoutTokens("GET /h/phs_abc%2Fd?x=1 PHS_Q, 7") == "GET /h/‹token›?x=1 ‹token›, 7")
    }
}
