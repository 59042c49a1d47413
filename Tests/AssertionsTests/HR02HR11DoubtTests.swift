import Assertions
import SessionTrace
import Testing

@Suite struct HR02NoSessionBeforeShareTapUnsentTests {
    /// What the app could not send before it was tapped may have been a session request.
    @Test func whatCouldNotBeSentBeforeAnyShareTapIsNotDecided() throws {
        var session = ScriptedSession()
        session.policyText = "hosts: {partner: [api.partner.example]}\n"
        session.mark(.launch, at: 0)
        session.unreachable(.app, "api.partner.example", at: 3)
        session.tap(.neutral, at: 4)
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-02"].reason?.code == "dial-failed")
    }
}

@Suite struct HR03AppNeverContactsChiaSystemTests {
    @Test func whatTheSystemConnectsToIsNotTheApps() throws {
        var session = ScriptedSession.shared { $0.browse(ScriptedSession.url, at: 4.5) }
        session.processes[.nobody] = ProcessIdentity(source: .pktap, name: "apsd")
        session.connect(.nobody, "www.chia.health", at: 20)
        let result = try session.judge()["HR-03"]
        #expect(result.verdict == .pass && result.information == ["not-the-app"], "\(result)")
    }
}

@Suite struct HR05NoProbeOfHandoffURLUnreadTests {
    @Test func anUnreadConnectionToChiaMayHoldAProbe() throws {
        func judge(_ host: String) throws -> RuleResult {
            try ScriptedSession.shared {
                $0.browse(ScriptedSession.url, at: 4.5)
                $0.dark(.nobody, host, at: 20, lastData: 21)
            }.judge()["HR-05"]
        }
        let unread = try judge("www.chia.health")
        #expect(unread.verdict == .inconclusive && unread.sentence.contains("www.chia.health could not be read"))
        #expect(try judge("sdk.vendor.example").verdict == .pass)
    }
}

@Suite struct HR07HR08OverlapDoubtTests {
    private func judge(_ build: (inout ScriptedSession) -> Void) throws -> TraceVerdict {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        build(&session)
        session.mark(.end, at: 90)
        return try session.judge()
    }

    /// A device that had given up before the answer came may have ended the attempt long before.
    @Test func anAnswerThatNeverArrivedDoesNotSayWhenTheAttemptEnded() throws {
        let lost = try judge {
            $0.share(at: 4.1, took: 2, fate: .lost)
            $0.share(at: 5)
        }
        for rule in ["HR-07", "HR-08"] { #expect(lost[rule].reason?.code == "outcome-not-seen", "\(lost[rule])") }
        let answered = try judge {
            $0.share(at: 4.1, took: 2)
            $0.share(at: 5)
        }
        for rule in ["HR-07", "HR-08"] { #expect(answered[rule].verdict == .fail, "\(answered[rule])") }
    }

    /// A dead connection is noticed up to a second after the second attempt began.
    @Test(arguments: [(1.4, true), (1.401, false)]) func aFailoverIsNoticedWithinASecond(
        took: Double, isFailover: Bool
    ) throws {
        let verdict = try judge {
            $0.share(at: 4.1, took: took, fate: .reset)
            $0.share(at: 4.5)
        }
        for rule in ["HR-07", "HR-08"] { #expect((verdict[rule].verdict == .fail) != isFailover, "\(verdict[rule])") }
    }

    @Test func attemptsOfTwoDevicesDoNotOverlap() throws {
        let verdict = try judge {
            $0.share(at: 4.1, took: 2)
            $0.clientAddress = IPAddress(ipv4: 0x0A00_0009)
            $0.share(at: 5, key: ScriptedSession.key2)
        }
        #expect(verdict["HR-08"].violations == [], "\(verdict["HR-08"])")
    }
}

/// Why an opening may be missing that was due since the answer at 4.2.
@Suite struct HR09OneExternalNavigationMissingTests {
    private func judge(
        url: String = ScriptedSession.url, end: Double = 90, _ build: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.browse("https://news.example/", at: 1)
        session.tap(.share, at: 4)
        session.share(at: 4.1, url: url)
        build(&session)
        session.mark(.end, at: end)
        return try session.judge()["HR-09"]
    }

    @Test(arguments: [(14.2, nil), (14.199, "trace-ended")] as [(Double, String?)]) func tenSecondsAreWatched(
        end: Double, code: String?
    ) throws {
        let result = try judge(end: end) { _ in }
        #expect(result.reason?.code == code && result.violations == (code == nil ? ["no-navigation"] : []), "\(result)")
    }

    @Test func aRecorderThatStoppedIsNamed() throws {
        func judge(end: Double) throws -> RuleResult {
            try self.judge(end: end) { $0.blindSpot(.recordingStopped, from: nil, at: end, until: end, on: nil) }
        }
        #expect(try judge(end: 10).reason?.code == BlindSpot.Reason.recordingStopped.rawValue)
        #expect(try judge(end: 14.2).violations == ["no-navigation"])
    }

    /// The URL's own host counts, and every host of Chia's.
    @Test(arguments: [
        (ScriptedSession.url, "www.chia.health", true), ("https://chia.example/h/TOKEN", "chia.example", true),
        (ScriptedSession.url, "sdk.vendor.example", false),
    ]) func whatWentToChiaUnreadOrNotAtAllMayBeIt(url: String, host: String, isDoubt: Bool) throws {
        let url = url.replacing("TOKEN", with: ScriptedSession.token)
        let unread = try judge(url: url) { $0.dark(.nobody, host, at: 6, lastData: 7) }
        #expect(unread.sentence.contains("navigation-candidate") == isDoubt, "\(unread)")
        let unreached = try judge(url: url) { $0.unreachable(.browser, host, at: 6) }
        #expect((unreached.reason?.code == "dial-failed") == isDoubt, "\(unreached)")
    }

    @Test(arguments: [(4.2, "actor-unknown"), (4.199, nil)] as [(Double, String?)]) func aRequestOfNobodysMayBeAnother(
        time: Double, code: String?
    ) throws {
        let result = try judge {
            $0.browse(ScriptedSession.url, at: 4.5)
            $0.exchange(.nobody, "GET", ScriptedSession.url, at: time)
        }
        #expect(result.reason?.code == code, "\(result)")
    }

    @Test func aBrowserKnownByItsWordsIsAnAssumption() throws {
        let result = try judge { $0.browse(ScriptedSession.url, at: 4.5) }
        #expect(result.verdict == .pass && result.assumptions.map(\.code) == ["browser-by-headers"], "\(result)")
    }
}

@Suite struct HR11KeyPresentAndUUIDv4WordsTests {
    @Test(arguments: [
        ("urn:uuid:7b0f6f0e-4c1d-4f5a-9d55-0a2f8f1f3c11", "it begins with urn:uuid:"),
        ("{7b0f6f0e-4c1d-4f5a-9d55-0a2f8f1f3c11}", "it is in braces"),
    ]) func whatIsWrongWithAKeyIsSaid(key: String, words: String) throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, key: key)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-11"]
        #expect(result.verdict == .fail && result.sentence.contains(words), "\(result)")
    }
}
