import SessionTrace
import Testing

@testable import Assertions

/// Something of a token's shape that people named: a feature flag.
@Suite struct TokenLikeNameTests {
    @Test(arguments: [
        "phs_show_section_header_v2", "phs_SHOW_SECTION_HEADER", "phs_showSectionHeader12", "phs_new-header-for-b-999",
        "phs_abc_def",
    ]) func namesReadAsNames(text: String) {
        #expect(TokenShape.readsAsName(Array(text.utf8)))
    }

    @Test(arguments: [
        ScriptedSession.token, "phs_a1b2c3d4e5f6g7h8i9j0", "phs_abcdefghijklmnopqrst", "phs_abc_de",
        "phs_show_section_v1234",
        "phs_show_section_v2x", "phs_AbCdEfGhIjKlMnOpQr", "phs_show_SecTIon_header", "phs_",
        "phs_7b0f6f0e-4c1d-4f5a-9d55",
    ]) func tokensDoNot(text: String) {
        #expect(!TokenShape.readsAsName(Array(text.utf8)))
    }

    private static let flag = #"{"flags":{"phs_show_section_header_v2":true}}"#

    private func send(_ session: inout ScriptedSession, at time: Double) {
        session.exchange(.app, "POST", "https://app-measurement.com/a", at: time, body: Self.flag)
        session.exchange(.app, "GET", "https://api.partner.example/config", at: time + 1, response: Self.flag)
        session.exchange(.app, "POST", "https://bit.ly/create", at: time + 2, body: Self.flag)
    }

    private static let rules = ["HR-36", "HR-46", "HR-47"]

    @Test func besideATokenOfAnotherMakeItIsOnlyMentioned() throws {
        var session = ScriptedSession.conformingShare()
        send(&session, at: 60)
        let verdict = try session.judge()
        for rule in Self.rules {
            #expect(verdict[rule].verdict == .pass, "\(verdict[rule])")
            #expect(Set(verdict[rule].information) == ["token-like-name"], "\(verdict[rule])")
        }
        #expect(verdict["HR-59"].verdict == .pass && !verdict["HR-51"].violations.contains("link-shortened"))
    }

    @Test func withoutAKnownTokenItIsNotDecided() throws {
        var session = ScriptedSession()
        session.projection(at: 0.5)
        send(&session, at: 2)
        session.mark(.end, at: 90)
        let verdict = try session.judge()
        for rule in Self.rules {
            #expect(
                verdict[rule].violations == [] && verdict[rule].reason?.code == "token-like-name", "\(verdict[rule])")
        }
    }

    @Test func tokensThatReadSoMakeItDoubtful() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, url: "https://chia.health/h/phs_correct_horse_battery_staple")
        send(&session, at: 60)
        session.mark(.end, at: 150)
        let result = try session.judge()["HR-46"]
        #expect(result.violations == [] && result.reason?.code == "token-like-name", "\(result)")
    }

    @Test func whatDoesNotReadSoIsStillALeak() throws {
        var session = ScriptedSession.conformingShare()
        session.exchange(
            .app, "POST", "https://app-measurement.com/a", at: 60, body: #"{"f":"phs_a1b2c3d4e5f6g7h8i9j0"}"#)
        #expect(try session.judge()["HR-46"].violations == ["telemetry-leak"])
    }
}
