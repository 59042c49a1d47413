/// The rules that this version judges, in catalogue order, coverage rules last.
public enum RuleCatalogue {
    /// All of them.
    public static let all: [RuleDescription] = rules.map { $0.description }

    /// The five headline tests: nothing before the tap, one request and one navigation a double tap, identical body and
    /// key on retry, no URL in telemetry, no Chia status calls.
    public static let headline: Set<String> = [
        "HR-01", "HR-02", "HR-03", "HR-05", "HR-07", "HR-08", "HR-09", "HR-11", "HR-13", "HR-14", "HR-46", "HR-47",
        "HR-59",
    ]

    static let rules: [any Rule.Type] = [
        NoChiaBeforeAction.self,
        NoSessionBeforeShareTap.self,
        AppNeverContactsChia.self,
        NoPreconnect.self,
        NoProbeOfHandoffURL.self,
        FreshEligibilityAtCTA.self,
        OneSessionRequestPerTapBurst.self,
        NoOverlappingAttempts.self,
        OneExternalNavigationPerBurst.self,
        ActionsMutuallyExclusive.self,
        KeyPresentAndUUIDv4.self,
        KeyUniqueAndRandom.self,
        SameKeySameBody.self,
        UncertainKeepsKey.self,
        DefinitiveDiscardsKey.self,
        DefinitiveRefetchesProjection.self,
        NoResendAfterSuccess.self,
        SessionGoesToPartnerOnly.self,
        SessionAuthenticated.self,
        SessionBodyClosed.self,
        AffirmedIsTrue.self,
        DisclosureVersionCurrent.self,
        AffirmativeTimestampPlausible.self,
        NoSessionWhenNeutralOnly.self,
        NeutralPathDirect.self,
        OpenedAtMostOnce.self,
        OpensInitiatingResponseURL.self,
        ByteExact.self,
        NoCustomHeader.self,
        NoRedirector.self,
        OpenedBeforeExpiry.self,
        HTTPSOnly.self,
        ExternalBrowserOnly.self,
        NoCustomTabWarmup.self,
        HandoffURLShape.self,
        URLOnlyInSessionResponse.self,
        ProjectionClosed.self,
        NoUnlistedURL.self,
        NeutralOnlyHasNoSessionAction.self,
        HiddenNeverSent.self,
        UnsafeEvidenceFailsSafe.self,
        RefreshOnForeground.self,
        NoOutcomeInference.self,
        NoBackgroundObservation.self,
        NeutralImageHost.self,
        NoHandoffURLInTelemetry.self,
        TokenOnlyToChiaByBrowser.self,
        NoSelectionInTelemetry.self,
        NoDeferredLeak.self,
        NoCaptureUpload.self,
        NoShortenerOrPreview.self,
        NoClickAttribution.self,
        NoChiaCookieInApp.self,
        NoKeyInTelemetry.self,
        NoChiaSecretOnDevice.self,
        NoChiaSDK.self,
        NoAuthenticatedAsset.self,
        NoRawCatalog.self,
        NoStatusCall.self,
        NoStatusOrFinanceInResponse.self,
        ReturnURLPlain.self,
        CraftedReturnIgnored.self,
        ReturnGoesHome.self,
        NoPartnerCallback.self,
        ReturnHostRegistered.self,
        PlaintextCoverage.self,
        NoBypass.self,
        ClockBound.self,
        MarksConsistent.self,
        AttributionCoverage.self,
        CaptureComplete.self,
        DevicesApart.self,
        Exercised.self,
        InstrumentNeutral.self,
        CleanStart.self,
    ]

    /// Rules that are judged over several traces, beside those of the same number that are judged over one.
    public static let overTraces: [RuleDescription] = SetRuleCatalogue.rules.map { $0.description }

    /// Every rule by its number, those that only several traces can show among them.
    public static let listed: [RuleDescription] = {
        let alone = overTraces.filter { rule in !all.contains { $0.id == rule.id } }
        let numbered = (all + alone).filter { $0.id.hasPrefix("HR-") }.sorted { $0.id < $1.id }
        return numbered + all.filter { !$0.id.hasPrefix("HR-") }
    }()

    /// The description of a rule by its id.
    public static func description(of id: String) -> RuleDescription? { listed.first { $0.id == id } }
}
