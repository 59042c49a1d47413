import SessionTrace
import Testing

@testable import Assertions

/// Which redirect led to a request: the last one that was sent before it.
@Suite struct RedirectsTests {
    private static func records(_ build: (inout ScriptedSession) -> Void) -> (Redirects, [RequestRecord]) {
        var session = ScriptedSession.upToTap()
        build(&session)
        var model = SessionModel(policy: Policy(), options: JudgeOptions())
        for event in session.events() { model.receive(event) }
        let finished = model.finish()
        return (finished.redirects, finished.chiaRequests)
    }

    @Test func aLaterOneLedToALaterRequest() throws {
        let target = ScriptedSession.neutral
        let (redirects, requests) = Self.records {
            for time in [10.0, 20] {
                $0.browse(
                    "https://go.partner.example/\(Int(time))", at: time, status: 302,
                    responseHeaders: [("location", target)])
                $0.browse(target, at: time + 0.3)
            }
            $0.browse(target, at: 9)
        }
        let opened = requests.filter { $0.address == WebAddress(target) }
        #expect(redirects.count == 2 && opened.count == 3)
        #expect(opened.map { redirects.hop(to: $0)?.address?.path } == [nil, "/10", "/20"])
        #expect(redirects.hop(to: try #require(opened.last)) == WebAddress(target).flatMap { redirects[$0] })
    }

    @Test func noRequestLedToItself() throws {
        let target = ScriptedSession.neutral
        let (redirects, requests) = Self.records {
            $0.browse(target, at: 10, status: 302, responseHeaders: [("location", target)])
        }
        #expect(redirects.count == 1)
        #expect(redirects.hop(to: try #require(requests.last)) == nil)
    }
}
