import HandoffProxy
import SessionTrace
import Testing

@Suite struct FaultRuleTests {
    /// Text as written → the rule's one form. The first rows are those of the help text.
    static let rules: [(String, String)] = [
        ("POST /handoff-session: 503 once", "POST /handoff-session: 503 once"),
        ("POST /handoff-session: 429 [retry-after=5] once", "POST /handoff-session: 429 retry-after=5 once"),
        ("POST /handoff-session: 429 retry-after=5 times=3", "POST /handoff-session: 429 retry-after=5 times=3"),
        ("GET /catalog/{id}/handoff: delay=2s", "GET /catalog/{id}/handoff: delay=2s always"),
        ("/orders: drop-before-request always", "/orders: drop-before-request always"),
        ("* /orders: drop-after-request", "/orders: drop-after-request always"),
        ("post /orders: reset times=1", "POST /orders: reset once"),
        ("POST /orders: truncate-response", "POST /orders: truncate-response always"),
        ("POST /orders: truncate-response=10 once", "POST /orders: truncate-response=10 once"),
        ("POST api.example.com/orders: 500", "POST api.example.com/orders: 500 always"),
        ("POST https://API.example.com:8443/orders: 500", "POST api.example.com:8443/orders: 500 always"),
        ("POST *.example.com/orders: 500", "POST *.example.com/orders: 500 always"),
        ("POST [::1]:80/orders: 500", "POST [::1]:80/orders: 500 always"),
        ("POST /v1/items:batch: 503 delay=1.5s once", "POST /v1/items:batch: 503 delay=1500ms once"),
        ("  POST   /a :   503   once ", "POST /a: 503 once"),
        ("PURGE /a: 204", "PURGE /a: 204 always"),
    ]

    @Test(arguments: rules)
    func oneForm(text: String, form: String) throws {
        let rule = try FaultRule(parsing: text)
        #expect(rule.description == form)
        #expect(try FaultRule(parsing: rule.description) == rule)
    }

    /// Text → column, word of the message, nearest.
    static let faults: [(String, Int, String, String?)] = [
        ("POST /handoff-session 503 once", 31, "colon", nil),
        ("POST /handoff-session:503", 26, "colon", nil),
        ("", 1, "colon", nil),
        (": 503", 1, "method and a path", nil),
        ("PSOT /x: 503", 1, "no known method", "POST"),
        ("PO/ST /x: 503", 1, "no method", nil),
        ("POST x: 503", 6, "begins with /", nil),
        ("POST /x?y=1: 503", 6, "no path template", nil),
        ("POST /x/{a: 503", 6, "no path template", nil),
        ("POST user@host/x: 503", 6, "no host", nil),
        ("POST host:99999/x: 503", 6, "no host", nil),
        ("GET POST /x: 503", 10, "only a method and a path", nil),
        ("POST /x:", 9, "action", nil),
        ("POST /x: 199", 10, "200 to 599", nil),
        ("POST /x: 600", 10, "200 to 599", nil),
        ("POST /x: 99999999999999999999", 10, "unknown action", nil),
        ("POST /x: drop-after-reqest", 10, "unknown action", "drop-after-request"),
        ("POST /x: drop-after-request=1", 10, "takes no value", nil),
        ("POST /x: delay", 10, "needs a value", nil),
        ("POST /x: delay=2", 10, "is a time", nil),
        ("POST /x: delay=601s", 10, "up to 600s", nil),
        ("POST /x: delay=.s", 10, "is a time", nil),
        ("POST /x: 503 onec", 14, "unknown option", "once"),
        ("POST /x: 503 once always", 19, "given twice", nil),
        ("POST /x: 503 times=0", 14, "times is a number", nil),
        ("POST /x: 503 times", 14, "times needs a number", nil),
        ("POST /x: 503 once=2", 14, "takes no value", nil),
        ("POST /x: 503 retry-after=x", 14, "retry-after is a number", nil),
        ("POST /x: reset retry-after=1", 16, "goes with a status", nil),
        ("POST /x: 503 retry-after=1 retry-after=2", 28, "given twice", nil),
        ("POST /x: drop-before-request delay=1s", 30, "nothing to delay", nil),
        ("POST /x: truncate-response=-1", 10, "number of bytes", nil),
    ]

    @Test(arguments: faults)
    func errorsNamePlaceAndWord(text: String, column: Int, part: String, nearest: String?) throws {
        let error = #expect(throws: FaultRuleError.self) { try FaultRule(parsing: text) }
        #expect(error?.column == column)
        #expect(error?.problem.contains(part) == true, "\(String(describing: error))")
        #expect(error?.nearest == nearest)
        #expect(error?.description.contains("column \(column)") == true)
    }

    @Test func anyTextIsSurvived() {
        var generator = SeededGenerator(seed: 11)
        let alphabet = Array("POST /x{}:=[]@* .503oncedelaytimesretry-after\u{301}9")
        for _ in 0..<20_000 {
            let text = String(
                (0..<Int.random(in: 0..<40, using: &generator)).map { _ in
                    alphabet.randomElement(using: &generator) ?? " "
                })
            if let rule = try? FaultRule(parsing: text) {
                #expect((try? FaultRule(parsing: rule.description)) == rule, "\(text)")
            }
        }
    }
}
