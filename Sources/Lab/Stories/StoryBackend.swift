internal import EventLoop
internal import Synchronization

/// Every server of a session, as the story tells them to answer.
final class StoryBackend: Sendable {
    /// One way to answer one kind of request.
    struct Service: Sendable {
        var method: String
        var host: String
        /// The path; with a `*` at its end whatever begins so.
        var path: String
        /// A status, or one of `StoryVerb.answers`.
        var kind: String
        var fields: [(name: String, value: String)]
        /// The body as it is sent; for `session` with `${handoff}` for the URL.
        var body: [UInt8]
        var delay: Duration
        /// How often it still answers; nil: always.
        var times: Int?

        func takes(_ request: LabRequest, _ requestHost: String, _ requestPath: String) -> Bool {
            guard times != 0, method == "*" || method == request.method, host == "*" || host == requestHost else {
                return false
            }
            if path.last == "*" { return requestPath.hasPrefix(path.dropLast()) }
            return path == requestPath
        }
    }

    private struct State {
        var services: [Service] = []
        var tokens: [String: String] = [:]
    }

    private let state = Mutex(State())

    /// From here on requests that it takes are answered by it.
    func add(_ service: Service) {
        state.withLock { $0.services.append(service) }
    }

    /// Answers a request by the newest service that takes it.
    func answer(_ request: LabRequest, _ host: String) async -> LabAnswer {
        let path = request.target.split(separator: "?").first.map(String.init) ?? "/"
        let found: Service? = state.withLock { state in
            guard let index = state.services.lastIndex(where: { $0.takes(request, host, path) }) else { return nil }
            if let times = state.services[index].times { state.services[index].times = times - 1 }
            return state.services[index]
        }
        guard let found else { return .response(.json(404, #"{"error":"not found"}"#)) }
        if found.delay > .zero { try? await Task.sleep(for: found.delay) }
        switch found.kind {
        case "drop": return .drop
        case "reset": return .reset
        case "refuse": return .refuse
        case "half": return .half(session(found, for: request, 201))
        case "session": return .response(session(found, for: request, 201))
        case "image": return .response(LabResponse(200, fields: [("Content-Type", "image/png")], body: MockHosts.pixel))
        default:
            let status = Int(found.kind) ?? 500
            // These have no body (RFC 9110 §15.3.5, §15.4.5).
            let body = status == 204 || status == 304 || request.method == "HEAD" ? [] : found.body
            return .response(LabResponse(status, fields: found.fields, body: body))
        }
    }

    /// The answer to a session request: the same URL whenever the same key comes.
    private func session(_ service: Service, for request: LabRequest, _ status: Int) -> LabResponse {
        let key = request.field("Idempotency-Key") ?? String(decoding: request.body, as: UTF8.self)
        let token = state.withLock { state in
            if let known = state.tokens[key] { return known }
            let token = "phs_" + LabText.token(length: 43)
            state.tokens[key] = token
            return token
        }
        let body = StoryText.replace("${token}", by: token, in: service.body)
        return LabResponse(status, fields: service.fields, body: body)
    }
}
