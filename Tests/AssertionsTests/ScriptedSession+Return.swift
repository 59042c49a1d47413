import Assertions
import SessionTrace

/// Stories that go on after the browser has opened.
extension ScriptedSession {
    /// A policy that names everything that rules about coming back ask for.
    static let returnPolicy = """
        hosts:
          partner: [api.partner.example]
          partner-assets: [img.partner.example]
          return: [www.partner.example]
        requests:
          home: ["GET /home", "GET /home/{section}"]
        """

    /// A share whose page is open in the browser since 4.5, with the app in the background since 4.9.
    static func inTheBrowser() -> ScriptedSession {
        var session = upToTap()
        session.policyText = returnPolicy
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.mark(.opened, at: 4.3)
        session.browse(url, at: 4.5)
        session.mark(.background, at: 4.9)
        return session
    }

    /// The result of one rule after `story`, with the trace going on until `end`.
    static func result(
        _ rule: String, _ session: ScriptedSession = inTheBrowser(), end: Double = 100,
        _ story: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        var session = session
        story(&session)
        session.mark(.end, at: end)
        return try session.judge()[rule]
    }

    static let chrome =
        "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36"
}

extension RuleResult {
    /// Kinds of findings that weigh something.
    var violations: [String] { findings.filter { $0.severity != .info }.map(\.kind) }
    /// Kinds of findings that weigh nothing.
    var information: [String] { findings.filter { $0.severity == .info }.map(\.kind) }
}
