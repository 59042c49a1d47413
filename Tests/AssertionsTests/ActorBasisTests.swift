import SessionTrace
import Testing

@testable import Assertions

/// What a reading of the actor rests on is data: no sentence for people decides.
@Suite struct ActorBasisTests {
    @Test(arguments: [
        ("MobileSafari", nil, true), ("Safari", nil, true), ("com.apple.WebKit.Networking", "MobileSafari", true),
        ("Chrome", nil, false), ("MobileSafari", "Chrome", false), ("SafariViewService", nil, false),
        ("com.apple.WebKit.Networking", "SafariViewService", false), ("helper for Safari (1", "Chrome", false),
    ]) func safariIsToldByItsProcess(name: String, effective: String?, isSafari: Bool) throws {
        let process = ProcessIdentity(source: .pktap, name: name, effectiveName: effective)
        #expect(try #require(ActorReading(process: process)).isSafari == isSafari)
    }

    @Test func aContradictionStaysOneWhateverItIsCombinedWith() {
        let app = ActorReading(actor: .app, isDefinite: false, reason: "User-Agent okhttp/4")
        let browser = ActorReading(
            actor: .browser, isDefinite: false, reason: "a browser's User-Agent and fetch metadata")
        let both = app.combined(with: browser)
        #expect(both.actor == .unknown && both.basis == .contradiction)
        #expect(both.combined(with: app) == both)
        let nobody = ActorReading(actor: .unknown, isDefinite: false, reason: "conflicting words of an agent")
        #expect(nobody.combined(with: app) == app, "no contradiction, whatever it is called")
    }

    @Test func aBareBrowserIsToldByWhatItRestsOn() {
        let words = ActorReading(actor: .unknown, isDefinite: false, reason: "a browser's tunnel of unknown origin")
        #expect(!words.isBareBrowser)
        #expect(ActorReading(actor: .unknown, isDefinite: false, reason: "x", basis: .bareBrowser).isBareBrowser)
    }
}
