internal import SessionTrace

extension FaultRule {
    /// A word of the text and where it begins, in characters from 0.
    private struct Word {
        var text: String
        var at: Int
    }

    private static let methods = [
        "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "REPORT", "MKCOL",
        "COPY", "MOVE", "LOCK", "UNLOCK", "SEARCH", "QUERY",
    ]
    private static let actions = [
        "drop-before-request", "drop-after-request", "reset", "delay", "truncate-response",
    ]
    private static let options = ["retry-after", "delay", "once", "times", "always"]

    /// Reads `POST /handoff-session: 503 once` (see `FaultRule` for the whole grammar).
    ///
    /// - Throws: the first fault of the text, with its place and the word that was probably meant.
    public init(parsing text: String) throws(FaultRuleError) {
        func fault(_ at: Int, _ problem: String, near word: String? = nil, among known: [String] = []) -> FaultRuleError
        {
            let nearest = word.flatMap { NearestWord.to($0, among: known) }
            return FaultRuleError(text: text, column: at + 1, problem: problem, nearest: nearest)
        }
        let characters = Array(text)
        let colon = characters.indices.first {
            characters[$0] == ":" && ($0 + 1 == characters.count || characters[$0 + 1].isWhitespace)
        }
        guard let colon else {
            throw fault(characters.count, "a colon, a space and an action must follow: POST /path: 503 once")
        }
        let requestWords = Self.words(characters, 0..<colon)
        guard let targetWord = requestWords.last else { throw fault(0, "a method and a path must come first") }
        guard requestWords.count <= 2 else {
            throw fault(requestWords[2].at, "only a method and a path may stand before the colon")
        }
        var method: String?
        if requestWords.count == 2, requestWords[0].text != "*" {
            let word = requestWords[0]
            let name = word.text.uppercased()
            guard name.utf8.allSatisfy({ $0 &- 0x41 < 26 || $0 == 0x2D }) else {
                throw fault(word.at, "'\(word.text)' is no method")
            }
            if !Self.methods.contains(name), NearestWord.to(name, among: Self.methods) != nil {
                throw fault(word.at, "'\(word.text)' is no known method", near: name, among: Self.methods)
            }
            method = name
        }
        let target: Target
        do throws(TargetFault) {
            target = try Target(targetWord.text)
        } catch {
            throw fault(targetWord.at, error.problem)
        }
        var action: Action?
        var retryAfter: Int?
        var delay: Duration?
        var times: Int??
        for (index, word) in Self.words(characters, colon + 1..<characters.count).enumerated() {
            // `429 [retry-after=5]`: the brackets of the usage line are taken for what they mean.
            let bare = word.text.drop { $0 == "[" }
            let parts = (bare.hasSuffix("]") ? bare.dropLast() : bare)
                .split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts.first?.lowercased() ?? ""
            let value = parts.count == 2 ? String(parts[1]) : nil
            if index == 0 {
                action = try Self.action(name, value) { problem, known in
                    fault(word.at, problem, near: name, among: known)
                }
                if name != "delay" { continue }
            }
            switch (name, value) {
            case ("retry-after", let value?) where retryAfter == nil:
                guard let seconds = Int(value), (0...86_400).contains(seconds) else {
                    throw fault(word.at, "retry-after is a number of seconds from 0 to 86400, not '\(value)'")
                }
                guard case .answer = action else {
                    throw fault(word.at, "retry-after goes with a status")
                }
                retryAfter = seconds
            case ("delay", let value?) where delay == nil:
                guard let time = Self.duration(value), time <= Self.delayLimit else {
                    throw fault(word.at, "delay is a time up to 600s, as 250ms or 2s, not '\(value)'")
                }
                if case .dropBeforeRequest = action { throw fault(word.at, "there is nothing to delay") }
                delay = time
            case ("once", nil) where times == nil:
                times = .some(1)
            case ("always", nil) where times == nil:
                times = .some(nil)
            case ("times", let value?) where times == nil:
                guard let count = Int(value), (1...1_000_000).contains(count) else {
                    throw fault(word.at, "times is a number from 1 to 1000000, not '\(value)'")
                }
                times = .some(count)
            case ("once", _), ("always", _), ("times", _):
                throw fault(word.at, times == nil ? Self.form(name) : "the count is given twice")
            case ("retry-after", _), ("delay", _):
                throw fault(word.at, value == nil ? Self.form(name) : "\(name) is given twice")
            default:
                throw fault(word.at, "unknown option '\(word.text)'", near: name, among: Self.options)
            }
        }
        guard let action else {
            throw fault(characters.count, "an action must follow the colon: a status, \(Self.actionList)")
        }
        self.init(
            method: method, host: target.host, port: target.port, path: target.path, action: action,
            retryAfterSeconds: retryAfter, delay: delay, times: times ?? nil)
    }

    private static let actionList = "drop-before-request, drop-after-request, reset, delay=2s or truncate-response"

    private static func form(_ name: String) -> String {
        switch name {
        case "once", "always": "\(name) takes no value"
        case "times": "times needs a number: times=2"
        default: "\(name) needs a value: \(name)=2\(name == "delay" ? "s" : "")"
        }
    }

    private static func action(
        _ name: String, _ value: String?, fault: (String, [String]) -> FaultRuleError
    ) throws(FaultRuleError) -> Action {
        if let status = Int(name), name.utf8.allSatisfy({ $0 &- 0x30 < 10 }) {
            guard (200...599).contains(status), value == nil else {
                throw fault("a status to answer is a number from 200 to 599", [])
            }
            return .answer(status: status)
        }
        switch (name, value) {
        case ("drop-before-request", nil): return .dropBeforeRequest
        case ("drop-after-request", nil): return .dropAfterRequest
        case ("reset", nil): return .reset
        case ("delay", _?): return .delay
        case ("delay", nil): throw fault("delay needs a value: delay=2s", [])
        case ("truncate-response", nil): return .truncateResponse(afterBytes: nil)
        case ("truncate-response", let value?):
            guard let count = Int(value), count >= 0 else {
                throw fault("truncate-response takes a number of bytes, not '\(value)'", [])
            }
            return .truncateResponse(afterBytes: count)
        case ("drop-before-request", _), ("drop-after-request", _), ("reset", _):
            throw fault("\(name) takes no value", [])
        default:
            throw fault("unknown action '\(name)': it is a status, \(actionList)", actions)
        }
    }

    /// `250ms`, `2s`, `1.5s`, `1m`.
    private static func duration(_ text: String) -> Duration? {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let scale: Double
        switch text[digits.endIndex...] {
        case "ms": scale = 1
        case "s": scale = 1_000
        case "m": scale = 60_000
        default: return nil
        }
        guard let number = Double(digits), number * scale <= 86_400_000 else { return nil }
        return .milliseconds(Int64(number * scale))
    }

    private static func words(_ characters: [Character], _ range: Range<Int>) -> [Word] {
        var words: [Word] = []
        var start: Int?
        for index in range {
            if characters[index].isWhitespace {
                if let first = start { words.append(Word(text: String(characters[first..<index]), at: first)) }
                start = nil
            } else if start == nil {
                start = index
            }
        }
        if let first = start { words.append(Word(text: String(characters[first..<range.upperBound]), at: first)) }
        return words
    }

    private struct TargetFault: Error {
        var problem: String
    }

    /// `/path`, `host/path`, `host:port/path`, `https://host/path`.
    private struct Target {
        var host: HostNamePattern?
        var port: UInt16?
        var path: PathTemplate

        init(_ text: String) throws(TargetFault) {
            var rest = text[...]
            for scheme in ["https://", "http://"] where rest.lowercased().hasPrefix(scheme) {
                rest = rest.dropFirst(scheme.count)
            }
            guard let slash = rest.firstIndex(of: "/") else {
                throw TargetFault(problem: "a path begins with /, and '\(text)' has none")
            }
            let authority = rest[..<slash]
            guard let path = PathTemplate(String(rest[slash...])) else {
                throw TargetFault(
                    problem: "'\(rest[slash...])' is no path template: /segments, {holes}, no query and no fragment")
            }
            self.path = path
            guard !authority.isEmpty else { return }
            if authority.hasPrefix("*") {
                let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
                host = parts.first.flatMap { HostNamePattern($0) }
                port = parts.count == 2 ? UInt16(parts[1]) : nil
                guard host != nil, parts.count == 1 || port != nil else {
                    throw TargetFault(problem: "'\(authority)' is no host")
                }
            } else {
                guard let named = HostName.parse(authority: authority), !authority.contains("@"),
                    let pattern = HostNamePattern(named.host.text)
                else {
                    throw TargetFault(problem: "'\(authority)' is no host")
                }
                host = pattern
                port = named.port
            }
        }
    }
}
