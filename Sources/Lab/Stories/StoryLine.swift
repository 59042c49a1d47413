/// Lines of a story file: where they stand, how deep, and the words that they are made of.

/// What is wrong with a story, and where.
public struct StoryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// `FILE:LINE`.
    public var place: String
    /// In words.
    public var reason: String

    /// `FILE:LINE: reason`.
    public var description: String { "\(place): \(reason)" }
}

/// One line of a story file, taken apart.
struct StoryLine: Hashable, Sendable {
    /// A word: bare, quoted, or a named value.
    struct Word: Hashable, Sendable {
        /// `name` of `name=value`; empty for a bare word.
        var name: String
        /// The word or value, without its quotes.
        var text: String
    }

    /// `FILE:LINE`.
    var place: String
    /// Whether it belongs to what stands above it.
    var isIndented: Bool
    /// The text after a `|`, which is taken as it is; nil for a line of words.
    var verbatim: String?
    /// The words.
    var words: [Word]

    /// The lines of a file; empty ones and comments are left out.
    static func lines(of text: String, file: String) throws(StoryError) -> [StoryLine] {
        var lines: [StoryLine] = []
        for (index, raw) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let place = "\(file):\(index + 1)"
            let content = raw.drop { $0 == " " }
            if content.isEmpty || content.first == "#" { continue }
            if raw.contains("\t") { throw StoryError(place: place, reason: "a tab; indent with spaces") }
            let isIndented = content.startIndex > raw.startIndex
            if content.first == "|" {
                let rest = content.dropFirst()
                let verbatim = rest.first == " " ? String(rest.dropFirst()) : String(rest)
                lines.append(StoryLine(place: place, isIndented: isIndented, verbatim: verbatim, words: []))
            } else if content.hasPrefix("about ") {
                // Prose: quotes mean nothing in it.
                let words = [Word(name: "", text: "about"), Word(name: "", text: String(content.dropFirst(6)))]
                lines.append(StoryLine(place: place, isIndented: isIndented, verbatim: nil, words: words))
            } else {
                let words = try words(in: content, place)
                lines.append(StoryLine(place: place, isIndented: isIndented, verbatim: nil, words: words))
            }
        }
        return lines
    }

    /// `'…'` is taken as it is, in `"…"` a backslash keeps the next character; a `#` between words ends the line.
    private static func words(in line: Substring, _ place: String) throws(StoryError) -> [Word] {
        var words: [Word] = []
        var rest = line
        while true {
            rest = rest.drop { $0 == " " }
            guard let first = rest.first, first != "#" else { return words }
            var name = ""
            var text = ""
            if first != "'", first != "\"" {
                var bare = rest.prefix { $0 != " " }
                if let equals = bare.firstIndex(of: "="), equals > bare.startIndex, isName(bare[..<equals]) {
                    name = String(bare[..<equals])
                    bare = bare[bare.index(after: equals)...]
                    if bare.first == "'" || bare.first == "\"" { bare = bare.prefix(0) }
                }
                text = String(bare)
                rest = rest[bare.endIndex...]
                // An apostrophe inside a word is none of a quote.
                if name.isEmpty || !text.isEmpty || rest.first == " " || rest.isEmpty {
                    words.append(Word(name: name, text: text))
                    continue
                }
            }
            if let quote = rest.first, quote == "'" || quote == "\"" {
                rest = rest.dropFirst()
                var isOpen = true
                while isOpen {
                    guard let next = rest.popFirst() else {
                        throw StoryError(place: place, reason: "a quote \(quote) that is not closed")
                    }
                    if next == quote {
                        isOpen = false
                    } else if next == "\\", quote == "\"" {
                        guard let kept = rest.popFirst() else { continue }
                        text.append(kept == "n" ? "\n" : kept)
                    } else {
                        text.append(next)
                    }
                }
                if let after = rest.first, after != " " {
                    throw StoryError(place: place, reason: "\"\(after)\" right behind a closing quote")
                }
            }
            words.append(Word(name: name, text: text))
        }
    }

    private static func isName(_ text: Substring) -> Bool {
        text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "." }
    }
}

/// The nearest of some names, for messages about one that is not known.
enum StorySpelling {
    static func hint(for name: String, among known: some Sequence<String>) -> String {
        let nearest = known.min { distance(name, $0) < distance(name, $1) }
        guard let nearest, distance(name, nearest) <= max(2, name.count / 3) else { return "" }
        return "; did you mean \"\(nearest)\"?"
    }

    /// Levenshtein's.
    private static func distance(_ left: String, _ right: String) -> Int {
        let right = Array(right)
        var row = Array(0...right.count)
        for (index, character) in left.enumerated() {
            var next = [index + 1]
            for position in right.indices {
                let substitution = row[position] + (right[position] == character ? 0 : 1)
                next.append(min(substitution, row[position + 1] + 1, next[position] + 1))
            }
            row = next
        }
        return row[right.count]
    }
}
