internal import SessionTrace

/// **HR-03 app-never-contacts-chia.** No flow of the app, or of a view inside it, ever goes to a Chia host.
///
/// The contract (CONTRACT.md, "Who talks to whom") has the app talk to the partner's backend alone. Who sent a flow is
/// told by the recorded process, else by the requests on it: a User-Agent that is no browser's is the app's; a browser's
/// with fetch metadata or navigation headers is the browser's, which is an assumption. A name that leads to Chia through
/// captured CNAME answers is Chia's. What Chia's own pages load in the browser is the browser's.
///
/// Inconclusive: a flow to Chia of which nothing tells the actor; an unread connection without any name; contact by
/// another device than the one that the session is of; a bypass.
enum AppNeverContactsChia: Rule {
    static let description = RuleDescription(
        id: "HR-03", name: "app-never-contacts-chia", severity: .error,
        sentence: "The app itself never contacts a Chia host, at any time.",
        heading: "Who talks to whom", matrix: ["M-13"],
        inconclusiveWhen: "nothing tells who sent a flow to Chia, or traffic went around the place of capture")

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no traffic of an app was seen"
        if session.appRequests > 0 || !session.taps.isEmpty || !session.attempts.isEmpty { judgement.exercised() }
        var ofBrowser = 0
        for contact in session.contacts {
            let what = "\(contact.means) of \(contact.host)"
            if contact.isAssociation || contact.actor.actor == .os {
                judgement.information(
                    "not-the-app", "\(what) by the system (\(contact.actor.reason))", place: [contact.role.rawValue],
                    evidence: [contact.evidence])
                continue
            }
            switch contact.actor.actor {
            case .app, .webview:
                if session.isOfAnotherDevice(contact.client) {
                    session.doubtDevice(contact, &judgement)
                    continue
                }
                let cloaked = session.roles.chiaName(of: contact.host).flatMap { $0 == contact.host ? nil : $0 }
                judgement.violation(
                    contact.actor.actor == .webview ? "web-view-contact" : "app-contact",
                    "\(what)\(cloaked.map { ", an alias of \($0)," } ?? "") by the \(contact.actor.actor == .webview ? "app's web view" : "app") (\(contact.actor.reason))",
                    place: [
                        contact.role.rawValue, contact.means, contact.request?.method ?? "",
                        contact.request?.pathTemplate ?? "",
                    ],
                    evidence: [contact.evidence])
            case .browser:
                ofBrowser += 1
                judgement.looked(at: contact.evidence)
                if !contact.actor.isDefinite {
                    judgement.assume(
                        "browser-by-headers",
                        "contacts with Chia are taken for the browser's by \(contact.actor.reason), not by a recorded process"
                    )
                }
            case .unknown:
                judgement.doubt(
                    "actor-unknown", "\(what): \(contact.actor.reason)",
                    remedy:
                        "give the keys of the browser too, or capture with process names (PKTAP on iOS, PCAPdroid on Android)"
                )
            case .os: continue
            }
        }
        if session.hasSpareConnections {
            judgement.assume(
                "spare-connections", "connections to Chia without a request are taken for the browser's spare ones")
        }
        judgement.passSentence =
            session.contacts.isEmpty
            ? "no contact with Chia in the whole trace" : "\(ofBrowser) contacts with Chia, all by the browser"
        session.doubtNames(before: nil, &judgement)
        session.assumeShownNames(before: .distantFuture, &judgement)
        session.doubtBypass(&judgement)
        session.doubtCapture(&judgement)
        session.doubtChiaHost(&judgement)
    }
}
