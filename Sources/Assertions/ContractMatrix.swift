/// The test matrix of the contract (CONTRACT "The test matrix"), in our words.
public enum ContractMatrix {
    /// One row.
    public struct Row: Hashable, Sendable {
        /// `M-05`.
        public var id: String
        /// What it demands.
        public var title: String
        /// The rules that decide it; empty for what traffic can't show.
        public var rules: [String]

        /// Whether traffic can show it at all.
        public var isDecidable: Bool { !rules.isEmpty }
    }

    /// All rows in order.
    public static let rows: [Row] = [
        Row(id: "M-01", title: "card fields fit at accessibility sizes", rules: []),
        Row(
            id: "M-02", title: "hidden never shown; one action or two, as decided",
            rules: ["HR-24", "HR-37", "HR-39", "HR-40"]),
        Row(id: "M-03", title: "stale or missing evidence fails safely", rules: ["HR-41"]),
        Row(id: "M-04", title: "external system browser, never an embedded view", rules: ["HR-33", "HR-34"]),
        Row(id: "M-05", title: "no request before the tap", rules: ["HR-01", "HR-02", "HR-04", "HR-05"]),
        Row(id: "M-06", title: "no URL in telemetry", rules: ["HR-46", "HR-47", "HR-49"]),
        Row(id: "M-07", title: "invalid or expired context makes no partner callback", rules: ["HR-65"]),
        Row(
            id: "M-08", title: "generic return ignores crafted values, goes home only",
            rules: ["HR-61", "HR-62", "HR-63", "HR-64", "HR-66"]),
        Row(
            id: "M-09", title: "background and restored views refresh, infer nothing",
            rules: ["HR-42", "HR-43", "HR-44"]),
        Row(
            id: "M-10", title: "double tap: one session request, one navigation", rules: ["HR-07", "HR-08", "HR-09"]),
        Row(id: "M-11", title: "uncertain retry: exact body and key", rules: ["HR-11", "HR-13", "HR-14"]),
        Row(id: "M-12", title: "zoom, screen reader, switch access, reduced motion, 320 px", rules: []),
        Row(
            id: "M-13", title: "no Chia status call, SDK, secret or asset on the device",
            rules: ["HR-03", "HR-55", "HR-56", "HR-57", "HR-58", "HR-59", "HR-60"]),
    ]
}
