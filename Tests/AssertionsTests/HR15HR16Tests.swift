import Assertions
import SessionTrace
import Testing

@Suite struct HR15DefinitiveDiscardsKeyTests {
    private static let fresh = ScriptedSession.shareBody(affirmedAt: #""2026-11-29T12:00:09Z""#)

    private func judge(
        status: Int = 422, fate: ScriptedSession.Fate = .answered, _ next: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, status: status, fate: fate)
        next(&session)
        session.mark(.end, at: 200)
        return try session.judge()["HR-15"]
    }

    @Test func aNewKeyAndBodyPass() throws {
        let result = try judge {
            $0.fetch(at: 5)
            $0.share(at: 8, key: ScriptedSession.key2, body: Self.fresh)
        }
        #expect(result.verdict == .pass)
        #expect(
            result.sentence == "1 definitive rejection, whose key and body are in none of the 1 attempt after it")
        #expect(result.assumptions.isEmpty)
    }

    @Test(arguments: [400, 403, 404, 410, 412, 413, 415, 422]) func keyAndBodyAgainFail(status: Int) throws {
        let result = try judge(status: status) { $0.share(at: 8) }
        #expect(result.findings.map(\.kind) == ["key-again"])
        #expect(result.sentence.contains("rejected with \(status), and attempt 2 3.8 s later repeats key and body"))
        #expect(result.findings[0].evidence.count == 2)
    }

    @Test func theKeyAloneOrTheBodyAloneFails() throws {
        let key = try judge { $0.share(at: 8, body: Self.fresh) }
        #expect(key.findings.map(\.kind) == ["key-again"])
        #expect(key.sentence.contains("repeats the key"))
        let body = try judge { $0.share(at: 8, key: ScriptedSession.key2) }
        #expect(body.findings.map(\.kind) == ["body-again"])
        #expect(body.sentence.contains("repeats the exact body"))
    }

    /// One escaped character makes another body.
    @Test func oneEscapedCharacterIsNotTheExactBody() throws {
        let result = try judge {
            $0.share(
                at: 8, key: ScriptedSession.key2,
                body: ScriptedSession.body.replacing("2026-03\"", with: #"2026\u002d03""#))
        }
        #expect(result.verdict == .pass)
    }

    @Test func itComesAgainMuchLater() throws {
        let result = try judge {
            $0.share(at: 8, key: ScriptedSession.key2, body: Self.fresh, status: 503)
            $0.share(at: 9, key: ScriptedSession.key2, body: Self.fresh)
            $0.tap(.share, at: 60)
            $0.share(at: 61)
        }
        #expect(result.findings.map(\.kind) == ["key-again"])
        #expect(result.sentence.contains("attempt 4"))
    }

    /// 401, then the same request with a fresh credential; 409 while it is in progress; 503 is no rejection.
    @Test(arguments: [401, 407, 408, 409, 425, 429, 503]) func otherEndsKeepTheKey(status: Int) throws {
        let result = try judge(status: status) { $0.share(at: 8, headers: [("authorization", "Bearer fresh")]) }
        #expect(result.verdict == .notApplicable)
        #expect(result.sentence == "no attempt was definitively rejected")
    }

    @Test func thePolicySaysWhichEndsAllowBoth() throws {
        var session = ScriptedSession.upToTap()
        session.policyText += "outcomes: {either: [422]}\n"
        session.tap(.share, at: 4)
        session.share(at: 4.1, status: 422)
        session.share(at: 8)
        session.mark(.end, at: 200)
        #expect(try session.judge()["HR-15"].verdict == .notApplicable)
    }

    @Test func aRejectionThatDidNotArriveIsUncertain() throws {
        #expect(try judge(fate: .lost) { $0.share(at: 8) }.verdict == .notApplicable)
        let unknown = try judge(fate: .deliveryUnknown) { $0.share(at: 8) }
        #expect(unknown.reason?.code == "delivery-unknown")
        #expect(unknown.sentence.contains("key and body of attempt 1 (422)"))
    }

    /// Fault injection: the rejection was real to the app.
    @Test func anInjectedRejectionIsDefinitive() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, status: 422)
        session.share(at: 8)
        session.mark(.end, at: 200)
        let fault = SessionEvent.proxyEvent(
            ProxyEvent(
                kind: .fault, at: ScriptedSession.instant(4.1), attributes: ["action": "status", "status": "422"]))
        #expect(try session.judge([fault] + session.events())["HR-15"].verdict == .fail)
    }

    @Test func anAttemptThatWasUnderWayAlreadyIsNotAfter() throws {
        let result = try judge { $0.share(at: 4.15, took: 0.3) }
        #expect(result.verdict == .pass, "HR-08's matter")
        // The same one a moment after the rejection.
        #expect(try judge { $0.share(at: 4.201, took: 0.3) }.verdict == .fail)
    }

    @Test func anotherDeviceHasKeysOfItsOwn() throws {
        let result = try judge {
            $0.clientAddress = IPAddress(ipv4: 0x0A00_0009)
            $0.share(at: 8)
        }
        #expect(result.verdict == .pass)
    }

    @Test func aTornBodyCannotBeCompared() throws {
        let result = try judge {
            $0.share(at: 8, key: ScriptedSession.key2, body: "{\"cat", fate: .reset, bodyIsComplete: false)
        }
        #expect(result.reason?.code == "body-not-whole")
    }

    @Test func anUnseenEndMayHaveBeenARejection() throws {
        #expect(try judge(fate: .notSeen) { $0.share(at: 8) }.reason?.code == "outcome-not-seen")
        #expect(
            try judge(fate: .notSeen) { $0.share(at: 8, key: ScriptedSession.key2, body: Self.fresh) }.verdict
                == .notApplicable)
    }

    @Test func withoutALaterAttemptItIsKnownForAsLongAsTheTraceGoesOn() throws {
        #expect(try judge { _ in }.assumptions.isEmpty)
        #expect(try judge { _ in }.sentence.contains("did not come again in 3.3 min"))
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, status: 422)
        session.mark(.end, at: 10)
        var result = try session.judge()["HR-15"]
        #expect(result.verdict == .pass)
        #expect(result.assumptions.map(\.code) == ["observed-only"])
        session.blindSpot(.recordingStopped, from: nil, at: 10, until: 10, on: nil)
        result = try session.judge()["HR-15"]
        #expect(result.reason?.code == "recording-stopped")
    }

    @Test func unreadSessionTrafficMayHoldIt() throws {
        let result = try judge { $0.dark(.app, "api.partner.example", at: 70, lastData: 71) }
        #expect(result.reason?.code == "no-keys")
        #expect(try ScriptedSession.conformingShare().judge()["HR-15"].verdict == .notApplicable)
    }
}

@Suite struct HR16DefinitiveRefetchesProjectionTests {
    private static let fresh = ScriptedSession.shareBody(affirmedAt: #""2026-11-29T12:00:09Z""#)
    private static let newer = ScriptedSession.shareBody(version: #""2026-04""#)

    private func judge(
        status: Int = 422, fate: ScriptedSession.Fate = .answered, projections: Bool = true, policy: String = "",
        _ next: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        var session = projections ? ScriptedSession.upToTap() : ScriptedSession()
        session.policyText += policy
        session.tap(.share, at: 4)
        session.share(at: 4.1, status: status, fate: fate)
        next(&session)
        session.mark(.end, at: 200)
        return try session.judge()["HR-16"]
    }

    private static func again(_ session: inout ScriptedSession, body: String = fresh, at time: Double = 8) {
        session.share(at: time, key: ScriptedSession.key2, body: body)
    }

    @Test func aProjectionBetweenPasses() throws {
        let result = try judge {
            $0.fetch(at: 5)
            Self.again(&$0)
        }
        #expect(result.verdict == .pass)
        #expect(result.sentence.hasPrefix("1 projection between"))
        #expect(result.lookedAt.count == 3)
    }

    @Test func a304IsFresh() throws {
        let result = try judge {
            $0.fetch(at: 5, status: 304)
            Self.again(&$0)
        }
        #expect(result.verdict == .pass)
        #expect(result.sentence.hasPrefix("1 projection between"))
    }

    @Test func noProjectionBetweenFails() throws {
        let result = try judge { Self.again(&$0) }
        #expect(result.findings.map(\.kind) == ["no-projection-between"])
        #expect(result.sentence.contains("rejected with 422, and attempt 2 for the same item came 3.8 s later without"))
    }

    /// A fetch that failed, or came after the attempt, is none.
    @Test func aFetchThatFailedOrCameLateIsNone() throws {
        #expect(
            try judge {
                $0.fetch(at: 5, status: 500)
                Self.again(&$0)
            }.verdict == .fail)
        #expect(
            try judge {
                $0.fetch(at: 7.95)
                Self.again(&$0)
            }.verdict == .fail)
        #expect(
            try judge {
                $0.fetch(at: 7.9)
                Self.again(&$0)
            }.verdict == .pass)
    }

    @Test func theVersionIsTheNewProjections() throws {
        let stale = try judge {
            $0.fetch(at: 5, version: #""2026-04""#)
            Self.again(&$0)
        }
        #expect(stale.findings.map(\.kind) == ["disclosure-version-stale"])
        #expect(!stale.sentence.contains("2026-04"))
        #expect(
            try judge {
                $0.fetch(at: 5, version: #""2026-04""#)
                Self.again(&$0, body: Self.newer)
            }.verdict == .pass)
        // The last one of several counts; a number is what it is written as.
        #expect(
            try judge {
                $0.fetch(at: 5, version: #""2026-04""#)
                $0.fetch(at: 6, version: "7")
                Self.again(&$0, body: ScriptedSession.shareBody(version: "7"))
            }.verdict == .pass)
    }

    @Test func aVersionThatCannotBeRead() throws {
        let missing = try judge {
            $0.fetch(at: 5)
            Self.again(&$0, body: #"{"catalogId":"item-4711-abcdef","affirmed":true}"#)
        }
        #expect(missing.reason?.code == "policy-mismatch")
        let torn = try judge {
            $0.fetch(at: 5)
            $0.share(at: 8, key: ScriptedSession.key2, body: #"{"catalogId":"it"#, fate: .reset, bodyIsComplete: false)
        }
        #expect(torn.reason?.code == "body-not-whole")
        let opaque = try judge {
            $0.fetch(at: 5, body: "sealed")
            Self.again(&$0)
        }
        #expect(opaque.reason?.code == "projection-opaque")
    }

    /// Withdrawn meanwhile: that it is sent all the same is HR-24's matter.
    @Test(arguments: ["neutral_only", "hidden"]) func whatWithdrewSharingIsAnotherRulesMatter(mode: String) throws {
        let result = try judge {
            if mode == "hidden" { $0.fetch(at: 5, status: 404) } else { $0.fetch(at: 5, mode: mode) }
            Self.again(&$0)
        }
        #expect(result.verdict == .pass)
    }

    @Test func aProjectionThatCrossedTheRejection() throws {
        let result = try judge {
            $0.fetch(at: 4.15, took: 0.2)
            Self.again(&$0)
        }
        #expect(result.reason?.code == "projection-race")
        // Asked for when the rejection came, it is fresh; delivered when it came, it is old.
        #expect(
            try judge {
                $0.fetch(at: 4.2, took: 0.2)
                Self.again(&$0)
            }.verdict == .pass)
        #expect(
            try judge {
                $0.fetch(at: 4.15, took: 0.05)
                Self.again(&$0)
            }.verdict == .fail)
    }

    @Test func anotherItemHasItsOwnProjection() throws {
        let result = try judge { Self.again(&$0, body: ScriptedSession.shareBody(item: "item-9999-zzzzzz")) }
        #expect(result.verdict == .notApplicable)
        #expect(result.sentence == "no attempt followed the rejection")
        // Its projection is none of this item's.
        #expect(
            try judge {
                $0.fetch(at: 5, item: "item-9999-zzzzzz")
                Self.again(&$0)
            }.verdict == .fail)
    }

    @Test(arguments: [401, 409, 503]) func otherEndsAskForNone(status: Int) throws {
        let result = try judge(status: status) { $0.share(at: 8) }
        #expect(result.verdict == .notApplicable)
        #expect(result.sentence == "no attempt was definitively rejected")
    }

    @Test func aRejectionOfUnknownDelivery() throws {
        #expect(try judge(fate: .deliveryUnknown) { Self.again(&$0) }.reason?.code == "delivery-unknown")
        #expect(try judge(fate: .lost) { Self.again(&$0) }.verdict == .notApplicable)
    }

    /// A projection that nothing found can't be missed; one that the policy names can.
    @Test func aRoleThatWasGuessedDoesNotDecide() throws {
        let guessed = try judge(projections: false) { Self.again(&$0) }
        #expect(guessed.reason?.code == "policy-mismatch")
        #expect(guessed.reason?.remedy.contains("requests: {projection: {path:") == true)
        #expect(
            try judge(projections: false, policy: "requests: {projection: {path: \"/items/{id}\"}}\n") {
                Self.again(&$0)
            }.verdict == .fail)
    }

    @Test func aProjectionThatCallsTheItemOtherwise() throws {
        var session = ScriptedSession()
        func slug(at time: Double) {
            session.fetch(
                at: time, body: ScriptedSession.projectionBody(item: nil), path: "/catalog/garnet-ring/handoff")
        }
        slug(at: 1)
        session.tap(.share, at: 4)
        session.share(at: 4.1, status: 422)
        slug(at: 5)
        session.share(at: 8, key: ScriptedSession.key2, body: Self.fresh)
        session.mark(.end, at: 200)
        #expect(try session.judge()["HR-16"].reason?.code == "policy-mismatch")
    }

    @Test func whatWasNotSeenIsNotMissing() throws {
        #expect(
            try judge {
                $0.dark(.app, "api.partner.example", at: 5, lastData: 6)
                Self.again(&$0)
            }.reason?.code == "no-keys")
        #expect(
            try judge {
                $0.fetch(at: 5, fate: .notSeen)
                Self.again(&$0)
            }.reason?.code == "outcome-not-seen")
        #expect(
            try judge {
                $0.fetch(at: 3, fate: .notSeen)
                $0.fetch(at: 20, fate: .notSeen)
                Self.again(&$0)
            }.verdict == .fail, "those were not between")
        let torn = try judge {
            let id = $0.connect(.app, "api.partner.example", at: 5)
            $0.blindSpot(.tcpHole, from: .server, at: 5, until: 6, on: id)
            Self.again(&$0)
        }
        #expect(torn.reason?.code == "tcp-hole")
        let late = try judge {
            let id = $0.connect(.app, "api.partner.example", at: 20)
            $0.blindSpot(.tcpHole, from: .server, at: 20, until: 21, on: id)
            Self.again(&$0)
        }
        #expect(late.verdict == .fail, "what is missing later can't have been between")
    }
}
