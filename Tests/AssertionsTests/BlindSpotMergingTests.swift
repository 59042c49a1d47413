import SessionTrace
import Testing

@testable import Assertions

/// Blind spots of one connection beyond those that are kept stand in the last one.
@Suite struct BlindSpotMergingTests {
    private static func spot(_ reason: BlindSpot.Reason, _ from: Side?, _ start: Double, _ end: Double) -> BlindSpot {
        BlindSpot(
            reason: reason, connection: ConnectionID(1), from: from,
            span: TimeSpan(ScriptedSession.instant(start), ScriptedSession.instant(end)),
            noticed: PacketReference(number: 1, time: ScriptedSession.instant(start)))
    }

    @Test func itReachesOverBoth() {
        var spot = Self.spot(.tcpHole, .client, 5, 6)
        spot.take(in: Self.spot(.tcpHole, .client, 2, 9))
        #expect(spot.span == TimeSpan(ScriptedSession.instant(2), ScriptedSession.instant(9)))
        #expect(spot.from == .client && spot.reason == .tcpHole)
        spot.take(in: Self.spot(.tcpHole, .client, 3, 4))
        #expect(spot.span == TimeSpan(ScriptedSession.instant(2), ScriptedSession.instant(9)))
    }

    @Test func itIsOfNoSideWhereTheyAreOfTwo() {
        for (first, second) in [(Side.client, Side?.some(.server)), (.server, .client), (.client, nil)] {
            var spot = Self.spot(.tcpHole, first, 5, 6)
            spot.take(in: Self.spot(.tcpHole, second, 6, 7))
            #expect(spot.from == nil)
        }
    }

    /// One that hides requests is not hidden by one that hides none.
    @Test func theReasonThatHidesMoreStays() {
        var spot = Self.spot(.bodyOverLimit, .client, 5, 6)
        spot.take(in: Self.spot(.tcpHole, .client, 6, 7))
        #expect(spot.reason == .tcpHole)
        spot.take(in: Self.spot(.bodyOverLimit, .client, 7, 8))
        #expect(spot.reason == .tcpHole)
    }

    /// The seventeenth is the only one that may hide a request of the app's.
    @Test func whatIsBeyondTheLimitIsNotForgotten() throws {
        var session = ScriptedSession.conformingShare()
        let connection = session.connect(.browser, "chia.health", at: 20)
        for number in 0..<Flow.blindSpotLimit {
            let time = 21 + Double(number)
            session.blindSpot(.tcpHole, from: .server, at: time, until: time + 0.5, on: connection)
        }
        session.mark(.end, at: 100)
        #expect(try session.judge()["HR-26"].verdict == .pass)
        session.blindSpot(.tcpHole, from: .client, at: 50, until: 51, on: connection)
        #expect(try session.judge()["HR-26"].reason?.code == "tcp-hole")
    }
}
