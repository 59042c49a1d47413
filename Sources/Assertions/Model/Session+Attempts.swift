internal import SessionTrace

/// Questions about attempts that several rules ask.
extension Session {
    /// The next attempt for an attempt's item from its device that began after it had ended.
    func next(after attempt: Attempt) -> Attempt? {
        attempts.dropFirst(attempt.number).first {
            $0.started >= attempt.ended && $0.isSameItem(as: attempt) && $0.isSameDevice(as: attempt)
        }
    }

    /// Attempts from an attempt's device that began after it had ended.
    func later(than attempt: Attempt) -> [Attempt] {
        attempts.dropFirst(attempt.number).filter { $0.started >= attempt.ended && $0.isSameDevice(as: attempt) }
    }

    /// How long the trace goes on after an instant.
    func observed(after instant: Instant) -> Nanoseconds {
        Nanoseconds(max(0, span.latest.nanoseconds(since: instant)))
    }

    /// That something did not come again is known for as long as the trace goes on.
    func assumeObserved(after instant: Instant, _ what: String, _ judgement: inout Judgement) {
        let observed = observed(after: instant)
        guard observed < policy.timing.observeAfter else { return }
        _ = doubtEnd("observed only \(observed) after \(what)", &judgement)
        judgement.assume(
            "observed-only", "observed only \(observed) after \(what), not \(policy.timing.observeAfter)")
    }

    /// A value that is not to be printed, such that equal values look equal.
    func masked(_ value: String?) -> String { value.map { "‹\(redactor.digest($0).prefix(8))›" } ?? "(none)" }

    /// That a request's answer reached the device can't be told.
    func doubtDelivery(_ sentence: String, _ judgement: inout Judgement) {
        judgement.doubt(
            "delivery-unknown", "\(sentence), and it can't be told whether the device had received the answer",
            remedy: "capture both directions near the device, so that its acknowledgements are seen")
    }
}
