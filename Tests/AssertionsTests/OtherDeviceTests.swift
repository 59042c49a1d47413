import Assertions
import SessionTrace
import Testing

/// What another phone did in the same trace is not held against the one whose session it is, nor for it.
@Suite struct OtherDeviceTests {
    private static func other(_ session: inout ScriptedSession, _ act: (inout ScriptedSession) -> Void) {
        let own = session.clientAddress
        session.clientAddress = IPAddress(ipv4: 0x0A00_0009)
        act(&session)
        session.clientAddress = own
    }

    @Test func anotherPhonesProjectionForbidsNothing() throws {
        func judge(_ isOther: Bool) throws -> RuleResult {
            var session = ScriptedSession.upToTap()
            let failing: (inout ScriptedSession) -> Void = {
                $0.exchange(
                    .app, "GET", "https://api.partner.example/catalog/item-4711-abcdef/handoff", at: 3, status: 500)
            }
            if isOther { Self.other(&session, failing) } else { failing(&session) }
            session.tap(.share, at: 4)
            session.share(at: 4.1)
            session.browse(ScriptedSession.url, at: 4.5)
            session.mark(.end, at: 80)
            return try session.judge()["HR-41"]
        }
        #expect(try judge(false).violations == ["share-on-unsafe-evidence"])
        #expect(try judge(true).verdict == .notApplicable)
    }

    @Test func anotherPhonesProjectionIsNoRefresh() throws {
        func judge(own: Bool, other: Bool) throws -> RuleResult {
            try ScriptedSession.result("HR-42", .inTheBrowser()) {
                $0.mark(.foreground, at: 50)
                if own { $0.projection(at: 50.2) }
                if other { Self.other(&$0) { $0.projection(at: 50.2) } }
            }
        }
        #expect(try judge(own: true, other: false).verdict == .pass)
        #expect(try judge(own: true, other: true).verdict == .pass)
        let none = try judge(own: false, other: false)
        #expect(none.verdict == .fail, "\(none)")
        // Whose coming back it was, the mark does not say.
        let other = try judge(own: false, other: true)
        #expect(other.violations == [] && other.reason?.code == "several-devices", "\(other)")
    }

    /// The result of a rule after what this phone, or another one, did while the page was open.
    private static func result(
        _ rule: String, ofOther isOther: Bool, _ act: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        try ScriptedSession.result(rule) { if isOther { other(&$0, act) } else { act(&$0) } }
    }

    @Test(arguments: [(false, ["selection-url"]), (true, [])] as [(Bool, [String])])
    func anotherPhonesAnalyticsAreItsOwn(isOther: Bool, kinds: [String]) throws {
        let result = try Self.result("HR-48", ofOther: isOther) {
            $0.exchange(
                .app, "POST", "https://app-measurement.com/a", at: 20,
                body: #"{"u":"https://shop.example/p/item-4711-abcdef"}"#)
        }
        #expect(result.violations == kinds && (result.verdict == .pass) == isOther, "\(result)")
    }

    @Test(arguments: [(false, ["neutral-beside"]), (true, [])] as [(Bool, [String])])
    func theNeutralURLThatAnotherPhoneOpensIsNotBesideTheHandoffURL(isOther: Bool, kinds: [String]) throws {
        let result = try Self.result("HR-09", ofOther: isOther) { $0.browse(ScriptedSession.neutral, at: 20) }
        #expect(result.violations == kinds && (result.verdict == .pass) == isOther, "\(result)")
    }

    @Test(arguments: [(false, ["session-lookup"], nil), (true, [], "several-devices")] as [(Bool, [String], String?)])
    func anotherPhonesLookupIsNotDecided(isOther: Bool, kinds: [String], code: String?) throws {
        let result = try Self.result("HR-59", ofOther: isOther) {
            $0.exchange(.app, "GET", "https://api.partner.example/state/hs-91c2d0aa7766", at: 60)
        }
        #expect(result.violations == kinds && result.reason?.code == code, "\(result)")
    }
}
