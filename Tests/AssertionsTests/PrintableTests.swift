import SessionTrace
import Testing

@testable import Assertions

/// What traffic and marks bring into a report can neither steer a terminal nor show a token.
@Suite struct PrintableTests {
    @Test(arguments: [
        ("plain text, umlauts äöü, a dash –", "plain text, umlauts äöü, a dash –"),
        ("a\u{1B}[31mred", "a\\u{1B}[31mred"), ("line\nbreak\u{7}", "line\\u{A}break\\u{7}"),
        ("\u{202E}gnp.exe", "\\u{202E}gnp.exe"), ("MyApp/phs_Abcdefghijklmnop1/1.0", "MyApp/‹token›/1.0"),
    ])
    func masksWhatATerminalObeys(text: String, printed: String) {
        #expect(Redactor.printable(text) == printed)
    }

    @Test func aTokenInTheUserAgentIsNotPrinted() throws {
        var session = ScriptedSession.conformingShare()
        session.mark(.scenario, at: 0.1, attributes: ["platform": "run \u{1B}]0;x\u{7} \(ScriptedSession.token)"])
        let verdict = try session.judge(
            session.events().map { event in
                guard case .exchange(var exchange) = event, var request = exchange.request else { return event }
                request.fields.append("user-agent", "Shop/\(ScriptedSession.token)/1.0")
                exchange.request = request
                return .exchange(exchange)
            })
        let text = String(reflecting: verdict)
        #expect(!text.contains(ScriptedSession.token))
        #expect(!text.contains("\u{1B}"))
    }
}
