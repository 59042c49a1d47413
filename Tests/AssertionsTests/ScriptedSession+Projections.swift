import SessionTrace

extension ScriptedSession {
    /// The body of a projection of one item.
    static func projectionBody(
        mode: String = "share_or_neutral", item: String? = "item-4711-abcdef", version: String = #""2026-03""#
    ) -> String {
        let decision =
            mode == "share_or_neutral"
            ? #"{"mode":"share_or_neutral","primary":{"disclosureVersion":\#(version)},"secondary":{"url":"\#(neutral)"}}"#
            : #"{"mode":"\#(mode)","url":"\#(neutral)"}"#
        return item.map { #"{"catalogId":"\#($0)","handoff":\#(decision)}"# } ?? decision
    }

    /// A projection fetched by the app; `body` instead of a decision when given.
    @discardableResult
    mutating func fetch(
        at time: Double, took: Double = 0.1, mode: String = "share_or_neutral", item: String = "item-4711-abcdef",
        version: String = #""2026-03""#, status: Int = 200, body: String? = nil, path: String? = nil,
        responseHeaders: [(String, String)] = [], fate: Fate = .answered
    ) -> ExchangeID {
        exchange(
            .app, "GET", "https://api.partner.example\(path ?? "/catalog/\(item)/handoff")", at: time, took: took,
            status: status,
            response: body ?? (status == 200 ? Self.projectionBody(mode: mode, item: item, version: version) : ""),
            responseHeaders: responseHeaders, fate: fate)
    }

    /// A moment of the scripted session as the app writes it, in JSON.
    static func stamp(_ seconds: Double) -> String { "\"\(instant(seconds).rfc3339)\"" }

    /// The share request's body for an item, a disclosure version and a moment of the scripted day.
    static func shareBody(
        item: String = "item-4711-abcdef", version: String = #""2026-03""#, affirmed: String = "true",
        affirmedAt: String = #""2026-11-29T12:00:03Z""#, more: String = ""
    ) -> String {
        #"{"catalogId":"\#(item)","disclosureVersion":\#(version),"affirmed":\#(affirmed),"affirmedAt":\#(affirmedAt)\#(more)}"#
    }
}
