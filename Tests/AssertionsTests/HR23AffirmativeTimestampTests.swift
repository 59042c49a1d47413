import Assertions
import SessionTrace
import Testing

@Suite struct HR23AffirmativeTimestampPlausibleTests {
    /// A share tap at 40 s and its request at 42 s; `stamp` is the JSON of the time, `ahead` what the device's clock says
    /// too much, told by a mark at 10 s when `isTold`.
    private func judge(
        _ stamp: String, ahead: Double = 0, isTold: Bool = true, shown: Double? = nil, isTapped: Bool = true,
        tap: Mark.Target? = .share, policy: String = "", _ more: (inout ScriptedSession) -> Void = { _ in }
    ) throws -> RuleResult {
        var session = ScriptedSession()
        session.policyText += policy
        session.fetch(at: 0.5)
        if isTold {
            session.mark(
                .note, at: 10, until: 10.05,
                attributes: ["deviceTime": ScriptedSession.instant(10.02 + ahead).rfc3339])
        }
        if let shown { session.mark(.jitShown, at: shown) }
        if isTapped { session.tap(tap, at: 40) }
        session.share(at: 42, body: ScriptedSession.shareBody(affirmedAt: stamp))
        more(&session)
        session.mark(.end, at: 200)
        return try session.judge()["HR-23"]
    }

    private static func at(_ seconds: Double) -> String { ScriptedSession.stamp(seconds) }

    /// The sample bounds the clock to −30 … +20 ms; the affirmation may be 2 s before the tap.
    @Test(arguments: [
        (37.96, "affirmed-too-early"), (37.98, nil), (40, nil), (42.01, nil), (42.03, "affirmed-too-late"),
    ]) func theWindowIsFromTwoSecondsBeforeTheTapToTheRequest(seconds: Double, kind: String?) throws {
        let result = try judge(Self.at(seconds))
        #expect(result.findings.map(\.kind) == (kind.map { [$0] } ?? []), "\(result.sentence)")
        #expect(result.verdict == (kind == nil ? .pass : .fail))
        #expect(result.assumptions.isEmpty)
    }

    @Test func theSentenceSaysByHowMuchAndWhatIsKnownOfTheClock() throws {
        let early = try judge(Self.at(30))
        #expect(early.sentence.contains("affirmed 8 s before the share tap can have been"))
        #expect(early.sentence.contains("the device's clock is −30 ms to 20 ms ahead"))
        let late = try judge(Self.at(50))
        #expect(late.sentence.contains("affirmed 8 s after the request was sent"))
        #expect(
            try judge(Self.at(41)).sentence
                == "1 affirmation between tap and request; the device's clock is −30 ms to 20 ms ahead by 1 sample")
    }

    @Test func aDevicesClockMayBeFarOffWhenThatIsKnown() throws {
        #expect(try judge(Self.at(41 + 86_400), ahead: 86_400).verdict == .pass)
        #expect(try judge(Self.at(41), ahead: 86_400).findings.map(\.kind) == ["affirmed-too-early"])
        #expect(try judge(Self.at(41), ahead: -60).findings.map(\.kind) == ["affirmed-too-late"])
    }

    @Test func theDisclosureComesFirst() throws {
        #expect(try judge(Self.at(38.5)).verdict == .pass)
        #expect(try judge(Self.at(38.5), shown: 39).findings.map(\.kind) == ["affirmed-too-early"])
        #expect(try judge(Self.at(39.01), shown: 39).verdict == .pass)
        #expect(try judge(Self.at(38.5), shown: 30).verdict == .pass, "two seconds are enough")
        #expect(try judge(Self.at(38.5), shown: 41).verdict == .pass, "shown after the tap, it is another one's")
        #expect(
            try judge(Self.at(38.5)) { $0.mark(.jitShown, at: 39, by: .person) }.verdict == .pass, "a hand is late")
        #expect(
            try judge(Self.at(38.94)) { $0.mark(.jitShown, at: 39, onTraceClock: false) }.verdict == .pass)
        #expect(
            try judge(Self.at(38.91)) { $0.mark(.jitShown, at: 39, onTraceClock: false) }.verdict == .fail)
    }

    // MARK: how it is written

    private static func epoch(_ seconds: Double, _ unit: Int64) -> String {
        "\(ScriptedSession.instant(seconds).nanoseconds / unit)"
    }

    @Test(arguments: [Int64(1_000_000_000), 1_000_000, 1_000, 1]) func epochsAreTimes(unit: Int64) throws {
        #expect(try judge(Self.epoch(41, unit)).verdict == .pass)
        #expect(try judge("\"\(Self.epoch(41, unit))\"").verdict == .pass)
        #expect(try judge(Self.epoch(30, unit)).findings.map(\.kind) == ["affirmed-too-early"])
    }

    @Test func fractionsCount() throws {
        #expect(try judge(Self.epoch(41, 1_000_000_000) + ".5").verdict == .pass)
        #expect(try judge(Self.epoch(42, 1_000_000_000) + ".9").findings.map(\.kind) == ["affirmed-too-late"])
        #expect(try judge(Self.epoch(41, 1_000_000) + ".5").verdict == .pass)
        #expect(try judge(Self.epoch(42, 1) + ".9").verdict == .pass)
    }

    /// A stamp of whole seconds may be rounded up or down.
    @Test func aStampIsKnownToItsLastDigit() throws {
        func rfc(_ seconds: Double, digits: Int) -> String {
            let text = ScriptedSession.instant(seconds).rfc3339
            return "\"\(text.prefix(19))\(digits > 0 ? "." + "000000000".prefix(digits) : "")Z\""
        }
        #expect(try judge(rfc(43, digits: 0)).verdict == .pass)
        #expect(try judge(rfc(43, digits: 1)).verdict == .fail)
        #expect(try judge(rfc(44, digits: 0)).verdict == .fail)
        #expect(try judge(rfc(37, digits: 0)).verdict == .pass)
        #expect(try judge(rfc(37, digits: 3)).verdict == .fail)
        #expect(try judge(rfc(36, digits: 0)).verdict == .fail)
    }

    @Test func aTimeWithoutAZoneIsNoInstant() throws {
        let text = ScriptedSession.instant(41).rfc3339
        #expect(try judge("\"\(text.dropLast())\"").reason?.code == "time-zone-missing")
        #expect(try judge("\"\(text.dropLast())+02:00\"").findings.map(\.kind) == ["affirmed-too-early"])
    }

    @Test(arguments: [
        #""yesterday""#, #""""#, "true", "null", "-5", "1e9", "99999999999999999999", #""17.9.5""#, "[1]",
    ])
    func whatIsNoTimeFails(stamp: String) throws {
        #expect(try judge(stamp).findings.map(\.kind) == ["not-a-time"])
    }

    @Test func aMissingTimeIsTheNamedFieldsFault() throws {
        func without(_ policy: String) throws -> RuleResult {
            var session = ScriptedSession.upToTap()
            session.policyText += policy
            session.tap(.share, at: 4)
            session.share(at: 4.1, body: #"{"catalogId":"item-4711-abcdef","affirmed":true}"#)
            return try session.judge()["HR-23"]
        }
        #expect(try without("").reason?.code == "policy-mismatch")
        #expect(try without("fields: {affirmed-at: /affirmedAt}\n").findings.map(\.kind) == ["affirmed-at-missing"])
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, body: "affirmed=true")
        #expect(try session.judge()["HR-23"].reason?.code == "policy-mismatch")
        session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, body: "{\"affi", bodyIsComplete: false)
        #expect(try session.judge()["HR-23"].reason?.code == "body-not-whole")
    }

    // MARK: clocks

    @Test func withoutASampleWhatFitsRestsOnAnAssumption() throws {
        let result = try judge(Self.at(41), isTold: false)
        #expect(result.verdict == .pass)
        #expect(result.assumptions.map(\.code) == ["device-clock"])
        #expect(result.sentence == "1 affirmation between tap and request")
        let early = try judge(Self.at(30), isTold: false)
        #expect(early.reason?.code == "device-clock-unknown")
        #expect(early.sentence.contains("fits only if the device's clock is −8 s ahead"))
        let late = try judge(Self.at(50), isTold: false)
        #expect(late.sentence.contains("clock is 8 s ahead"))
    }

    /// Two stamps check each other: no clock makes both right.
    @Test func twoOperationsMustFitOneClock() throws {
        func second(_ stamp: Double, first: Double = 41) throws -> RuleResult {
            try judge(Self.at(first), isTold: false) {
                $0.mark(.foreground, at: 90)
                $0.tap(.share, at: 100)
                $0.share(
                    at: 102, key: ScriptedSession.key2, body: ScriptedSession.shareBody(affirmedAt: Self.at(stamp)),
                    url: ScriptedSession.otherURL)
            }
        }
        #expect(try second(101).verdict == .pass)
        let stale = try second(41)
        #expect(stale.findings.map(\.kind) == ["affirmed-apart"])
        #expect(stale.sentence.contains("attempts 1 and 2 began 60 s apart"))
        #expect(try second(200).verdict == .fail)
        // Both an hour late: one clock may be wrong, and which is not known.
        #expect(try second(3_701, first: 3_641).reason?.code == "device-clock-unknown")
        // The first fits from −1 to 3 s, the second from 3 to 7 s.
        #expect(try second(105).reason?.code == "device-clock-unknown")
        #expect(try second(105.1).verdict == .fail)
    }

    @Test func threeOperationsShareWhatIsCommon() throws {
        let result = try judge(Self.at(41), isTold: false) {
            for (index, stamp) in [(1, 104.0), (2, 158.0)] {
                $0.mark(.foreground, at: 40 + 60 * Double(index) - 5)
                $0.tap(.share, at: 40 + 60 * Double(index))
                $0.share(
                    at: 42 + 60 * Double(index), key: "18d31f0a-92b7-4e06-a4cb-7749f00d52e\(index)",
                    body: ScriptedSession.shareBody(affirmedAt: Self.at(stamp)),
                    url: "https://chia.health/h/phs_\(index)rAnDoMrAnDoMrAnDoM")
            }
        }
        #expect(result.findings.map(\.kind) == ["affirmed-apart"], "2 … 6 s, then −4 … 0 s")
    }

    @Test func samplesThatContradictEachOtherTellNothing() throws {
        let result = try judge(Self.at(41)) {
            $0.mark(.note, at: 20, attributes: ["deviceTime": ScriptedSession.instant(80).rfc3339])
        }
        #expect(result.assumptions.map(\.code) == ["device-clock"])
    }

    /// A mark that tells its arrival alone was on its way for a second at most.
    @Test func aSampleOnItsWay() throws {
        func sampled(_ stamp: Double) throws -> RuleResult {
            try judge(Self.at(stamp), isTold: false) {
                $0.mark(.note, at: 20, attributes: ["deviceTime": ScriptedSession.instant(20).rfc3339])
            }
        }
        #expect(try sampled(42.9).verdict == .pass)
        #expect(try sampled(43.1).verdict == .fail)
        #expect(try sampled(37.9).verdict == .fail)
        func foreign(_ stamp: Double) throws -> RuleResult {
            try judge(Self.at(stamp), isTold: false) {
                $0.mark(
                    .note, at: 20, until: 20.01, onTraceClock: false,
                    attributes: ["deviceTime": ScriptedSession.instant(20).rfc3339])
            }
        }
        #expect(try foreign(42.04).verdict == .pass)
        #expect(try foreign(42.06).verdict == .fail)
        #expect(try foreign(37.95).verdict == .pass)
        #expect(try foreign(37.93).verdict == .fail)
    }

    @Test func aSampleThatIsNoTimeIsNone() throws {
        let result = try judge(Self.at(41), isTold: false) {
            $0.mark(.note, at: 20, attributes: ["deviceTime": "noon"])
        }
        #expect(result.assumptions.map(\.code) == ["device-clock"])
    }

    // MARK: marks

    @Test func withoutATapOnlyTheUpperEndIsKnown() throws {
        let early = try judge(Self.at(1), isTapped: false)
        #expect(early.reason?.code == "no-tap-mark")
        #expect(try judge(Self.at(50), isTapped: false).findings.map(\.kind) == ["affirmed-too-late"])
        #expect(try judge(Self.at(30), tap: nil).verdict == .fail)
        #expect(try judge(Self.at(30), tap: .neutral).verdict == .pass)
    }

    @Test func aRepeatStampsNothing() throws {
        let result = try judge(Self.at(41)) { _ in }
        #expect(result.verdict == .pass)
        func retried(key: String, status: Int) throws -> RuleResult {
            var session = ScriptedSession()
            session.fetch(at: 0.5)
            session.tap(.share, at: 40)
            session.share(at: 42, body: ScriptedSession.shareBody(affirmedAt: Self.at(41)), status: status)
            session.tap(.share, at: 100)
            session.share(at: 102, key: key, body: ScriptedSession.shareBody(affirmedAt: Self.at(41)))
            session.mark(.end, at: 200)
            return try session.judge()["HR-23"]
        }
        #expect(try retried(key: ScriptedSession.key1, status: 503).verdict == .pass)
        #expect(try retried(key: ScriptedSession.key2, status: 503).verdict == .pass, "its key is HR-14's matter")
        #expect(try retried(key: ScriptedSession.key2, status: 422).verdict == .fail, "a stale affirmation")
    }

    @Test func withoutARequest() throws {
        #expect(try ScriptedSession.upToTap().judge()["HR-23"].verdict == .notApplicable)
        #expect(
            try judge(Self.at(41)) { $0.dark(.app, "api.partner.example", at: 70, lastData: 71) }.reason?.code
                == "no-keys")
    }
}
