import SessionTrace
import Testing

@testable import Assertions

/// Rules over several traces: what no single one can show.
@Suite struct SetRuleTests {
    /// One run, labelled; `start` shifts its labels only, since scripted sessions have one clock.
    private static func run(
        _ labels: [String: String] = [:], later: Double = 0, policy: String = ScriptedSession.returnPolicy,
        _ story: (inout ScriptedSession) -> Void
    ) throws -> TraceVerdict {
        var session = ScriptedSession()
        session.policyText = policy
        if !labels.isEmpty { session.mark(.scenario, at: later, attributes: labels) }
        story(&session)
        return try session.judge()
    }

    private static func share(
        _ session: inout ScriptedSession, at time: Double, key: String = ScriptedSession.key1,
        body: String = ScriptedSession.body, status: Int = 201, fate: ScriptedSession.Fate = .answered
    ) {
        session.tap(.share, at: time - 0.1)
        session.share(at: time, key: key, body: body, status: status, fate: fate)
    }

    private static func set(
        _ verdicts: [TraceVerdict], _ change: (inout SetOptions) -> Void = { _ in }
    ) -> SetVerdict {
        var options = SetOptions()
        change(&options)
        let traces = verdicts.enumerated().map { JudgedTrace(path: "run-\($0.offset + 1).pcapng", verdict: $0.element) }
        return SetVerdict(traces: traces, options: options)
    }

    private static func result(_ id: String, _ verdicts: [TraceVerdict]) throws -> RuleResult {
        try #require(set(verdicts).rules.first { $0.id == id })
    }

    @Test func oneTraceHasNoOther() throws {
        let one = try Self.run { Self.share(&$0, at: 4) }
        #expect(Self.set([one]).rules.isEmpty)
        #expect(Self.set([one, one]).rules.map(\.id) == ["HR-12", "HR-26", "HR-43", "HR-62"])
    }

    // MARK: HR-12

    @Test func keysOfTheirOwnPass() throws {
        let result = try Self.result(
            "HR-12",
            [
                Self.run { Self.share(&$0, at: 4) }, Self.run { Self.share(&$0, at: 100, key: ScriptedSession.key2) },
            ])
        #expect(result.verdict == .pass && result.sentence == "2 keys in 2 traces, none in two", "\(result)")
    }

    @Test func aKeyInTwoTracesFails() throws {
        let one = try Self.run { Self.share(&$0, at: 4) }
        let other = try Self.run { Self.share(&$0, at: 100) }
        let set = Self.set([one, other])
        let result = try #require(set.rules.first { $0.id == "HR-12" })
        #expect(result.violations == ["key-in-two-traces"] && result.severity == .error, "\(result)")
        #expect(result.sentence.contains("run-1.pcapng and run-2.pcapng") && result.sentence.contains("96 s apart"))
        #expect(!"\(set)".contains(ScriptedSession.key1))
        #expect(set.outcome == .violation)
        #expect(result.findings[0].evidence.allSatisfy { $0.subject.hasPrefix("run-") })
    }

    /// What one trace did not capture may hold the other's key, or the other's opening.
    @Test(arguments: [("bypass", "bypass"), ("drops", "capture-drops")]) func whatWasNotCapturedIsADoubt(
        what: String, code: String
    ) throws {
        let verdicts = try [4.0, 100].map { time in
            try Self.run {
                let isFirst = time == 4
                if !isFirst, what == "bypass" { $0.blindSpot(.bypass, from: nil, at: 110, until: 111, on: nil) }
                if !isFirst, what == "drops" { $0.dropped = 3 }
                Self.share(&$0, at: time, key: isFirst ? ScriptedSession.key1 : ScriptedSession.key2)
                $0.browse(isFirst ? ScriptedSession.url : ScriptedSession.otherURL, at: time + 0.5)
            }
        }
        for rule in ["HR-12", "HR-26"] {
            let result = try Self.result(rule, verdicts)
            #expect(result.reason?.code == code && result.sentence.contains("run-2.pcapng"), "\(result)")
        }
    }

    @Test func moreThanIsKeptOfATraceIsADoubt() throws {
        var scripted = ScriptedSession()
        scripted.policyText = ScriptedSession.returnPolicy
        Self.share(&scripted, at: 4)
        Self.share(&scripted, at: 100, key: ScriptedSession.key2)
        scripted.browse(ScriptedSession.url, at: 5)
        scripted.browse(ScriptedSession.otherURL, at: 101)
        let policy = try Policy.parse(yaml: scripted.policyText, file: "handoff.yml")
        var model = SessionModel(policy: policy, options: scripted.options)
        for event in scripted.events() { model.receive(event) }
        let session = model.finish()
        for (limit, code) in [(2, nil), (1, "state-given-up")] {
            let facts = TraceFactsMaker(session: session, limit: limit).facts(now: nil)
            #expect(facts.keys.count == limit && facts.sessionGap?.code == code, "\(facts)")
            #expect(facts.browserGap?.code == code)
        }
    }

    @Test func onTwoDevicesItIsAWarning() throws {
        let labels: [[String: String]] = [["device": "a"], ["device": "b"]]
        let byDevice = try labels.map { label in
            try Self.run(label) { Self.share(&$0, at: label == labels[0] ? 4 : 100) }
        }
        #expect(try Self.result("HR-12", byDevice).severity == .warning)
        #expect(
            Self.set(byDevice).outcome != .violation && Self.set(byDevice) { $0.strict = true }.outcome == .violation)
        let byPlatform = try ["ios", "android"].map { name in
            try Self.run(["platform": name]) { Self.share(&$0, at: name == "ios" ? 4 : 100) }
        }
        #expect(try Self.result("HR-12", byPlatform).severity == .warning)
        let same = try [4.0, 100].map { time in try Self.run(["device": "a"]) { Self.share(&$0, at: time) } }
        #expect(try Self.result("HR-12", same).severity == .error)
    }

    /// A persisted operation goes on after a relaunch that begins another trace.
    @Test func anUncertainOperationMayGoOn() throws {
        let uncertain = try Self.run { Self.share(&$0, at: 4, status: 503) }
        let lost = try Self.run { Self.share(&$0, at: 4, fate: .lost) }
        let again = try Self.run { Self.share(&$0, at: 100) }
        #expect(try Self.result("HR-12", [uncertain, again]).verdict == .pass)
        #expect(try Self.result("HR-12", [lost, again]).verdict == .pass)
        let other = try Self.run { Self.share(&$0, at: 100, body: ScriptedSession.body + " ") }
        let result = try Self.result("HR-12", [uncertain, other])
        #expect(result.violations == ["key-in-two-traces"] && result.sentence.contains("two bodies"), "\(result)")
        let rejected = try Self.run { Self.share(&$0, at: 4, status: 400) }
        #expect(try Self.result("HR-12", [rejected, again]).verdict == .fail)
    }

    @Test func aCopyOfATraceIsOneTrace() throws {
        let one = try Self.run { Self.share(&$0, at: 4) }
        let other = try Self.run { Self.share(&$0, at: 100, key: ScriptedSession.key2) }
        #expect(try Self.result("HR-12", [one, one]).verdict == .notApplicable)
        let three = try Self.result("HR-12", [one, one, other])
        #expect(three.verdict == .pass && three.sentence.hasSuffix("1 copy of a trace left out"), "\(three)")
        // By its name.
        let named = try [4.0, 100].map { time in try Self.run(["trace": "t1"]) { Self.share(&$0, at: time) } }
        #expect(try Self.result("HR-12", named).verdict == .notApplicable)
        let unnamed = try [one, Self.run { Self.share(&$0, at: 100) }]
        #expect(try Self.result("HR-12", unnamed).verdict == .fail)
    }

    /// Proxy and capture beside it record one request, whose times differ a little.
    @Test func oneRequestRecordedTwiceIsOneUse() throws {
        let one = try Self.run { Self.share(&$0, at: 4) }
        #expect(try Self.result("HR-12", [one, Self.run { Self.share(&$0, at: 4.9) }]).verdict == .pass)
        #expect(try Self.result("HR-12", [one, Self.run { Self.share(&$0, at: 5.1) }]).verdict == .fail)
    }

    @Test func keysThatShareTheirBitsAreNotRandom() throws {
        func runs(_ keys: [String]) throws -> [TraceVerdict] {
            try keys.enumerated().map { index, key in
                try Self.run { Self.share(&$0, at: 4 + Double(index) * 100, key: key) }
            }
        }
        let seeded = (0..<5).map { "7b0f6f0e-4c1d-4f5a-9d55-0a2f8f1f3c1\($0)" }
        let result = try Self.result("HR-12", runs(seeded))
        #expect(result.violations == ["keys-not-random"] && result.severity == .warning, "\(result)")
        #expect(result.sentence.contains("119 of 122"), "\(result.sentence)")
        #expect(try Self.result("HR-12", runs(Array(seeded.prefix(4)))).verdict == .pass, "four tell too little")
        let random = [
            ScriptedSession.key1, ScriptedSession.key2, "0d9c7a55-6e3f-4b12-8f77-91b2c3d4e5f6",
            "f3e2d1c0-b9a8-4766-a543-2109fedcba98", "5a5a11ee-90cc-4d3b-bb1e-77d0c2f4a6b8",
        ]
        #expect(try Self.result("HR-12", runs(random)).verdict == .pass)
    }

    @Test func anExceptionAcceptsAPinnedGenerator() throws {
        let policy =
            ScriptedSession.returnPolicy
            + "\nexceptions: [{rule: HR-12, scope: key-in-two-traces, reason: pinned, owner: ana, expires: 2026-12-31}]"
        let runs = try [4.0, 100].map { time in try Self.run(policy: policy) { Self.share(&$0, at: time) } }
        let result = try Self.result("HR-12", runs)
        #expect(result.verdict == .pass && result.acceptedViolations == 1, "\(result)")
        #expect(runs.allSatisfy { $0.notes.isEmpty }, "it did match, over the set")
    }

    @Test func unreadSessionTrafficIsADoubt() throws {
        let one = try Self.run { Self.share(&$0, at: 4) }
        let dark = try Self.run {
            Self.share(&$0, at: 100, key: ScriptedSession.key2)
            $0.dark(.app, "api.partner.example", at: 101, lastData: 102)
        }
        let result = try Self.result("HR-12", [one, dark])
        #expect(result.reason?.code == "no-keys" && result.sentence.hasPrefix("run-2.pcapng"), "\(result)")
        #expect(try Self.result("HR-12", [one, Self.run { $0.projection(at: 1) }]).verdict == .notApplicable)
    }

    // MARK: HR-26

    private static func opened(_ time: Double, tap: Double? = nil, _ more: (inout ScriptedSession) -> Void = { _ in })
        throws -> TraceVerdict
    {
        try run {
            if let tap { $0.tap(.share, at: tap) }
            $0.browse(ScriptedSession.url, at: time)
            more(&$0)
        }
    }

    @Test func aURLOpenedInTwoTracesFails() throws {
        let first = try Self.run {
            Self.share(&$0, at: 4)
            $0.browse(ScriptedSession.url, at: 4.5)
        }
        let again = try Self.result("HR-26", [first, Self.opened(100, tap: 91)])
        #expect(again.violations == ["opened-again"] && again.severity == .error, "\(again)")
        #expect(!"\(again)".contains(ScriptedSession.token))
        let restored = try Self.result("HR-26", [first, Self.opened(100, tap: 89)])
        #expect(restored.violations == ["browser-restore"] && restored.severity == .warning, "\(restored)")
        #expect(try Self.result("HR-26", [first, Self.opened(100)]).violations == ["browser-restore"])
        let byMark = try Self.result("HR-26", [first, Self.opened(100) { $0.mark(.opened, at: 99) }])
        #expect(byMark.violations == ["opened-again"])
    }

    @Test func otherURLsCopiesDevicesAndReloadsAreNone() throws {
        let first = try Self.opened(4.5)
        let other = try Self.run { $0.browse(ScriptedSession.otherURL, at: 100) }
        let pass = try Self.result("HR-26", [first, other])
        #expect(pass.verdict == .pass && pass.sentence.hasPrefix("2 handoff URLs"), "\(pass)")
        #expect(try Self.result("HR-26", [first, Self.opened(5.4)]).verdict == .pass, "recorded twice")
        #expect(
            try Self.result("HR-26", [first, Self.opened(100) { $0.mark(.reload, at: 99.5) }]).verdict == .notApplicable
        )
        let devices = try ["a", "b"].map { name in
            try Self.run(["device": name]) { $0.browse(ScriptedSession.url, at: name == "a" ? 4.5 : 100) }
        }
        #expect(try Self.result("HR-26", devices).verdict == .pass)
        #expect(try Self.result("HR-26", [first, Self.run { $0.projection(at: 1) }]).verdict == .notApplicable)
    }

    @Test func unreadPagesAreADoubt() throws {
        let first = try Self.opened(4.5)
        let dark = try Self.run {
            $0.browse(ScriptedSession.otherURL, at: 100)
            $0.dark(.browser, "chia.health", at: 110, lastData: 111)
        }
        #expect(try Self.result("HR-26", [first, dark]).reason?.code == "no-keys")
    }

    // MARK: HR-43

    private static func back(
        _ labels: [String: String], away: Double = 20, end: Double = 400,
        _ story: (inout ScriptedSession, Double) -> Void
    ) throws -> TraceVerdict {
        try run(labels) {
            Self.share(&$0, at: 4)
            $0.mark(.background, at: 5)
            $0.mark(.foreground, at: 5 + away)
            $0.projection(at: 5.2 + away)
            story(&$0, 5 + away)
            $0.mark(.end, at: end)
        }
    }

    private static func event(_ session: inout ScriptedSession, at time: Double, _ body: String = "{}") {
        session.exchange(.app, "POST", "https://api.partner.example/e", at: time, body: body)
    }

    @Test func theSameTrafficWhateverHappenedPasses() throws {
        let runs = try ["paid", "abandoned"].map { outcome in
            try Self.back(["outcome": outcome]) { Self.event(&$0, at: $1 + 2) }
        }
        let result = try Self.result("HR-43", runs)
        #expect(result.verdict == .pass && result.sentence.hasPrefix("2 runs"), "\(result)")
    }

    @Test func whatDiffersByOutcomeOrTimeAwayIsAWarning() throws {
        let quiet = try Self.back(["outcome": "abandoned"]) { _, _ in }
        let stories: [(String, (inout ScriptedSession, Double) -> Void)] = [
            ("another kind", { Self.event(&$0, at: $1 + 2) }),
            ("another number", { $0.projection(at: $1 + 3) }),
            (
                "telemetry",
                { $0.exchange(.app, "POST", "https://app-measurement.com/a", at: $1 + 2, body: #"{"done":1}"#) }
            ),
        ]
        for (name, story) in stories {
            let other = try Self.back(["outcome": "paid"], story)
            let result = try Self.result("HR-43", [quiet, other])
            #expect(result.violations == ["differs-by-outcome"] && result.severity == .warning, "\(name): \(result)")
        }
        let soon = try Self.back([:], away: 10) { _, _ in }
        let late = try Self.back([:], away: 40) { Self.event(&$0, at: $1 + 2) }
        #expect(try Self.result("HR-43", [soon, late]).violations == ["differs-by-outcome"])
        let sooner = try Self.back([:], away: 10.1) { Self.event(&$0, at: $1 + 2) }
        #expect(try Self.result("HR-43", [sooner, Self.back([:], away: 40) { _, _ in }]).verdict == .notApplicable)
    }

    /// Names in the body tell two kinds apart, and values do not.
    @Test func aKindIsNamedByTheNamesInTheBody() throws {
        let runs = try [#"{"a":1}"#, #"{"a":2}"#].map { body in
            try Self.back(["outcome": body]) { Self.event(&$0, at: $1 + 2, body) }
        }
        #expect(try Self.result("HR-43", runs).verdict == .pass)
        let other = try Self.back(["outcome": "c"]) { Self.event(&$0, at: $1 + 2, #"{"b":1}"#) }
        #expect(try Self.result("HR-43", [runs[0], other]).verdict == .fail)
    }

    @Test func imagesAndTheNumberOfEventsToTelemetryAreNoise() throws {
        let quiet = try Self.back(["outcome": "a"]) {
            $0.exchange(.app, "POST", "https://app-measurement.com/a", at: $1 + 2, body: "{}")
        }
        let other = try Self.back(["outcome": "b"]) {
            $0.exchange(.app, "POST", "https://app-measurement.com/a", at: $1 + 2, body: "{}")
            $0.exchange(.app, "POST", "https://app-measurement.com/a", at: $1 + 3, body: "{}")
            $0.exchange(.app, "GET", "https://img.partner.example/1", at: $1 + 3)
        }
        #expect(try Self.result("HR-43", [quiet, other]).verdict == .pass)
    }

    @Test func otherScenariosAndPlatformsAreNotCompared() throws {
        for label in ["scenario", "platform"] {
            let runs = try ["x", "y"].map { name in
                try Self.back([label: name, "outcome": name]) { if name == "x" { Self.event(&$0, at: $1 + 2) } }
            }
            #expect(try Self.result("HR-43", runs).verdict == .notApplicable, "\(label)")
        }
    }

    @Test func aWindowThatWasCutShortIsADoubt() throws {
        let whole = try Self.back(["outcome": "a"]) { _, _ in }
        let cut = try Self.back(["outcome": "b"]) { $0.tap(.cta, at: $1 + 29.9) }
        #expect(try Self.result("HR-43", [whole, cut]).reason?.code == "window-cut-short")
        let after = try Self.back(["outcome": "b"]) { $0.tap(.cta, at: $1 + 30.1) }
        #expect(try Self.result("HR-43", [whole, after]).verdict == .pass)
        #expect(
            try Self.result("HR-43", [whole, Self.back(["outcome": "b"], end: 50) { _, _ in }]).reason?.code
                == "trace-ended")
        let dark = try Self.back(["outcome": "b"]) { $0.dark(.app, "x.example", at: $1 + 2, lastData: $1 + 3) }
        #expect(try Self.result("HR-43", [whole, dark]).reason?.code == "no-keys")
    }

    /// Whether what was sent between the key and the projection came after coming back can't be told.
    @Test(
        arguments: [
            (1.0, true, "late-mark"), (5.1, true, nil), (1, false, nil), (-3.0, true, "late-mark"), (-3.001, true, nil),
        ]
            as [(Double, Bool, String?)])
    func whatIsSentAroundAKeyPressIsNotCompared(delay: Double, isByHand: Bool, code: String?) throws {
        let runs = try ["a", "b"].map { outcome in
            try Self.run(["outcome": outcome]) {
                Self.share(&$0, at: 4)
                $0.mark(.background, at: 5)
                $0.mark(.foreground, at: 25, by: isByHand ? .person : .script)
                $0.projection(at: 30)
                Self.event(&$0, at: 25 + delay)
                $0.mark(.end, at: 400)
            }
        }
        let result = try Self.result("HR-43", runs)
        #expect(result.reason?.code == code && (result.verdict == .pass) == (code == nil), "\(result)")
    }

    // MARK: HR-62

    private static func returned(
        _ outcome: String?, link: String? = nil, _ story: (inout ScriptedSession) -> Void = { _ in }
    ) throws -> TraceVerdict {
        try run(outcome.map { ["outcome": $0] } ?? [:]) {
            Self.share(&$0, at: 4)
            $0.browse(ScriptedSession.url, at: 4.5)
            if let link {
                $0.browse("https://chia.health/back", at: 40, status: 302, responseHeaders: [("location", link)])
            }
            $0.mark(.return, at: 50)
            $0.exchange(.app, "GET", "https://api.partner.example/home", at: 50.2)
            story(&$0)
            $0.mark(.end, at: 100)
        }
    }

    @Test func oneReturnForEveryOutcomePasses() throws {
        let link = "https://www.partner.example/"
        let result = try Self.result(
            "HR-62",
            [Self.returned("paid", link: link), Self.returned("abandoned", link: link) { $0.tap(.cta, at: 90) }])
        #expect(result.verdict == .pass && result.sentence.hasPrefix("2 runs"), "\(result)")
    }

    @Test func anotherLinkOrOtherRequestsFail() throws {
        let link = "https://www.partner.example/"
        let plain = try Self.returned("abandoned", link: link)
        let other = try Self.result("HR-62", [plain, Self.returned("paid", link: link + "?s=1")])
        #expect(other.violations == ["link-differs"] && other.severity == .error, "\(other)")
        #expect(!"\(other.findings)".contains("s=1"))
        let orders = try Self.returned("paid", link: link) {
            $0.exchange(.app, "GET", "https://api.partner.example/orders", at: 51)
        }
        let set = Self.set([plain, orders]) { $0.groupBy = "none" }
        let result = try #require(set.rules.first { $0.id == "HR-62" })
        #expect(result.violations == ["differs-by-outcome"] && result.severity == .error, "\(result)")
        #expect(result.sentence.contains("GET /orders") && result.sentence.contains("paid"), "\(result.sentence)")
        #expect(set.outcome == .violation)
        let row = try #require(set.matrix.first { $0.id == "M-08" })
        #expect(row.cells["all"]?.exercise == .violated && row.cells["all"]?.violated == 3, "\(row)")
    }

    @Test func withoutTwoOutcomesThereIsNothingToCompare() throws {
        let orders = { (session: inout ScriptedSession) -> Void in
            session.exchange(.app, "GET", "https://api.partner.example/orders", at: 51)
        }
        #expect(
            try Self.result("HR-62", [Self.returned(nil), Self.returned(nil, orders)]).verdict == .notApplicable)
        #expect(
            try Self.result("HR-62", [Self.returned("paid"), Self.returned("paid", orders)]).verdict == .notApplicable)
        #expect(
            try Self.result("HR-62", [Self.returned("paid"), Self.returned(nil, orders)]).verdict == .notApplicable)
    }

    @Test func unreadTrafficAfterTheReturnIsADoubt() throws {
        let dark = try Self.returned("paid") { $0.dark(.app, "x.example", at: 52, lastData: 53) }
        #expect(try Self.result("HR-62", [Self.returned("abandoned"), dark]).reason?.code == "no-keys")
    }
}

/// The matrix over sets: what certifies, and what each row asks for.
@Suite struct CertifyTests {
    private static func verdict(_ rows: [String: Exercise], platform: String? = nil) -> TraceVerdict {
        var matrix: [String: Exercise] = [:]
        for row in ContractMatrix.rows { matrix[row.id] = rows[row.id] ?? (row.isDecidable ? .notShown : .outOfScope) }
        var summary = TraceSummary()
        summary.packets = 1
        return TraceVerdict(
            rules: [], matrix: matrix, attributes: platform.map { ["platform": $0] } ?? [:], summary: summary, gate: [],
            exercisedAnything: true)
    }

    private static let all = Dictionary(
        uniqueKeysWithValues: ContractMatrix.rows.filter(\.isDecidable).map { ($0.id, Exercise.proven) })

    private static func set(_ verdicts: [TraceVerdict], groupBy: String = "platform") -> SetVerdict {
        var options = SetOptions()
        options.certify = true
        options.groupBy = groupBy
        return SetVerdict(
            traces: verdicts.enumerated().map { JudgedTrace(path: "\($0.offset)", verdict: $0.element) },
            options: options)
    }

    @Test func aSetThatProvesEveryRowCertifies() {
        #expect(Self.set([Self.verdict(Self.all)]).outcome == .conforming)
        let halves = [
            Self.verdict(Self.all.filter { $0.key < "M-07" }), Self.verdict(Self.all.filter { $0.key >= "M-07" }),
        ]
        #expect(Self.set(halves).outcome == .conforming)
        #expect(Self.set([halves[0]]).outcome == .inconclusive)
        #expect(Self.set([halves[0]]).notExercised.contains { $0.contains("M-13") })
        #expect(!Self.set([halves[0]]).notExercised.contains { $0.contains("M-12") || $0.contains("M-01") })
    }

    @Test func everyGroupMustProveEveryRow() {
        let ios = Self.verdict(Self.all, platform: "ios")
        let android = Self.verdict(Self.all.filter { $0.key != "M-08" }, platform: "android")
        let set = Self.set([ios, android])
        #expect(set.groups == ["android", "ios"])
        #expect(set.notExercised.count == 1 && set.notExercised[0].contains("M-08"))
        #expect(set.notExercised[0].hasSuffix("android"))
        #expect(Self.set([ios, android], groupBy: "scenario").outcome == .conforming)
        #expect(Self.set([ios, android], groupBy: "scenario").groups == ["all"])
    }

    @Test func eachRowNamesRulesOfTheCatalogue() {
        for row in ContractMatrix.rows {
            #expect(row.rules.allSatisfy(RuleNumbers.all.contains), "\(row.id)")
        }
        #expect(RuleCatalogue.listed.map(\.id).contains("HR-62"))
        #expect(RuleCatalogue.description(of: "HR-62")?.name == "return-identical")
        #expect(RuleCatalogue.listed.map(\.id).count == Set(RuleCatalogue.listed.map(\.id)).count)
    }
}
