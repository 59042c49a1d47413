internal import EventLoop
internal import SessionTrace

/// The steps that scenarios are made of, played by one device.
public struct LabSession: Sendable {
    private let device: ScriptedDevice
    /// Where marks are made in band: `http://mark.handoff.test/m/SECRET/`.
    private let markAddress: String
    private let scenario: LabScenario

    /// A session of `device`; `markAddress` is what the proxy printed for marks made in band.
    public init(_ scenario: LabScenario, device: ScriptedDevice, markAddress: String) {
        self.scenario = scenario
        self.device = device
        self.markAddress = markAddress
    }

    /// Plays the scenario to its end.
    public func play() async throws {
        try await scenario.play(self)
    }

    // MARK: The story

    /// A cold start up to the rendered card.
    func arrive() async throws {
        try await mark("scenario", attributes: [("name", scenario.name), ("attrs.platform", "lab")])
        try await mark("browser-clean")
        try await mark("launch")
        try await get("/home")
        try await device.send(
            LabRequest("GET", "/i/7f3a91.png"), to: MockHosts.images, from: .app)
        try await count("app_start")
        try await get("/catalog/\(MockHosts.catalogID)/handoff")
        try await mark("render")
        try await pause(.milliseconds(300))
    }

    /// The tap on the card, the fresh projection, the disclosure.
    func callToAction() async throws {
        try await mark("tap", target: "cta")
        try await get("/catalog/\(MockHosts.catalogID)/handoff")
        try await mark("jit-shown")
        try await pause(.milliseconds(700))
    }

    /// The key and the body of a new operation.
    func operation() -> (key: String, body: String) {
        let body = """
            {"catalogId":"\(MockHosts.catalogID)","disclosureVersion":"2026-11-01","affirmed":true,\
            "affirmedAt":"\(WallClock.now().rfc3339)"}
            """
        return (LabText.uuid(), body)
    }

    /// Sends the session request.
    func post(key: String, body: String) async throws -> LabResponse {
        try await device.send(
            LabRequest(
                "POST", "/handoff-session",
                fields: [("Content-Type", "application/json"), ("Idempotency-Key", key)], body: Array(body.utf8)),
            to: MockHosts.partner, from: .app)
    }

    /// Sends the session request of an operation of its own.
    func postNewOperation() async throws -> LabResponse {
        let (key, body) = operation()
        return try await post(key: key, body: body)
    }

    /// Opens the URL of a session response in the browser.
    func openHandoff(from answer: LabResponse) async throws {
        guard answer.status == 201 else { throw LabError("the session request was answered \(answer.status)") }
        try await mark("opened")
        try await device.open(Self.handoffURL(in: answer))
        try await count("handoff_opened")
    }

    /// To the background and back, then killed and launched again.
    func leave() async throws {
        try await mark("background")
        try await pause(.milliseconds(400))
        try await mark("foreground")
        try await get("/catalog/\(MockHosts.catalogID)/handoff")
        try await mark("kill")
        await device.kill(.app)
        await device.kill(.browser)
        try await mark("launch")
        try await get("/home")
        try await pause(.milliseconds(200))
        try await mark("end")
        await device.kill(.app)
    }

    /// Sends a crash report in the form of a Sentry envelope.
    func reportCrash(breadcrumb: String) async throws {
        let event = """
            {"message":"out of memory","breadcrumbs":{"values":[{"category":"navigation","data":{"to":"\(breadcrumb)"}}]}}
            """
        let envelope = """
            {"sent_at":"\(WallClock.now().rfc3339)"}
            {"type":"event","length":\(event.utf8.count),"content_type":"application/json"}
            \(event)

            """
        try await device.send(
            LabRequest(
                "POST", "/api/4507/envelope/", fields: [("Content-Type", "application/x-sentry-envelope")],
                body: Array(envelope.utf8)), to: MockHosts.crashReports, from: .app)
    }

    // MARK: Pieces

    func pause(_ time: Duration) async throws {
        try await Task.sleep(for: time)
    }

    /// Makes a mark in band, through the proxy.
    func mark(
        _ kind: String, target: String? = nil, count: Int = 1, attributes: [(String, String)] = []
    ) async throws {
        var query = [("kind", kind), ("by", "script")] + attributes
        if let target { query.append(("target", target)) }
        if count > 1 { query.append(("count", String(count))) }
        let answer = try await device.fetchInClear(
            markAddress + "?" + query.map { "\($0.0)=\($0.1)" }.joined(separator: "&"))
        guard answer.status == 200 || answer.status == 204 else {
            throw LabError("the mark \(kind) was answered \(answer.status): \(answer.text)")
        }
    }

    private func get(_ path: String) async throws {
        let answer = try await device.send(LabRequest("GET", path), to: MockHosts.partner, from: .app)
        guard answer.status == 200 else { throw LabError("GET \(path) was answered \(answer.status)") }
    }

    /// Ordinary product analytics: the event's name, no selection, no URL.
    private func count(_ event: String) async throws {
        let body = #"{"api_key":"public","events":[{"event_type":"\#(event)","device_id":"d-1"}]}"#
        try await device.send(
            LabRequest(
                "POST", "/2/httpapi", fields: [("Content-Type", "application/json")], body: Array(body.utf8)),
            to: MockHosts.analytics, from: .app)
    }

    /// The URL in a session response.
    static func handoffURL(in answer: LabResponse) -> String {
        let parts = answer.text.split(separator: #""url":""#, maxSplits: 1)
        return parts.count == 2 ? String(parts[1].prefix { $0 != "\"" }) : ""
    }
}
