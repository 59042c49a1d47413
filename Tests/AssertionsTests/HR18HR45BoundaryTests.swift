import Assertions
import SessionTrace
import Testing

@Suite struct HR18SessionGoesToPartnerOnlyBoundaryTests {
    /// A request that names no host went to none of the partner's.
    @Test func aRequestWithoutAHostIsNotThePartners() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        let id = session.connect(.app, "203.0.113.9", at: 4.05, hello: false)
        session.share(at: 4.1, on: id)
        session.mark(.end, at: 90)
        let events = session.events().map { event in
            guard case .exchange(var exchange) = event, exchange.id.connection == id, var request = exchange.request
            else { return event }
            request.authority = nil
            var fields = FieldSection()
            for name in ["user-agent", "idempotency-key", "content-type"] {
                if let value = request.fields.first(name) { fields.append(name, value) }
            }
            request.fields = fields
            exchange.request = request
            return .exchange(exchange)
        }
        let result = try session.judge(events)["HR-18"]
        #expect(result.violations == ["session-to-other-host"], "\(result)")
    }
}

@Suite struct HR22DisclosureVersionCurrentBoundaryTests {
    private static let april = #""2026-04""#

    /// A tap at 40 and one at `tap`, with a newer projection between them; the request comes at 42.
    @Test(
        arguments: [(42.0, ["disclosure-version-stale"]), (42.001, [])] as [(Double, [String])])
    func aTapInTheRequestsMomentMadeIt(tap: Double, kinds: [String]) throws {
        var session = ScriptedSession()
        session.fetch(at: 0.5)
        session.tap(.share, at: 40)
        session.fetch(at: 41, version: Self.april)
        session.tap(.share, at: tap)
        session.share(at: 42)
        session.mark(.end, at: 200)
        let result = try session.judge()["HR-22"]
        #expect(result.violations == kinds, "\(result)")
    }

    /// A projection that nobody read may have brought the version that was sent.
    @Test func anUnreadProjectionMayHaveBroughtIt() throws {
        var session = ScriptedSession()
        session.fetch(at: 0.5)
        session.dark(.app, "api.partner.example", at: 20, lastData: 21)
        session.tap(.share, at: 40)
        session.share(at: 42, body: ScriptedSession.shareBody(version: #""2026-02""#))
        session.mark(.end, at: 200)
        let result = try session.judge()["HR-22"]
        #expect(result.violations == [] && result.sentence.contains("has disclosure version"), "\(result)")
    }
}

@Suite struct HR24NoSessionWhenNeutralOnlyBoundaryTests {
    /// Without a projection that forbids it, a session request that nobody read breaks nothing.
    @Test(arguments: [("neutral_only", "no-keys"), ("share_or_neutral", nil)] as [(String, String?)])
    func anUnreadRequestMattersWhereNoneMayBe(mode: String, code: String?) throws {
        var session = ScriptedSession()
        session.mark(.launch, at: 0)
        session.projection(at: 0.5, mode: mode)
        session.tap(.neutral, at: 4)
        session.browse(ScriptedSession.neutral, at: 4.2)
        session.dark(.app, "api.partner.example", at: 20, lastData: 21)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-24"]
        #expect(result.reason?.code == code, "\(result)")
    }
}

@Suite struct HR40HiddenNeverSentBoundaryTests {
    /// With the ids of hidden items any answer can be judged, projections or none.
    @Test(
        arguments: [
            (true, true, Verdict.pass), (false, true, .notApplicable), (true, false, .notApplicable),
        ]) func idsAndAnswersAreEnough(hasIDs: Bool, isAnswered: Bool, verdict: Verdict) throws
    {
        var session = ScriptedSession()
        if hasIDs { session.policyText += "fields: {hidden: [sleep-77]}\n" }
        session.mark(.launch, at: 0)
        if isAnswered {
            session.exchange(.app, "GET", "https://api.partner.example/home", at: 2, response: #"{"a":1}"#)
        }
        session.mark(.end, at: 80)
        let result = try session.judge()["HR-40"]
        #expect(result.verdict == verdict, "\(result)")
    }
}

@Suite struct HR45NeutralImageHostBoundaryTests {
    private func judge(_ more: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var story = ProjectionStory()
        story.session.policyText += "  partner-assets: [img.partner.example]\n"
        story.answer(ScriptedSession.shareDecision, item: #""image":"https://img.partner.example/i/0.png","#)
        more(&story.session)
        return try story.judge()["HR-45"]
    }

    @Test func theFetchIsShown() throws {
        let result = try judge { $0.exchange(.app, "GET", "https://img.partner.example/i/0.png", at: 2) }
        #expect(result.lookedAt.map(\.label) == ["projection", "image"])
    }

    /// Five redirects are followed.
    @Test(arguments: [(5, ["image-host"]), (6, [])] as [(Int, [String])]) func redirectsAreFollowedSoFar(
        count: Int, kinds: [String]
    ) throws {
        let result = try judge { session in
            let last = "https://images.example/i/last.png"
            let hops = (0..<count).map { "https://img.partner.example/i/\($0).png" } + [last]
            for (index, hop) in hops.enumerated() {
                let next = index + 1 < hops.count ? hops[index + 1] : nil
                session.exchange(
                    .app, "GET", hop, at: 2 + Double(index) / 10, status: next == nil ? 200 : 302,
                    responseHeaders: next.map { [("location", $0)] } ?? [])
            }
        }
        #expect(result.violations == kinds, "\(result)")
    }
}
