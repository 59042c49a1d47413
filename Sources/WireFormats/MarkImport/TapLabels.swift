public import SessionTrace

/// What the words on a button, or a region of the touch screen, stand for.
public struct TapLabels: Hashable, Sendable {
    /// Labels that every import knows: those of the handoff's own buttons.
    public static let standard: [String: Mark.Target] = [
        "Share selection and continue": .share,
        "Continue without sharing": .neutral,
        "Continue to Chia": .neutral,
    ]
    /// Most scalars of a label that a mark keeps as its name.
    static let nameLimit = 200

    /// A rectangle of a touch screen in the units of its driver, edges included.
    struct Region: Hashable, Sendable {
        var xs: ClosedRange<Int>
        var ys: ClosedRange<Int>
        var target: Mark.Target
    }

    private(set) var targets = standard
    private(set) var regions: [Region] = []

    /// Only the standard labels.
    public init() {}

    /// Adds what an option says: `LABEL=share`, or for touch screens `X1,Y1-X2,Y2=share`.
    ///
    /// Returns false if there is no `=` with a label before it and a known target behind it.
    public mutating func add(_ text: String) -> Bool {
        guard let equals = text.lastIndex(of: "="), equals != text.startIndex,
            let target = Mark.Target(rawValue: String(text[text.index(after: equals)...]))
        else { return false }
        let label = String(text[..<equals])
        targets[label] = target
        if let region = Self.region(label, target) { regions.append(region) }
        return true
    }

    /// Whether `text`, as `add` takes it, names a region of a touch screen.
    public static func isRegion(_ text: String) -> Bool {
        text.lastIndex(of: "=").flatMap { region(String(text[..<$0]), .other) } != nil
    }

    /// What a tap on something called `label` stands for; a label that is not known is `other`.
    func target(of label: String) -> Mark.Target {
        targets[label] ?? .other
    }

    /// A tap on what is called `label`, whose words become the mark's name; without a label the target is not known.
    func tap(on label: String?, _ span: TimeSpan, count: Int = 1) -> Mark {
        Mark(
            kind: .tap, target: label.map { target(of: $0) }, span: span, isOnTraceClock: false, count: count,
            source: .sideFile, name: label.map { String($0.unicodeScalars.prefix(Self.nameLimit)) })
    }

    /// A tap that a log does not confirm. Nothing may rest on it, so it keeps neither target nor label: rules are in doubt
    /// where it may have been what was tapped.
    func unsureTap(_ span: TimeSpan) -> Mark {
        var mark = tap(on: nil, span)
        mark.attributes["uncertain"] = "true"
        return mark
    }

    private static func region(_ label: String, _ target: Mark.Target) -> Region? {
        let corners = label.split(separator: "-").map { corner in
            corner.split(separator: ",").compactMap { UInt32($0).map { Int($0) } }
        }
        guard corners.count == 2, corners[0].count == 2, corners[1].count == 2 else { return nil }
        // Any two corners that lie opposite each other, in any order.
        func range(_ axis: Int) -> ClosedRange<Int> {
            min(corners[0][axis], corners[1][axis])...max(corners[0][axis], corners[1][axis])
        }
        return Region(xs: range(0), ys: range(1), target: target)
    }

    /// The words between the first two quotation marks of a sentence; nil without two.
    static func quoted(_ sentence: String) -> String? {
        let marks: Set<Character> = ["\"", "\u{201C}", "\u{201D}"]
        guard let first = sentence.firstIndex(where: { marks.contains($0) }),
            let last = sentence[sentence.index(after: first)...].firstIndex(where: { marks.contains($0) })
        else { return nil }
        return String(sentence[sentence.index(after: first)..<last])
    }
}
