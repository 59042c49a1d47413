/// A session that the lab's device can play, and what it deserves.
public struct LabScenario: Sendable {
    /// Its name, which is the name of its recording too.
    public var name: String
    /// What it shows, in a sentence.
    public var summary: String
    /// The faults that the proxy injects.
    public var faults: [String]
    /// The rules that it violates; none: it conforms.
    public var violates: Set<String>
    let play: @Sendable (LabSession) async throws -> Void

    /// All scenarios, the conforming one first.
    public static let all = [conforming, newKeyAfterLostAnswer, twoRequestsForDoubleTap, handoffURLInCrashReport]

    /// A double tap joined into one request, an answer 503, a retry with the same key and body, one navigation.
    public static let conforming = LabScenario(
        name: "conforming",
        summary: "A double tap, an answer 503, the same key and body again, and one page in the browser.",
        faults: ["POST /handoff-session: 503 once"], violates: []
    ) { session in
        try await session.arrive()
        try await session.callToAction()
        try await session.mark("tap", target: "share", count: 2)
        let (key, body) = session.operation()
        let refused = try await session.post(key: key, body: body)
        guard refused.status == 503 else { throw LabError("503 was to be injected, and came \(refused.status)") }
        try await session.pause(.milliseconds(300))
        try await session.openHandoff(from: try await session.post(key: key, body: body))
        try await session.leave()
    }

    /// The answer is lost on its way, and the app shares again under another key.
    public static let newKeyAfterLostAnswer = LabScenario(
        name: "new-key-after-lost-answer",
        summary: "The answer to the session request is lost; the app asks again under a fresh key.",
        faults: ["POST /handoff-session: drop-after-request once"], violates: ["HR-14"]
    ) { session in
        try await session.arrive()
        try await session.callToAction()
        try await session.mark("tap", target: "share")
        let (key, body) = session.operation()
        do {
            _ = try await session.post(key: key, body: body)
            throw LabError("the answer was to be lost, and came")
        } catch is LabError {
            // The connection ended without a response, as it should.
        }
        try await session.pause(.milliseconds(700))
        try await session.mark("tap", target: "share")
        try await session.openHandoff(from: try await session.post(key: session.operation().key, body: body))
        try await session.leave()
    }

    /// Each of two taps sends a request of its own.
    public static let twoRequestsForDoubleTap = LabScenario(
        name: "two-requests-for-a-double-tap",
        summary: "A double tap sends two session requests, each with a key of its own, while the answers are slow.",
        faults: ["POST /handoff-session: delay=400ms times=2"], violates: ["HR-07", "HR-08", "HR-10"]
    ) { session in
        try await session.arrive()
        try await session.callToAction()
        try await session.mark("tap", target: "share")
        try await session.mark("tap", target: "share")
        let latest = try await withThrowingTaskGroup(of: LabResponse.self) { group in
            for _ in 0..<2 { group.addTask { try await session.postNewOperation() } }
            var latest: LabResponse?
            for try await answer in group { latest = answer }
            return latest
        }
        guard let latest else { throw LabError("the session requests were not answered") }
        try await session.openHandoff(from: latest)
        try await session.leave()
    }

    /// The handoff URL stands in a crash report's breadcrumb.
    public static let handoffURLInCrashReport = LabScenario(
        name: "handoff-url-in-crash-report",
        summary: "A crash report sent to a vendor holds the handoff URL in a breadcrumb.",
        faults: [], violates: ["HR-46", "HR-47"]
    ) { session in
        try await session.arrive()
        try await session.callToAction()
        try await session.mark("tap", target: "share")
        let (key, body) = session.operation()
        let answer = try await session.post(key: key, body: body)
        try await session.openHandoff(from: answer)
        try await session.reportCrash(breadcrumb: LabSession.handoffURL(in: answer))
        try await session.leave()
    }
}
