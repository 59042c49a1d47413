internal import SessionTrace

/// Which requests come near a fault's: the ones to show when it never fired.
enum NearMiss {
    /// The request as a report may show it, when it is near the fault's method and path; nil when it is not.
    static func text(method: String, host: HostName, path: String, rule: FaultRule) -> String? {
        let wanted = segments(rule.path.text)
        let actual = segments(path)
        let samePath = rule.path.matches(path)
        let sameEnd = !wanted.isEmpty && actual.last == wanted.last
        let samePrefix = wanted.count == actual.count && wanted.count > 1 && wanted.first == actual.first
        let isNear = NearestWord.to(path.lowercased(), among: [rule.path.text.lowercased()]) != nil
        guard samePath || sameEnd || samePrefix || (path.utf8.count <= 256 && isNear) else { return nil }
        return "\(method.prefix(32)) \(host)/" + actual.prefix(16).map(printable).joined(separator: "/")
    }

    private static func segments(_ path: String) -> [Substring] {
        path.split(separator: "/", omittingEmptySubsequences: true)
    }

    /// A segment that may be an id or a token is not shown: no report holds one.
    private static func printable(_ segment: Substring) -> String {
        let isWord = segment.utf8.allSatisfy { byte in
            byte &- 0x61 < 26 || byte &- 0x41 < 26 || byte == 0x2D || byte == 0x5F || byte == 0x2E
        }
        let isShort = segment.utf8.count <= 32 && !segment.hasPrefix("phs_")
        let isVersion = segment.first == "v" && segment.dropFirst().allSatisfy(\.isNumber) && segment.utf8.count <= 4
        return (isWord && isShort) || isVersion ? String(segment) : "{…}"
    }
}
