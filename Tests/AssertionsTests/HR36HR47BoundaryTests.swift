import SessionTrace
import Testing

@testable import Assertions

/// Which URL an answer brings, and to whom.
@Suite struct HR36URLOnlyInSessionResponseOwnerBoundaryTests {
    private static let partner = "https://api.partner.example"

    /// A second answer that brings the first operation's token beside its own URL; another trace may have taught it.
    @Test(arguments: [false, true]) func anOlderTokenIsAnOlderURL(isForeign: Bool) throws {
        var session = ScriptedSession.upToTap()
        if isForeign { session.options.foreignTokens = [Secret(ScriptedSession.token)] }
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.tap(.share, at: 20)
        session.exchange(
            .app, "POST", "\(Self.partner)/handoff-session", at: 20.1, status: 201,
            headers: [("idempotency-key", ScriptedSession.key2)], body: ScriptedSession.body,
            response: #"{"url":"\#(ScriptedSession.otherURL)","last":"\#(ScriptedSession.token)"}"#)
        session.mark(.end, at: 80)
        let result = try session.judge()["HR-36"]
        #expect(result.violations == ["older-url"], "\(result)")
    }

    @Test func anotherDevicesAnswerIsNotDecided() throws {
        var session = ScriptedSession.conformingShare()
        session.clientAddress = IPAddress(ipv4: 0x0A00_0009)
        session.exchange(.app, "GET", "\(Self.partner)/config", at: 20, response: ScriptedSession.url)
        let result = try session.judge()["HR-36"]
        #expect(result.reason?.code == "several-devices", "\(result)")
    }
}

/// A page of another session is a URL that is known, and what the sentences count.
@Suite struct HR36HR46HR47ForeignPageBoundaryTests {
    private func judge(_ build: (inout ScriptedSession) -> Void) throws -> TraceVerdict {
        var session = ScriptedSession()
        session.mark(.launch, at: 0)
        session.browse(ScriptedSession.url, at: 4.5)
        session.exchange(.app, "GET", "https://api.partner.example/home", at: 5, response: "{}")
        build(&session)
        session.mark(.end, at: 90)
        return try session.judge()
    }

    @Test(arguments: ["HR-36", "HR-46", "HR-47"]) func aPageOfAnotherSessionIsJudged(rule: String) throws {
        let verdict = try judge { _ in }
        #expect(verdict[rule].verdict == .pass, "\(verdict.story)")
    }

    @Test(arguments: ["HR-46", "HR-47"]) func aShareWithoutARequestIsNotDecided(rule: String) throws {
        let verdict = try judge { $0.tap(.share, at: 20) }
        #expect(verdict[rule].reason?.code == "policy-mismatch", "\(verdict.story)")
    }
}

@Suite struct HR46HR47WordsBoundaryTests {
    private static let body = #"{"u":"\#(ScriptedSession.url)"}"#

    private func judge(_ build: (inout ScriptedSession) -> Void) throws -> TraceVerdict {
        try ScriptedSession.shared {
            $0.browse(ScriptedSession.url, at: 4.5)
            build(&$0)
        }.judge()
    }

    /// Only requests for the URL itself are counted, and only the browser's.
    @Test func theSentenceCountsTheBrowsersRequestsForTheURL() throws {
        let result = try judge {
            for page in ["a", "b"] { $0.exchange(.browser, "GET", "https://chia.health/\(page).js", at: 5) }
        }["HR-47"]
        #expect(result.sentence.hasPrefix("seen in 1 request of the browser to Chia"), "\(result)")
        #expect(result.lookedAt.map(\.label) == ["session response", "navigation"])
    }

    @Test func theEvidenceSaysWhoseItWas() throws {
        func label(_ who: ScriptedSession.Who) throws -> String? {
            try judge {
                $0.exchange(who, "POST", "https://app-measurement.com/a", at: 6, body: Self.body)
            }["HR-46"].findings.first?.evidence.first?.label
        }
        #expect(try label(.app) == "leak")
        #expect(try label(.nobody) == "leak")
        #expect(try label(.browser) == "not the app's")
    }

    @Test func theSystemIsNamedAsTheSender() throws {
        func sender(_ process: String) throws -> RuleResult {
            try judge {
                $0.processes[.nobody] = ProcessIdentity(source: .pktap, name: process)
                $0.exchange(.nobody, "POST", "https://logs.vendor.example/t", at: 6, body: Self.body)
            }["HR-47"]
        }
        #expect(try sender("apsd").sentence.contains("by the system"))
        #expect(try sender("PartnerShop").sentence.contains("by the app"))
    }

    /// 32 bits that may be the token's digest prove nothing.
    @Test func aWeakDigestIsOnlyMentioned() throws {
        let digest = String(WeakHashes.murmur3With32Bits(Array(ScriptedSession.token.utf8)), radix: 16)
        let result = try judge {
            $0.exchange(.app, "POST", "https://app-measurement.com/a", at: 6, body: #"{"h":"\#(digest)"}"#)
        }["HR-46"]
        #expect(result.verdict == .pass && result.information == ["weak-digest"], "\(result)")
    }

    /// Pieces that a page of Chia's sends are not the app's.
    @Test(arguments: [(ScriptedSession.Who.app, ["split-leak"]), (.browser, [])] as [(ScriptedSession.Who, [String])])
    func piecesAreWhoseTheyAre(who: ScriptedSession.Who, kinds: [String]) throws {
        let token = ScriptedSession.token
        let result = try judge {
            for (number, start) in stride(from: 0, to: token.count, by: 4).enumerated() {
                $0.exchange(
                    who, "GET", "https://app-measurement.com/a?n=\(number)&p=\(token.dropFirst(start).prefix(4))",
                    at: 10 + Double(number), headers: who == .browser ? [("referer", "https://chia.health/")] : [])
            }
        }["HR-46"]
        #expect(result.violations == kinds, "\(result)")
        #expect(result.information == (kinds.isEmpty ? ["not-the-app"] : []))
    }
}
