import Assertions
import SessionTrace
import Testing

/// What the rules about coverage say just beside what they are about.
@Suite struct HC01PlaintextCoverageTests {
    /// The conforming session as it would be if TLS was spoken with no host, or not with one.
    private func judge(inClear host: String? = nil) throws -> RuleResult {
        var own: Set<ConnectionID> = []
        let events = ScriptedSession.conformingShare().events().filter { event in
            switch event {
            case .clientHello(let hello):
                guard host == nil || hello.serverName?.text == host else { return true }
                own.insert(hello.connection)
                return false
            case .secureSession(let session): return !own.contains(session.connection)
            default: return true
            }
        }
        return try ScriptedSession().judge(events)["HC-01"]
    }

    @Test func withoutEncryptionThereIsNothingToRead() throws {
        #expect(try judge().verdict == .notApplicable)
    }

    @Test func onlyRolesWithEncryptedConnectionsAreCounted() throws {
        let result = try judge(inClear: "app-measurement.com")
        #expect(result.verdict == .pass && result.assumptions.isEmpty, "\(result)")
        #expect(result.sentence == "connections read: chia 1 of 1, partner 1 of 1")
    }

    @Test func whatCameToNothingIsToldOfItsOwnRole() throws {
        var session = ScriptedSession.conformingShare()
        session.unreachable(.app, "sdk.vendor.example", at: 20)
        let result = try session.judge()["HC-01"]
        #expect(result.sentence.hasPrefix("third-party: 1 connection came to nothing"), "\(result)")
    }

    @Test func whatStayedUnreadIsShown() throws {
        var session = ScriptedSession.conformingShare()
        session.dark(.app, "sdk.vendor.example", at: 20, lastData: 21)
        #expect(try session.judge()["HC-01"].lookedAt.contains { $0.label == "unread connection" })
    }
}

@Suite struct HC02NoBypassTests {
    @Test func resolvingOutOfSightIsAnAssumption() throws {
        var session = ScriptedSession.conformingShare()
        #expect(try session.judge()["HC-02"].assumptions.isEmpty)
        session.connect(.nobody, "dns.google", at: 20)
        let result = try session.judge()["HC-02"]
        #expect(result.verdict == .pass && result.assumptions.map(\.code) == ["encrypted-dns"], "\(result)")
    }
}

@Suite struct HC03ClockBoundTests {
    private func judge(_ change: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.conformingShare()
        change(&session)
        return try session.judge()["HC-03"]
    }

    @Test func marksMadeByHandAreAnAssumption() throws {
        #expect(try judge { _ in }.assumptions.isEmpty)
        let result = try judge { $0.mark(.tap, .other, at: 70, by: .person) }
        #expect(result.assumptions.map(\.sentence) == ["1 of 3 taps were marked by hand"], "\(result)")
    }

    @Test(arguments: [("250ms", Verdict.pass), ("251ms", .inconclusive)])
    func aQuarterOfASecondStillDecides(error: String, verdict: Verdict) throws {
        let result = try judge {
            $0.policyText += "timing: {clock-error: \(error)}\n"
            $0.mark(.tap, .other, at: 70, onTraceClock: false)
        }
        #expect(result.verdict == verdict, "\(result)")
    }
}

@Suite struct HC04MarksConsistentTests {
    @Test(arguments: [(Mark.Kind.tap, Verdict.inconclusive), (.note, .pass), (.end, .pass)])
    func afterTheEndOnlyNotesAndOtherEndsMayCome(kind: Mark.Kind, verdict: Verdict) throws {
        var session = ScriptedSession.conformingShare()
        session.mark(kind, kind == .tap ? .other : nil, at: 85)
        let result = try session.judge()["HC-04"]
        #expect(result.verdict == verdict, "\(result)")
        #expect(result.reason?.code == (verdict == .pass ? nil : "marks-inconsistent"))
        #expect(verdict == .pass || result.sentence.contains("after the end mark"))
    }
}

@Suite struct HC05AttributionCoverageTests {
    @Test func aBrowserThatIsToldByItsHeadersIsAnAssumption() throws {
        let told = try ScriptedSession.conformingShare().judge()["HC-05"]
        #expect(told.verdict == .pass && told.assumptions.map(\.code) == ["browser-by-headers"], "\(told)")
        var session = ScriptedSession.upToTap()
        session.processes[.browser] = ProcessIdentity(source: .pktap, name: "MobileSafari")
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5)
        session.mark(.end, at: 80)
        let recorded = try session.judge()["HC-05"]
        #expect(recorded.verdict == .pass && recorded.assumptions.isEmpty, "\(recorded)")
    }

    @Test func anAppThatIsToldByItsHeadersIsNoBrowser() throws {
        var session = ScriptedSession.upToTap()
        session.exchange(.app, "GET", ScriptedSession.neutral, at: 5)
        session.mark(.end, at: 80)
        let result = try session.judge()["HC-05"]
        #expect(result.assumptions.isEmpty, "\(result)")
    }
}

@Suite struct HC06CaptureCompleteTests {
    @Test func aBodyThatCouldNotBeSearchedIsMissing() throws {
        var session = ScriptedSession.conformingShare()
        session.exchange(
            .app, "POST", "https://sdk.vendor.example/t", at: 20, headers: [("content-encoding", "aes128gcm")],
            body: "\u{1}\u{2}\u{3}")
        let result = try session.judge()["HC-06"]
        #expect(result.reason?.code == "undecodable-content", "\(result)")
        #expect(result.sentence.contains("could not be searched in full"))
    }
}

@Suite struct HC07DevicesApartTests {
    @Test func theAddressesOfAFamilyAreCountedTogether() throws {
        func judge(_ addresses: [IPAddress]) throws -> RuleResult {
            var session = ScriptedSession.upToTap()
            session.tap(.share, at: 4)
            for (index, address) in addresses.enumerated() {
                session.clientAddress = address
                session.share(at: 4.1 + Double(index))
            }
            session.mark(.end, at: 80)
            return try session.judge()["HC-07"]
        }
        let first = IPAddress(ipv4: 0x0A00_0002)
        let second = IPAddress(ipv4: 0x0A00_0003)
        let third = IPAddress(ipv6High: 0x2001_0DB8_0000_0000, low: 3)
        let fourth = IPAddress(ipv6High: 0x2001_0DB8_0000_0000, low: 4)
        #expect(try judge([first, third]).verdict == .pass)
        #expect(try judge([first, second, third, fourth]).sentence.contains("2 addresses: 10.0.0.2, 10.0.0.3"))
        #expect(try judge([first, third, fourth]).sentence.contains("2 addresses: 2001:db8::3, 2001:db8::4"))
    }
}

@Suite struct HC08ExercisedTests {
    @Test func onlyTheBrowsersNavigationsCount() throws {
        let result = try ScriptedSession.conformingShare().judge()["HC-08"]
        #expect(result.sentence.hasSuffix("1 session request, 1 navigation to Chia"), "\(result)")
    }

    @Test func aFaultThatCouldNotBeInjectedIsADoubt() throws {
        var session = ScriptedSession.conformingShare()
        session.proxyEvent(.fault, on: nil, at: 20, ["rule": "POST /x: 503", "detail": "fault-not-injected: h2"])
        let result = try session.judge()["HC-08"]
        #expect(result.reason?.code == "fault-not-injected" && result.sentence.contains("POST /x: 503"), "\(result)")
    }
}
