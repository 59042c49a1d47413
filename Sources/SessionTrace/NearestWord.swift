/// The nearest of some known words, for error messages.
public enum NearestWord {
    /// The known word with the smallest edit distance to `word`; nil when none is near (more than a third of it wrong).
    public static func to(_ word: String, among known: some Sequence<String>) -> String? {
        let limit = max(2, word.count / 3)
        var best: (word: String, distance: Int)?
        for candidate in known {
            let distance = editDistance(Array(word.lowercased()), Array(candidate.lowercased()))
            if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.word
    }

    /// Insertions, deletions, substitutions and swaps of neighbours that turn one word into the other.
    private static func editDistance(_ left: [Character], _ right: [Character]) -> Int {
        var beforeLast = [Int](repeating: 0, count: right.count + 1)
        var last = Array(0...right.count)
        for i in left.indices {
            var row = [i + 1] + [Int](repeating: 0, count: right.count)
            for j in right.indices {
                let substitution = last[j] + (left[i] == right[j] ? 0 : 1)
                row[j + 1] = min(substitution, last[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    row[j + 1] = min(row[j + 1], beforeLast[j - 1] + 1)
                }
            }
            (beforeLast, last) = (last, row)
        }
        return last[right.count]
    }
}
