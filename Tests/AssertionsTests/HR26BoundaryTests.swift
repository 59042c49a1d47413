import Assertions
import SessionTrace
import Testing

/// Second openings, one by one.
@Suite struct HR26OpenedAtMostOnceBoundaryTests {
    private func judge(_ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        try ScriptedSession.shared(build).judge()["HR-26"]
    }

    @Test func eachOpeningIsShown() throws {
        let result = try judge {
            $0.browse(ScriptedSession.url, at: 4.5)
            $0.browse(ScriptedSession.otherURL, at: 60)
        }
        #expect(result.lookedAt.map(\.label) == ["opening", "opening"])
    }

    @Test func anActInTheOpeningsOwnMomentIsItsCause() throws {
        let result = try judge {
            $0.browse(ScriptedSession.url, at: 4.5)
            $0.mark(.foreground, at: 40)
            $0.browse(ScriptedSession.url, at: 40)
        }
        #expect(result.violations == ["opened-again"] && result.severity == .error, "\(result)")
        #expect(result.sentence.hasSuffix("0 s after the app's foreground"))
    }

    /// Back in the browser: nothing was tapped or launched, and the app sent nothing.
    @Test func theBrowsersOwnReturnIsNotDecided() throws {
        func judge(_ url: String) throws -> RuleResult {
            try self.judge {
                $0.browse(url, at: 4.5)
                $0.browse("https://news.example/", at: 30)
                $0.browse(url, at: 40)
            }
        }
        #expect(try judge(ScriptedSession.url).reason?.code == "perhaps-back")
        let strange = try judge(ScriptedSession.otherURL)
        #expect(strange.verdict == .inconclusive && strange.violations.isEmpty, "\(strange)")
    }

    @Test func aPageOfAnotherSessionIsCountedOnceForEach() throws {
        let result = try judge {
            $0.browse(ScriptedSession.otherURL, at: 30)
            $0.browse("https://chia.health/h/phs_Yesterday0123456789abc", at: 32)
        }
        #expect(result.violations == [] && result.reason?.code == "url-of-another-session", "\(result)")
    }
}
