/// URLs that carry their own permission: a signature in the query, as object stores and content networks make them.
enum SignedURL {
    /// Parameters that are a signature by themselves, in lower case.
    private static let signatures: Set<String> = [
        "x-amz-signature", "x-goog-signature", "x-oss-signature", "x-cos-signature", "hdnea", "hdnts", "__token__",
    ]
    /// Parameters that are one together with another.
    private static let pairs: [(name: String, with: [String])] = [
        ("sig", ["se", "sv", "sp"]),
        ("signature", ["key-pair-id", "expires", "awsaccesskeyid", "googleaccessid", "policy"]),
        ("expires", ["signature", "sig", "sign", "hmac", "hash", "token", "md5", "key"]),
    ]

    /// The parameter names by which a query is a signature's; nil when it is none.
    static func sign(ofQuery query: String?) -> String? {
        guard let query, !query.isEmpty else { return nil }
        var names: Set<String> = []
        for pair in query.split(separator: "&").prefix(200) {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2, !halves[1].isEmpty else { continue }
            names.insert(halves[0].lowercased())
        }
        if let name = names.intersection(signatures).min() { return name }
        for (name, with) in pairs where names.contains(name) {
            if let other = with.first(where: names.contains) { return "\(name) with \(other)" }
        }
        return nil
    }
}
