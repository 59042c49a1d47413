import Assertions
import SessionTrace
import Testing

/// Which rules a thing that went wrong with the recording takes the pass from, in one session that exercises most of
/// them: exactly these, no fewer and no more.
@Suite struct DoubtTableTests {
    /// A rejected share; one that is repeated after a lost answer, succeeds and is opened; and later the neutral way.
    static func session() -> ScriptedSession {
        var session = ScriptedSession()
        session.policyText += "fields: {affirmed: /affirmed}\n"
        session.mark(.launch, at: 0)
        session.mark(.browserClean, at: 0.1)
        session.mark(.note, at: 0.2, until: 0.25, attributes: ["deviceTime": ScriptedSession.instant(0.22).rfc3339])
        session.projection(at: 0.5)
        session.tap(.cta, at: 12)
        session.projection(at: 12.1)
        session.tap(.share, at: 14)
        session.share(
            at: 14.1, body: ScriptedSession.shareBody(affirmedAt: ScriptedSession.stamp(14.05)), status: 422,
            headers: [("cookie", "sid=1")])
        session.projection(at: 15)
        session.tap(.cta, at: 17)
        session.projection(at: 17.1)
        session.tap(.share, at: 18)
        for (time, fate) in [(18.1, ScriptedSession.Fate.reset), (19.1, .answered)] {
            session.share(
                at: time, key: ScriptedSession.key2,
                body: ScriptedSession.shareBody(affirmedAt: ScriptedSession.stamp(18.05)), fate: fate,
                headers: [("cookie", "sid=1")])
        }
        session.mark(.opened, at: 19.3)
        session.browse(ScriptedSession.url, at: 19.5)
        session.mark(.background, at: 19.6)
        session.mark(.foreground, at: 60)
        session.projection(at: 60.5)
        session.tap(.cta, at: 61)
        session.projection(at: 61.2)
        session.tap(.neutral, at: 62)
        session.browse(ScriptedSession.neutral, at: 62.4)
        session.mark(.end, at: 200)
        return session
    }
    static func change(_ name: String, _ session: inout ScriptedSession) {
        switch name {
        case "a mark that contradicts": session.mark(.tap, .other, at: 70, id: "x", phase: .pre)
        case "traffic around the proxy": session.blindSpot(.bypass, from: nil, at: 100, until: 101, on: nil)
        case "nobody watched": session.watchedForBypass = false
        case "dropped packets": session.dropped = 3
        case "a connection without a name":
            session.dark(.nobody, "203.0.113.9", at: 1, lastData: 1.5, hello: false)
        case "the partner unread": session.dark(.app, "api.partner.example", at: 100, lastData: 101)
        case "another host unread": session.dark(.app, "sdk.vendor.example", at: 100, lastData: 101)
        case "chia unread": session.dark(.nobody, "www.chia.health", at: 100, lastData: 101)
        case "no partner named": session.policyText = "fields: {affirmed: /affirmed}\n"
        case "another path": session.policyText += "requests: {session: {path: /elsewhere}}\n"
        case "a hole to chia":
            session.blindSpot(.tcpHole, from: .client, at: 100, until: 101, on: session.connect(.browser, "chia.health", at: 63))
        case "the partner unreachable": session.unreachable(.app, "api.partner.example", at: 100)
        case "a relay": session.dark(.nobody, "mask.icloud.com", at: 100, lastData: 101)
        case "a full table": session.options.limits.attempts = 1
        case "a cut trace": session.isComplete = false
        case "an early stop": session.blindSpot(.recordingStopped, from: nil, at: 199, until: 199, on: nil)
        case "hashed names": session.connect(.nobody, "dns.google", at: 1)
        default: break
        }
    }
    @Test func dump() throws {
        for name in ["", "a mark that contradicts", "traffic around the proxy", "nobody watched", "dropped packets", "a connection without a name", "the partner unread", "another host unread", "chia unread", "no partner named", "another path", "a hole to chia", "the partner unreachable", "a relay", "a full table", "a cut trace", "an early stop", "hashed names"] {
            var session = Self.session()
            Self.change(name, &session)
            let verdict = try session.judge()
            print("@@ CASE", name)
            for rule in verdict.rules {
                print("@@", rule.id, rule.verdict, rule.reason?.code ?? "-", rule.assumptions.map(\.code), rule.findings.map(\.kind), rule.lookedAt.map(\.label), name == "" ? rule.sentence : "")
            }
        }
    }
}
