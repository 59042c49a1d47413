import Assertions
import SessionTrace
import Testing

/// Which equal values are one, where a cookie of Chia's may turn up, and who had it first. Chia's page sets it at 5.1.
@Suite struct HR53NoChiaCookieInAppValueTests {
    private static let sid = "s1d-77aaXX99kkLL"
    private static let visit = "https://api.partner.example/visit"

    private func judge(
        set: String = "sid=\(sid)", _ change: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        var session = ScriptedSession.conformingShare()
        session.exchange(
            .browser, "GET", "https://chia.health/step", at: 5, responseHeaders: [("set-cookie", "\(set); Path=/")])
        change(&session)
        return try session.judge()["HR-53"]
    }

    private func sent(toChia cookie: String, byApp own: String) throws -> RuleResult {
        try judge {
            $0.exchange(.app, "GET", "https://api.partner.example/me", at: 1, headers: [("cookie", own)])
            $0.browse("https://chia.health/next", at: 6, headers: [("cookie", cookie)])
        }
    }

    // MARK: values that several sites have

    /// A time zone, a locale, a date: what two sites say alike of one device names nobody.
    @Test(arguments: [
        "America/New_York", "2026-11-30T03:18:13.123Z", "2026-11-30T03%3A18%3A13Z", "20261130T031813Z",
        "Europe%2FBerlin", "1795000000000123", "iPhone15ProMax", "zh-Hans-CN.UTF-8", "a1b234567", "ab1cdefghi2",
    ]) func aValueThatSeveralSitesHaveIsNotDecided(value: String) throws {
        let other = try sent(toChia: "timezone=\(value)", byApp: "tz=\(value)")
        #expect(other.violations == [] && other.reason?.code == "cookie-value-common", "\(other)")
        let ofChia = try judge(set: "timezone=\(value)") {
            $0.exchange(.app, "GET", Self.visit, at: 60, headers: [("cookie", "tz=\(value)")])
        }
        #expect(ofChia.violations == [] && ofChia.reason?.code == "cookie-value-common", "\(ofChia)")
    }

    @Test(arguments: [
        "s1d-77aaXX99kkLL", "a1b2345678", "7b0f6f0e-4c1d-4f5a-9d55-0a2f8f1f3c11",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
    ]) func aValueOfACredentialsMakeIsOne(value: String) throws {
        #expect(try sent(toChia: "k=\(value)", byApp: "s=\(value)").violations == ["partner-credential"])
        let ofChia = try judge(set: "k=\(value)") {
            $0.exchange(.app, "GET", Self.visit, at: 60, headers: [("cookie", "s=\(value)")])
        }
        #expect(ofChia.violations == ["chia-cookie"], "\(ofChia)")
    }

    /// Words in a field for credentials on both sides are one credential, whatever the fields are called.
    @Test(arguments: ["authorization", "x-session-token"]) func aCredentialIsOneHoweverItIsMade(field: String) throws {
        let result = try judge {
            $0.exchange(
                .app, "GET", "https://api.partner.example/me", at: 1,
                headers: [("authorization", "Bearer lab-account-x")])
            $0.browse("https://chia.health/next", at: 6, headers: [(field, "Bearer lab-account-x")])
        }
        #expect(result.violations == ["partner-credential"], "\(result)")
    }

    /// One name on both sides says that the value is one and the same, and so does a field for credentials.
    @Test func anEqualNameTellsToo() throws {
        #expect(try sent(toChia: "zone=America/New_York", byApp: "zone=America/New_York").violations == [])
        #expect(try sent(toChia: "at=20261130T031813Z", byApp: "at=20261130T031813Z").violations == [])
        #expect(
            try sent(toChia: "sess=iPhone15ProMax", byApp: "sess=iPhone15ProMax").violations == ["partner-credential"])
        #expect(
            try sent(toChia: "SESS=iPhone15ProMax", byApp: "sess=iPhone15ProMax").violations == ["partner-credential"])
        let field = try judge {
            $0.exchange(.app, "GET", Self.visit, at: 1, headers: [("authorization", "Bearer iPhone15ProMax")])
            $0.browse("https://chia.health/next", at: 6, headers: [("cookie", "k=iPhone15ProMax")])
        }
        #expect(field.violations == ["partner-credential"], "\(field)")
    }

    /// A cookie is told once where it is sent as one; elsewhere on the same host it is another place.
    @Test(arguments: [("", 1), ("v=s1d-77aaXX99kkLL", 2)]) func eachPlaceIsToldOnce(body: String, count: Int) throws {
        let result = try judge(set: "k=s1d-77aaXX99kkLL") {
            $0.exchange(.app, "GET", Self.visit, at: 60, headers: [("cookie", "s=s1d-77aaXX99kkLL")])
            $0.exchange(.app, "POST", Self.visit, at: 61, body: body)
        }
        #expect(result.violations == Array(repeating: "chia-cookie", count: count), "\(result)")
    }

    @Test func whatWasTooShortToTellStaysOut() throws {
        #expect(try sent(toChia: "a=de-DE", byApp: "b=de-DE").verdict == .pass)
    }

    // MARK: contents

    @Test(arguments: [
        #"{"k":"s1d-77aaXX99kkLL"}"#, "k=s1d-77aaXX99kkLL&a=1", "czFkLTc3YWFYWDk5a2tMTA==",
    ]) func itMayBeInAnyPartOfARequest(body: String) throws {
        let result = try judge { $0.exchange(.app, "POST", Self.visit, at: 60, body: body) }
        #expect(result.violations == ["chia-cookie"], "\(result)")
        #expect(result.sentence.contains("body"), "\(result)")
        let query = try judge { $0.exchange(.app, "GET", "\(Self.visit)?k=\(Self.sid)", at: 60) }
        #expect(query.violations == ["chia-cookie"], "\(query)")
        let header = try judge { $0.exchange(.app, "GET", Self.visit, at: 60, headers: [("x-visit", Self.sid)]) }
        #expect(header.violations == ["chia-cookie"], "\(header)")
    }

    @Test func aMessageMayHoldItToo() throws {
        let result = try judge {
            let upgrade = $0.exchange(.app, "GET", "https://api.partner.example/live", at: 1, status: 101)
            $0.message(upgrade, Array(#"{"k":"\#(Self.sid)"}"#.utf8), at: 60)
        }
        #expect(result.violations == ["chia-cookie"], "\(result)")
    }

    @Test(arguments: [(.browser, []), (.nobody, []), (.app, ["chia-cookie"])] as [(ScriptedSession.Who, [String])])
    func whatTheBrowserSendsIsItsOwn(who: ScriptedSession.Who, kinds: [String]) throws {
        let result = try judge {
            $0.exchange(.browser, "POST", Self.visit, at: 61, body: Self.sid)
            $0.exchange(who, "POST", "https://chia.health/x", at: 62, body: Self.sid)
        }
        #expect(result.violations == kinds, "\(result)")
    }

    /// The browser sends it to one host, and so does the app.
    @Test func oneSenderDoesNotHideAnother() throws {
        let result = try judge {
            $0.exchange(.disguised, "GET", Self.visit, at: 60, headers: [("cookie", "k=\(Self.sid)")])
            $0.exchange(.app, "GET", Self.visit, at: 61, headers: [("cookie", "k=\(Self.sid)")])
        }
        #expect(result.violations == ["chia-cookie"], "\(result)")
    }

    /// A cookie that is the handoff token is still found as the token.
    @Test func aTokenInACookieIsStillAToken() throws {
        let token = "phs_a1b2c3d4e5f6g7h8i9j0"
        let result = try ScriptedSession.shared {
            $0.exchange(
                .browser, "GET", "https://chia.health/step", at: 5, responseHeaders: [("set-cookie", "t=\(token)")])
            $0.exchange(.app, "POST", "https://app-measurement.com/a", at: 60, body: token)
        }.judge()["HR-47"]
        #expect(result.verdict == .fail, "\(result)")
    }

    @Test func aCommonValueIsNotLookedForInContents() throws {
        let result = try judge(set: "tz=America/New_York") {
            $0.exchange(.app, "POST", Self.visit, at: 60, body: #"{"tz":"America/New_York"}"#)
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test func contentThatCouldNotBeSearchedIsNotDecided() throws {
        func code(_ time: Double) throws -> String? {
            try judge {
                $0.exchange(
                    .app, "POST", Self.visit, at: time, headers: [("content-encoding", "exotic")], body: "aaaaaaaaaaaa")
            }.reason?.code
        }
        #expect(try code(60) == "undecodable-content")
        #expect(try code(1) == nil)
    }

    @Test(arguments: [(64, nil), (65, "state-given-up")] as [(Int, String?)])
    func moreThanAreLookedForIsNotDecided(count: Int, code: String?) throws {
        let result = try judge {
            for index in 1..<count {
                $0.exchange(
                    .browser, "GET", "https://chia.health/p", at: 6 + Double(index) / 10,
                    responseHeaders: [("set-cookie", "c\(index)=a1b2c3d4e5f\(index + 1_000)")])
            }
        }
        #expect(result.reason?.code == code, "\(result)")
    }

    @Test(arguments: [(64, nil), (65, "state-given-up")] as [(Int, String?)])
    func moreSendersThanAreKeptAreNotDecided(count: Int, code: String?) throws {
        let result = try judge {
            for index in 0..<count {
                $0.exchange(
                    .app, "GET", "https://h\(index).vendor.example/x", at: 6 + Double(index) / 10,
                    headers: [("cookie", "k=tok-P1q2R3s4T5u6")])
            }
        }
        #expect(result.reason?.code == code, "\(result)")
    }

    // MARK: who had it first

    /// The app sends it at 60; the partner's answer that gives it too ends at `ended`.
    @Test(arguments: [(59.999, []), (60, ["chia-cookie"]), (70, ["chia-cookie"])] as [(Double, [String])])
    func onlyWhatWasGivenBeforeExcuses(ended: Double, kinds: [String]) throws {
        let result = try judge {
            $0.exchange(.app, "POST", Self.visit, at: 60, took: 0.001, headers: [("cookie", "k=\(Self.sid)")])
            $0.exchange(
                .app, "GET", "https://api.partner.example/x", at: ended - 0.5, took: 0.5,
                responseHeaders: [("set-cookie", "x=\(Self.sid)")])
        }
        #expect(result.violations == kinds, "\(result)")
    }

    /// The partner's value goes to Chia at 6, which repeats it.
    @Test func whatChiaRepeatsIsThePartnersAllTheSame() throws {
        let own = "tok-P1q2R3s4T5u6"
        let result = try judge {
            $0.exchange(.app, "GET", "https://api.partner.example/me", at: 1, headers: [("cookie", "k=\(own)")])
            $0.exchange(
                .browser, "GET", "https://chia.health/next", at: 6, headers: [("cookie", "q=\(own)")],
                responseHeaders: [("set-cookie", "q=\(own)")])
        }
        #expect(result.violations.contains("partner-credential"), "\(result)")
    }
}
