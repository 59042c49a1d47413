internal import SessionTrace

/// Taps of which it is not known what they were on, though others are named, or whether they were made at all.
extension Session {
    /// The last such tap that may have been what was tapped last at an instant: no tap that is named, and no mark of
    /// `ends`, lies behind it.
    func unsureTap(before instant: Instant, endedBy ends: Set<Mark.Kind> = []) -> Tap? {
        guard !marks.unsureTaps.isEmpty else { return nil }
        let named = taps.lazy.filter { $0.target != nil }.map(\.span.earliest)
        let ending = marks.marks.lazy.filter { ends.contains($0.kind) }.map(\.span.earliest)
        let end = [named.filter { $0 <= instant }.max(), ending.filter { $0 <= instant }.max()].compactMap(\.self).max()
        return marks.unsureTaps.last { tap in tap.reach <= instant && end.map { $0 <= tap.last } ?? true }
    }

    /// What happened when such a tap may have been made is neither permitted by it nor a violation.
    func doubtUnsureTap(_ tap: Tap, _ what: String, at instant: Instant, _ judgement: inout Judgement) {
        let gap = instant.nanoseconds(since: tap.span.earliest)
        let place =
            gap < 0
            ? "\(Nanoseconds(-gap)) before \(tap.words), whose mark may be late"
            : "\(Nanoseconds(gap)) after \(tap.words)"
        judgement.doubt(
            "generic-tap-mark", "\(what) \(place)",
            remedy:
                "mark each tap with its target: {\"kind\":\"tap\",\"target\":\"share\"}; repeat the test if a step of it failed"
        )
    }
}
