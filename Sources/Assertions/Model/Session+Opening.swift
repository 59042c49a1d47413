internal import SessionTrace

extension Session {
    /// Whether a contact belongs to the browser's opening of a handoff URL that exists already, or of a neutral URL:
    /// the request itself, or the lookup and connection just before it.
    /// What came before an action tap was not made for the page that was opened after it, and nothing that is no page is
    /// asked for ahead of it.
    func isOpening(_ contact: Contact) -> Bool {
        contact.actor.actor == .browser
            && contact.request.map { $0.isNavigation || $0.method == "CONNECT" } ?? true
            && index.hasOpening(on: contact.host, from: contact.time, within: ContactBook.lookupWindow)
    }

    /// A handoff URL on a host that the policy does not name as Chia's: rules about Chia hosts looked at others.
    func doubtChiaHost(_ judgement: inout Judgement) {
        guard let host = urls.compactMap({ $0.address?.host }).first(where: { !roles.isChia($0) }) else { return }
        judgement.doubt(
            "policy-mismatch", "the handoff URL is on \(host), which the policy does not name as Chia's",
            remedy: "add to \(policyLine):  hosts: {chia: [\(host)]}")
    }
}
