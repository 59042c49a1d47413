internal import SessionTrace

/// Reading of host lists in the forms in which people keep them.
extension TelemetryHosts {
    /// The form of a list.
    public enum ListForm: String, Hashable, Sendable, CaseIterable {
        /// Ours: domain, category and vendor, separated by tabs; `#` begins a comment line.
        case tsv
        /// A hosts file: an address, then names; `#` begins a comment.
        case hosts
        /// One domain a line; `#` begins a comment.
        case domains
        /// Adblock Plus filters, of which only `||domain^` is read (options after `$` other than `third-party` make a
        /// filter conditional, so it is ignored).
        case adblock

        /// Guesses the form from the first lines that are not comments.
        public static func guess(_ text: String) -> ListForm {
            for line in text.split(whereSeparator: \.isNewline).lazy.map(trimmed).prefix(200) {
                if line.hasPrefix("[Adblock") || line.hasPrefix("||") || line.hasPrefix("!") { return .adblock }
                if line.isEmpty || line.hasPrefix("#") { continue }
                if line.contains("\t"), HostName.listed(line.prefix { $0 != "\t" }) != nil,
                    IPAddress(String(line.prefix { $0 != "\t" })) == nil
                {
                    return .tsv
                }
                return IPAddress(String(line.prefix { $0 != " " && $0 != "\t" })) == nil ? .domains : .hosts
            }
            return .domains
        }
    }

    /// How the lines of a list fared.
    public struct LoadCount: Hashable, Sendable {
        /// Domains that were entered.
        public var loaded = 0
        /// Domains that were listed before; the earlier entry stays.
        public var repeated = 0
        /// Lines that say something else than a domain to be listed; comments and empty lines are not counted.
        public var ignored = 0
        /// Whether lines were left out because the list is longer than `maximumDomains`.
        public var isCut = false
    }

    /// Domains that all lists together may hold.
    public static let maximumDomains = 2_000_000

    /// Reads a list.
    ///
    /// - Parameters:
    ///   - form: nil to guess it.
    ///   - source: how findings call the list.
    public mutating func load(_ text: String, form: ListForm? = nil, source: String) -> LoadCount {
        let form = form ?? .guess(text)
        var result = LoadCount()
        for line in text.split(whereSeparator: \.isNewline) {
            let line = trimmed(line)
            if line.isEmpty || line.hasPrefix("#") || (form == .adblock && (line.hasPrefix("!") || line.hasPrefix("[")))
            {
                continue
            }
            let before = result.loaded + result.repeated
            for entry in entries(of: line, form: form) {
                guard count < Self.maximumDomains else {
                    result.isCut = true
                    return result
                }
                let known = count
                add(entry.domain, category: entry.category, vendor: entry.vendor, source: source)
                if count > known { result.loaded += 1 } else { result.repeated += 1 }
            }
            if result.loaded + result.repeated == before { result.ignored += 1 }
        }
        return result
    }

    private typealias ListEntry = (domain: HostName, category: String, vendor: String)

    private func entries(of line: Substring, form: ListForm) -> [ListEntry] {
        switch form {
        case .tsv:
            let columns = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard columns.count >= 2, let domain = HostName.listed(columns[0]) else { return [] }
            return [(domain, String(columns[1]), columns.count > 2 ? String(columns[2]) : "")]
        case .hosts:
            let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" }
            guard let first = words.first, IPAddress(String(first)) != nil else { return [] }
            return words.dropFirst().compactMap(HostName.listed).map { ($0, "unclassified", "") }
        case .domains:
            let word = trimmed(line.prefix { $0 != "#" })
            let bare = word.hasPrefix("*.") ? word.dropFirst(2) : word
            return HostName.listed(bare).map { [($0, "unclassified", "")] } ?? []
        case .adblock:
            guard line.hasPrefix("||"), let caret = line.firstIndex(of: "^") else { return [] }
            let rest = line[line.index(after: caret)...]
            guard rest.isEmpty || rest == "$third-party",
                let domain = HostName.listed(line[..<caret].dropFirst(2))
            else { return [] }
            return [(domain, "unclassified", "")]
        }
    }
}

private func trimmed(_ text: Substring) -> Substring {
    var text = text
    while let first = text.first, first.isWhitespace { text.removeFirst() }
    while let last = text.last, last.isWhitespace { text.removeLast() }
    return text
}

extension HostName {
    /// A name that can stand in a list: it has a dot, no wildcard, and is no address (so that `0.0.0.0`, `localhost`
    /// and patterns don't get listed).
    fileprivate static func listed(_ text: some StringProtocol) -> HostName? {
        guard let name = HostName(text), name.text.contains("."), name.address == nil,
            name.text.utf8.allSatisfy({ byte in
                switch byte {
                case 0x30...0x39, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x80...: true
                default: false
                }
            })
        else { return nil }
        return name
    }
}
