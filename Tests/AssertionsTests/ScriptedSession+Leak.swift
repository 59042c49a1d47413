import SessionTrace

@testable import Assertions

extension ScriptedSession {
    /// What HR-46 says of a session whose handoff URL is answered after 4.1 and opened at 4.5, with what `build` adds.
    static func leakResult(policy: String, end: Double, _ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.policyText += policy
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5)
        build(&session)
        session.mark(.end, at: end)
        return try session.judge()["HR-46"]
    }
}
