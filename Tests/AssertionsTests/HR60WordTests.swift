import Assertions
import SessionTrace
import Testing

/// What makes a shop's own order page tell of the handoff: Chia, its hosts, the item and the session as words of their own.
@Suite struct HR60NoStatusWordTests {
    private func kinds(_ said: String, chia: String = "chia.health") throws -> [String] {
        var session = ScriptedSession.conformingShare()
        session.policyText += "  chia: [\(chia), chia.health]\n"
        session.exchange(
            .app, "GET", "https://api.partner.example/orders", at: 56,
            response: #"{"orders":[{"order_status":"shipped",\#(said)}]}"#)
        return try session.judge()["HR-60"].findings.map(\.kind)
    }

    @Test(arguments: [
        #""specialty":"psychiatry""#, #""specialty":"PSYCHIATRY""#, #""place":"Ischia""#, #""schiamazzo":1"#,
        #""seed":"chia2go""#, #""name":"Chiara""#, #""code":"9chia""#, #""kinds":"graphs_total""#,
        #""item":"1item-4711-abcdef""#, #""item":"item-4711-abcdef9""#, #""s":"xhs-91c2d0aa7766""#,
        #""h":"mychia-care.example""#,
    ]) func aWordThatHoldsItIsAnother(said: String) throws {
        #expect(try kinds(said, chia: "chia-care.example") == ["maybe-status"])
    }

    @Test(arguments: [
        #""from":"chia""#, #""from":"CHIA""#, #""fromChia":1"#, #""isChia":1"#, #""chiaOrder":1"#, #""chia_order":1"#,
        #""x-chia":1"#, #""step2Chia":1"#, #""url":"https://chia.health/x""#, #""u":"a%2Fchia%2Fb""#,
        #""t":"a\nchia\nb""#, #""t":"\u0022chia\u0022""#, #""sdk":"@chiahealth/partner""#,
        #""t":"phs_Zk3Tq8WvX2mN7cYbR5dLpA9s""#, #""item":"item-4711-abcdef""#, #""item":"/x/item-4711-abcdef?a""#,
        #""u":"x%2Fitem-4711-abcdef""#, #""s":"s_hs-91c2d0aa7766""#, #""h":"handoff.care.example""#,
        #""h":"CARE.example""#, #""one":"psychiatry","two":"Chia""#,
    ]) func asAWordOfItsOwnItTells(said: String) throws {
        #expect(try kinds(said, chia: "care.example") == ["status-key"])
    }
}
