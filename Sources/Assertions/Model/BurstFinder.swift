internal import SessionTrace

/// Taps to bursts.
struct BurstFinder {
    let doubleTap: Nanoseconds
    let attempts: [Attempt]
    let marks: [Mark]
    /// When a page of Chia was opened in the browser.
    let navigations: [Instant]

    func bursts(of taps: [Tap]) -> [Burst] {
        let namesShare = taps.contains { $0.target == .share }
        var bursts: [Burst] = []
        for target in [Mark.Target.share, .neutral] {
            let own = taps.filter { $0.target == target || (target == .share && !namesShare && $0.target == nil) }
            bursts += group(own, target)
        }
        return bursts.sorted { $0.started < $1.started }
    }

    private func group(_ taps: [Tap], _ target: Mark.Target) -> [Burst] {
        var groups: [[Tap]] = []
        for tap in taps.sorted(by: { $0.span.earliest < $1.span.earliest }) {
            if let group = groups.last, let first = group.first, let last = group.last, joins(tap, first, last, target)
            {
                groups[groups.count - 1].append(tap)
            } else {
                groups.append([tap])
            }
        }
        return groups.indices.map { index in
            let next = index + 1 < groups.count ? groups[index + 1].first?.reach : nil
            return Burst(
                target: target, taps: groups[index], isGeneric: groups[index].allSatisfy { $0.target == nil },
                end: next ?? .distantFuture)
        }
    }

    private func joins(_ tap: Tap, _ first: Tap, _ last: Tap, _ target: Mark.Target) -> Bool {
        if let item = tap.item, let other = last.item, item != other { return false }
        // By hand a tap comes some time after its key press, so the presses' distance is all that is known.
        let gap = tap.span.earliest.nanoseconds(since: tap.isByHand ? last.span.earliest : last.span.latest)
        if gap <= doubleTap.count { return true }
        return !isEnded(from: first, by: tap.span.earliest, target)
    }

    /// Whether the app was left, or the operation had ended without success, or its navigation was made.
    private func isEnded(from first: Tap, by instant: Instant, _ target: Mark.Target) -> Bool {
        let kinds: Set<Mark.Kind> = [.opened, .background, .foreground, .launch, .kill, .return, .restore]
        if marks.contains(where: {
            kinds.contains($0.kind) && $0.span.earliest >= first.span.earliest && $0.span.earliest <= instant
        }) {
            return true
        }
        if navigations.contains(where: { $0 >= first.span.earliest && $0 <= instant }) { return true }
        guard target == .share else { return false }
        return attempts.contains { attempt in
            guard attempt.started >= first.reach, attempt.ended <= instant else { return false }
            switch attempt.outcome {
            case .uncertain, .definitive, .either, .notSeen, .unnamed, .redirect: return true
            case .success, .authChallenge: return false
            }
        }
    }
}
