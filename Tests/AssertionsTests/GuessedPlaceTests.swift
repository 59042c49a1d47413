import Assertions
import SessionTrace
import Testing

/// A path at which one session request was found by its answer may serve other requests too, with keys of their own.
@Suite struct GuessedPlaceTests {
    /// A session request at 4.1 on a path that the policy does not name, and what `build` adds to that path.
    private func judge(
        policy: String = "", status: Int = 201, _ build: (inout ScriptedSession) -> Void
    ) throws -> TraceVerdict {
        var session = ScriptedSession.upToTap()
        session.policyText += policy
        session.tap(.share, at: 4)
        session.share(at: 4.1, path: "/graphql")
        session.browse(ScriptedSession.url, at: 4.5)
        build(&session)
        session.mark(.end, at: 90)
        return try session.judge()
    }

    private static let cart = #"{"operationName":"addToCart","variables":{"sku":"4711"}}"#

    private static func post(_ session: inout ScriptedSession, at time: Double, key: String, _ body: String) {
        session.exchange(
            .app, "POST", "https://api.partner.example/graphql", at: time,
            headers: [("idempotency-key", key), ("content-type", "application/json")], body: body, response: "{}")
    }

    @Test(arguments: [1, 60]) func anotherRequestOnThePathIsNone(time: Double) throws {
        let verdict = try judge { Self.post(&$0, at: time, key: ScriptedSession.key2, Self.cart) }
        for rule in ["HR-02", "HR-07", "HR-17", "HR-20", "HR-21"] {
            #expect(verdict[rule].verdict != .fail, "\(rule): \(verdict[rule])")
        }
        #expect(verdict["HR-02"].reason?.code == "policy-mismatch", "\(verdict["HR-02"])")
        #expect(verdict["HR-08"].lookedAt.count == 1, "\(verdict["HR-08"])")
    }

    /// What says what a session request says is one, whatever was answered.
    @Test func whatIsAffirmedIsOne() throws {
        let verdict = try judge { $0.share(at: 1, key: ScriptedSession.key2, status: 503, path: "/graphql") }
        #expect(verdict["HR-02"].verdict == .fail, "\(verdict["HR-02"])")
    }

    /// A request with a session request's key belongs to its operation, whatever could be read of its body.
    @Test func whatHasTheKeyIsOne() throws {
        let verdict = try judge { Self.post(&$0, at: 60, key: ScriptedSession.key1, "{") }
        #expect(verdict["HR-17"].verdict == .fail, "\(verdict["HR-17"])")
    }

    @Test func onAPathThatThePolicyNamesEachIsOne() throws {
        let verdict = try judge(policy: "requests: {session: {path: /graphql}}\n") {
            Self.post(&$0, at: 1, key: ScriptedSession.key2, Self.cart)
        }
        for rule in ["HR-02", "HR-20"] { #expect(verdict[rule].verdict == .fail, "\(rule): \(verdict[rule])") }
    }
}
