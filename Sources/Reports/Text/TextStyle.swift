internal import Assertions

/// How text output looks: colours or none, and how wide it may be.
public struct TextStyle: Sendable {
    /// Whether ANSI colours are written (a terminal, and `NO_COLOR` unset).
    public var usesColour: Bool
    /// Columns to wrap at.
    public var width: Int

    /// Makes a style; widths below 60 are taken as 60.
    public init(usesColour: Bool, width: Int) {
        self.usesColour = usesColour
        self.width = max(width, 60)
    }

    /// No colours, 110 columns: for files and pipes.
    public static let plain = TextStyle(usesColour: false, width: 110)

    enum Colour: String {
        case red = "31", green = "32", yellow = "33", bold = "1", faint = "2"
    }

    func paint(_ text: String, _ colour: Colour) -> String {
        usesColour && !text.isEmpty ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// `text` in the colour of something that someone must act on, or else of something to look at.
    public func paint(_ text: String, asAlarm isAlarm: Bool) -> String {
        paint(text, isAlarm ? .red : .yellow)
    }

    func paint(_ text: String, _ verdict: Verdict) -> String {
        switch verdict {
        case .pass: paint(text, .green)
        case .fail: paint(text, .red)
        case .inconclusive: paint(text, .yellow)
        case .notApplicable: paint(text, .faint)
        }
    }
}

/// `text` broken at spaces into lines of at most `width` columns; a longer word gets a line of its own. With `following`
/// the lines after the first have that many columns.
func wrapped(_ text: String, width: Int, following: Int? = nil) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
        let room = lines.isEmpty ? width : following ?? width
        if !line.isEmpty, line.count + 1 + word.count > room {
            lines.append(line)
            line = ""
        }
        line += line.isEmpty ? String(word) : " \(word)"
    }
    if !line.isEmpty || lines.isEmpty { lines.append(line) }
    return lines
}

/// `text` padded with spaces to `width` columns; longer text stays as it is.
func padded(_ text: String, _ width: Int) -> String {
    text.count >= width ? text : text + String(repeating: " ", count: width - text.count)
}

/// Packet numbers as people read them: `12, 15–18, 40 … (9 in all)`; runs joined, at most `limit` runs.
func packetList(_ packets: [Int], limit: Int = 6) -> String {
    let runs = runs(of: packets)
    let shown = runs.prefix(limit).map { run in
        run.count == 1
            ? "\(run.lowerBound)"
            : run.count == 2 ? "\(run.lowerBound), \(run.upperBound)" : "\(run.lowerBound)–\(run.upperBound)"
    }
    return shown.joined(separator: ", ") + (runs.count > limit ? " … (\(runs.reduce(0) { $0 + $1.count }) in all)" : "")
}

/// A length of time as people read it: `812 ns`, `35 µs`, `180 ms`, `2.4 s`, `14 min 3 s`.
public func durationText(nanoseconds: Int64) -> String {
    let sign = nanoseconds < 0 ? "−" : ""
    let magnitude = nanoseconds.magnitude
    func decimal(_ unit: UInt64, _ name: String) -> String {
        let tenths = (magnitude / (unit / 10))
        return tenths < 100 && tenths % 10 != 0
            ? "\(sign)\(tenths / 10).\(tenths % 10) \(name)" : "\(sign)\(tenths / 10) \(name)"
    }
    switch magnitude {
    case ..<1_000: return "\(sign)\(magnitude) ns"
    case ..<1_000_000: return decimal(1_000, "µs")
    case ..<1_000_000_000: return decimal(1_000_000, "ms")
    case ..<120_000_000_000: return decimal(1_000_000_000, "s")
    default: return "\(sign)\(magnitude / 60_000_000_000) min \(magnitude / 1_000_000_000 % 60) s"
    }
}
