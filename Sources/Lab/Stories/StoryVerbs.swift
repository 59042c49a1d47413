/// What a step may say: its verbs, how many words each takes, and which named values.

/// A verb of the story language.
struct StoryVerb: Sendable {
    /// Fewest and most bare words behind it.
    var words: ClosedRange<Int>
    /// The names of its values; `attrs.…` is allowed wherever `attrs` is.
    var options: Set<String>
    /// One line for people.
    var meaning: String

    private static let request: Set<String> = ["by", "header", "body", "type", "expect", "as"]
    private static let markOptions: Set<String> = [
        "target", "count", "by", "id", "phase", "at", "until", "clock", "name", "attrs", "way",
    ]

    /// Marks that are written as a verb of their own.
    static let marks: Set<String> = [
        "scenario", "launch", "render", "jit-shown", "background", "foreground", "restore", "opened", "return",
        "link-opened", "reload", "browser-clean", "net-off", "net-on", "withdraw", "note", "end",
    ]

    /// All verbs.
    static let all: [String: StoryVerb] = {
        var verbs: [String: StoryVerb] = [
            "mark": StoryVerb(words: 1...1, options: markOptions, meaning: "a mark of that kind"),
            "tap": StoryVerb(words: 0...1, options: markOptions, meaning: "a touch on that target"),
            "kill": StoryVerb(
                words: 0...0, options: markOptions,
                meaning: "the app's process ends, with a mark; its connections close"),
            "pause": StoryVerb(words: 1...1, options: [], meaning: "nothing happens for that long"),
            "let": StoryVerb(words: 2...2, options: [], meaning: "a name stands for a text from here on"),
            "operation": StoryVerb(words: 0...0, options: [], meaning: "a new key and a new body"),
            "send": StoryVerb(words: 2...4, options: request, meaning: "METHOD URL: a request"),
            "get": StoryVerb(words: 1...3, options: request, meaning: "a GET; a path alone is the partner's"),
            "post": StoryVerb(
                words: 0...2, options: request.union(["key", "to", "path"]),
                meaning: "the session request with the key and body of the operation"),
            "open": StoryVerb(words: 1...3, options: request, meaning: "the browser opens that URL"),
            "lookup": StoryVerb(words: 1...1, options: ["type"], meaning: "a DNS query (passive alone)"),
            "dial": StoryVerb(words: 1...1, options: ["by"], meaning: "TLS to that host, and no request on it"),
            "datagram": StoryVerb(words: 2...2, options: [], meaning: "HOST:PORT TEXT: a UDP datagram (passive alone)"),
            "close": StoryVerb(words: 1...1, options: [], meaning: "that sender's idle connections close"),
            "serve": StoryVerb(
                words: 3...3, options: ["times", "delay", "document", "header", "type"],
                meaning: "METHOD URL KIND: from here on that is answered so"),
            "wait": StoryVerb(words: 0...0, options: [], meaning: "until all requests sent `later` are over"),
        ]
        for mark in marks {
            verbs[mark] = StoryVerb(words: 0...0, options: markOptions, meaning: "a mark of that kind")
        }
        return verbs
    }()

    /// What a server can do instead of a status.
    static let answers: Set<String> = ["session", "image", "drop", "reset", "half", "refuse"]

    /// Checks a step against its verb.
    static func check(_ step: StoryStep) throws(StoryError) {
        guard let verb = all[step.verb] else {
            throw StoryError(
                place: step.place,
                reason: "there is no step \"\(step.verb)\"" + StorySpelling.hint(for: step.verb, among: all.keys))
        }
        guard verb.words.contains(step.words.count) else {
            throw StoryError(
                place: step.place,
                reason: "\"\(step.verb)\" takes \(verb.words.lowerBound) to \(verb.words.upperBound) words "
                    + "(\(verb.meaning)), not \(step.words.count): \(step.words.joined(separator: " "))")
        }
        for option in step.options {
            let name = option.name.hasPrefix("attrs.") ? "attrs" : option.name
            guard verb.options.contains(name) else {
                throw StoryError(
                    place: step.place,
                    reason: "\"\(step.verb)\" has no \"\(option.name)\""
                        + StorySpelling.hint(for: option.name, among: verb.options))
            }
        }
        if step.verb == "serve", let kind = step.words.last, Int(kind) == nil, !answers.contains(kind) {
            throw StoryError(
                place: step.place,
                reason: "\"\(kind)\" is neither a status nor one of \(answers.sorted().joined(separator: ", "))")
        }
        if step.verb == "pause", let time = step.words.first, StoryTime.parse(time) == nil {
            throw StoryError(place: step.place, reason: "\"\(time)\" is no time such as 300ms or 2s")
        }
    }
}

/// Lengths of time as stories write them.
enum StoryTime {
    /// `300ms`, `2s`, `-20ms`; nil for anything else.
    static func parse(_ text: String) -> Duration? {
        let isNegative = text.first == "-"
        let rest = isNegative || text.first == "+" ? text.dropFirst() : text[...]
        let digits = rest.prefix { $0.isNumber }
        guard let number = Int(digits), number < 1_000_000 else { return nil }
        let duration: Duration
        switch rest[digits.endIndex...] {
        case "us": duration = .microseconds(number)
        case "ms": duration = .milliseconds(number)
        case "s": duration = .seconds(number)
        default: return nil
        }
        return isNegative ? .zero - duration : duration
    }
}
