internal import SessionTrace

/// **HR-29 no-custom-header.** The opening carries the header fields of a browser and no others.
///
/// The contract (CONTRACT.md, "Forbidden") rules out extra headers. The names of the fields on each opening of a handoff
/// or neutral URL are held against what browsers send (a list of our own) and against what the same browser, by its
/// User-Agent, sent on a control visit in the same trace: to a return host, to the set-up page, or to the recorder's probe. Credentials,
/// `X-…` fields and cookies that the app itself uses at the partner are violations; any other field that is in neither
/// list is one where a control visit showed what the browser sends, and else a warning. `X-Requested-With` is HR-33's.
/// `Referer: android-app://…` is added by Android's browsers where the app gives a referrer: information, and a warning if
/// it names the app.
///
/// Inconclusive: a head that could not be read in full; connections to Chia that could not be read.
enum NoCustomHeader: Rule {
    static let description = RuleDescription(
        id: "HR-29", name: "no-custom-header", severity: .error,
        sentence: "The browser opens the handoff or neutral URL with its own header fields and no others.",
        heading: "Forbidden",
        inconclusiveWhen: "the head of an opening, or connections to Chia, could not be read",
        options: ["hosts: {return}"],
        example:
            "The app opens the URL with an extra header X-Partner-User. Fail: opened with the header field x-partner-user."
    )

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "neither a handoff URL nor a neutral URL was opened"
        var count = 0
        let openings =
            session.urls.indices.flatMap { session.openings(of: $0) } + session.foreignOpenings()
            + session.neutralOpenings()
        var seen: Set<ExchangeID> = []
        for opening in openings where seen.insert(opening.first.id).inserted {
            let record = opening.first
            judgement.looked(at: opening.evidence("opening"))
            count += 1
            if session.isOfAnotherDevice(record.client?.address) {
                judgement.doubt(
                    "several-devices", "packet \(record.started.number) is an opening on another device",
                    remedy: "judge one device at a time: --filter 'host ADDRESS'")
                continue
            }
            guard let head = record.head, !record.hasUnknownFields, !head.isCut else {
                judgement.doubt(
                    BlindSpot.Reason.headerTableUnknown.rawValue,
                    "the head of an opening (packet \(record.started.number)) could not be read in full",
                    remedy: Session.remedy(.headerTableUnknown))
                continue
            }
            judge(head, opening, session, &judgement)
        }
        judgement.passSentence =
            "\(counted(count, "opening")) with a browser's header fields alone"
            + (session.browsing.profiles.isEmpty ? "" : ", as on its control visit")
        session.doubtOpenings(neutral: true, &judgement)
    }

    private static func judge(
        _ head: RequestHead, _ opening: Navigation, _ session: Session, _ judgement: inout Judgement
    ) {
        let evidence = opening.evidence("opening")
        let learnt = session.browsing.profiles.names(of: head.userAgent)
        for name in Set(head.headerNames).sorted() where !(learnt?.contains(name) ?? false) {
            let shown = session.redactor.name(name)
            func violation(_ kind: String, severity: Severity = .error, _ why: String) {
                judgement.violation(
                    kind, severity: severity, "opened with the header field \(shown): \(why)", place: [name],
                    evidence: [evidence])
            }
            if BrowserFields.credentials.contains(name) {
                violation("credential", "a browser sends none to a page that it opens for the first time")
            } else if name == "x-requested-with" || BrowserFields.names.contains(name)
                || BrowserFields.prefixes.contains(where: name.hasPrefix)
            {
                continue
            } else if name.hasPrefix("x-") {
                violation("custom-header", "no browser sends it")
            } else if learnt != nil {
                violation("custom-header", "the same browser did not send it on its control visit")
            } else {
                violation("unusual-header", severity: .warning, "it is not known of any browser")
            }
        }
        let cookies = head.cookies.filter { session.browsing.appCookies.contains($0) }
        if let cookie = cookies.first {
            judgement.violation(
                "app-cookie",
                "opened with \(counted(cookies.count, "cookie")) that the app itself uses (\(cookie.prefix { $0 != "=" }))",
                place: [String(cookie.prefix { $0 != "=" })], evidence: [evidence])
        }
        judgeReferrer(head, opening, session, &judgement)
    }

    private static func judgeReferrer(
        _ head: RequestHead, _ opening: Navigation, _ session: Session, _ judgement: inout Judgement
    ) {
        guard let program = head.referringProgram else { return }
        let evidence = [opening.evidence("opening")]
        let shown = session.redactor.name(program)
        if namesApp(program, session) {
            judgement.violation(
                "names-app", severity: .warning, "its Referer names the app (android-app://\(shown))",
                place: ["referer"], evidence: evidence)
        } else {
            judgement.information(
                "program-referrer", "its Referer names a program (android-app://\(shown)), which Android adds",
                place: ["referer"], evidence: evidence)
        }
    }

    /// Whether a package is the app's: that of its process, or the partner's domain backwards.
    private static func namesApp(_ program: String, _ session: Session) -> Bool {
        if session.browsing.appProcesses.contains(program) { return true }
        let pieces = program.lowercased().split(separator: ".")
        guard pieces.count >= 2 else { return false }
        let domain = "\(pieces[1]).\(pieces[0])"
        let partners = session.policy.hosts.partner.map(\.domain) + session.inferredPartner
        return partners.contains { HostName(domain).map($0.isWithin) ?? false }
    }
}
