import SessionTrace
import Testing

@testable import Assertions

/// Names in sentences that are no secrets, and are needed.
@Suite struct SpokenNamesTests {
    @Test func thePrefixOfATokenIsItsName() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, url: "https://chia.health/h/none")
        session.mark(.end, at: 60)
        let result = try session.judge()["HR-09"]
        #expect(result.reason?.code == "handoff-url-unknown", "\(result)")
        #expect(result.sentence.contains("phs_ token"))
        #expect(result.reason?.remedy.contains("https URL with a phs_ token") == true)
        #expect(Redactor.printable("a phs_ token") == "a phs_ token")
        for text in ["phs_a", "phs_Zk3Tq8WvX2", "PHS_abc", "xphs_"] {
            #expect(Redactor.printable("a \(text) token") == "a ‹token› token")
        }
    }

    @Test(arguments: [
        ("com.apple.WebKit.Networking/8617.2.4.10.8 CFNetwork/1490", "com.apple.WebKit.Networking/8617.2.4.10.8"),
        ("Google-Android-IntentFilterVerifier/1.0", "Google-Android-IntentFilterVerifier/1.0"),
        ("PartnerShop/5.2 okhttp/4.12.0", "PartnerShop/5.2"), ("okhttp/4.12.0", "okhttp/4.12.0"),
        ("AndroidDownloadManager/14 (Linux)", "AndroidDownloadManager/14"), ("Dalvik/2.1.0 (Linux)", "Dalvik/2.1.0"),
        ("com.google.android.gms/243931019 (Linux)", "com.google.android.gms/‹number›"),
        ("ZkTqWvXmNcYbRdLpAs/1", "‹random›/1"), ("device4711081599/1", "‹random›/1"),
        ("phs_Zk3Tq8WvX2mN7cYb/1", "‹token›/1"), ("someone@mail.example", "‹email›"),
    ]) func programsAreNamed(agent: String, shown: String) {
        #expect(ProductName.shown(agent) == shown)
    }

    @Test func aRepeatedSuccessIsNotCountedButSaid() throws {
        var session = ScriptedSession.conformingShare()
        session.share(at: 4.25)
        let verdict = try session.judge()
        #expect(verdict["HR-07"].verdict == .pass, "\(verdict.story)")
        #expect(verdict["HR-07"].sentence.contains("attempt 2 repeats attempt 1"))
        #expect(verdict["HR-07"].sentence.contains("HR-17"))
        #expect(verdict["HR-17"].verdict == .fail)
        let once = try ScriptedSession.conformingShare().judge()["HR-07"]
        #expect(!once.sentence.contains("HR-17"))
        var retried = ScriptedSession.upToTap()
        retried.tap(.share, at: 4)
        retried.share(at: 4.1, status: 503)
        retried.share(at: 6)
        retried.browse(ScriptedSession.url, at: 6.5)
        retried.mark(.end, at: 60)
        #expect(try !retried.judge()["HR-07"].sentence.contains("HR-17"))
    }
}
