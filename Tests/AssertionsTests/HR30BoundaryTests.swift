import Assertions
import SessionTrace
import Testing

/// What lies between the tap at 4 and the opening at 4.5, to the moment, and which documents led there.
@Suite struct HR30NoRedirectorBoundaryTests {
    private func judge(_ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        try ScriptedSession.shared(build).judge()["HR-30"]
    }

    @Test func theAnswerAndTheOpeningAreShown() throws {
        let result = try judge { $0.browse(ScriptedSession.url, at: 4.5) }
        #expect(result.lookedAt.map(\.label) == ["session response", "opening"])
    }

    @Test(arguments: [(3.999, []), (4.0, ["redirector"]), (4.5, ["redirector"]), (4.501, [])])
    func aDocumentInTheMomentOfTapOrOpeningLiesBetween(time: Double, kinds: [String]) throws {
        let result = try judge {
            $0.browse("https://bit.ly/x", at: time)
            $0.browse(ScriptedSession.url, at: 4.5)
        }
        #expect(result.violations == kinds, "\(result)")
    }

    @Test(arguments: [
        (3.999, []), (4.0, ["redirector-contact"]), (4.5, ["redirector-contact"]), (4.501, []),
    ]) func anUnreadContactInTheMomentOfTapOrOpeningLiesBetween(time: Double, kinds: [String]) throws {
        let result = try judge {
            $0.dark(.nobody, "bit.ly", at: time, lastData: time + 0.1)
            $0.browse(ScriptedSession.url, at: 4.5)
        }
        #expect(result.violations == kinds, "\(result)")
    }

    /// The pair: the answer of one page leads on, that of the other does not.
    @Test func oneRedirectIsEnough() throws {
        let result = try judge {
            $0.browse("https://news.example/", at: 4.2)
            $0.browse(
                "https://a.example/1", at: 4.3, status: 302, responseHeaders: [("location", ScriptedSession.url)])
            $0.browse(ScriptedSession.url, at: 4.5)
        }
        #expect(result.findings.map(\.kind) == ["not-the-app", "redirect"], "\(result)")
    }

    /// However many redirects there were, a tab beside them is the person's.
    @Test func aTabBesideManyRedirectsIsThePersons() throws {
        let result = try judge {
            $0.browse("https://news.example/", at: 4.15)
            for number in 0..<10 {
                let next = number == 9 ? ScriptedSession.url : "https://hop\(number + 1).example/"
                $0.browse(
                    "https://hop\(number).example/", at: 4.2 + Double(number) / 100, status: 302,
                    responseHeaders: [("location", next)])
            }
            $0.browse(ScriptedSession.url, at: 4.5)
        }
        #expect(result.violations.allSatisfy { $0 == "redirect" } && result.violations.count >= 8, "\(result)")
        #expect(
            result.findings.contains { $0.kind == "not-the-app" && $0.message.hasPrefix("news.example") }, "\(result)")
    }

    // MARK: one URL inside another

    @Test func theTokenInAnotherHostsPathIsWrapped() throws {
        let result = try judge { $0.browse("https://r.example/go/\(ScriptedSession.token)", at: 4.3) }
        #expect(result.violations == ["wrapped"], "\(result)")
    }

    @Test func anItemInAPathOrAURLInAFieldIsNotWrapped() throws {
        let item = try judge {
            $0.browse("https://shop.example/item-4711-abcdef", at: 4.3)
            $0.browse(ScriptedSession.url, at: 4.5)
        }
        #expect(item.violations == [], "\(item)")
        let field = try judge {
            $0.browse(ScriptedSession.url, at: 4.5)
            $0.browse(
                "https://news.example/", at: 9,
                headers: [("cookie", "last=\(ScriptedSession.token)"), ("sec-fetch-site", "none")])
        }
        #expect(field.violations == [], "\(field)")
    }
}
