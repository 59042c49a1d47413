import Crypto
import SessionTrace
import Testing

@testable import Assertions

@Suite struct HR28ByteExactBoundaryTests {
    /// SHA-256 of what the app handed over: the URL with a fragment.
    private static let digest = HashFunction.sha256.digest(of: Array((ScriptedSession.url + "#a").utf8)).map { byte in
        String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }.joined()

    /// The mark may be sent a second after the call, and the browser may take ten to open.
    @Test(arguments: [(15.5, true), (15.501, false), (4.5, true), (4.499, false)])
    func aDigestSpeaksOfTheOpeningBesideIt(
        opening: Double, isCompared: Bool
    ) throws {
        let result = try ScriptedSession.shared {
            $0.mark(.opened, at: 5.5, attributes: ["url-sha256": Self.digest])
            $0.browse(ScriptedSession.url, at: opening)
        }.judge()["HR-28"]
        #expect(result.violations == (isCompared ? ["fragment-added"] : []), "\(result)")
    }

    /// Ten seconds after the tap, a variant may be anybody's.
    @Test(arguments: [(14.0, ["query-added"]), (14.001, []), (4, ["query-added"])] as [(Double, [String])])
    func aVariantOfTheNeutralURLIsTheTapsForAWhile(
        time: Double, kinds: [String]
    ) throws {
        let result = try ScriptedSession.goneNeutral {
            $0.browse(ScriptedSession.neutral + "?utm_source=app", at: time)
        }.judge()["HR-28"]
        #expect(result.violations == kinds, "\(result)")
    }

    /// The neutral page is itself, though a handoff URL differs from it in nothing but its query.
    @Test func theNeutralURLIsNoVariantOfAHandoffURL() throws {
        let result = try ScriptedSession.upToTapAndShare(url: "\(ScriptedSession.neutral)?s=\(ScriptedSession.token)") {
            $0.tap(.neutral, at: 30)
            $0.browse(ScriptedSession.neutral, at: 30.2)
        }.judge()["HR-28"]
        #expect(result.violations == [] && result.sentence.hasPrefix("2 openings"), "\(result)")
    }

    @Test func aHeadThatCouldNotBeReadInFullIsNotDecided() throws {
        let session = ScriptedSession.shared { $0.browse(ScriptedSession.url, at: 4.5) }
        let events = session.events().map { event in
            guard case .exchange(var exchange) = event, exchange.request?.authority == "chia.health" else {
                return event
            }
            exchange.request?.fields.append(name: "x-later".utf8, value: "".utf8, isKnown: false)
            return .exchange(exchange)
        }
        let verdict = try session.judge(events)
        for rule in ["HR-28", "HR-29"] {
            #expect(verdict[rule].reason?.code == "header-table-unknown", "\(verdict[rule])")
        }
    }

    /// What a withheld journey kept of an opening says the same as the opening itself.
    @Test(arguments: [
        (ScriptedSession.url, ""), (ScriptedSession.url, "?utm_source=app"), (ScriptedSession.url, "/"),
        ("https://Chia.Health/h/TOKEN", ""), ("https://chia.health:443/h/TOKEN", ""),
        ("https://chia.health/a/../h/TOKEN", ""), ("https://chia.health/h/TOKEN?q=a|b", ""),
        ("https://chia.health/h/TOKEN?q=a%20b", ""),
    ]) func aWithheldOpeningIsComparedAlike(url: String, added: String) throws {
        let url = url.replacing("TOKEN", with: ScriptedSession.token)
        let sent = try #require(WebAddress(url)).normalised.text + added
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, url: url)
        session.browse(sent, at: 4.5)
        session.mark(.end, at: 90)
        let recorded = try session.judge()["HR-28"]
        let withheld = try session.judgeWithheld()["HR-28"]
        #expect(withheld.violations == recorded.violations, "\(url): \(withheld) \(recorded)")
        #expect(withheld.information == recorded.information, "\(url): \(withheld) \(recorded)")
    }
}

@Suite struct HR29NoCustomHeaderBoundaryTests {
    private func judge(_ headers: [(String, String)]) throws -> RuleResult {
        try ScriptedSession.shared {
            $0.exchange(.app, "GET", "https://api.partner.example/me", at: 5, headers: [("cookie", "sid=abc123")])
            $0.browse(ScriptedSession.url, at: 6, headers: headers)
        }.judge()["HR-29"]
    }

    /// A cookie's place is its name.
    @Test func aCookiesFingerprintIsItsName() throws {
        let result = try judge([("cookie", "sid=abc123")])
        #expect(result.findings.map(\.fingerprint) == [Judgement.fingerprint(["HR-29", "app-cookie", "sid"])])
    }

    @Test func aPackageOfTwoPartsMayNameTheApp() throws {
        #expect(try judge([("referer", "android-app://example.partner/")]).violations == ["names-app"])
        #expect(try judge([("referer", "android-app://partner/")]).violations == [])
    }
}

extension ScriptedSession {
    /// A share that brings `url`, which the browser opens, and what `build` adds.
    fileprivate static func upToTapAndShare(
        url: String, _ build: (inout ScriptedSession) -> Void
    ) -> ScriptedSession {
        var session = upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, url: url)
        session.browse(url, at: 4.5)
        build(&session)
        session.mark(.end, at: 90)
        return session
    }
}
