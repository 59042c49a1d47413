import Assertions
import Crypto
import SessionTrace
import Testing

@Suite struct HR28ByteExactTests {
    private static let longURL = "https://chia.health/h/a%2Fb/\(ScriptedSession.token)?b=2&a=1%20x"

    private func opened(_ sent: String, of url: String = longURL, status: Int = 200) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, url: url)
        session.browse(sent, at: 4.5, status: status)
        session.mark(.end, at: 90)
        return try session.judge()["HR-28"]
    }

    @Test func theSameBytesPass() throws {
        let result = try opened(Self.longURL)
        #expect(result.verdict == .pass)
        #expect(result.sentence.hasPrefix("1 opening,"))
        #expect(result.findings.isEmpty)
        #expect(result.assumptions.contains { $0.code == "browser-by-headers" })
    }

    @Test(arguments: [
        ("https://chia.health/h/a%2Fb/TOKEN?b=2&a=1%20x&utm_source=app", "query-added"),
        ("https://chia.health/h/a%2Fb/TOKEN?b=2", "query-removed"),
        ("https://chia.health/h/a%2Fb/TOKEN", "query-removed"),
        ("https://chia.health/h/a%2Fb/TOKEN?a=1%20x&b=2", "query-reordered"),
        ("https://chia.health/h/a%2Fb/TOKEN?b=3&a=1%20x", "query-changed"),
        ("https://chia.health/h/a%2Fb/TOKEN?b=2&a=1+x", "re-encoded"),
        ("https://chia.health/h/a%2fb/TOKEN?b=2&a=1%20x", "re-encoded"),
        ("https://chia.health/h/a/b/TOKEN?b=2&a=1%20x", "re-encoded"),
        ("https://chia.health/h/a%2Fb/TOKEN/?b=2&a=1%20x", "trailing-slash"),
        ("https://chia.health:443/h/a%2Fb/TOKEN?b=2&a=1%20x", "port-changed"),
        ("https://chia.health:8443/h/a%2Fb/TOKEN?b=2&a=1%20x", "port-changed"),
        ("https://www.chia.health/h/a%2Fb/TOKEN?b=2&a=1%20x", "host-changed"),
        ("https://chia.health/x/a%2Fb/TOKEN?b=2&a=1%20x", "path-changed"),
    ]) func whatIsChangedFails(sent: String, kind: String) throws {
        let result = try opened(sent.replacing("TOKEN", with: ScriptedSession.token))
        #expect(result.findings.map(\.kind) == [kind], "\(sent): \(result.sentence)")
        #expect(!result.sentence.contains("phs_"))
    }

    /// The forms that browsers give a URL.
    @Test(arguments: [
        ("https://Chia.Health/h/TOKEN", "https://chia.health/h/TOKEN"),
        ("https://chia.health:443/h/TOKEN", "https://chia.health/h/TOKEN"),
        ("https://chia.health/a/../h/./TOKEN", "https://chia.health/h/TOKEN"),
        ("https://chia.health/a/%2e%2E/h/TOKEN", "https://chia.health/h/TOKEN"),
        ("https://chia.health/h/TOKEN?q=a|b", "https://chia.health/h/TOKEN?q=a%7Cb"),
        ("https://chia.health/h/TOKEN?q=a b", "https://chia.health/h/TOKEN?q=a%20b"),
        ("https://chia.health/h/TOKEN?q=\u{E4}", "https://chia.health/h/TOKEN?q=%C3%A4"),
    ]) func whatABrowserNormalisesIsInformation(url: String, sent: String) throws {
        let url = url.replacing("TOKEN", with: ScriptedSession.token)
        let result = try opened(sent.replacing("TOKEN", with: ScriptedSession.token), of: url)
        #expect(result.verdict == .pass, "\(url): \(result.sentence)")
        #expect(result.findings.map(\.kind) == ["normalised-by-browser"], "\(url)")
    }

    @Test func anUnsettledCharacterMayStayAsItIs() throws {
        let url = ScriptedSession.url + "?q=a|b"
        let result = try opened(url, of: url)
        #expect(result.verdict == .pass && result.findings.isEmpty)
    }

    @Test func aFragmentIsNotSent() throws {
        #expect(try opened(ScriptedSession.url, of: ScriptedSession.url + "#top").verdict == .pass)
    }

    @Test func chiasRedirectIsNotCompared() throws {
        var session = ScriptedSession.shared { _ in }
        session.browse(
            ScriptedSession.url, at: 4.5, status: 308, responseHeaders: [("location", ScriptedSession.url + "/")])
        session.browse(ScriptedSession.url + "/", at: 4.7)
        #expect(try session.judge()["HR-28"].verdict == .pass)
        session = ScriptedSession.shared { _ in }
        session.browse(ScriptedSession.url + "/", at: 4.7)
        #expect(try session.judge()["HR-28"].findings.map(\.kind) == ["trailing-slash"])
    }

    @Test func whatAPageOfChiaOpensIsNotCompared() throws {
        let result = try ScriptedSession.shared {
            $0.browse(ScriptedSession.url, at: 4.5)
            $0.browse(ScriptedSession.url + "?step=2", at: 9, headers: [("sec-fetch-site", "same-origin")])
        }.judge()["HR-28"]
        #expect(result.verdict == .pass, "\(result.sentence)")
    }

    @Test func aViewInsideTheAppIsComparedToo() throws {
        let result = try ScriptedSession.shared {
            $0.browse(ScriptedSession.url + "?a=1", at: 4.5, headers: [("user-agent", ScriptedSession.webView)])
        }.judge()["HR-28"]
        #expect(result.findings.map(\.kind) == ["query-added"])
    }

    // MARK: the neutral URL

    @Test func theNeutralURLIsComparedAfterItsTap() throws {
        func opened(_ sent: String, at time: Double = 4.5) throws -> RuleResult {
            try ScriptedSession.goneNeutral { $0.browse(sent, at: time) }.judge()["HR-28"]
        }
        #expect(try opened(ScriptedSession.neutral).verdict == .pass)
        #expect(try opened(ScriptedSession.neutral + "?from=app").findings.map(\.kind) == ["query-added"])
        #expect(try opened(ScriptedSession.neutral + "?from=app", at: 13.9).verdict == .fail)
        let late = try opened(ScriptedSession.neutral + "?from=app", at: 14.1)
        #expect(late.findings.map(\.kind) == ["not-the-app"], "nobody tapped that long before")
        #expect(late.verdict == .notApplicable)
    }

    @Test func aVariantOfTheNeutralURLWithoutMarksIsNotDecided() throws {
        var session = ScriptedSession()
        session.projection(at: 0.5)
        session.browse(ScriptedSession.neutral + "?from=search", at: 4)
        session.mark(.end, at: 60)
        #expect(try session.judge()["HR-28"].reason?.code == "no-tap-mark")
    }

    // MARK: fragments by what the app says

    @Test func theAppsOwnDigestShowsAFragment() throws {
        func opened(_ handed: String, at time: Double = 4.4) throws -> RuleResult {
            let digest = HashFunction.sha256.digest(of: Array(handed.utf8)).map { byte in
                String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
            }.joined()
            return try ScriptedSession.shared {
                $0.mark(.opened, at: time, attributes: ["url-sha256": digest])
                $0.browse(ScriptedSession.url, at: 4.5)
            }.judge()["HR-28"]
        }
        #expect(try opened(ScriptedSession.url).verdict == .pass)
        #expect(try opened(ScriptedSession.url + "#a").findings.map(\.kind) == ["fragment-added"])
        #expect(try opened(ScriptedSession.url + "#a", at: 5.6).verdict == .pass, "it speaks of a later opening")
    }

    // MARK: inconclusive, not applicable

    @Test func unreadConnectionsAreNotDecided() throws {
        let result = try ScriptedSession.shared { $0.dark(.nobody, "chia.health", at: 4.5, lastData: 6) }
            .judge()["HR-28"]
        #expect(result.reason?.code == "no-keys")
    }

    @Test func aDisguisedOpeningIsNotDecided() throws {
        let result = try ScriptedSession.shared { $0.exchange(.disguised, "GET", ScriptedSession.url, at: 4.5) }
            .judge()["HR-28"]
        #expect(result.reason?.code == "actor-unknown")
    }

    @Test func anotherDevicesOpeningIsNotDecided() throws {
        var session = ScriptedSession.shared { _ in }
        session.clientAddress = IPAddress(ipv4: 0x0A00_0009)
        session.browse(ScriptedSession.url + "?a=1", at: 4.5)
        #expect(try session.judge()["HR-28"].reason?.code == "several-devices")
    }

    @Test func withoutAnOpeningItIsNotApplicable() throws {
        #expect(try ScriptedSession.shared { _ in }.judge()["HR-28"].verdict == .notApplicable)
    }

    // MARK: withheld journeys

    @Test func aWithheldOpeningIsComparedByWhatWasKept() throws {
        func judged(_ sent: String, of url: String = ScriptedSession.url) throws -> RuleResult {
            var session = ScriptedSession.upToTap()
            session.tap(.share, at: 4)
            session.share(at: 4.1, url: url)
            session.browse(sent, at: 4.5)
            session.mark(.end, at: 90)
            return try session.judge(WithheldSession(session).events)["HR-28"]
        }
        #expect(try judged(ScriptedSession.url).verdict == .pass)
        #expect(try judged(ScriptedSession.url + "?a=1").findings.map(\.kind) == ["query-added"])
        #expect(try judged(ScriptedSession.url + "/").findings.map(\.kind) == ["trailing-slash"])
        let query = ScriptedSession.url + "?a=1&b=2"
        #expect(try judged(ScriptedSession.url, of: query).findings.map(\.kind) == ["query-removed"])
        #expect(try judged(query + "&c=3", of: query).findings.map(\.kind) == ["query-added"])
        #expect(try judged(ScriptedSession.url + "?b=2&a=1", of: query).findings.map(\.kind) == ["changed"])
        let dotted = "https://chia.health/x/../h/\(ScriptedSession.token)"
        #expect(try judged(ScriptedSession.url, of: dotted).findings.map(\.kind) == ["normalised-by-browser"])
    }

    // MARK: an adversarial pair

    /// One escaped character apart.
    @Test func oneCaseOfAnEscapeTells() throws {
        #expect(try opened(Self.longURL).verdict == .pass)
        #expect(try opened(Self.longURL.replacing("%2F", with: "%2f")).verdict == .fail)
    }
}
