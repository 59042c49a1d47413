internal import SessionTrace

/// Taps to bursts.
struct BurstFinder {
    let timing: Policy.Timing
    let attempts: [Attempt]
    let marks: [Mark]
    /// When a page of Chia was opened in the browser, in order.
    let navigations: [Instant]

    private struct Group {
        var taps: [Tap]
        /// From when on what happens may be theirs.
        var reach: Instant
    }

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
        var groups: [Group] = []
        for tap in taps.sorted(by: { $0.span.earliest < $1.span.earliest }) {
            guard let group = groups.last else {
                groups.append(Group(taps: [tap], reach: tap.reach))
                continue
            }
            if joins(tap, group, target) {
                groups[groups.count - 1].taps.append(tap)
            } else {
                groups.append(Group(taps: [tap], reach: reach(of: tap, after: group, target)))
            }
        }
        return groups.indices.map { index in
            let group = groups[index]
            return Burst(
                target: target, taps: group.taps, isGeneric: group.taps.allSatisfy { $0.target == nil },
                reach: group.reach, end: index + 1 < groups.count ? groups[index + 1].reach : .distantFuture)
        }
    }

    /// From when on what happens is a tap's, and no more that of the taps before it. A mark may be later than its tap, and
    /// one made by hand by seconds: what comes before it is the earlier taps' as long as they can claim it.
    private func reach(of tap: Tap, after group: Group, _ target: Mark.Target) -> Instant {
        let end = tap.span.earliest
        guard target == .share else {
            let opened = navigations.filter { $0 >= group.reach && $0 < end }
            // One page is one tap's.
            let first = opened.first.map { isInTime($0, group) } ?? false ? 1 : 0
            return opened.dropFirst(first).first { $0 >= tap.reach } ?? end
        }
        var last: Attempt?
        for attempt in attempts where attempt.started >= group.reach && attempt.started < end {
            if attempt.started >= tap.reach, !claims(attempt, after: last, group) { return attempt.started }
            last = attempt
        }
        return end
    }

    /// Whether an attempt is of the taps that a group already has: the first one in time, what repeats the one before it,
    /// and what does not wait for that one's end.
    private func claims(_ attempt: Attempt, after last: Attempt?, _ group: Group) -> Bool {
        guard let last else { return isInTime(attempt.started, group) }
        return attempt.started < last.ended || attempt.key != nil && attempt.key == last.key
    }

    private func isInTime(_ instant: Instant, _ group: Group) -> Bool {
        instant.nanoseconds(since: group.taps[group.taps.count - 1].span.latest) <= timing.tapToRequest.count
    }

    private func joins(_ tap: Tap, _ group: Group, _ target: Mark.Target) -> Bool {
        let last = group.taps[group.taps.count - 1]
        if let item = tap.item, let other = last.item, item != other { return false }
        if tap.nanoseconds(after: last) <= timing.doubleTap.count { return true }
        return !isEnded(group, by: tap.span.earliest, target)
    }

    /// Whether the app was left, or the operation had ended without success, or its navigation was made.
    private func isEnded(_ group: Group, by instant: Instant, _ target: Mark.Target) -> Bool {
        let first = group.taps[0]
        let kinds: Set<Mark.Kind> = [.opened, .background, .foreground, .launch, .kill, .return, .restore]
        if marks.contains(where: {
            kinds.contains($0.kind) && $0.span.earliest >= first.span.earliest && $0.span.earliest <= instant
        }) {
            return true
        }
        if navigations.contains(where: { $0 >= first.span.earliest && $0 <= instant }) { return true }
        guard target == .share else { return false }
        return attempts.contains { attempt in
            guard attempt.started >= group.reach, attempt.ended <= instant else { return false }
            switch attempt.outcome {
            case .uncertain, .definitive, .either, .notSeen, .unnamed, .redirect: return true
            case .success, .authChallenge: return false
            }
        }
    }
}
