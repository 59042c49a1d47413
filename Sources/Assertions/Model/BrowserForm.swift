internal import SessionTrace

/// What a browser sends for a URL that it was given, byte by byte: the comparison behind HR-28.
///
/// A browser sends the URL in the form of the WHATWG URL standard (§4.4): scheme and host in lower case, no default
/// port, no fragment, no tab or line break, dot segments gone, `\` as `/`, and what may not stand in a URL
/// percent-encoded. Browsers differ about a few characters (``` | ^ ` { } ' [ ] ```): either form counts.
enum BrowserForm {
    /// How what was sent relates to the URL.
    enum Likeness: Hashable, Sendable {
        /// The same bytes but for the fragment.
        case exact
        /// The same once a browser has put it into its own form.
        case normalised
        /// Something else; a word for what.
        case other(Difference)
    }

    /// What was done to a URL.
    enum Difference: String, Hashable, Sendable {
        case scheme = "scheme-changed", host = "host-changed", port = "port-changed", path = "path-changed"
        case trailingSlash = "trailing-slash", encoding = "re-encoded", queryAdded = "query-added"
        case queryRemoved = "query-removed", queryOrder = "query-reordered", query = "query-changed"
        /// A form of it of which only that much was recorded.
        case unknown = "changed"

        /// For sentences.
        var words: String {
            switch self {
            case .scheme: "another scheme"
            case .host: "another host"
            case .port: "another port, or one that was not there"
            case .path: "another path"
            case .trailingSlash: "a trailing slash added or removed"
            case .encoding: "escapes added, removed or written in another way"
            case .queryAdded: "query parameters added"
            case .queryRemoved: "query parameters removed"
            case .queryOrder: "query parameters in another order"
            case .query: "query parameters changed"
            case .unknown: "its query, path or escapes changed"
            }
        }
    }

    /// A URL cut into the parts that are sent.
    private struct Parts {
        var scheme: Substring
        var authority: Substring
        /// Path and query as they would be sent: at least `/`.
        var target: String

        init?(_ url: String) {
            guard let separator = url.firstRange(of: "://") else { return nil }
            scheme = url[..<separator.lowerBound]
            let rest = url[separator.upperBound...].prefix { $0 != "#" }
            authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "\\" }
            target = String(rest[authority.endIndex...])
        }
    }

    /// Compares a request with the URL that was to be opened.
    ///
    /// - Parameters:
    ///   - scheme: as the connection says, in lower case.
    ///   - authority: as sent.
    ///   - target: path and query as sent.
    static func likeness(of url: String, toSent scheme: String, authority: String, target: String) -> Likeness {
        guard let parts = Parts(url) else { return .other(.path) }
        if parts.scheme == scheme, parts.authority == authority, parts.target == target { return .exact }
        guard scheme == parts.scheme.lowercased() else { return .other(.scheme) }
        let (host, port) = split(parts.authority)
        let (sentHost, sentPort) = split(authority[...])
        guard sentHost == asciiHost(host) else { return .other(.host) }
        let isDefault = port == nil || port == "" || port == (scheme == "http" ? "80" : "443")
        guard isDefault ? sentPort == nil : sentPort == port else { return .other(.port) }
        let wanted = normalised(parts.target)
        if isSame(sent: Array(target.utf8), wanted: wanted) { return .normalised }
        return .other(difference(String(decoding: wanted, as: UTF8.self), target))
    }

    // MARK: host

    private static func split(_ authority: Substring) -> (host: String, port: String?) {
        let start = authority.lastIndex(of: "@").map(authority.index(after:)) ?? authority.startIndex
        let hostPort = authority[start...]
        guard let colon = hostPort.lastIndex(of: ":"), !hostPort[colon...].contains("]") else {
            return (String(hostPort), nil)
        }
        return (String(hostPort[..<colon]), String(hostPort[hostPort.index(after: colon)...]))
    }

    /// The host in lower case, its escapes undone, labels that are not ASCII as punycode (RFC 3492).
    static func asciiHost(_ host: String) -> String {
        let text = String(decoding: unescaped(Array(host.utf8)), as: UTF8.self).lowercased()
        guard text.utf8.contains(where: { $0 > 0x7F }) else { return text }
        let dots: Set<Character> = [".", "\u{3002}", "\u{FF0E}", "\u{FF61}"]
        return text.split(omittingEmptySubsequences: false) { dots.contains($0) }.map { label in
            label.utf8.allSatisfy { $0 < 0x80 } ? String(label) : "xn--" + Punycode.encoded(label)
        }.joined(separator: ".")
    }

    // MARK: path and query

    /// Path and query as a browser would send them, unsettled characters left as they are.
    private static func normalised(_ target: String) -> [UInt8] {
        let kept = target.utf8.filter { $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
        let bytes = Array(kept)
        let path = bytes.prefix { $0 != 0x3F }
        let query = bytes.dropFirst(path.count)
        var segments: [[UInt8]] = []
        let pieces = path.map { $0 == 0x5C ? 0x2F : $0 }.split(separator: 0x2F, omittingEmptySubsequences: false)
            .dropFirst()
        for (index, piece) in pieces.enumerated() {
            let isLast = index == pieces.count - 1
            switch String(decoding: piece, as: UTF8.self).lowercased() {
            case ".", "%2e":
                if isLast { segments.append([]) }
            case "..", ".%2e", "%2e.", "%2e%2e":
                if !segments.isEmpty { segments.removeLast() }
                if isLast { segments.append([]) }
            default: segments.append(Array(piece))
            }
        }
        var result: [UInt8] = []
        for segment in segments { result += [0x2F] + encoded(segment) }
        if result.isEmpty { result = [0x2F] }
        return result + encoded(Array(query))
    }

    /// What every browser encodes: control characters, space, `"`, `<`, `>`, and what is not ASCII.
    private static func encoded(_ bytes: [UInt8]) -> [UInt8] {
        bytes.flatMap { byte -> [UInt8] in
            switch byte {
            case 0...0x20, 0x22, 0x3C, 0x3E, 0x7F...0xFF: escape(byte)
            default: [byte]
            }
        }
    }

    private static func escape(_ byte: UInt8) -> [UInt8] {
        [0x25] + [byte >> 4, byte & 15].map { $0 < 10 ? 0x30 + $0 : 0x37 + $0 }
    }

    /// What some browsers encode and others do not, in path or query.
    private static let unsettled = Set("|^`{}'[]".utf8)

    private static func isSame(sent: [UInt8], wanted: [UInt8]) -> Bool {
        var place = 0
        for byte in wanted {
            guard place < sent.count else { return false }
            if sent[place] == byte {
                place += 1
            } else if unsettled.contains(byte), sent[place...].starts(with: escape(byte)) {
                place += 3
            } else {
                return false
            }
        }
        return place == sent.count
    }

    // MARK: what differs

    private static func difference(_ wanted: String, _ sent: String) -> Difference {
        let (path, query) = cut(wanted)
        let (sentPath, sentQuery) = cut(sent)
        if query == sentQuery {
            if bare(path) == bare(sentPath) { return .trailingSlash }
            return meaning(path) == meaning(sentPath) ? .encoding : .path
        }
        guard meaning(path) == meaning(sentPath) else { return .path }
        if meaning(query ?? "") == meaning(sentQuery ?? ""), query != nil, sentQuery != nil { return .encoding }
        let pairs = (query ?? "").split(separator: "&").map(String.init)
        let sentPairs = (sentQuery ?? "").split(separator: "&").map(String.init)
        if pairs.sorted() == sentPairs.sorted(), !pairs.isEmpty { return .queryOrder }
        if Set(pairs).isSubset(of: sentPairs) { return .queryAdded }
        return Set(sentPairs).isSubset(of: pairs) ? .queryRemoved : .query
    }

    private static func cut(_ target: String) -> (path: Substring, query: String?) {
        let path = target.prefix { $0 != "?" }
        return (path, path.endIndex < target.endIndex ? String(target[path.endIndex...].dropFirst()) : nil)
    }

    private static func bare(_ path: Substring) -> Substring { path.hasSuffix("/") ? path.dropLast() : path }

    /// The text with its escapes undone, `+` as a space.
    private static func meaning(_ text: some StringProtocol) -> [UInt8] {
        unescaped(Array(text.utf8)).map { $0 == 0x2B ? 0x20 : $0 }
    }

    private static func unescaped(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var place = 0
        while place < bytes.count {
            if bytes[place] == 0x25, place + 2 < bytes.count, let high = Hex.value(bytes[place + 1]),
                let low = Hex.value(bytes[place + 2])
            {
                result.append(high << 4 | low)
                place += 3
            } else {
                result.append(bytes[place])
                place += 1
            }
        }
        return result
    }
}

/// Punycode (RFC 3492), encoding only.
enum Punycode {
    /// Characters of a label that are looked at; no name has longer ones.
    static let labelLimit = 63

    /// A label in punycode, without `xn--`.
    static func encoded(_ label: some StringProtocol) -> String {
        let input = label.unicodeScalars.prefix(labelLimit).map(\.value)
        var output = input.filter { $0 < 0x80 }
        let basic = output.count
        var handled = basic
        if basic > 0 { output.append(0x2D) }
        var next: UInt32 = 128
        var delta: UInt32 = 0
        var bias: UInt32 = 72
        while handled < input.count {
            guard let least = input.filter({ $0 >= next }).min() else { break }
            delta &+= (least - next) &* UInt32(handled + 1)
            next = least
            for scalar in input {
                if scalar < next { delta &+= 1 }
                guard scalar == next else { continue }
                var rest = delta
                var step: UInt32 = 36
                while true {
                    let threshold: UInt32 = step <= bias ? 1 : step >= bias + 26 ? 26 : step - bias
                    if rest < threshold { break }
                    output.append(digit(threshold + (rest - threshold) % (36 - threshold)))
                    rest = (rest - threshold) / (36 - threshold)
                    step += 36
                }
                output.append(digit(rest))
                bias = adapted(delta, count: UInt32(handled + 1), isFirst: handled == basic)
                delta = 0
                handled += 1
            }
            delta &+= 1
            next += 1
        }
        var text = ""
        for value in output.compactMap(Unicode.Scalar.init) { text.unicodeScalars.append(value) }
        return text
    }

    private static func digit(_ value: UInt32) -> UInt32 { value < 26 ? 0x61 + value : 0x16 + value }

    /// RFC 3492 §6.1.
    private static func adapted(_ delta: UInt32, count: UInt32, isFirst: Bool) -> UInt32 {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var step: UInt32 = 0
        while delta > 455 {
            delta /= 35
            step += 36
        }
        return step + 36 * delta / (delta + 38)
    }
}
