import Assertions
import SessionTrace
import Testing

@testable import HandoffProxy

@Suite struct InterceptionPolicyTests {
    static let later = Instant(nanoseconds: 5)

    static func host(_ text: String) throws -> HostName { try #require(HostName(text)) }

    static func patterns(_ texts: String...) throws -> [HostNamePattern] {
        try texts.map { try #require(HostNamePattern($0)) }
    }

    @Test func withoutOptionsEveryHostIsReadButThePhonesOwn() throws {
        let policy = InterceptionPolicy()
        #expect(policy.reasonToPass(try Self.host("api.partner.example"), refusedUntil: nil) == nil)
        #expect(policy.reasonToPass(try Self.host("192.0.2.1"), refusedUntil: nil) == nil)
        #expect(policy.reasonToPass(try Self.host("12-courier.push.apple.com"), refusedUntil: nil) == .defaultList)
        #expect(policy.reasonToPass(try Self.host("notpush.apple.com.example"), refusedUntil: nil) == nil)
        var without = policy
        without.usesDefaultList = false
        #expect(without.reasonToPass(try Self.host("12-courier.push.apple.com"), refusedUntil: nil) == nil)
    }

    @Test func askedComesFirst() throws {
        var policy = InterceptionPolicy()
        policy.passthrough = try Self.patterns("*.pinned.example")
        policy.matters = { _ in true }
        #expect(policy.reasonToPass(try Self.host("a.pinned.example"), refusedUntil: Self.later) == .asked)
    }

    @Test func interceptOnlyLetsTheRestThrough() throws {
        var policy = InterceptionPolicy()
        policy.interceptOnly = try Self.patterns("*.partner.example", "time.apple.com")
        #expect(policy.reasonToPass(try Self.host("api.partner.example"), refusedUntil: nil) == nil)
        #expect(policy.reasonToPass(try Self.host("time.apple.com"), refusedUntil: nil) == nil)
        #expect(policy.reasonToPass(try Self.host("other.example"), refusedUntil: nil) == .notInInterceptOnly)
    }

    @Test func aRefusalCountsUnlessTheHostMatters() throws {
        var policy = InterceptionPolicy()
        let host = try Self.host("api.partner.example")
        #expect(policy.reasonToPass(host, refusedUntil: Self.later) == .refused(until: Self.later))
        #expect(policy.letsThroughAfterRefusal(host))
        policy.matters = { $0.text.hasSuffix("partner.example") }
        #expect(policy.reasonToPass(host, refusedUntil: Self.later) == nil)
        #expect(!policy.letsThroughAfterRefusal(host))
        let push = try Self.host("push.apple.com")
        #expect(policy.reasonToPass(push, refusedUntil: nil) == .defaultList)
    }

    /// What is let through by default is what rules know as the system's own.
    @Test func theDefaultListIsWithinTheSystemsHosts() throws {
        #expect(DefaultPassthroughHosts.builtin.count > 60)
        for domain in DefaultPassthroughHosts.builtin.sorted {
            #expect(OSNoiseHosts.builtin.contains(try Self.host(domain)), "\(domain)")
        }
    }
}
