import SessionTrace
import Testing

@testable import CaptureAnalyzer

/// Which of the proxy's limits hide something.
@Suite struct ProxyLimitTests {
    @Test(
        arguments: [
            ("first-byte", true), ("preamble", true), ("head-bytes", true), ("idle", true), ("connections", true),
            ("connections-per-device", true), ("client-hello", false), ("a limit of another version", false),
        ])
    func whatEndsAConnectionHidesNothing(what: String, isHarmless: Bool) {
        var words = ProxyWords()
        let event = ProxyEvent(
            kind: .limit, at: Instant(nanoseconds: 1), connection: ConnectionID(3),
            attributes: ["what": what, "limit": "10"])
        let spot = words.blindSpot(of: event)
        #expect(spot?.reason == (isHarmless ? nil : .stateGivenUp))
        #expect(words.darkness(of: ConnectionID(3)) == nil || !isHarmless)
    }
}
