import Assertions
import SessionTrace
import Testing

@Suite struct HR07OneSessionRequestPerTapBurstTests {
    private func judge(_ build: (inout ScriptedSession) -> Void) throws -> TraceVerdict {
        var session = ScriptedSession.upToTap()
        build(&session)
        session.mark(.end, at: 90)
        return try session.judge()
    }

    @Test func twoTapsWithTheAnswerAfterThemJoin() throws {
        let verdict = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.05, took: 0.6)
            $0.tap(.share, at: 4.18)
            $0.browse(ScriptedSession.url, at: 4.8)
        }
        #expect(verdict["HR-07"].verdict == .pass, "\(verdict.story)")
        #expect(verdict["HR-07"].sentence == "1 session request for 2 taps within 180 ms")
        #expect(verdict.exercised.contains("double-tap"))
        #expect(verdict.matrix["M-10"] == .proven)
    }

    @Test func twoTapsWithTheAnswerBetweenThemJoin() throws {
        let verdict = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.02, took: 0.05)
            $0.tap(.share, at: 4.2)
            $0.browse(ScriptedSession.url, at: 4.4)
        }
        #expect(verdict["HR-07"].verdict == .pass, "\(verdict.story)")
    }

    @Test func oneMarkMayCountTwo() throws {
        let verdict = try judge {
            $0.mark(.tap, .share, at: 4, count: 2)
            $0.share(at: 4.1)
            $0.browse(ScriptedSession.url, at: 4.4)
        }
        #expect(verdict.exercised.contains("double-tap"))
        #expect(verdict["HR-07"].sentence.contains("2 taps"))
    }

    @Test func twoKeysInABurstFail() throws {
        let verdict = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.05)
            $0.tap(.share, at: 4.2)
            $0.share(at: 4.25, key: ScriptedSession.key2, url: ScriptedSession.otherURL)
        }
        #expect(
            verdict["HR-07"].findings.contains {
                $0.kind == "second-key" && $0.message.contains("2 taps within 200 ms")
            })
        #expect(verdict.matrix["M-10"] == .violated)
    }

    @Test func theSameKeyTwiceAfterSuccessWithATapBetweenFails() throws {
        let verdict = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.05)
            $0.tap(.share, at: 4.2)
            $0.share(at: 4.25)
        }
        #expect(verdict["HR-07"].findings.contains { $0.kind == "second-request" })
    }

    @Test func withoutAFurtherTapItIsAnotherRulesMatter() throws {
        let verdict = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.05)
            $0.share(at: 5)
        }
        #expect(verdict["HR-07"].verdict == .pass, "\(verdict.story)")
    }

    @Test(arguments: [
        (503, ScriptedSession.Fate.answered), (429, .answered), (500, .answered), (0, .reset), (201, .lost),
    ])
    func afterAnUncertainEndARetryIsAllowed(status: Int, fate: ScriptedSession.Fate) throws {
        let verdict = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.05, status: status, fate: fate)
            $0.share(at: 5)
            $0.browse(ScriptedSession.url, at: 5.4)
        }
        #expect(verdict["HR-07"].verdict == .pass, "\(verdict.story)")
        #expect(verdict["HR-14"].verdict == .pass, "\(verdict.story)")
        #expect(verdict["HR-13"].verdict == .pass, "\(verdict.story)")
        #expect(verdict.matrix["M-11"] == .proven)
    }

    @Test func aNewKeyAfterAnUncertainEndAndANewTapIsNotThisRules() throws {
        let verdict = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.05, status: 503)
            $0.tap(.share, at: 8)
            $0.share(at: 8.05, key: ScriptedSession.key2)
            $0.browse(ScriptedSession.url, at: 8.4)
        }
        #expect(verdict["HR-07"].verdict == .pass, "\(verdict.story)")
        #expect(verdict["HR-14"].verdict == .fail)
    }

    @Test func aDoubleTapMustJoinWhateverWasAnsweredBetween() throws {
        let verdict = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.02, status: 503, took: 0.05)
            $0.tap(.share, at: 4.2)
            $0.share(at: 4.25, key: ScriptedSession.key2)
        }
        #expect(verdict["HR-07"].findings.contains { $0.kind == "second-key" }, "\(verdict.story)")
    }

    @Test func anAuthenticationChallengeAllowsTheSameAgain() throws {
        let verdict = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.05, status: 401)
            $0.share(at: 4.3, headers: [("authorization", "Bearer fresh")])
            $0.browse(ScriptedSession.url, at: 5)
        }
        #expect(verdict["HR-07"].verdict == .pass, "\(verdict.story)")
        #expect(verdict["HR-14"].verdict == .notApplicable)
        #expect(verdict["HR-13"].verdict == .pass)
    }

    @Test(arguments: [408, 409, 425]) func statusesThatAllowBothAllowAnother(status: Int) throws {
        let verdict = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.05, status: status)
            $0.share(at: 5)
            $0.browse(ScriptedSession.url, at: 5.5)
        }
        #expect(verdict["HR-07"].verdict == .pass, "\(verdict.story)")
    }

    @Test func aRejectionAllowsNoOtherInTheBurst() throws {
        let verdict = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.05, status: 422)
            $0.share(at: 5, key: ScriptedSession.key2)
        }
        #expect(verdict["HR-07"].verdict == .fail)
        #expect(verdict["HR-07"].sentence.contains("definitive rejection"))
    }

    @Test func afterOpenedAndReturnANewTapIsANewBurst() throws {
        let verdict = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.05)
            $0.mark(.opened, at: 4.3)
            $0.browse(ScriptedSession.url, at: 4.5)
            $0.mark(.foreground, at: 20)
            $0.tap(.share, at: 25)
            $0.share(at: 25.05, key: ScriptedSession.key2, url: ScriptedSession.otherURL)
            $0.mark(.opened, at: 25.3)
            $0.browse(ScriptedSession.otherURL, at: 25.5)
        }
        #expect(verdict["HR-07"].verdict == .pass, "\(verdict.story)")
        #expect(verdict["HR-09"].verdict == .pass, "\(verdict.story)")
        #expect(verdict["HR-07"].sentence.contains("2 bursts"))
    }

    @Test func anotherItemsTapIsAnotherBurst() throws {
        let other = ScriptedSession.body.replacing("item-4711-abcdef", with: "item-9999-zzzzzz")
        let verdict = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.05, status: 503)
            $0.tap(.share, at: 9)
            $0.share(at: 9.05, key: ScriptedSession.key2, body: other)
            $0.browse(ScriptedSession.url, at: 9.5)
        }
        #expect(verdict["HR-07"].verdict == .pass, "\(verdict.story)")
        #expect(verdict["HR-14"].verdict == .notApplicable, "\(verdict.story)")
    }

    @Test func aTapWithoutRequestIsLostWhenOthersHadOne() throws {
        let verdict = try judge {
            // Coming back without a fresh projection is another rule's matter (HR-42).
            $0.options.profile = .headline
            $0.tap(.share, at: 4)
            $0.share(at: 4.05)
            $0.mark(.opened, at: 4.3)
            $0.browse(ScriptedSession.url, at: 4.5)
            $0.mark(.foreground, at: 20)
            $0.tap(.share, at: 30)
        }
        let result = verdict["HR-07"]
        #expect(result.verdict == .fail)
        #expect(result.severity == .warning)
        #expect(result.findings[0].kind == "lost-tap")
        #expect(
            SetVerdict(traces: [JudgedTrace(path: "a", verdict: verdict)], options: SetOptions()).outcome != .violation)
    }

    @Test func aWithdrawnProjectionExcusesTheTap() throws {
        let verdict = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.05)
            $0.mark(.opened, at: 4.3)
            $0.browse(ScriptedSession.url, at: 4.5)
            $0.mark(.foreground, at: 20)
            $0.tap(.share, at: 30)
            $0.projection(at: 30.1, mode: "neutral_only")
        }
        #expect(verdict["HR-07"].verdict == .pass, "\(verdict.story)")
    }

    @Test func aBurstAtTheEndOfTheTraceIsNotDecided() throws {
        var session = ScriptedSession.conformingShare()
        session.tap(.share, at: 78)
        #expect(try session.judge()["HR-07"].reason?.code == "trace-ended")
    }

    @Test func withoutMarksTwoOverlappingKeysStillFail() throws {
        var session = ScriptedSession()
        session.share(at: 4, took: 0.5)
        session.share(at: 4.1, key: ScriptedSession.key2, took: 0.5, url: ScriptedSession.otherURL)
        let verdict = try session.judge()
        #expect(verdict["HR-07"].verdict == .fail)
        #expect(verdict["HR-08"].verdict == .fail)
    }

    @Test func withoutMarksOneRequestIsNotDecided() throws {
        var session = ScriptedSession()
        session.share(at: 4)
        #expect(try session.judge()["HR-07"].reason?.code == "no-tap-mark")
    }

    @Test func twoDevicesAreNotHeldAgainstEachOther() throws {
        let verdict = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.05, took: 0.4)
            $0.clientAddress = IPAddress(ipv4: 0x0A00_0003)
            $0.share(at: 4.1, key: ScriptedSession.key2, url: ScriptedSession.otherURL)
        }
        #expect(verdict["HR-07"].reason?.code == "several-devices", "\(verdict.story)")
        #expect(verdict["HC-07"].reason?.code == "several-devices")
        #expect(verdict["HR-08"].verdict == .pass)
    }

    @Test func aHoleInTheSessionHostsTrafficIsNotDecided() throws {
        let verdict = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.05)
            $0.browse(ScriptedSession.url, at: 4.5)
            let other = $0.connect(.app, "api.partner.example", at: 5)
            $0.blindSpot(.tcpHole, from: .client, at: 5, until: 6, on: other)
        }
        #expect(verdict["HR-07"].reason?.code == "tcp-hole")
    }

    @Test func aHoleInAnAnswerHidesNoRequest() throws {
        let verdict = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.05)
            $0.browse(ScriptedSession.url, at: 4.5)
            let other = $0.connect(.app, "api.partner.example", at: 5)
            $0.blindSpot(.tcpHole, from: .server, at: 5, until: 6, on: other)
        }
        #expect(verdict["HR-07"].verdict == .pass, "\(verdict.story)")
    }

    // What counts as one attempt (RULES 0.4).

    @Test(arguments: ["refused", "417", "421", "425", "307"]) func messagesThatCountAsOne(kind: String) throws {
        let verdict = try judge {
            $0.tap(.share, at: 4)
            switch kind {
            case "refused": $0.share(at: 4.05, took: 0.02, fate: .refused)
            case "417": $0.share(at: 4.05, status: 417, took: 0.02, headers: [("expect", "100-continue")])
            case "421": $0.share(at: 4.05, status: 421, took: 0.02)
            case "425": $0.share(at: 4.05, status: 425, took: 0.02)
            default:
                $0.share(
                    at: 4.05, status: 307, took: 0.02,
                    responseHeaders: [("location", "https://api.partner.example/v2/session")])
            }
            $0.share(at: 4.1, path: kind == "307" ? "/v2/session" : "/handoff-session")
            $0.browse(ScriptedSession.url, at: 4.5)
        }
        #expect(verdict["HR-07"].verdict == .pass, "\(verdict.story)")
        #expect(verdict["HR-07"].sentence == "1 session request for 1 tap")
        #expect(verdict["HR-08"].sentence == "1 session request")
        #expect(
            verdict["HR-07"].lookedAt.contains { $0.place != nil && $0.packets.count > 3 },
            "the collapse is in the evidence")
        #expect(verdict["HR-13"].verdict == .notApplicable)
    }

    @Test func theProxysOtherLegIsNotCounted() throws {
        let verdict = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.05, took: 0.4)
            $0.clientAddress = IPAddress(ipv4: 0x0A00_0001)
            $0.share(at: 4.06, took: 0.3)
            $0.clientAddress = IPAddress(ipv4: 0x0A00_0002)
            $0.browse(ScriptedSession.url, at: 4.8)
        }
        #expect(verdict["HR-07"].verdict == .pass, "\(verdict.story)")
        #expect(verdict["HR-08"].verdict == .pass)
    }
}

@Suite struct HR08NoOverlappingAttemptsTests {
    private func judge(_ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        build(&session)
        session.mark(.end, at: 90)
        return try session.judge()["HR-08"]
    }

    @Test func oneAfterTheOtherPasses() throws {
        let result = try judge {
            $0.share(at: 4.1, status: 503)
            $0.share(at: 5)
        }
        #expect(result.verdict == .pass)
        #expect(result.sentence.contains("800 ms apart"))
    }

    @Test func overlapFails() throws {
        let result = try judge {
            $0.share(at: 4.1, took: 0.5)
            $0.share(at: 4.3, took: 0.5)
        }
        #expect(result.verdict == .fail)
        #expect(result.sentence.contains("300 ms before"))
    }

    @Test func aFailoverFromADeadConnectionIsNone() throws {
        let result = try judge {
            $0.share(at: 4.1, took: 0.5, fate: .reset)
            $0.share(at: 4.55)
        }
        #expect(result.verdict == .pass)
        #expect(result.findings.contains { $0.kind == "failover" })
        let other = try judge {
            $0.share(at: 4.1, took: 0.5, fate: .reset)
            $0.share(at: 4.55, key: ScriptedSession.key2)
        }
        #expect(other.violations == ["overlap"], "\(other)")
    }

    @Test func aCloseSeenTooLateIsNoFailover() throws {
        let result = try judge {
            $0.share(at: 4.1, took: 3, fate: .reset)
            $0.share(at: 4.55)
        }
        #expect(result.verdict == .fail)
    }

    @Test func anEndThatWasNotSeenIsNotDecided() throws {
        let result = try judge {
            $0.share(at: 4.1, took: 1, fate: .notSeen)
            $0.share(at: 4.55)
        }
        #expect(result.reason?.code == "outcome-not-seen")
    }

    @Test func withoutAttemptsItIsNotApplicable() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.neutral, at: 4)
        session.browse(ScriptedSession.neutral, at: 4.2)
        #expect(try session.judge()["HR-08"].verdict == .notApplicable)
    }
}
