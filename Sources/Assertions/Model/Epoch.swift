internal import SessionTrace

/// All attempts and bursts of one resolve to share one item (RULES 0.2): from the first tap or attempt until the
/// handoff URL has come and was opened, a definitive rejection, or an abandonment.
struct Epoch: Hashable, Sendable {
    /// What ended it.
    enum End: Hashable, Sendable {
        /// The handoff URL came.
        case success
        case rejection
        /// Given up, and why, in words.
        case abandonment(String)

        /// `ended with success`, for sentences.
        var words: String {
            switch self {
            case .success: "ended with success"
            case .rejection: "was definitively rejected"
            case .abandonment(let why): "was given up, since \(why)"
            }
        }
    }

    /// Places of its attempts among the session's, in order.
    var attempts: [Int]
    /// Places of its bursts among the session's share bursts, in order.
    var bursts: [Int]
    /// Nil while it was still open when the trace ended.
    var end: End?
    /// From when on an attempt belongs to the next epoch; the end of time while it is open.
    var ended: Instant
}

extension Session {
    /// The epochs of the trace, by device and item, in order of their first attempt.
    func epochs() -> [Epoch] {
        var epochs: [Epoch] = []
        for (place, attempt) in attempts.enumerated() {
            let open = epochs.indices.last { index in
                let last = attempts[epochs[index].attempts[epochs[index].attempts.count - 1]]
                return last.isSameItem(as: attempt) && last.isSameDevice(as: attempt)
            }
            if let open { close(&epochs[open], before: attempt) }
            let burst = burstIndex(of: attempt)
            if let open, epochs[open].ended > attempt.started {
                epochs[open].attempts.append(place)
                if let burst, !epochs[open].bursts.contains(burst) { epochs[open].bursts.append(burst) }
                settle(&epochs[open], attempt)
            } else {
                var epoch = Epoch(attempts: [place], bursts: burst.map { [$0] } ?? [], end: nil, ended: .distantFuture)
                settle(&epoch, attempt)
                epochs.append(epoch)
            }
        }
        return epochs
    }

    /// What an attempt's own outcome does to its epoch.
    private func settle(_ epoch: inout Epoch, _ attempt: Attempt) {
        guard epoch.end == nil else { return }
        switch attempt.outcome {
        case .definitive:
            epoch.end = .rejection
            epoch.ended = attempt.ended
        case .success:
            epoch.end = .success
            epoch.ended = opening(after: attempt) ?? .distantFuture
        case .uncertain, .either, .authChallenge, .redirect, .unnamed, .notSeen: return
        }
    }

    /// When a successful attempt's URL was opened, or the user began anew.
    private func opening(after attempt: Attempt) -> Instant? {
        let opened = chiaRequests.first {
            $0.actor.actor == .browser && $0.isNavigation && $0.started.time >= attempt.ended
                && handoffURL(askedBy: $0)?.url.text == attempt.url
        }?.started.time
        let tapped = shareBursts.first { $0.started > attempt.ended }?.reach
        return [opened, tapped].compactMap(\.self).min()
    }

    /// What happened between the last attempt of an epoch and the next one for its item.
    private func close(_ epoch: inout Epoch, before next: Attempt) {
        guard epoch.end == nil else { return }
        let last = attempts[epoch.attempts[epoch.attempts.count - 1]]
        guard let why = abandonment(between: last, next) else { return }
        epoch.end = .abandonment(why)
        epoch.ended = min(last.ended, next.started)
    }

    /// Whether a neutral tap took effect: while a request is under way both actions are disabled, and it does not unless the
    /// neutral URL is opened, or may be in traffic with Chia that nobody could read.
    private func choosesNeutral(_ burst: Burst, after attempt: Attempt, before next: Attempt) -> Bool {
        if burst.started >= attempt.ended { return true }
        guard burst.started >= attempt.started else { return false }
        return neutralNavigations.contains { $0.started.time >= burst.reach && $0.started.time < next.started }
            || darkNeutralTraffic(since: burst.started) != nil
    }

    /// What made the app give up an operation between two attempts for its item, in words; nil when nothing did.
    func abandonment(between attempt: Attempt, _ next: Attempt) -> String? {
        let abandon = policy.requests.abandonOn
        if attempt.disclosureVersion != next.disclosureVersion, !attempt.isTorn, !next.isTorn,
            abandon.contains(.disclosureVersion)
        {
            return "the disclosure version had changed"
        }
        if neutralBursts.contains(where: {
            $0.started <= next.started && choosesNeutral($0, after: attempt, before: next)
        }) {
            return "the user had chosen the neutral way"
        }
        let withdrawn = projections.contains { projection in
            projection.record.ended.time >= attempt.started && projection.record.ended.time <= next.started
                && projection.decisions.contains {
                    $0.mode == "neutral_only"
                        && ($0.item == nil || attempt.catalogID == nil || $0.item == attempt.catalogID)
                }
        }
        return withdrawn && abandon.contains(.projectionWithdrawn) ? "the projection had withdrawn sharing" : nil
    }
}
