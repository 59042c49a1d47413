import Assertions
import SessionTrace
import Testing

@Suite struct HR22DisclosureVersionCurrentTests {
    private static let april = #""2026-04""#

    /// A projection of March at 0.5 s, what `before` adds, a share tap at 40 s and its request for a version.
    private func judge(
        version: String = #""2026-03""#, tap: Mark.Target? = .share, isTapped: Bool = true, until: Double? = nil,
        policy: String = "", hasFirst: Bool = true, body: String? = nil, _ before: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        var session = ScriptedSession()
        session.policyText += policy
        if hasFirst { session.fetch(at: 0.5) }
        before(&session)
        if isTapped { session.mark(.tap, tap, at: 40, until: until) }
        session.share(at: 42, body: body ?? ScriptedSession.shareBody(version: version))
        session.mark(.end, at: 200)
        return try session.judge()["HR-22"]
    }

    @Test func theVersionOnTheDevicePasses() throws {
        let result = try judge { _ in }
        #expect(result.verdict == .pass)
        #expect(
            result.sentence == "1 session request with the disclosure version of the projection before the tap")
        #expect(result.assumptions.isEmpty)
    }

    @Test func anOldVersionFails() throws {
        let result = try judge { $0.fetch(at: 30, version: Self.april) }
        #expect(result.findings.map(\.kind) == ["disclosure-version-stale"])
        #expect(result.sentence.contains("the projection delivered 9.9 s before the tap"))
        #expect(!result.sentence.contains("2026-0"))
        #expect(try judge(version: Self.april) { $0.fetch(at: 30, version: Self.april) }.verdict == .pass)
        #expect(try judge(version: #""other""#) { _ in }.verdict == .fail)
    }

    /// What came after the tap does not count.
    @Test func aProjectionAfterTheTapIsTooLate() throws {
        #expect(try judge { $0.fetch(at: 40.5, version: Self.april) }.verdict == .pass)
        #expect(try judge(version: Self.april) { $0.fetch(at: 40.5, version: Self.april) }.verdict == .fail)
    }

    /// Delivered within its own round trip before the tap, the newer one may not have been on the screen.
    @Test func aProjectionThatCrossedTheTap() throws {
        #expect(try judge { $0.fetch(at: 39.5, took: 0.3, version: Self.april) }.reason?.code == "projection-race")
        #expect(try judge { $0.fetch(at: 39.4, took: 0.3, version: Self.april) }.verdict == .fail)
        // Sent with the newer one it is not shown either which of the two was on the screen.
        #expect(
            try judge(version: Self.april) { $0.fetch(at: 39.5, took: 0.3, version: Self.april) }.reason?.code
                == "projection-race")
        #expect(
            try judge(version: #""third""#) { $0.fetch(at: 39.5, took: 0.3, version: Self.april) }.verdict == .fail)
        #expect(try judge { $0.fetch(at: 39.5, took: 0.3) }.verdict == .pass, "both say the same")
    }

    @Test func aTapThatIsNotKnownToTheMoment() throws {
        #expect(
            try judge(until: 41) { $0.fetch(at: 40.2, took: 0.01, version: Self.april) }.reason?.code
                == "projection-race")
        #expect(try judge(until: 41) { $0.fetch(at: 41.5, took: 0.01, version: Self.april) }.verdict == .pass)
    }

    @Test func aNumberIsAVersionToo() throws {
        #expect(try judge(version: "7") { $0.fetch(at: 30, version: "7") }.verdict == .pass)
        #expect(try judge(version: "7") { $0.fetch(at: 30, version: "8") }.verdict == .fail)
    }

    @Test func aRetryIsHeldAgainstItsOperationsFirstTap() throws {
        var session = ScriptedSession()
        session.fetch(at: 0.5)
        session.tap(.share, at: 4)
        session.share(at: 4.1, status: 503)
        session.fetch(at: 20, version: Self.april)
        session.tap(.share, at: 40)
        session.share(at: 40.1)
        session.mark(.end, at: 200)
        #expect(try session.judge()["HR-22"].verdict == .pass)
        #expect(try session.judge()["HR-22"].sentence.hasPrefix("2 session requests"))
        session.share(at: 50, body: ScriptedSession.shareBody(version: Self.april))
        #expect(try session.judge()["HR-22"].verdict == .fail)
    }

    @Test func anotherItemsProjectionDoesNotGovern() throws {
        #expect(try judge { $0.fetch(at: 30, item: "item-9999-zzzzzz", version: Self.april) }.verdict == .pass)
        // One that names no item may be any's.
        #expect(
            try judge {
                $0.fetch(
                    at: 30, body: ScriptedSession.projectionBody(item: nil, version: Self.april), path: "/v1/current")
            }.verdict == .fail)
    }

    @Test func a304SaysAgainWhatItsAddressSaid() throws {
        let old = try judge {
            $0.fetch(at: 20, version: Self.april)
            $0.fetch(at: 30, status: 304)
        }
        #expect(old.verdict == .fail)
        #expect(old.sentence.contains("delivered 9.9 s before"))
        let first = try judge(hasFirst: false) { $0.fetch(at: 30, status: 304) }
        #expect(first.reason?.code == "projection-opaque")
    }

    @Test func whatGovernsWasNotSeen() throws {
        #expect(try judge(hasFirst: false) { _ in }.reason?.code == "policy-mismatch")
        #expect(
            try judge(policy: "requests: {projection: {path: \"/items/{id}\"}}\n", hasFirst: false) { _ in }.reason?
                .code
                == "projection-not-seen")
        #expect(
            try judge(hasFirst: false) { $0.fetch(at: 41) }.reason?.code == "projection-not-seen", "only after the tap")
        #expect(try judge { $0.fetch(at: 30, body: "sealed") }.reason?.code == "projection-opaque")
        #expect(
            try judge {
                $0.fetch(at: 30, body: ScriptedSession.projectionBody(version: "null"))
            }.reason?.code == "projection-opaque")
        #expect(
            try judge(hasFirst: false) {
                $0.fetch(at: 30, body: ScriptedSession.projectionBody(item: nil), path: "/catalog/slug/handoff")
            }.reason?.code == "policy-mismatch")
        // A newer one may be in what was not read.
        #expect(
            try judge(version: #""other""#) { $0.dark(.app, "api.partner.example", at: 30, lastData: 31) }.reason?.code
                == "no-keys")
    }

    @Test func aRequestWithoutAVersionOrItem() throws {
        let bare = #"{"catalogId":"item-4711-abcdef","affirmed":true}"#
        #expect(try judge(body: bare) { _ in }.reason?.code == "policy-mismatch")
        #expect(
            try judge(policy: "fields: {disclosure-version: /disclosureVersion}\n", body: bare) { _ in }.findings.map(
                \.kind) == ["disclosure-version-missing"])
        let nameless = #"{"disclosureVersion":"2026-03","affirmed":true}"#
        #expect(try judge(body: nameless) { _ in }.verdict == .pass, "there is one item only")
        #expect(
            try judge(body: nameless) { $0.fetch(at: 30, item: "item-9999-zzzzzz") }.reason?.remedy.contains(
                "catalog-id") == true)
    }

    @Test func aTornUploadIsReadInItsRetry() throws {
        func judged(_ retry: Bool) throws -> RuleResult {
            var session = ScriptedSession()
            session.fetch(at: 0.5)
            session.tap(.share, at: 4)
            session.share(at: 4.1, body: #"{"catalogId":"item-4711-abcdef","#, fate: .reset, bodyIsComplete: false)
            if retry { session.share(at: 6) }
            session.mark(.end, at: 200)
            return try session.judge()["HR-22"]
        }
        #expect(try judged(true).verdict == .pass)
        #expect(try judged(false).reason?.code == "body-not-whole")
        // A retry that is whole and names none is not excused by the first.
        var session = ScriptedSession()
        session.fetch(at: 0.5)
        session.tap(.share, at: 4)
        session.share(at: 4.1, status: 503)
        session.share(at: 6, body: #"{"catalogId":"item-4711-abcdef"}"#)
        #expect(try session.judge()["HR-22"].reason?.code == "policy-mismatch")
    }

    @Test func withoutATapTheAttemptCounts() throws {
        let result = try judge(isTapped: false) { $0.fetch(at: 41, version: Self.april) }
        #expect(result.verdict == .fail)
        #expect(
            try judge(version: Self.april, isTapped: false) { $0.fetch(at: 41, version: Self.april) }.assumptions.map(
                \.code) == ["tap-assumed"])
        #expect(try judge(tap: nil) { $0.fetch(at: 41, version: Self.april) }.verdict == .pass, "any tap will do")
        #expect(try judge(tap: .neutral) { $0.fetch(at: 41, version: Self.april) }.verdict == .fail)
    }

    @Test func whereNothingIsOfferedItIsAnotherRulesMatter() throws {
        #expect(try judge { $0.fetch(at: 30, mode: "neutral_only") }.verdict == .notApplicable)
        #expect(try judge { $0.fetch(at: 30, status: 404) }.verdict == .notApplicable)
        #expect(try ScriptedSession.upToTap().judge()["HR-22"].verdict == .notApplicable)
    }

    @Test func eachDeviceHasProjectionsOfItsOwn() throws {
        var session = ScriptedSession()
        session.fetch(at: 0.5)
        session.clientAddress = IPAddress(ipv4: 0x0A00_0009)
        session.fetch(at: 2, version: Self.april)
        session.clientAddress = IPAddress(ipv4: 0x0A00_0002)
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        #expect(try session.judge()["HR-22"].verdict == .pass)
    }
}

@Suite struct HR24NoSessionWhenNeutralOnlyTests {
    /// A projection with both actions at 0.5 s, what `before` adds, a share tap at 40 s, its request at 42 s.
    private func judge(
        hasFirst: Bool = true, policy: String = "", body: String = ScriptedSession.body,
        _ before: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        var session = ScriptedSession()
        session.policyText += policy
        if hasFirst { session.fetch(at: 0.5) }
        before(&session)
        session.tap(.share, at: 40)
        session.share(at: 42, body: body)
        session.mark(.end, at: 200)
        return try session.judge()["HR-24"]
    }

    @Test func anItemThatOffersSharingPasses() throws {
        let result = try judge { $0.fetch(at: 30) }
        #expect(result.verdict == .pass)
        #expect(
            result.sentence
                == "1 session request for an item whose projection offered sharing, the closest 11.9 s after it")
    }

    @Test func aNeutralOnlyItemFails() throws {
        let result = try judge { $0.fetch(at: 30, mode: "neutral_only") }
        #expect(result.findings.map(\.kind) == ["session-when-neutral-only"])
        #expect(result.sentence.contains("whose projection 11.9 s before it is neutral_only"))
        #expect(result.findings[0].evidence.count == 2)
    }

    /// The projection refreshed at the tap governs, in both directions.
    @Test func theOneRefreshedAtTheTapGoverns() throws {
        #expect(try judge { $0.fetch(at: 40.5, mode: "neutral_only") }.verdict == .fail)
        #expect(
            try judge {
                $0.fetch(at: 30, mode: "neutral_only")
                $0.fetch(at: 40.5)
            }.verdict == .pass)
        #expect(try judge { $0.fetch(at: 42.1, mode: "neutral_only") }.verdict == .pass, "that came later")
    }

    /// A millisecond either side of the round trip.
    @Test(arguments: [(41.699, false), (41.7, false), (41.701, true)]) func aRaceWithinTheRoundTrip(
        delivered: Double, isRace: Bool
    ) throws {
        let result = try judge { $0.fetch(at: delivered - 0.3, took: 0.3, mode: "neutral_only") }
        #expect(result.reason?.code == (isRace ? "projection-race" : nil))
        #expect(result.verdict == (isRace ? .inconclusive : .fail))
        let back = try judge(hasFirst: false) {
            $0.fetch(at: 1, mode: "neutral_only")
            $0.fetch(at: delivered - 0.3, took: 0.3)
        }
        #expect(back.verdict == (isRace ? .inconclusive : .pass))
    }

    @Test func aSlowAnswerIsNoExcuseForMoreThanASecond() throws {
        #expect(try judge { $0.fetch(at: 35, took: 5.9, mode: "neutral_only") }.verdict == .fail)
        #expect(try judge { $0.fetch(at: 35, took: 6.1, mode: "neutral_only") }.reason?.code == "projection-race")
    }

    @Test(arguments: [404, 410]) func aHiddenItemFails(status: Int) throws {
        let result = try judge { $0.fetch(at: 30, status: status) }
        #expect(result.findings.map(\.kind) == ["session-for-hidden-item"])
        #expect(try judge { $0.fetch(at: 30, status: 500) }.verdict == .pass, "no word about the item")
    }

    @Test(arguments: [#"{"catalogId":"item-4711-abcdef"}"#, ""]) func anAnswerWithoutADecisionHidesIt(body: String)
        throws
    {
        #expect(
            try judge { $0.fetch(at: 30, body: body) }.findings.map(\.kind) == ["session-for-hidden-item"])
    }

    /// A list that no longer holds the item.
    @Test func aListThatLeavesItOut() throws {
        func list(_ items: [String]) -> String {
            "[\(items.map { ScriptedSession.projectionBody(item: $0) }.joined(separator: ","))]"
        }
        let both = list(["item-4711-abcdef", "item-9999-zzzzzz"])
        let other = list(["item-9999-zzzzzz"])
        #expect(
            try judge(hasFirst: false) {
                $0.fetch(at: 20, body: both, path: "/home")
                $0.fetch(at: 30, body: other, path: "/home")
            }.findings.map(\.kind) == ["session-for-hidden-item"])
        #expect(
            try judge(hasFirst: false) {
                $0.fetch(at: 20, body: both, path: "/home")
                $0.fetch(at: 30, body: other, path: "/home?page=2")
            }.verdict == .pass, "another page of the list")
        #expect(
            try judge(hasFirst: false) {
                $0.fetch(at: 20, body: both, path: "/home")
                $0.fetch(at: 25, body: other, path: "/home")
                $0.fetch(at: 30, body: both, path: "/home")
            }.verdict == .pass, "it came back")
        #expect(
            try judge(hasFirst: false) {
                $0.fetch(at: 20, body: both, path: "/home")
                $0.fetch(at: 25, body: other, path: "/home")
                $0.fetch(at: 30, status: 304, path: "/home")
            }.verdict == .fail, "304: still without it")
    }

    @Test func aRetryIsAnAttemptToo() throws {
        var session = ScriptedSession()
        session.fetch(at: 0.5)
        session.tap(.share, at: 4)
        session.share(at: 4.1, status: 503)
        session.fetch(at: 5, mode: "neutral_only")
        session.share(at: 8)
        session.mark(.end, at: 200)
        let result = try session.judge()["HR-24"]
        #expect(result.verdict == .fail)
        #expect(result.sentence.contains("attempt 2"))
    }

    @Test func anotherItemIsAnother() throws {
        #expect(try judge { $0.fetch(at: 30, mode: "neutral_only", item: "item-9999-zzzzzz") }.verdict == .pass)
        #expect(
            try judge(body: ScriptedSession.shareBody(item: "item-9999-zzzzzz")) { _ in }.reason?.code
                == "policy-mismatch", "no projection names it")
    }

    @Test func aPathAndABodyMayNameTheItemDifferently() throws {
        let result = try judge(hasFirst: false) {
            $0.fetch(
                at: 30, body: ScriptedSession.projectionBody(mode: "neutral_only", item: "h-1"),
                path: "/catalog/item-4711-abcdef/handoff")
        }
        #expect(result.verdict == .fail)
    }

    @Test func whatGovernsWasNotSeen() throws {
        #expect(try judge(hasFirst: false) { _ in }.reason?.code == "policy-mismatch")
        #expect(
            try judge(hasFirst: false, policy: "requests: {projection: {path: \"/items/{id}\"}}\n") { _ in }.reason?
                .code
                == "projection-not-seen")
        #expect(try judge { $0.fetch(at: 30, body: "sealed") }.reason?.code == "projection-opaque")
        #expect(
            try judge {
                $0.fetch(at: 30, mode: "neutral_only")
                $0.dark(.app, "api.partner.example", at: 31, lastData: 32)
            }.reason?.code == "no-keys")
    }

    @Test func nobodyTriedAndThatPasses() throws {
        var session = ScriptedSession()
        session.fetch(at: 0.5, mode: "neutral_only")
        session.tap(.neutral, at: 4)
        session.browse(ScriptedSession.neutral, at: 4.5)
        session.mark(.end, at: 60)
        let result = try session.judge()["HR-24"]
        #expect(result.verdict == .pass)
        #expect(result.sentence == "no session request; 1 projection without the session action")
        session.dark(.app, "api.partner.example", at: 10, lastData: 11)
        #expect(try session.judge()["HR-24"].reason?.code == "no-keys")
        #expect(try ScriptedSession.upToTap().judge()["HR-24"].verdict == .notApplicable)
    }
}
