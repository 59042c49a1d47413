internal import SessionTrace

/// **HR-53 no-chia-cookie-in-app.** Nothing by which Chia knows the person again reaches the app, and nothing by which the
/// partner does reaches Chia.
///
/// The contract (CONTRACT.md, "Forbidden") rules out conclusions from cookies. A value that a Chia host set as a cookie,
/// in whatever request of the app, is a violation; so is a cookie or credential that the app has from the partner, or
/// sends it, in a request to Chia, whoever sends that. Values that are too short to be told apart are not compared. Of a
/// withheld connection the cookies are known by keyed digests, which are compared all the same.
///
/// Inconclusive: traffic with Chia, or the app's own, stayed unread; withheld cookies were kept with another
/// installation's key.
enum NoChiaCookieInApp: Rule {
    static let description = RuleDescription(
        id: "HR-53", name: "no-chia-cookie-in-app", severity: .error,
        sentence:
            "No cookie of Chia's is in a request of the app, and no cookie or credential of the partner's in one to Chia.",
        heading: "Forbidden", matrix: [],
        inconclusiveWhen:
            "traffic with Chia or of the app could not be read, or withheld cookies can't be compared",
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
        judgeChias(cookies, own, session, &judgement)
        judgePartners(cookies, own, session, &judgement)
        let set = cookies.ofChia.count + cookies.ofChiaWithheld.count
        let sent = cookies.toChia.count + cookies.toChiaWithheld.count
        judgement.passSentence =
            "\(counted(set, "cookie")) of Chia's, none among \(cookies.ofApp.count) that the app sent; \(sent) sent to Chia, none of the partner's"
        if set + sent > 0 { judgement.exercised() }
        doubt(cookies, session, &judgement)
    }

    /// Chia's cookies in the app's requests.
    private static func judgeChias(
        _ cookies: CookieBook, _ own: [String: Secret], _ session: Session, _ judgement: inout Judgement
    ) {
        var pairs: [(set: CookieBook.Entry, value: Secret)] = cookies.ofChia.map { ($0.value, $0.key) }
        for (digest, entry) in cookies.ofChiaWithheld {
            if let value = own[digest] { pairs.append((entry, value)) }
        }
        for (set, value) in pairs.sorted(by: {
            ($0.set.record.started.time, $0.set.name) < ($1.set.record.started.time, $1.set.name)
        }) {
            // A value that somebody else gave the app as well is not Chia's alone.
            guard cookies.givenToApp[value] == nil else { continue }
            for sent in cookies.ofApp[value] ?? [] {
                let sentence =
                    "the cookie \(set.name) of \(session.redactor.host(set.record.host?.text ?? "?")) is in \(sent.record.subject), \(sent.name)"
                guard isOfApp(sent, sentence, session, &judgement) else { continue }
                judgement.violation(
                    "chia-cookie", "\(sentence), by the app (\(sent.record.actor.reason))",
                    place: [
                        session.role(of: sent.record.host).rawValue, sent.record.pathTemplate, set.name, sent.name,
                    ],
                    evidence: [set.record.evidence("cookie set"), sent.record.evidence("cookie sent")])
            }
        }
    }

    /// The partner's cookies and credentials in requests to Chia.
    private static func judgePartners(
        _ cookies: CookieBook, _ own: [String: Secret], _ session: Session, _ judgement: inout Judgement
    ) {
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
            let given = cookies.givenToApp[value].map { [$0] } ?? []
            guard cookies.ofChia[value] == nil,
                let source = (given + (cookies.ofApp[value] ?? [])).first(where: isPartner)
            else { continue }
            if sent.record.actor.actor.isApp, session.isOfAnotherDevice(sent.record.client?.address) { continue }
            judgement.violation(
                "partner-credential",
                "\(source.name) of \(session.redactor.host(source.record.host?.text ?? "?")) is in \(sent.record.subject), \(sent.name) (\(sent.record.actor.actor.rawValue))",
                place: [session.role(of: sent.record.host).rawValue, sent.record.pathTemplate, source.name, sent.name],
                evidence: [source.record.evidence("the partner's"), sent.record.evidence("sent to Chia")])
        }
    }

    private static func isOfApp(
        _ sent: CookieBook.Entry, _ sentence: String, _ session: Session, _ judgement: inout Judgement
    ) -> Bool {
        let record = sent.record
        if session.isOfAnotherDevice(record.client?.address) { return false }
        guard record.actor.actor == .unknown,
            record.actor.isBareBrowser || session.role(of: record.host).isChia
        else { return true }
        // To Chia it is the browser's own, unless something says that it is not.
        if !session.role(of: record.host).isChia {
            judgement.doubt(
                "actor-unknown", "\(sentence), and nothing tells who sent it: \(record.actor.reason)",
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
        }
        session.doubtSessionTraffic(&judgement)
        session.doubtBypass(&judgement)
        session.assumePartner(&judgement)
    }
}
