internal import SessionTrace

/// **HR-63 crafted-return-ignored.** What stands in the query and fragment of a return link goes nowhere.
///
/// The contract (CONTRACT.md, "Generic return") has the handler check the host and ignore the rest. The tester opens a return
/// link with crafted values and writes them into the `return` mark's attributes (`attrs: {"url": …}`, or one attribute a
/// value). From then on every request and message of the app is searched for them, in every encoding that the scanner
/// knows. Where the app goes after a return is HR-64's matter.
///
/// Inconclusive: the crafted values are too short, or of too few different characters, to be searched for, or were sent
/// before the return already; traffic of the app after it that stayed unread or came to nothing. Where one can be searched
/// for, it stands for the others of its link. Traps: the browser that carries the link; a value that the app always sends; a crafted value that
/// turns up compressed, encoded or as a digest.
enum CraftedReturnIgnored: Rule {
    static let description = RuleDescription(
        id: "HR-63", name: "crafted-return-ignored", severity: .error,
        sentence: "Crafted values of a return link turn up in no request of the app.",
        heading: "Generic return", matrix: ["M-08"],
        inconclusiveWhen: "the crafted values can't be told from others, or traffic of the app stayed unread",
        options: ["hosts: {return, opaque-ok}", "timing: {after-return}"],
        example:
            "The return link has ?ref=canary-81c2f0aa, and the app's next analytics event holds it in base64. Fail: crafted-value-sent, with field and decode chain."
    )

    /// Attributes of a `return` mark that speak of the test, not of the link.
    static let reserved: Set<String> = ["screen", "item", "catalogId", "prewarm"]

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no return link with crafted values was followed"
        let returns = session.marks([.return]).filter { !crafted($0).isEmpty }
        session.doubtLeftOut(returns.count, "returns with crafted values", &judgement)
        for mark in returns.prefix(session.windowLimit) {
            judgement.looked(at: session.evidence(mark))
            let values = crafted(mark)
            let searched = values.filter(isSearched)
            if searched.count < values.count {
                let few =
                    "\(counted(values.count - searched.count, "crafted value")) of the return mark too short, or of too few different characters, to be told from what is there by chance"
                if searched.isEmpty {
                    judgement.doubt(
                        "crafted-value-too-short", few,
                        remedy: "craft values such as canary-81c2f0aa, one for each field")
                } else {
                    judgement.assume("crafted-value-not-searched", "\(few); the others stand for the link")
                }
            }
            if !searched.isEmpty { judge(mark, Set(searched.map { Secret($0) }), session, &judgement) }
        }
        judgement.passSentence =
            "\(counted(returns.count, "return")) with crafted values, found in none of the app's messages after it"
    }

    /// The values that a mark's attributes craft.
    static func crafted(_ mark: Mark) -> [String] {
        mark.attributes.sorted { $0.key < $1.key }.filter { !reserved.contains($0.key) }.flatMap { pair -> [String] in
            // A link without query and fragment crafts nothing.
            if pair.value.contains("://"), !pair.value.contains("?"), !pair.value.contains("#") { return [] }
            return SessionModel.canaries(in: pair.value).filter { !$0.isEmpty }
        }
    }

    /// Whether a crafted value says enough to be searched for.
    static func isSearched(_ value: String) -> Bool { NeedleForms.isTelling(Array(value.utf8)) }

    private static func judge(
        _ mark: Mark, _ values: Set<Secret>, _ session: Session, _ judgement: inout Judgement
    ) {
        let start = session.reach(of: mark).earliest
        var stale: Set<Secret> = []
        let leaks = session.leaks.filter { !$0.actor.actor.isElsewhere && !session.isOfAnotherDevice($0.client) }
        for leak in leaks where leak.started < start {
            for hit in leak.hits {
                if let value = hit.needle?.value, values.contains(value) { stale.insert(value) }
            }
        }
        if !stale.isEmpty {
            judgement.doubt(
                "crafted-value-not-new",
                "\(counted(stale.count, "crafted value")) had been sent before the return already",
                remedy: "craft values that nothing else holds, new ones for each run")
        }
        for leak in leaks where leak.started >= start {
            for hit in leak.hits {
                guard let value = hit.needle?.value, values.contains(value), !stale.contains(value) else { continue }
                report(leak, hit, mark, session, &judgement)
            }
        }
        session.doubtUnread(from: start, until: .distantFuture, searchesAll: true, &judgement)
        session.doubtScanGap(since: start, &judgement)
        session.assumeWatched(session.policy.timing.afterReturn, since: mark.span.latest, "the return", &judgement)
    }

    private static func report(
        _ leak: LeakRecord, _ hit: LeakHit, _ mark: Mark, _ session: Session, _ judgement: inout Judgement
    ) {
        let delay = Nanoseconds(max(0, leak.started.nanoseconds(since: mark.span.earliest)))
        let role = session.role(of: leak.host)
        let sentence =
            "\(leak.evidence("", hit).subject), \(delay) after the return, carries the crafted value \(hit.needle?.label ?? "") in \(hit.place)"
        // The browser that follows the link asks its host for it, and may not be known as a browser.
        if leak.actor.actor == .unknown, role != .partner, role != .telemetry {
            return judgement.doubt(
                "actor-unknown", "\(sentence): \(leak.actor.reason)",
                remedy: "capture with process names (PKTAP, PCAPdroid), or let the client send its own User-Agent")
        }
        judgement.violation(
            "crafted-value-sent", sentence, place: LeakRules.place(leak, hit, session),
            evidence: [session.evidence(mark), leak.evidence("crafted value", hit)])
    }
}
