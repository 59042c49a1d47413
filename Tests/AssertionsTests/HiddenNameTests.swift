import Assertions
import SessionTrace
import Testing

/// Names that were asked for out of sight, and names that may hide others.
@Suite struct HiddenNameTests {
    /// A conforming share (its tap is at 4) with an unread connection of the browser's that offers Encrypted Client Hello.
    private func judge(
        _ host: String = "cdn.vendor.example", at time: Double = 3, isHidden: Bool = true, isRead: Bool = false
    ) throws -> TraceVerdict {
        var session = ScriptedSession.conformingShare()
        if isRead {
            session.exchange(.browser, "GET", "https://\(host)/", at: time)
        } else {
            session.dark(.browser, host, at: time, lastData: time + 0.1)
        }
        let events = session.events().map { event in
            guard isHidden, case .clientHello(var hello) = event, hello.serverName?.text == host else { return event }
            hello.hasEncryptedClientHello = true
            return .clientHello(hello)
        }
        return try session.judge(events)
    }

    @Test(arguments: ["HR-01", "HR-03", "HR-04"]) func anUnreadHelloMayHideAName(rule: String) throws {
        func assumptions(_ verdict: TraceVerdict) -> [String] { verdict[rule].assumptions.map(\.code) }
        let hidden = try judge()
        #expect(hidden[rule].verdict == .pass && assumptions(hidden).contains("ech-or-grease"), "\(hidden[rule])")
        for other in [
            try judge(isHidden: false), try judge(isRead: true), try judge("mtalk.google.com"),
        ] {
            #expect(!assumptions(other).contains("ech-or-grease"), "\(other[rule])")
        }
    }

    @Test(arguments: [(3.999, true), (4.0, false)]) func afterTheTapItIsNoMatterOfTheTap(
        time: Double, isAssumed: Bool
    ) throws {
        let result = try judge(at: time)["HR-01"]
        #expect(result.assumptions.map(\.code).contains("ech-or-grease") == isAssumed, "\(result)")
    }

    @Test func lookupsOutOfSightAreAnAssumption() throws {
        let result = try judge("dns.google", isHidden: false)["HR-01"]
        #expect(result.verdict == .pass && result.assumptions.map(\.code).contains("encrypted-dns"), "\(result)")
        #expect(try !judge(isHidden: false)["HR-01"].assumptions.map(\.code).contains("encrypted-dns"))
    }
}
