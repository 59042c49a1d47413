import Assertions
import SessionTrace
import Testing

/// What HR-13 and HR-14 compare, and when what was not read may hold a retry.
@Suite struct HR13SameKeySameBodyRetryBoundaryTests {
    private static let address = "https://api.partner.example/handoff-session"

    private func judge(
        status: Int = 503, _ next: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, status: status)
        next(&session)
        session.mark(.end, at: 90)
        return try session.judge()["HR-13"]
    }

    /// After an uncertain end a retry was due; after a success none was.
    @Test(arguments: [(503, "no-keys"), (201, nil)] as [(Int, String?)]) func anUnreadRetryMayDiffer(
        status: Int, code: String?
    ) throws {
        let result = try judge(status: status) { $0.dark(.app, "api.partner.example", at: 20, lastData: 21) }
        #expect(result.reason?.code == code, "\(result)")
    }

    /// The policy asks for PUT; a POST that brings the URL is a session request all the same.
    @Test func anotherMethodIsAnotherRequest() throws {
        var session = ScriptedSession.upToTap()
        session.policyText += "requests: {session: {method: PUT, path: /handoff-session}}\n"
        session.tap(.share, at: 4)
        for (time, method) in [(4.1, "PUT"), (6, "POST")] {
            session.exchange(
                .app, method, Self.address, at: time, status: time < 5 ? 503 : 201,
                headers: [("idempotency-key", ScriptedSession.key1), ("content-type", "application/json")],
                body: ScriptedSession.body, response: time < 5 ? "" : #"{"url":"\#(ScriptedSession.url)"}"#)
        }
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-13"]
        #expect(result.violations == ["method-differs"], "\(result)")
    }

    /// Bytes of a coding are no content: what was torn in one is not compared with what came in none.
    @Test(
        arguments: [("", ["body-differs"], nil), ("x-own", [], "body-not-whole")] as [(String, [String], String?)])
    func aTornUploadInACodingIsNotCompared(coding: String, kinds: [String], code: String?) throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(
            at: 4.1, body: #"{"catalogId":"another"#, fate: .reset,
            headers: coding.isEmpty ? [] : [("content-encoding", coding)], bodyIsComplete: false)
        session.share(at: 6)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-13"]
        #expect(result.violations == kinds && result.reason?.code == code, "\(result)")
    }

    @Test func anotherListOfCodingsIsInformation() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        for (time, coding) in [(4.1, "identity"), (6, "identity, identity")] {
            session.share(at: time, status: time < 5 ? 503 : 201, headers: [("content-encoding", coding)])
        }
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-13"]
        #expect(result.verdict == .pass && result.information.contains("encoding-differs"), "\(result)")
    }
}

@Suite struct HR14UncertainKeepsKeyOperationBoundaryTests {
    @Test(arguments: [(503, "no-keys"), (201, nil)] as [(Int, String?)]) func anUnreadRetryMayHaveAnotherKey(
        status: Int, code: String?
    ) throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, status: status)
        session.dark(.app, "api.partner.example", at: 20, lastData: 21)
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-14"].reason?.code == code)
    }

    /// Another account's attempt kept nothing, though its own retry did.
    @Test func anotherAccountsAttemptIsNotCounted() throws {
        var session = ScriptedSession.upToTap()
        session.mark(.launch, at: 3, attributes: ["account": "a"])
        session.share(at: 4.1, status: 503)
        session.mark(.launch, at: 5, attributes: ["account": "b"])
        session.share(at: 8.1, key: ScriptedSession.key2, status: 503)
        session.share(at: 10, key: ScriptedSession.key2)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-14"]
        #expect(result.sentence == "1 attempt after an uncertain end, with the key of the one before", "\(result)")
    }

    /// A new disclosure version ended the first operation; the second one's key was kept.
    @Test func anOperationThatEndedKeptNothing() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, status: 503)
        session.fetch(at: 6, version: #""2026-04""#)
        session.tap(.share, at: 8)
        for (time, status) in [(8.1, 503), (10.0, 201)] {
            session.share(
                at: time, key: ScriptedSession.key2, body: ScriptedSession.shareBody(version: #""2026-04""#),
                status: status)
        }
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-14"]
        #expect(result.information == ["operation-ended"], "\(result)")
        #expect(result.sentence == "1 attempt after an uncertain end, with the key of the one before", "\(result)")
    }

    /// A whole body that names no item is for none, and is not for any other one.
    @Test func aBodyWithoutAnItemIsForNoOther() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, body: #"{"affirmed":true}"#, status: 503)
        session.tap(.share, at: 8)
        session.share(at: 8.1, key: ScriptedSession.key2)
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-14"].verdict == .notApplicable)
    }
}
