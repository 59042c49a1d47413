/// Redaction of the parts of messages that evidence names.
extension Redactor {
    /// A request target with everything masked that could carry a secret or name a person: token-like, random and
    /// numeric path segments, every query value, the fragment, credentials in an absolute form. Stable over runs.
    public func path(_ pathAndQuery: some StringProtocol) -> String {
        var rest = Substring(String(pathAndQuery))
        var result = ""
        if let schemeEnd = schemeEnd(rest) {
            result += rest[..<schemeEnd]
            rest = rest[schemeEnd...]
            let authority = rest.prefix { !"/?#".contains($0) }
            result += host(authority)
            rest = rest[authority.endIndex...]
        }
        let path = rest.prefix { $0 != "?" && $0 != "#" }
        result += path.split(separator: "/", omittingEmptySubsequences: false).map(TextMask.word).joined(separator: "/")
        rest = rest[path.endIndex...]
        if rest.first == "?" {
            let query = rest.dropFirst().prefix { $0 != "#" }
            let pairs = query.split(separator: "&", omittingEmptySubsequences: false).map { pair -> String in
                let name = pair.prefix { $0 != "=" }
                guard name.endIndex < pair.endIndex else { return TextMask.word(name) }
                return TextMask.word(name) + (pair.index(after: name.endIndex) == pair.endIndex ? "=" : "=‹…›")
            }
            result += "?" + pairs.joined(separator: "&")
            rest = rest[query.endIndex...]
        }
        return rest.isEmpty ? result : result + "#‹…›"
    }

    /// A host or authority with labels masked that could carry a secret; credentials before an `@` go.
    public func host(_ authority: some StringProtocol) -> String {
        let text = Substring(String(authority))
        let hostPort = text.lastIndex(of: "@").map { text[text.index(after: $0)...] } ?? text
        let shown = hostPort.split(separator: ".", omittingEmptySubsequences: false).map { label -> String in
            // A port is not what is being hidden, and an address is needed to find the host again.
            let name = label.prefix { $0 != ":" }
            return isAddressPiece(label) ? String(label) : TextMask.word(name) + label[name.endIndex...]
        }
        let result = shown.joined(separator: ".")
        return hostPort.startIndex == text.startIndex ? result : "‹credentials›@" + result
    }

    /// A field name, JSON key, query or form name, file name: shown unless it looks like a value.
    public func name(_ name: some StringProtocol) -> String { TextMask.word(Substring(String(name))) }

    /// A header field's value: shown for the few fields that hold protocol words only, otherwise a keyed digest and
    /// the length. Of `User-Agent` only the product names and versions are shown.
    public func fieldValue(_ value: some StringProtocol, of field: some StringProtocol) -> String {
        let text = String(value)
        switch field.lowercased() {
        case "host", ":authority":
            return host(text)
        case ":method", ":scheme", ":status", ":protocol", "content-encoding", "transfer-encoding", "accept-encoding",
            "connection", "upgrade", "te", "trailer", "expect", "sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest",
            "sec-fetch-user", "sec-purpose", "purpose", "x-moz", "accept-ranges", "allow", "vary",
            "sec-websocket-version", "sec-ch-ua", "sec-ch-ua-mobile", "sec-ch-ua-platform", "upgrade-insecure-requests",
            "dnt", "sec-gpc", "save-data":
            return self.text(text)
        case "content-length":
            // A number of bytes may have five digits.
            return text.utf8.allSatisfy { (0x30...0x39).contains($0) } && text.utf8.count <= 12 ? text : self.text(text)
        case "content-type", "accept":
            // A boundary is random; it and other parameters say nothing that evidence needs.
            return self.text(String(text.prefix { $0 != ";" }))
        case "user-agent", "server":
            return productNames(text)
        case ":path":
            return path(text)
        default:
            return text.isEmpty ? "" : redact(text, label: "value")
        }
    }

    /// Free text: every word in it that could be a secret is masked.
    public func text(_ text: some StringProtocol) -> String {
        var result = ""
        var word = ""
        func isWordCharacter(_ character: Character) -> Bool {
            character.isLetter || character.isNumber || "_.%+@~-".contains(character)
        }
        for character in text {
            if isWordCharacter(character) {
                word.append(character)
            } else {
                result += TextMask.word(Substring(word))
                result.append(character)
                word = ""
            }
        }
        return result + TextMask.word(Substring(word))
    }

    private func productNames(_ text: String) -> String {
        var depth = 0
        var outside = ""
        var comment = ""
        for character in text {
            switch character {
            case "(":
                depth += 1
                comment = ""
            case ")":
                depth = max(0, depth - 1)
                // `; wv)` tells a web view; the rest of a comment names the device.
                if comment.hasSuffix("wv") { outside += "(wv)" }
            default:
                if depth == 0 { outside.append(character) } else { comment.append(character) }
            }
        }
        let words = outside.split(separator: " ").prefix(12).map { word -> String in
            let name = word.prefix { $0 != "/" }
            let version = word[name.endIndex...].dropFirst()
            // Longer numbers name a build or a person.
            let isVersion =
                version.utf8.count <= 24
                && version.split(separator: ".").allSatisfy { part in
                    part.utf8.count <= 5 && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
                }
            let shown = TextMask.word(name)
            return version.isEmpty ? shown : shown + "/" + (isVersion ? String(version) : TextMask.word(version))
        }
        return words.joined(separator: " ")
    }

    private func schemeEnd(_ text: Substring) -> Substring.Index? {
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://"),
            text[..<colon].utf8.allSatisfy({ (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) }),
            text[..<colon].utf8.count <= 8
        else { return nil }
        return text.index(colon, offsetBy: 3)
    }

    private func isAddressPiece(_ label: Substring) -> Bool {
        (label.hasPrefix("[") && label.contains("]"))
            || (label.contains(":") && label.allSatisfy { $0.isHexDigit || $0 == ":" })
    }
}
