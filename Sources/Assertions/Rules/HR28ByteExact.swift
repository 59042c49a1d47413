internal import Crypto
internal import SessionTrace

/// **HR-28 byte-exact.** What the browser asks for is the URL that the app was given, byte by byte.
///
/// The contract (CONTRACT.md, "Forbidden") rules out rewriting, query parameters and fragments. Scheme, authority, path
/// and query as sent are compared with the handoff URL, and after the neutral action with the neutral URL, without their
/// fragments. A form that browsers themselves give a URL (WHATWG URL: host in lower case, no default port, dot segments
/// gone, forbidden characters escaped) counts as equal, and is told as information. A redirect that Chia issued comes
/// after the opening and is not compared.
///
/// A fragment never reaches the wire. Where an `opened` mark carries `attrs.url-sha256`, the digest of the URL that the
/// app handed over, an added fragment is seen by that.
///
/// Inconclusive: an opening whose head could not be read; a neutral URL's variant where no tap is marked.
enum ByteExact: Rule {
    static let description = RuleDescription(
        id: "HR-28", name: "byte-exact", severity: .error,
        sentence: "The URL that the browser asks for is the one that the app was given, byte by byte.",
        heading: "Forbidden",
        inconclusiveWhen:
            "connections to Chia could not be read or went around the proxy, nothing tells whose an opening is, or a URL of another session was opened",
        example:
            "The app appends ?utm_source=app to the handoff URL. Fail: opened with query parameters added."
    )

    /// An attribute of `opened` marks: SHA-256 of the URL handed to the system, 64 hex digits.
    static let digestAttribute = "url-sha256"

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "neither a handoff URL nor a neutral URL was opened"
        var count = 0
        let neutralOpenings = session.neutralOpenings()
        for (index, url) in session.urls.enumerated() {
            for navigation in session.openings(of: index) {
                if session.neutralURL(askedBy: navigation.first)?.isExact ?? false { continue }
                count += 1
                compare(
                    navigation, with: url.text, name: "the handoff URL \(url.label)", because: [url.evidence], session,
                    &judgement)
            }
        }
        for navigation in neutralOpenings {
            guard !(session.handoffURL(askedBy: navigation.first)?.isExact ?? false),
                let (url, isExact) = session.neutralURL(askedBy: navigation.first)
            else { continue }
            let burst = session.neutralBursts.last { $0.reach <= navigation.started }
            let isAnswered =
                burst.map {
                    navigation.started.nanoseconds(since: $0.lastTap.span.latest)
                        <= session.policy.timing.tapToRequest.count
                } ?? false
            guard isAnswered || isExact else {
                doubtOwner(navigation, session, &judgement)
                continue
            }
            count += 1
            compare(
                navigation, with: url.text, name: "the neutral URL", because: burst?.evidence ?? [], session, &judgement
            )
        }
        judgement.passSentence =
            "\(counted(count, "opening")), each with the URL's own bytes (a fragment would not be seen on the wire)"
        session.doubtForeignOpenings(&judgement)
        session.doubtOpenings(neutral: true, &judgement)
    }

    private static func compare(
        _ navigation: Navigation, with url: String, name: String, because: [Evidence], _ session: Session,
        _ judgement: inout Judgement
    ) {
        let record = navigation.first
        let evidence = navigation.evidence("opening")
        judgement.looked(at: evidence)
        if session.isOfAnotherDevice(record.client?.address) {
            judgement.doubt(
                "several-devices", "\(name) was opened on another device than the session's",
                remedy: "judge one device at a time: --filter 'host ADDRESS'")
            return
        }
        guard let address = record.address, let head = record.head, !record.hasUnknownFields else {
            judgement.doubt(
                BlindSpot.Reason.headerTableUnknown.rawValue,
                "the head of an opening of \(name) (packet \(record.started.number)) could not be read in full",
                remedy: Session.remedy(.headerTableUnknown))
            return
        }
        let target = address.path + (address.query.map { "?\($0)" } ?? "")
        switch likeness(of: url, to: record, address, authority: head.authority, target: target) {
        case .exact: break
        case .normalised:
            judgement.information(
                "normalised-by-browser",
                "\(name) was opened in the form that a browser gives it (\(target.utf8.count) bytes of path and query)",
                place: [record.pathTemplate], evidence: [evidence])
        case .other(let difference):
            judgement.violation(
                difference.rawValue,
                "\(name) was opened with \(difference.words): \(target.utf8.count) bytes of path and query were sent",
                place: [session.role(of: record.host).rawValue, difference.rawValue], evidence: because + [evidence])
            return
        }
        compareDigest(navigation, with: url, name: name, session, &judgement)
    }

    /// Of what a withheld journey kept, the relation is known, and of a variant mostly what was done.
    private static func likeness(
        of url: String, to record: RequestRecord, _ address: WebAddress, authority: String, target: String
    ) -> BrowserForm.Likeness {
        if record.isWithheld, target.contains("withheld") { return .other(.unknown) }
        return BrowserForm.likeness(of: url, toSent: address.scheme, authority: authority, target: target)
    }

    /// What the app says that it handed over.
    private static func compareDigest(
        _ navigation: Navigation, with url: String, name: String, _ session: Session, _ judgement: inout Judgement
    ) {
        let mark = session.marks([.opened]).last {
            $0.attributes[digestAttribute] != nil
                && $0.span.earliest <= navigation.started.advanced(byNanoseconds: Session.retryWindow.count)
        }
        guard let mark, let digest = mark.attributes[digestAttribute],
            abs(navigation.started.nanoseconds(since: mark.span.latest)) <= OneExternalNavigationPerBurst.patience.count
        else { return }
        let own = HashFunction.sha256.digest(of: Array(url.utf8)).flatMap { [$0 >> 4, $0 & 15] }
            .map { String($0, radix: 16) }.joined()
        guard digest.lowercased() != own else { return }
        judgement.violation(
            "fragment-added",
            "the app says that it handed over something else than \(name), though the same was asked for: a fragment was added or removed",
            place: [session.role(of: navigation.first.host).rawValue], evidence: [navigation.evidence("opening")])
    }

    /// A variant of the neutral URL without a tap on the neutral action before it: anybody may have opened it.
    private static func doubtOwner(_ navigation: Navigation, _ session: Session, _ judgement: inout Judgement) {
        if session.taps.isEmpty {
            judgement.doubt(
                "no-tap-mark",
                "a variant of the neutral URL was opened (packet \(navigation.first.started.number)), and no tap is marked that would tell why",
                remedy: "mark each tap: {\"kind\":\"tap\",\"target\":\"neutral\"}")
        } else {
            judgement.information(
                "not-the-app",
                "a variant of the neutral URL was opened without a tap on the neutral action before it",
                place: [navigation.first.pathTemplate], evidence: [navigation.evidence("opening")])
        }
    }
}
