import SessionTrace
import Testing

@testable import Assertions

/// A connection without a name, to an address that a Chia host shares with others, may be what only servers may do.
@Suite struct HR56HR57SharedAddressBoundaryTests {
    private func judge(_ policy: String) throws -> TraceVerdict {
        var session = ScriptedSession.conformingShare()
        session.policyText += policy
        let browser = ProcessIdentity(source: .pktap, name: "MobileSafari")
        session.lookup("api.chia.health", at: 19, process: browser)
        session.lookup("other.example", at: 19.1)
        session.dark(.nobody, "api.chia.health", at: 20, lastData: 21, hello: false)
        let shared = session.events().compactMap { event -> NameLookup.Answer.Data? in
            guard case .nameLookup(let lookup) = event, lookup.name?.text == "api.chia.health" else { return nil }
            return lookup.answers.last?.data
        }.first
        let events = session.events().map { event in
            guard case .nameLookup(var lookup) = event, lookup.name?.text == "other.example", let shared else {
                return event
            }
            for index in lookup.answers.indices { lookup.answers[index].data = shared }
            return .nameLookup(lookup)
        }
        return try session.judge(events)
    }

    @Test func itMayBeToTheAPIWhereThePolicyNamesOne() throws {
        #expect(try judge("  chia-api: [api.chia.health]\n")["HR-56"].reason?.code == "shared-address")
        #expect(try judge("")["HR-56"].verdict == .pass)
    }

    @Test func itMayBeToTheAssetsWhereThePolicyNamesThem() throws {
        let named = try judge("  chia-assets: [api.chia.health]\n")["HR-57"]
        #expect(named.reason?.code == "shared-address", "\(named)")
        let unnamed = try judge("")["HR-57"]
        #expect(unnamed.verdict == .pass, "\(unnamed)")
    }
}
