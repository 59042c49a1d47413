import Assertions
import SessionTrace
import Testing

@Suite struct SessionJudgeTests {
    static func stories() -> [String: ScriptedSession] {
        var stories = ["conforming": ScriptedSession.conformingShare()]
        var leak = ScriptedSession.conformingShare()
        let hex = ScriptedSession.token.utf8.map { String($0, radix: 16) }.joined()
        leak.exchange(.app, "POST", "https://api2.amplitude.com/2/httpapi", at: 4.25, took: 0.01, body: "x=\(hex)")
        leak.exchange(.app, "GET", "https://api.partner.example/handoff-session/hs-91c2d0aa7766", at: 20)
        leak.dark(.nobody, "203.0.113.5", at: 60, lastData: 61, hello: false)
        stories["leaks"] = leak
        var retry = ScriptedSession.upToTap()
        retry.lookup("go.partner.example", at: 1, aliases: ["edge.chia.health"])
        retry.connect(.app, "go.partner.example", at: 1.5)
        retry.mark(.tap, .share, at: 4, by: .person)
        retry.share(at: 6, status: 503)
        retry.tap(.share, at: 9)
        retry.share(at: 9.1, key: ScriptedSession.key2)
        retry.browse(ScriptedSession.url, at: 9.5)
        stories["retry"] = retry
        return stories
    }

    /// Events of different connections may come in any order that keeps each connection's own: the verdict stays.
    @Test(arguments: ["conforming", "leaks", "retry"]) func theOrderOfIndependentEventsDoesNotMatter(name: String)
        throws
    {
        let session = try #require(Self.stories()[name])
        let events = session.events()
        let expected = try session.judge(events).rules
        var random = SplitMix(seed: 42)
        for _ in 0..<12 {
            let shuffled = Self.interleave(events, &random)
            #expect(shuffled.count == events.count)
            let rules = try session.judge(shuffled).rules
            for (one, other) in zip(expected, rules) {
                #expect(one.verdict == other.verdict, "\(one.id): \(one.sentence) / \(other.sentence)")
                #expect(Set(one.findings.map(\.message)) == Set(other.findings.map(\.message)), "\(one.id)")
            }
        }
    }

    /// Takes events of the connections in random turns.
    private static func interleave(_ events: [SessionEvent], _ random: inout SplitMix) -> [SessionEvent] {
        var queues: [Int: [SessionEvent]] = [:]
        var last: [SessionEvent] = []
        for (index, event) in events.enumerated() {
            switch event {
            case .connectionOpened(let connection): queues[connection.id.number, default: []].append(event)
            case .processIdentified(let id, _): queues[id.number, default: []].append(event)
            case .clientHello(let hello): queues[hello.connection.number, default: []].append(event)
            case .nameLookup(let lookup): queues[lookup.connection.number, default: []].append(event)
            case .requestStarted(let id, _, _), .delivery(let id, _, _):
                queues[id.connection.number, default: []].append(event)
            case .exchange(let exchange): queues[exchange.id.connection.number, default: []].append(event)
            case .message(let message): queues[message.exchange.connection.number, default: []].append(event)
            case .secureSession(let session): queues[session.connection.number, default: []].append(event)
            case .blindSpot(let spot): queues[spot.connection?.number ?? -1 - index, default: []].append(event)
            case .connectionClosed(let end): queues[end.id.number, default: []].append(event)
            case .mark, .activityStarted, .proxyEvent: queues[-1 - index, default: []].append(event)
            case .traceEnded: last.append(event)
            }
        }
        var keys = queues.keys.sorted()
        var heads: [Int: Int] = [:]
        var result: [SessionEvent] = []
        while !keys.isEmpty {
            let place = Int(random.next() % UInt64(keys.count))
            let key = keys[place]
            let head = heads[key] ?? 0
            let queue = queues[key] ?? []
            result.append(queue[head])
            heads[key] = head + 1
            if head + 1 == queue.count { keys.remove(at: place) }
        }
        return result + last
    }

    /// No sentence, place or subject holds the URL, the token or the key.
    @Test(arguments: ["conforming", "leaks", "retry"]) func nothingPrintedHoldsASecret(name: String) throws {
        let session = try #require(Self.stories()[name])
        let text = "\(try session.judge())"
        for secret in [
            ScriptedSession.token, ScriptedSession.key1, ScriptedSession.key2, "hs-91c2d0aa7766", "12:00:03Z",
        ] {
            #expect(!text.contains(secret), "\(secret)")
        }
    }

    /// A trace that ends early never passes a rule that the whole does not pass.
    @Test(arguments: ["conforming", "leaks", "retry"]) func aCutTraceNeverPassesMore(name: String) throws {
        let session = try #require(Self.stories()[name])
        let events = session.events()
        let whole = try session.judge(events)
        guard case .traceEnded(var summary)? = events.last else {
            Issue.record("the trace has no end")
            return
        }
        summary.isComplete = false
        for length in stride(from: 0, to: events.count - 1, by: 3) {
            let cut = try session.judge(Array(events.prefix(length)) + [.traceEnded(summary)])
            for rule in cut.rules where rule.id.hasPrefix("HR") {
                #expect(rule.verdict != .pass || whole[rule.id].verdict == .pass, "\(rule.id) at \(length)")
            }
        }
    }

    @Test func anEmptyTraceIsJudged() throws {
        let verdict = try ScriptedSession().judge([])
        #expect(verdict.rules.count == RuleCatalogue.all.count)
        #expect(!verdict.rules.contains { $0.verdict == .pass && $0.id.hasPrefix("HR") })
        #expect(!verdict.exercisedAnything)
    }

    @Test func theHeadlineProfileRunsTheHeadline() throws {
        var session = ScriptedSession.conformingShare()
        session.options.profile = .headline
        let verdict = try session.judge()
        #expect(Set(verdict.rules.map(\.id).filter { $0.hasPrefix("HR") }) == RuleCatalogue.headline)
        #expect(verdict.rules.contains { $0.id == "HC-01" })
        #expect(verdict.gate == RuleCatalogue.headline)
    }

    @Test func thePolicyChoosesTheGate() throws {
        var session = ScriptedSession.conformingShare()
        session.policyText += "gate: [HR-01, HR-02]\n"
        #expect(try session.judge().gate == ["HR-01", "HR-02"])
        session.options.strict = true
        #expect(try session.judge().gate.contains("HC-01"))
    }

    @Test func thePartnerIsInferredWithAnAssumption() throws {
        var session = ScriptedSession.conformingShare()
        session.policyText = ""
        let verdict = try session.judge()
        #expect(verdict["HR-07"].verdict == .pass, "\(verdict.story)")
        #expect(
            verdict["HR-07"].assumptions.contains {
                $0.code == "partner-inferred" && $0.sentence.contains("api.partner.example")
            })
        session.exchange(.app, "GET", "https://api.partner.example/handoff-session/hs-91c2d0aa7766", at: 20)
        #expect(try session.judge()["HR-59"].verdict == .fail)
    }

    @Test func aHandoffURLOnAnUnnamedHostIsAPolicyMismatch() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, url: "https://chia.test/h/\(ScriptedSession.token)")
        session.browse("https://chia.test/h/\(ScriptedSession.token)", at: 4.5)
        session.mark(.end, at: 90)
        let verdict = try session.judge()
        for id in ["HR-01", "HR-03", "HR-05", "HR-09", "HR-47", "HR-59"] {
            #expect(verdict[id].reason?.code == "policy-mismatch", "\(id) \(verdict.story)")
        }
        #expect(verdict["HR-01"].reason?.remedy.contains("hosts: {chia: [chia.test]}") == true)
    }

    @Test func anExceptionAcceptsAViolationForAWhile() throws {
        func judged(_ exception: String) throws -> TraceVerdict {
            var session = ScriptedSession.conformingShare()
            session.exchange(.app, "GET", ScriptedSession.neutral, at: 3)
            session.policyText += exception
            return try session.judge()
        }
        let plain = try judged("")
        let fingerprint = try #require(plain["HR-05"].findings.first?.fingerprint)
        func exception(_ expires: String) -> String {
            "exceptions: [{rule: HR-05, fingerprint: \(fingerprint.prefix(6))…, reason: known, owner: ana, expires: \(expires)}]\n"
        }
        // The scripted sessions play in November 2026.
        let accepted = try judged(exception("2027-01-31"))
        #expect(accepted["HR-05"].verdict == .pass, "\(accepted.story)")
        #expect(accepted["HR-05"].findings.contains { $0.message.contains("accepted until 2027-01-31 by ana: known") })
        #expect(accepted["HR-05"].sentence == "1 violation, accepted by the policy's exceptions, and no other")
        let expired = try judged(exception("2026-01-31"))
        #expect(expired["HR-05"].verdict == .fail)
        #expect(expired["HR-05"].sentence.contains("expired on 2026-01-31"))
        #expect(try judged(exception("2028-01-31"))["HR-05"].sentence.contains("more than 180 days"))
        let unused = try judged(
            "exceptions: [{rule: HR-48, fingerprint: abcd, reason: known, owner: ana, expires: 2027-01-31}]\n")
        #expect(unused.notes.contains { $0.contains("matched nothing") })
    }

    @Test func everyRuleIsDescribed() {
        #expect(RuleCatalogue.headline.isSubset(of: Set(RuleCatalogue.all.map(\.id))))
        for rule in RuleCatalogue.all {
            #expect(!rule.sentence.isEmpty && !rule.heading.isEmpty && !rule.inconclusiveWhen.isEmpty, "\(rule.id)")
        }
        #expect(RuleCatalogue.description(of: "HR-14")?.name == "uncertain-keeps-key")
    }
}

/// A small deterministic generator.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
