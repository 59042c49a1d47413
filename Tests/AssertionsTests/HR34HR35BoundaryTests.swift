import SessionTrace
import Testing

@testable import Assertions

/// What comes ahead of a tap, a handover and a page, to the moment.
@Suite struct HR34NoCustomTabWarmupBoundaryTests {
    private func judge(_ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.processes[.browser] = ProcessIdentity(source: .pcapdroid, name: "Chrome", userID: 10_100)
        build(&session)
        session.mark(.end, at: 90)
        return try session.judge()["HR-34"]
    }

    private static func open(_ session: inout ScriptedSession, at time: Double) {
        let own = session.connect(.browser, "chia.health", at: time)
        session.exchange(.browser, "GET", ScriptedSession.url, at: time, isNavigation: true, on: own)
    }

    @Test func aConnectionInTheMomentOfTheTapIsNotAheadOfTheNext() throws {
        func judge(at time: Double) throws -> [String] {
            try self.judge {
                $0.connect(.browser, "chia.health", at: time)
                $0.tap(.share, at: 4)
                $0.tap(.share, at: 4.3)
                $0.share(at: 4.4)
                Self.open(&$0, at: 4.6)
            }.violations
        }
        #expect(try judge(at: 4) == [])
        #expect(try judge(at: 3.999) == ["warmup"])
    }

    @Test func aTapOrAHandoverInThePagesMomentLedToIt() throws {
        let tap = try judge {
            $0.connect(.browser, "chia.health", at: 3)
            $0.tap(.neutral, at: 4.5)
            Self.open(&$0, at: 4.5)
        }
        #expect(tap.violations == ["warmup"], "\(tap)")
        let handover = try judge {
            $0.tap(.share, at: 4)
            $0.connect(.browser, "chia.health", at: 5)
            $0.share(at: 8)
            $0.mark(.opened, at: 9)
            Self.open(&$0, at: 9)
        }
        #expect(handover.violations == ["warmup"], "\(handover)")
    }

    @Test func aHandoverAfterThePageIsNotWhatLedToIt() throws {
        let result = try judge {
            $0.tap(.share, at: 4)
            $0.connect(.browser, "chia.health", at: 5)
            Self.open(&$0, at: 5.5)
            $0.mark(.opened, at: 9)
        }
        #expect(result.violations == [], "\(result)")
    }

    @Test(arguments: [(5.0, []), (5.001, ["warmup"])] as [(Double, [String])])
    func aConnectionInTheMomentOfAHandoverIsNotAheadOfTheNext(time: Double, kinds: [String]) throws {
        let result = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.1)
            $0.mark(.opened, at: 5)
            $0.connect(.browser, "chia.health", at: time)
            $0.mark(.opened, at: 9)
            Self.open(&$0, at: 9.5)
        }
        #expect(result.violations == kinds, "\(result)")
    }

    /// From the moment of the first page on, nothing comes ahead of it, of whichever device.
    @Test(arguments: [(4.5, nil), (4.499, "several-devices")] as [(Double, String?)])
    func whatComesInThePagesMomentIsNotAheadOfIt(time: Double, code: String?) throws {
        let result = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.1)
            Self.open(&$0, at: 4.5)
            $0.clientAddress = IPAddress(ipv4: 0x0A00_0009)
            $0.connect(.browser, "chia.health", at: time)
        }
        #expect(result.reason?.code == code, "\(result)")
    }

    /// A tap in the page's own moment led to it, and one after it did not.
    @Test(arguments: [(4.5, "host-unknown"), (4.501, nil)] as [(Double, String?)])
    func aConnectionWithoutANameBeforeWhatLedToThePageMayBeOne(tap: Double, code: String?) throws {
        let result = try judge {
            $0.dark(.nobody, "203.0.113.9", at: 3, lastData: 3.5, hello: false)
            $0.tap(.neutral, at: tap)
            Self.open(&$0, at: 4.5)
        }
        #expect(result.reason?.code == code, "\(result)")
    }

    @Test func withoutAPageWhatComesBeforeTheTapIsAheadAllTheSame() throws {
        let result = try judge {
            $0.connect(.browser, "chia.health", at: 3)
            $0.tap(.share, at: 4)
        }
        #expect(result.violations == ["warmup"], "\(result)")
    }

    /// A browser opens spare connections at the handover; it prefetches nothing. The mark's clock is known to 50 ms.
    @Test(arguments: [(0.5, true, ["prefetch"]), (0.5, false, []), (0.051, true, ["prefetch"]), (0.05, true, [])])
    func aPrefetchBeforeTheHandoverNeedsNoTwoSeconds(gap: Double, isPrefetch: Bool, kinds: [String]) throws {
        let result = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 7.1)
            let own = $0.connect(.browser, "chia.health", at: 9 - gap)
            if isPrefetch {
                $0.exchange(
                    .browser, "GET", ScriptedSession.url, at: 9 - gap, headers: [("sec-purpose", "prefetch")],
                    isNavigation: true, on: own)
            }
            $0.mark(.opened, at: 9, onTraceClock: false)
            Self.open(&$0, at: 9.5)
        }
        #expect(result.violations == kinds, "\(result)")
    }

    /// Names in the policy's exceptions go on matching.
    @Test func aLookupHasAFingerprintOfItsOwn() throws {
        func judge(_ build: (inout ScriptedSession) -> Void) throws -> [String] {
            try self.judge {
                build(&$0)
                $0.tap(.share, at: 4)
                $0.share(at: 4.1)
                Self.open(&$0, at: 4.5)
            }.findings.map(\.fingerprint)
        }
        let lookup = try judge {
            $0.lookup(
                "chia.health", at: 3, process: ProcessIdentity(source: .pcapdroid, name: "Chrome", userID: 10_100),
                isAnswered: false)
        }
        #expect(lookup == [Judgement.fingerprint(["HR-34", "warmup", "chia", "lookup"])])
        let connection = try judge { $0.connect(.browser, "chia.health", at: 3) }
        #expect(connection == [Judgement.fingerprint(["HR-34", "warmup", "chia", "connection"])])
    }
}

@Suite struct HR35HandoffURLShapeBoundaryTests {
    @Test(arguments: ["?v=a@b", "#a@b", "/a@b"]) func anAtSignBehindTheHostIsNoCredential(rest: String) throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, url: ScriptedSession.url + rest)
        session.mark(.end, at: 90)
        #expect(try !session.judge()["HR-35"].violations.contains("credentials"))
    }

    @Test func aURLOfChiasWithoutATokenIsNamed() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, url: "https://chia.health/h/4711")
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-35"].violations == ["no-token"])
    }

    /// Bits by alphabet: decimal, hexadecimal, letters of one case, of two cases, or with `-` or `_`.
    @Test(arguments: [
        ("0123456789", 33), ("0123456789abcdef", 64), ("0123456789ABCDEF", 64), ("ghijklmnop", 51),
        ("GHIJKLMNOP", 51), ("ghijkLMNOP", 59), ("ghijk-mnop", 59), ("ghijk_mnop", 59), ("ghijklmno5", 51),
    ]) func theAlphabetGivesTheBits(body: String, bits: Int) {
        #expect(HandoffURLShape.bits(of: Token.prefix + body) == bits)
    }

    /// A quarter of the alphabet, or of the length, must be there.
    @Test(arguments: [("ghij", 4, 81), ("ghi", 6, 18)]) func fewCharactersCountAsTheirOwnAlphabet(
        unit: String, times: Int, bits: Int
    ) {
        #expect(HandoffURLShape.bits(of: Token.prefix + String(repeating: unit, count: times)) == bits)
    }
}
