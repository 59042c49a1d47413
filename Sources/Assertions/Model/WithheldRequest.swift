internal import SessionTrace

/// A request of which the head alone was recorded, and in whose unseen part something may be that rules look for.
struct WithheldRequest: Hashable, Sendable {
    var record: RequestRecord
    /// What the recorder called the host; its name may not have been kept.
    var role: HostRole?

    var isOfBrowser: Bool { record.actor.actor == .browser }

    /// Requests kept.
    static let limit = 5_000
}

extension Session {
    /// What the host of a withheld request is.
    func role(of request: WithheldRequest) -> HostRole {
        let role = role(of: request.record.host)
        return role == .thirdParty ? request.role ?? role : role
    }

    /// `api.partner.example`, or the role of a host whose name was not kept.
    func name(of request: WithheldRequest) -> String {
        guard let host = request.record.host, host.text != WithheldExchange.unnamedHost else {
            return "a host whose name was not kept (\(role(of: request).rawValue))"
        }
        return host.text
    }

    /// A session request may have come on a connection that was withheld for what had been sent on it before.
    func doubtWithheldSessions(_ judgement: inout Judgement) {
        let template = policy.requests.session
        let hidden = withheldRequests.first { request in
            switch request.record.actor.actor {
            case .app, .webview, .unknown: break
            case .browser, .os: return false
            }
            guard request.record.method == template.method ?? "POST" else { return false }
            return role(of: request) == .partner || request.record.host.map(mayServeSessions) ?? false
        }
        guard let hidden else { return }
        judgement.doubt(
            BlindSpot.Reason.withheld.rawValue,
            "\(withArticle(hidden.record.method)) to \(name(of: hidden)) (packet \(hidden.record.started.number)) came on a withheld connection, and may be a session request",
            remedy: Self.remedy(.withheld))
    }
}

extension SessionModel {
    /// Keeps a withheld request where its unseen part would have to be searched: what a browser sends with content on no
    /// page of Chia, and all that is not a browser's.
    mutating func keepUnsearched(_ exchange: Exchange, _ flow: Flow?, role: String?) {
        guard let request = exchange.request else { return }
        let actor = actor(of: request, flow)
        switch actor.actor {
        case .browser:
            guard request.method != "GET", request.method != "HEAD", !isOfChiaPage(request) else { return }
        case .unknown where actor.isBareBrowser && isOfChiaPage(request): return
        case .app, .webview, .unknown: break
        case .os: return
        }
        guard withheldRequests.count < WithheldRequest.limit else { return giveUp("withheld requests") }
        withheldRequests.append(
            WithheldRequest(
                record: RequestRecord(
                    exchange, request: request, flow: flow, host: request.host, actor: actor, redactor: redactor),
                role: role.flatMap { HostRole(rawValue: $0) }))
    }
}
