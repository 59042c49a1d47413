import Assertions
import SessionTrace
import Testing

/// A trace that began midway may lack the tap that a session request followed.
@Suite struct HR02MidwayTests {
    /// A session request at 3 on a connection that was there before the trace, and a share tap at 4.
    private func judge(
        startSeen: Bool = false, at time: Double = 3, _ build: (inout ScriptedSession) -> Void = { _ in }
    ) throws -> RuleResult {
        var session = ScriptedSession()
        let partner = session.connect(.app, "api.partner.example", at: 3)
        build(&session)
        session.share(at: time, on: partner)
        session.tap(.share, at: 4)
        session.mark(.end, at: 90)
        let events = session.events().map { event in
            guard case .connectionOpened(var connection) = event, connection.id == partner else { return event }
            connection.startSeen = startSeen
            return .connectionOpened(connection)
        }
        return try session.judge(events)["HR-02"]
    }

    @Test func theTapMayHaveBeenBefore() throws {
        #expect(try judge().reason?.code == "start-not-seen")
        #expect(try judge(startSeen: true).violations == ["session-before-tap"])
        #expect(try judge(at: 2.999).violations == ["session-before-tap"], "nothing was open before the trace then")
    }

    @Test(arguments: [(2.9, false), (3.0, false), (3.1, true)]) func whatWasSeenBeforeTellsOtherwise(
        time: Double, isOpen: Bool
    ) throws {
        let starts: [(inout ScriptedSession) -> Void] = [
            { $0.mark(.launch, at: time) }, { $0.projection(at: time) }, { $0.tap(.cta, at: time) },
        ]
        for start in starts {
            let result = try judge(start)
            #expect((result.reason?.code == "start-not-seen") == isOpen, "\(result)")
            #expect(result.violations == (isOpen ? [] : ["session-before-tap"]), "\(result)")
        }
    }
}
