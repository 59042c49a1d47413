internal import SessionTrace

/// A projection response: the decisions that the partner's backend sent.
struct Projection: Hashable, Sendable {
    /// One decision of the closed union, as far as rules need it.
    struct Decision: Hashable, Sendable {
        /// `neutral_only` or `share_or_neutral`.
        var mode: String
        /// The item, when the answer or the path names it.
        var item: String?
        var neutralURL: String?
        var disclosureVersion: String?
        var policyURLs: [String]
    }

    var record: RequestRecord
    /// Whether method and path are the policy's.
    var matchesTemplate: Bool
    /// The item that the path names.
    var item: String?
    var decisions: [Decision]
    /// Whether its content is all here and could be read, so that a decision which is not in it was not sent.
    var isReadable = false
    /// What it says of its age and use.
    var caching = ResponseCaching.none

    /// Bytes of a response that are decoded and searched.
    static let limit = 2 << 20
    /// What its JSON may hold.
    static let jsonLimits = JSONLimits(bytes: limit, depth: 64, values: 200_000)
    /// Decisions kept of one response.
    static let decisionLimit = 200

    /// Whether a current answer came back whole.
    var isComplete: Bool { record.end == .complete && (record.status == 304 || (200..<300).contains(record.status)) }

    /// The decisions in a response body; empty when there are none.
    static func decisions(in body: [UInt8], item: String?, pointer: String?) -> [Decision] {
        // Both literals hold the word; what it stands in is looked at closely below.
        guard MessageContent.contains(body, "neutral"),
            let value = try? JSONValue.parse(body, limits: jsonLimits)
        else { return [] }
        var found: [Decision] = []
        if let pointer, let place = value.value(at: pointer) {
            walk(place, item: item, into: &found)
        } else {
            walk(value, item: item, into: &found)
        }
        return found
    }

    private static func text(_ value: JSONValue) -> String? {
        if case .number(let text) = value { return text }
        return value.stringValue
    }

    private static func walk(_ value: JSONValue, item: String?, into found: inout [Decision]) {
        switch value {
        case .object(let members):
            var item = item
            for name in ["catalogId", "catalog_id", "id", "itemId"] {
                if let own = value[name]?.stringValue {
                    item = own
                    break
                }
            }
            if let mode = value["mode"]?.stringValue, mode == "neutral_only" || mode == "share_or_neutral",
                found.count < decisionLimit
            {
                found.append(
                    Decision(
                        mode: mode, item: item,
                        neutralURL: (value["url"] ?? value.value(at: "/secondary/url"))?.stringValue,
                        disclosureVersion: value.value(at: "/primary/disclosureVersion").flatMap(Self.text),
                        policyURLs: value["policyUrls"]?.members?.compactMap { $0.value.stringValue } ?? []))
                return
            }
            for member in members { walk(member.value, item: item, into: &found) }
        case .array(let elements):
            for element in elements { walk(element, item: item, into: &found) }
        case .null, .bool, .number, .string:
            return
        }
    }
}
