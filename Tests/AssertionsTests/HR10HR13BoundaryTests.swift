import Assertions
import SessionTrace
import Testing

/// The edges of the span in which the neutral action must do nothing.
@Suite struct HR10ActionsMutuallyExclusiveBoundaryTests {
    /// A session request from 4.1 to 4.5, and what `build` adds.
    private func judge(tap: Double? = nil, _ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        if let tap { session.tap(.share, at: tap) }
        session.share(at: 4.1, took: 0.4)
        build(&session)
        session.mark(.end, at: 90)
        return try session.judge()["HR-10"]
    }

    @Test func aNeutralTapInTheRequestsOwnMomentIsNoneBefore() throws {
        let result = try judge(tap: 4) {
            $0.tap(.neutral, at: 4.1)
            $0.browse(ScriptedSession.neutral, at: 4.3)
        }
        #expect(result.violations.contains("neutral-while-sharing"), "\(result)")
    }

    @Test func anUnnamedTapInTheRequestsOwnMomentMadeIt() throws {
        let result = try judge {
            $0.tap(nil, at: 4.1)
            $0.browse(ScriptedSession.neutral, at: 5)
        }
        #expect(result.violations.isEmpty, "\(result)")
    }

    @Test(arguments: [(4.1, ["neutral-while-sharing"]), (4.099, []), (4.5, [])])
    func anOpeningCountsFromTheFirstByteToTheEnd(time: Double, kinds: [String]) throws {
        let result = try judge(tap: 4) { $0.browse(ScriptedSession.neutral, at: time) }
        #expect(result.violations == kinds, "\(result)")
    }

    @Test(arguments: [(4.5, true), (14.3, true), (14.301, false)])
    func aTapInTheSpanHasNoEffectLaterEither(opening: Double, isFound: Bool) throws {
        let result = try judge(tap: 4) {
            $0.tap(.neutral, at: 4.3)
            $0.browse(ScriptedSession.neutral, at: opening)
        }
        #expect(result.violations == (isFound ? ["neutral-tap-had-effect"] : []), "\(result)")
    }

    @Test(arguments: [(5.0, []), (5.001, ["neutral-tap-had-effect"])])
    func whatTheNextTapOpensIsItsOwn(next: Double, kinds: [String]) throws {
        let result = try judge(tap: 4) {
            $0.tap(.neutral, at: 4.3)
            $0.tap(.neutral, at: next)
            $0.browse(ScriptedSession.neutral, at: 5)
        }
        #expect(result.violations == kinds, "\(result)")
    }
}

@Suite struct HR11KeyPresentAndUUIDv4BoundaryTests {
    @Test func aKeyInABodyThatWasNotReadInFullMayBeThere() throws {
        func judge(whole: Bool) throws -> RuleResult {
            var session = ScriptedSession.upToTap()
            session.policyText += "requests: {session: {key: body /requestId}}\n"
            session.tap(.share, at: 4)
            session.share(at: 4.1, key: nil, bodyIsComplete: whole)
            session.mark(.end, at: 90)
            return try session.judge()["HR-11"]
        }
        #expect(try judge(whole: false).reason?.code == "header-table-unknown")
        #expect(try judge(whole: true).violations == ["no-key"])
    }

    /// The first attempt's key, and the retry's, which a duplicate may follow.
    private func judge(_ first: String, _ second: String, isTwice: (Bool, Bool) = (false, false)) throws -> [String] {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        for (time, key, twice) in [(4.1, first, isTwice.0), (6, second, isTwice.1)] {
            // Another field of the name: the script would replace one that is spelt alike.
            session.share(
                at: time, key: key, status: time < 5 ? 503 : 201, headers: twice ? [("Idempotency-Key", key)] : [])
        }
        session.mark(.end, at: 90)
        return try session.judge()["HR-11"].violations
    }

    @Test func lettersAreKept() throws {
        let key = ScriptedSession.key1
        #expect(try judge(key, key) == [])
        #expect(try judge(key, key.uppercased()) == ["key-form-changed"])
        #expect(try judge(key, key, isTwice: (false, true)) == ["several-keys"])
        #expect(try judge(key, key, isTwice: (true, false)) == ["several-keys"])
    }
}

@Suite struct HR13SameKeySameBodyBoundaryTests {
    private func judge(
        _ first: String, _ second: String, headers: [(String, String)] = []
    ) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, body: first, status: 503)
        session.share(at: 6, body: second, headers: headers)
        session.mark(.end, at: 90)
        return try session.judge()["HR-13"]
    }

    @Test(arguments: [("item=abc&x=1", "item=abd&x=1", 7), ("item=abc", "item=abc&x=1", 8)])
    func theFirstByteThatDiffersIsNamed(first: String, second: String, place: Int) throws {
        let result = try judge(first, second)
        #expect(result.violations == ["body-differs"])
        #expect(result.sentence.hasSuffix("differ at byte \(place)"), "\(result)")
    }

    @Test func equalContentInAnotherCodingIsInformation() throws {
        let result = try judge(
            ScriptedSession.body, ScriptedSession.body, headers: [("content-encoding", "identity")])
        #expect(result.verdict == .pass && result.information.contains("encoding-differs"), "\(result)")
        let same = try judge(ScriptedSession.body, ScriptedSession.body)
        #expect(same.information.isEmpty, "\(same)")
    }

    @Test func eachDifferenceOfBodiesIsNamedUpToFive() throws {
        func named(_ count: Int) throws -> Int {
            let first = (0..<count).map { "\"m\($0)\":1" }.joined(separator: ",")
            let second = (0..<count).map { "\"m\($0)\":2" }.joined(separator: ",")
            let sentence = try judge("{\(first)}", "{\(second)}").sentence
            return sentence.components("/m") - 1
        }
        #expect(try named(5) == 5)
        #expect(try named(7) == 5)
        let changed = try judge(#"{"a":1,"b":2}"#, #"{"b":2,"c":3}"#).sentence
        #expect(changed.contains("/a (removed)") && changed.contains("/c (added)"), "\(changed)")
        #expect(!changed.contains("/b"), "\(changed)")
    }

    /// The address of the retry, and the part that is said to differ.
    @Test(arguments: [
        ("api.partner.example/handoff-session?x=1", "query"), ("api.partner.example/a/handoff-session", "path"),
        ("api.partner.example:8443/handoff-session", "authority"), ("www.partner.example/handoff-session", "authority"),
    ]) func thePartOfTheAddressIsNamed(address: String, part: String) throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, status: 503)
        session.exchange(
            .app, "POST", "https://\(address)", at: 6,
            headers: [("idempotency-key", ScriptedSession.key1), ("content-type", "application/json")],
            body: ScriptedSession.body, response: #"{"url":"\#(ScriptedSession.url)"}"#)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-13"]
        #expect(result.violations == ["address-differs"], "\(result)")
        #expect(result.sentence.contains("the \(part) differs"), "\(result)")
    }

    @Test func fieldsThatMayChangeAreNamed() throws {
        let result = try judge(
            ScriptedSession.body, ScriptedSession.body, headers: [("authorization", "Bearer fresh")])
        #expect(result.information == ["header-differs"], "\(result)")
        #expect(result.findings[0].message.hasSuffix("did: authorization"), "\(result)")
        #expect(result.lookedAt.count == 2, "both attempts")
    }

    @Test(arguments: [(true, false), (false, true)]) func oneMissingKeyIsEnoughForADoubt(first: Bool, second: Bool)
        throws
    {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, key: first ? ScriptedSession.key1 : nil, status: 503)
        session.share(at: 6, key: second ? ScriptedSession.key1 : nil)
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-13"].reason?.code == "no-key")
    }
}

extension String {
    /// How many parts a separator makes.
    fileprivate func components(_ separator: String) -> Int {
        split(separator: separator, omittingEmptySubsequences: false).count
    }
}
