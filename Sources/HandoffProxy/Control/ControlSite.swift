internal import SessionTrace

/// The control API: a request in, what to do out.
///
/// | method and path | what |
/// |---|---|
/// | `POST /marks` | one mark, an array of marks, or JSON Lines; the answer acknowledges each |
/// | `GET /status` | devices, files, connections, marks, trust, faults |
/// | `GET /events` | server-sent events; `Last-Event-ID` resumes |
/// | `POST /stop` | ends the recording |
/// | `GET`, `POST`, `DELETE /faults` | the faults that are set; sets one; removes all |
///
/// Every request needs the token. A request that a web page made is refused whatever it knows: the host must be an address
/// or `localhost` (DNS rebinding), and there is no cross-origin access.
struct ControlSite: Sendable {
    /// What is to be done for a request.
    enum Answer: Hashable, Sendable {
        case response(LocalResponse)
        /// Take these marks in order; `isList` when they came as an array or as lines.
        case marks([[UInt8]], isList: Bool)
        case status
        /// Stream the events that follow number `after`; nil for those from now on.
        case events(after: Int?)
        case stop
        case listFaults
        case addFaults([String])
        case removeFaults
    }

    /// Most faults set by one request.
    static let faultLimit = 100

    /// The token.
    var token: ControlSecret

    /// Answers a request.
    func answer(_ request: LocalRequest) -> Answer {
        guard let host = request.host?.name, host.address != nil || host.text == "localhost" else {
            return .response(.refusal(421, "the control API is reached by its address"))
        }
        let fetchSite = request.fields.first("sec-fetch-site")?.lowercased()
        guard request.fields.first("origin") == nil, fetchSite == nil || fetchSite == "none" else {
            return .response(.refusal(403, "web pages can't use the control API"))
        }
        guard given(request).contains(where: { token.matches($0) }) else {
            return .response(
                .refusal(
                    401, "the token is missing or wrong; the recorder's control file has it",
                    [.init(name: "WWW-Authenticate", value: "Bearer")]))
        }
        switch (request.method, request.path) {
        case ("POST", "/marks"): return marks(request)
        case ("GET", "/status"): return .status
        case ("GET", "/events"):
            return .events(after: request.fields.first("last-event-id").flatMap { Int($0) }.map { max(0, $0) })
        case ("POST", "/stop"): return .stop
        case ("GET", "/faults"): return .listFaults
        case ("POST", "/faults"): return faults(request)
        case ("DELETE", "/faults"): return .removeFaults
        default: return .response(refusal(request.path))
        }
    }

    private func given(_ request: LocalRequest) -> [String] {
        request.fields.values("x-handoff-token")
            + request.fields.values("authorization").compactMap { value in
                let parts = value.split(separator: " ", maxSplits: 1).map(String.init)
                return parts.count == 2 && parts[0].lowercased() == "bearer" ? parts[1] : nil
            }
    }

    private func refusal(_ path: String) -> LocalResponse {
        let allowed: String? =
            switch path {
            case "/marks", "/stop": "POST"
            case "/status", "/events": "GET"
            case "/faults": "GET, POST, DELETE"
            default: nil
            }
        guard let allowed else { return .refusal(404, "there is no such resource; see GET /status") }
        return .refusal(405, "only \(allowed) can be done here", [.init(name: "Allow", value: allowed)])
    }

    private func marks(_ request: LocalRequest) -> Answer {
        do throws(MarkRefusal) {
            let objects = try MarkForm.objects(json: request.body)
            let first = request.body.first { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
            return .marks(objects, isList: objects.count > 1 || first == UInt8(ascii: "["))
        } catch {
            return .response(.refusal(error.status, error.sentence))
        }
    }

    /// Rules as `--fault` has them: one as plain text a line, or `{"rule":"…"}`.
    private func faults(_ request: LocalRequest) -> Answer {
        var rules: [String] = []
        if request.contentType == "application/json" {
            let value = try? JSONValue.parse(request.body)
            rules = [value?["rule"]?.stringValue].compactMap(\.self)
        } else if let text = String(validating: request.body, as: UTF8.self) {
            rules = text.split(whereSeparator: \.isNewline).map(String.init)
        }
        rules = rules.filter { $0.contains { !$0.isWhitespace } }
        guard (1...Self.faultLimit).contains(rules.count) else {
            return .response(.refusal(400, "a fault is written as for --fault: POST /handoff-session: 503 once"))
        }
        return .addFaults(rules)
    }
}
