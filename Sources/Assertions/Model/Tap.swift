internal import SessionTrace

/// One tap, as its mark tells it.
struct Tap: Hashable, Sendable {
    var target: Mark.Target?
    /// Earliest and latest moment of the touch.
    var span: TimeSpan
    /// How far the mark's clock may be off (HC-03); 0 on the trace's own clock.
    var clockBound: Nanoseconds
    /// A person pressed a key before touching: the touch came after `span.earliest`.
    var isByHand: Bool
    /// Whether nothing confirms that it was made: it permits nothing and proves nothing.
    var isUncertain = false
    /// What the tap was on, if the mark says.
    var item: String?
    var account: String?
    var evidence: Evidence

    /// How long before a hand-made mark a request is still called late marking (RULES section 4).
    static let lateMark = Nanoseconds.seconds(3)

    /// Where an instant lies relative to the tap.
    enum Order: Hashable, Sendable {
        /// Certainly before, by this much.
        case before(Nanoseconds)
        /// Before, but by less than the mark's time is known.
        case tooClose(gap: Nanoseconds, bound: Nanoseconds, code: String)
        /// Within the span that the tap is known to.
        case within
        case after
    }

    func order(of instant: Instant) -> Order {
        if instant < span.earliest {
            let gap = Nanoseconds(span.earliest.nanoseconds(since: instant))
            if isByHand, gap <= Self.lateMark {
                return .tooClose(gap: gap, bound: Self.lateMark, code: "late-mark")
            }
            return gap <= clockBound ? .tooClose(gap: gap, bound: clockBound, code: "clock-bound") : .before(gap)
        }
        if span.earliest != span.latest, instant <= span.latest { return .within }
        return .after
    }

    /// The earliest moment that may still belong to this tap.
    var reach: Instant {
        span.earliest.advanced(byNanoseconds: -(isByHand ? Self.lateMark.count : clockBound.count))
    }

    /// How long it came after another one. By hand a tap comes some time after its key press, so that the presses' distance
    /// is all that is known.
    func nanoseconds(after other: Tap) -> Int64 {
        span.earliest.nanoseconds(since: isByHand ? other.span.earliest : other.span.latest)
    }

    /// Whether it may be the further tap of a double tap that `other` began: on the same target, and on no other item.
    func repeats(_ other: Tap, within doubleTap: Nanoseconds) -> Bool {
        guard target == other.target, nanoseconds(after: other) <= doubleTap.count else { return false }
        guard let item, let before = other.item else { return true }
        return item == before
    }

    /// The latest moment that may still be this tap's.
    var last: Instant { span.latest.advanced(byNanoseconds: clockBound.count) }

    /// Why it is unsure (`Reading.unsureTaps`), as a noun.
    var words: String {
        isUncertain ? "a tap that perhaps was made" : "a tap of which nothing tells what it was on"
    }

    /// Whether this is a tap that acts (HR-01): share, neutral, policy, or one without a target.
    var isAction: Bool {
        switch target {
        case .share, .neutral, .policy, nil: true
        case .cta, .return, .other: false
        }
    }
}
