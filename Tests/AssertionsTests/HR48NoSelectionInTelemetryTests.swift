import Assertions
import SessionTrace
import Testing

@Suite struct HR48NoSelectionInTelemetryTests {
    private static let item = "item-4711-abcdef"
    private static let analytics = "https://api2.amplitude.com/2/httpapi"

    private func judge(_ change: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.conformingShare()
        change(&session)
        return try session.judge()["HR-48"]
    }

    private func send(_ body: String, at time: Double = 10, by who: ScriptedSession.Who = .app) throws -> RuleResult {
        try judge { $0.exchange(who, "POST", Self.analytics, at: time, body: body) }
    }

    @Test func aFlowThatTellsNobodyPasses() throws {
        let result = try judge { _ in }
        #expect(result.verdict == .pass, "\(result.sentence)")
        #expect(result.sentence.contains("78 s"))
    }

    @Test func theIdIsAWarningAndWithStrictSelectionAnError() throws {
        let body = #"{"events":[{"type":"handoff_tap","item":"\#(Self.item)"}]}"#
        let result = try send(body)
        #expect(result.verdict == .fail, "\(result.sentence)")
        #expect(result.severity == .warning)
        #expect(result.findings.map(\.kind) == ["selection-sent"])
        #expect(result.sentence.contains("Amplitude") && result.sentence.contains("json:/events/0/item"))
        #expect(!result.sentence.contains(Self.item))
        let strict = try judge {
            $0.policyText += "strict-selection: true\n"
            $0.exchange(.app, "POST", Self.analytics, at: 10, body: body)
        }
        #expect(strict.severity == .error)
    }

    @Test func aURLWithTheIdIsAnError() throws {
        for link in [
            "https://shop.partner.example/i/\(Self.item)", "https%3A%2F%2Fshop.example%2F\(Self.item)%3Fa%3D1",
        ] {
            let result = try send("v=1&dl=\(link)&t=view")
            #expect(result.severity == .error, "\(result.sentence)")
            #expect(result.findings.map(\.kind) == ["selection-url"])
        }
        #expect(try send("see https://shop.example/ and \(Self.item)").severity == .warning)
    }

    @Test func encodingsAndDigestsAreSeenThrough() throws {
        // base64 and SHA-256 of the id.
        #expect(try send(#"{"d":"aXRlbS00NzExLWFiY2RlZg=="}"#).verdict == .fail)
        #expect(
            try send(#"{"h":"\#(Self.sha256OfItem)"}"#).sentence.contains("sha256"))
    }

    private static let sha256OfItem = "15dbc8210bf2e7a0581382197064042a15c7a054c3a0b210f57f3da41ea248a9"

    @Test func whatWasSentBeforeTheCallToActionIsTheShopsOwn() throws {
        // The call to action was tapped at 2 s.
        #expect(try send(#"{"view":"\#(Self.item)"}"#, at: 1.9).verdict == .pass)
        #expect(try send(#"{"view":"\#(Self.item)"}"#, at: 2.3).verdict == .fail)
    }

    @Test func whatComesAfterTheEndIsNot() throws {
        #expect(try send(#"{"view":"\#(Self.item)"}"#, at: 80.4).verdict == .pass)
    }

    @Test func otherReceiversAreOtherRulesMatter() throws {
        for address in ["https://api.partner.example/log", "https://images.shopcdn.example/\(Self.item).png"] {
            #expect(try judge { $0.exchange(.app, "GET", address + "?i=\(Self.item)", at: 10) }.verdict == .pass)
        }
    }

    @Test func theBrowsersAndTheSystemsAreInformation() throws {
        let result = try send(#"{"i":"\#(Self.item)"}"#, by: .browser)
        #expect(result.verdict == .pass)
        #expect(result.findings.map(\.kind) == ["not-the-app"])
    }

    @Test func anUnknownSenderCounts() throws {
        let result = try send(#"{"i":"\#(Self.item)"}"#, by: .nobody)
        #expect(result.verdict == .fail)
        #expect(result.sentence.contains("unknown sender"))
    }

    @Test func anotherItemIsNotTheSelection() throws {
        #expect(try send(#"{"i":"item-4712-abcdef"}"#).verdict == .pass)
    }

    /// Adversarial pair: a short id beside its field's name, and the same characters elsewhere.
    @Test func aShortIdCountsOnlyBehindItsFieldsName() throws {
        func verdict(_ sent: String) throws -> Verdict {
            var session = ScriptedSession.upToTap()
            session.tap(.share, at: 4)
            session.share(
                at: 4.1, body: #"{"catalogId":"77","disclosureVersion":"2026-03","affirmed":true,"affirmedAt":"x"}"#)
            session.mark(.background, at: 5)
            session.mark(.launch, at: 6)
            session.exchange(.app, "POST", Self.analytics, at: 10, body: sent)
            session.mark(.end, at: 90)
            return try session.judge()["HR-48"].verdict
        }
        #expect(try verdict(#"{"catalog_id":"77","n":1}"#) == .fail)
        #expect(try verdict(#"{"catalogId":77}"#) == .fail)
        #expect(try verdict("a=1&catalogid=77&b=2") == .fail)
        #expect(try verdict(#"{"catalogId":"778"}"#) == .pass)
        #expect(try verdict("a=1&mycatalogid=77&b=2") == .pass)
        #expect(try verdict(#"{"width":"77"}"#) == .pass)
        #expect(try verdict(#"{"disclosure_version":"2026-03"}"#) == .fail)
        #expect(try verdict(#"{"build":"2026-03"}"#) == .pass)
    }

    @Test func withoutAFlowItIsNotApplicable() throws {
        var session = ScriptedSession()
        session.mark(.launch, at: 0)
        session.projection(at: 0.5)
        #expect(try session.judge()["HR-48"].verdict == .notApplicable)
    }

    @Test func unreadTelemetryInTheFlowIsNotDecided() throws {
        #expect(
            try judge { $0.dark(.app, "o4507.ingest.sentry.io", at: 20, lastData: 21) }.reason?.code
                == "opaque-telemetry")
        #expect(try judge { $0.dark(.app, "o4507.ingest.sentry.io", at: 0.5, lastData: 1) }.verdict == .pass)
    }

    @Test func aFlowWhoseItemIsUnknownIsNotDecided() throws {
        var session = ScriptedSession()
        session.mark(.launch, at: 0)
        session.tap(.share, at: 4)
        session.share(at: 4.1, body: #"{"itemRef":"item-4711-abcdef","affirmed":true}"#)
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-48"].reason?.code == "selection-unknown")
    }

    @Test func withoutMarksTheFlowBeginsWithTheRequest() throws {
        var session = ScriptedSession()
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 5)
        session.exchange(.app, "POST", Self.analytics, at: 90, body: "n=1")
        let result = try session.judge()["HR-48"]
        #expect(result.verdict == .pass, "\(result.sentence)")
        #expect(result.assumptions.contains { $0.code == "flow-by-traffic" })
    }
}
