internal import SessionTrace

/// **HR-53 no-chia-cookie-in-app.** Nothing by which Chia knows the person again reaches the app, and nothing by which the
/// partner does reaches Chia.
///
/// The contract (CONTRACT.md, "Forbidden") rules out conclusions from cookies. A value that a Chia host set as a cookie,
/// in whatever part of a message of the app, is a violation, unless the app was given it before by somebody else; so is a
/// cookie or credential that the app has from the partner, or sends it, in a request to Chia, whoever sends that. Values
/// that are too short to be told apart are not compared. Of a withheld connection the cookies are known by keyed digests,
/// which are compared all the same.
///
/// Inconclusive: traffic with Chia, or the app's own, stayed unread or could not be searched; withheld cookies were kept
/// with another installation's key; an equal value is made as words, numbers and times are, which any two sites may have.
enum NoChiaCookieInApp: Rule {
    static let description = RuleDescription(
        id: "HR-53", name: "no-chia-cookie-in-app", severity: .error,
        sentence:
            "No cookie of Chia's is in a request of the app, and no cookie or credential of the partner's in one to Chia.",
        heading: "Forbidden", matrix: [],
        inconclusiveWhen:
            "traffic with Chia or of the app could not be read, withheld cookies can't be compared, or equal values say too little",
        options: ["hosts: {chia, partner}"],
        example:
            "Chia's page sets the cookie sid, and the app sends its value to the partner on its return. Fail: the cookie sid of chia.health is in POST /visit of the app (chia-cookie)."
    )

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "Chia set no cookie, and was sent none, in what was read"
        let cookies = session.contents.cookies
        var own: [String: Secret] = [:]
        if !cookies.ofChiaWithheld.isEmpty || !cookies.toChiaWithheld.isEmpty {
            for value in Set(cookies.ofApp.keys).union(cookies.givenToApp.keys) {
                own[session.redactor.digest(value)] = value
            }
        }
        let partners = judgePartners(cookies, own, session, &judgement)
        judgeChias(cookies, own, besides: partners, session, &judgement)
        let set = cookies.ofChia.count + cookies.ofChiaWithheld.count
        let sent = cookies.toChia.count + cookies.toChiaWithheld.count
        judgement.passSentence =
            "\(counted(set, "cookie")) of Chia's, none among \(cookies.ofApp.count) that the app sent; \(sent) sent to Chia, none of the partner's"
        if set + sent > 0 { judgement.exercised() }
        doubt(cookies, session, &judgement)
    }

    /// Chia's cookies in the app's requests.
    private static func judgeChias(
        _ cookies: CookieBook, _ own: [String: Secret], besides partners: Set<Secret>, _ session: Session,
        _ judgement: inout Judgement
    ) {
        var pairs: [(set: CookieBook.Entry, value: Secret)] = cookies.ofChia.map { ($0.value, $0.key) }
        for (digest, entry) in cookies.ofChiaWithheld {
            if let value = own[digest] { pairs.append((entry, value)) }
        }
        var leaks: [Secret: [(leak: LeakRecord, hit: LeakHit)]] = [:]
        for leak in session.leaks where !session.isOfAnotherDevice(leak.client) {
            for hit in leak.hits {
                guard let needle = hit.needle, needle.kind == .cookie else { continue }
                leaks[needle.value, default: []].append((leak, hit))
            }
        }
        pairs.removeAll { partners.contains($0.value) }
        for (set, value) in pairs.sorted(by: {
            ($0.set.record.started.time, $0.set.name) < ($1.set.record.started.time, $1.set.name)
        }) {
            let name = "the cookie \(set.name) of \(session.redactor.host(set.record.host?.text ?? "?"))"
            let sent = cookies.ofApp[value] ?? []
            for sent in sent where !wasGiven(value, before: sent.record.started.time, cookies, session) {
                let record = sent.record
                let sentence = "\(name) is in \(record.subject), \(sent.name)"
                guard
                    isOfApp(record.actor, record.host, record.client?.address, sentence, session, &judgement),
                    isOne(value, set.name, sent.name, sentence, &judgement)
                else { continue }
                judgement.violation(
                    "chia-cookie", "\(sentence), by the app (\(record.actor.reason))",
                    place: [session.role(of: record.host).rawValue, record.pathTemplate, set.name, sent.name],
                    evidence: [set.record.evidence("cookie set"), record.evidence("cookie sent")])
            }
            for (leak, hit) in leaks[value] ?? [] where !wasGiven(value, before: leak.started, cookies, session) {
                // Told above.
                if hit.chain.isEmpty,
                    sent.contains(where: {
                        $0.record.host == leak.host
                            && ["cookie:\($0.name)", "header:\($0.name)"].contains(hit.location)
                    })
                {
                    continue
                }
                let sentence = "\(name) is in \(leak.evidence("", hit).subject), \(hit.place)"
                guard isOfApp(leak.actor, leak.host, leak.client, sentence, session, &judgement) else { continue }
                judgement.violation(
                    "chia-cookie", "\(sentence), by the app (\(leak.actor.reason))",
                    place: [
                        session.role(of: leak.host).rawValue, leak.request?.pathTemplate ?? "", set.name,
                        hit.fieldTemplate,
                    ],
                    evidence: [set.record.evidence("cookie set"), leak.evidence("cookie sent", hit)])
            }
        }
    }

    /// Whether somebody else gave the app a value before it sent it: it is not Chia's alone then.
    private static func wasGiven(
        _ value: Secret, before sent: Instant, _ cookies: CookieBook, _ session: Session
    ) -> Bool {
        guard let given = cookies.givenToApp[value]?.record else { return false }
        return given.ended.time < sent && !session.isOfAnotherDevice(given.client?.address)
    }

    /// Whether two equal values are one: by how they are made, or by where they stand; writes down that it can't be told.
    private static func isOne(
        _ value: Secret, _ name: String, _ other: String, _ sentence: String, _ judgement: inout Judgement
    ) -> Bool {
        let credentials = [name, other].count { CookieBook.credentialFields.contains($0) }
        switch CookieMake(value.bytes) {
        case .identifier: return true
        case .mixed: if credentials > 0 || name.lowercased() == other.lowercased() { return true }
        // A credential proves who sends it, however it is made.
        case .plain: if credentials == 2 { return true }
        }
        judgement.doubt(
            "cookie-value-common",
            "\(sentence), but its value is made as words, numbers and times are, which two sites may have alike",
            remedy: "leave such cookies (a time zone, a language, a device) out of the test build")
        return false
    }

    /// The partner's cookies and credentials in requests to Chia; gives back those that are some.
    private static func judgePartners(
        _ cookies: CookieBook, _ own: [String: Secret], _ session: Session, _ judgement: inout Judgement
    ) -> Set<Secret> {
        var found: Set<Secret> = []
        func isPartner(_ entry: CookieBook.Entry) -> Bool {
            [.partner, .partnerAssets, .returnHost].contains(session.role(of: entry.record.host))
        }
        var pairs: [(sent: CookieBook.Entry, value: Secret)] = cookies.toChia.map { ($0.value, $0.key) }
        for (digest, entry) in cookies.toChiaWithheld {
            if let value = own[digest] { pairs.append((entry, value)) }
        }
        for (sent, value) in pairs.sorted(by: {
            ($0.sent.record.started.time, $0.sent.name) < ($1.sent.record.started.time, $1.sent.name)
        }) {
            let given = cookies.givenToApp[value].map { [(entry: $0, at: $0.record.ended.time)] } ?? []
            let own = (cookies.ofApp[value] ?? []).map { (entry: $0, at: $0.record.started.time) }
            let sources = (given + own).filter { isPartner($0.entry) }
            guard let source = sources.first?.entry, let first = sources.map(\.at).min() else { continue }
            // What Chia had set before is Chia's; what it only repeats is the partner's.
            if let set = cookies.ofChia[value], set.record.started.time <= first { continue }
            if sent.record.actor.actor.isApp, session.isOfAnotherDevice(sent.record.client?.address) { continue }
            let sentence =
                "\(source.name) of \(session.redactor.host(source.record.host?.text ?? "?")) is in \(sent.record.subject), \(sent.name)"
            guard isOne(value, source.name, sent.name, sentence, &judgement) else { continue }
            found.insert(value)
            judgement.violation(
                "partner-credential", "\(sentence) (\(sent.record.actor.actor.rawValue))",
                place: [session.role(of: sent.record.host).rawValue, sent.record.pathTemplate, source.name, sent.name],
                evidence: [source.record.evidence("the partner's"), sent.record.evidence("sent to Chia")])
        }
        return found
    }

    private static func isOfApp(
        _ actor: ActorReading, _ host: HostName?, _ client: IPAddress?, _ sentence: String, _ session: Session,
        _ judgement: inout Judgement
    ) -> Bool {
        if session.isOfAnotherDevice(client) { return false }
        guard actor.actor == .unknown, actor.isBareBrowser || session.role(of: host).isChia else { return true }
        // To Chia it is the browser's own, unless something says that it is not.
        if !session.role(of: host).isChia {
            judgement.doubt(
                "actor-unknown", "\(sentence), and nothing tells who sent it: \(actor.reason)",
                remedy: "capture with process names (PKTAP, PCAPdroid), or let the client send its own User-Agent")
        }
        return false
    }

    private static func doubt(_ cookies: CookieBook, _ session: Session, _ judgement: inout Judgement) {
        if cookies.isFull {
            judgement.doubt(
                "state-given-up", "there were more than \(CookieBook.limit) cookies of one kind",
                remedy: Session.remedy(.stateGivenUp))
        }
        if cookies.hasMore {
            judgement.doubt(
                BlindSpot.Reason.stateGivenUp.rawValue,
                "Chia set more cookies than are looked for in contents (\(CookieBook.searched))",
                remedy: Session.remedy(.stateGivenUp))
        }
        if !cookies.canCompareWithheld {
            judgement.doubt(
                BlindSpot.Reason.withheld.rawValue,
                "cookies of the withheld journey were kept with the key of another installation, or of an unknown one",
                remedy:
                    "judge the recording where it was made, or record a synthetic persona with --chia-journey=record")
        }
        let chia = session.dark.keys.sorted { $0.text < $1.text }.first {
            session.roles.isChia($0) && session.dark[$0]?.lastData != nil
        }
        if let chia, let traffic = session.dark[chia] {
            judgement.doubt(
                traffic.reason.rawValue, "\(Session.unread(traffic, chia)), and its cookies are not known",
                remedy: Session.remedy(traffic.reason))
        }
        guard judgement.isExercised || !judgement.doubts.isEmpty else { return }
        // Once Chia has set a cookie, whatever the app sends may hold it.
        let given = Array(cookies.ofChia.values) + cookies.ofChiaWithheld.values
        if let since = given.map(\.record.started.time).min() {
            session.doubtUnread(from: since, until: .distantFuture, &judgement)
            session.doubtScanGap(since: since, &judgement)
        }
        session.doubtSessionTraffic(&judgement)
        session.doubtBypass(&judgement)
        session.assumePartner(&judgement)
    }
}
