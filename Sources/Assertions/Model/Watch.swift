internal import SessionTrace

/// The time after what a mark tells, as far as it is known: what lies between its earliest and its latest beginning or end
/// may belong to it or not.
struct Watch {
    /// The earliest beginning, and the latest end, which is no part of it.
    let from: Instant
    let until: Instant
    /// The latest beginning, and the earliest end.
    let surelyFrom: Instant
    let surelyUntil: Instant
    /// Whether a person pressed for the mark that begins or ends it.
    private let isByHand: Bool

    /// - Parameters:
    ///   - length: how long is watched at most.
    ///   - next: the mark that ends it.
    ///   - sign: when something first shows that what a mark by hand tells has happened.
    init(after mark: Mark, for length: Nanoseconds, until next: Mark? = nil, sign: Instant? = nil, _ session: Session) {
        let reach = session.reach(of: mark)
        let latest = mark.by == .person ? min(sign ?? reach.latest, reach.latest) : reach.latest
        let last = session.ended.advanced(byNanoseconds: 1)
        let bound = next.map { $0.by == .person ? Nanoseconds(0) : session.bound(of: $0) } ?? Nanoseconds(0)
        let end = next?.span.earliest.advanced(byNanoseconds: bound.count) ?? .distantFuture
        from = reach.earliest
        surelyFrom = latest
        until = max(from, min(latest.advanced(byNanoseconds: length.count), end, last))
        surelyUntil = min(
            reach.earliest.advanced(byNanoseconds: length.count), next.map { session.reach(of: $0).earliest } ?? last,
            last)
        isByHand = mark.by == .person || next?.by == .person
    }

    /// Whether an instant surely lies in it.
    func holds(_ instant: Instant) -> Bool { instant >= surelyFrom && instant < surelyUntil }

    /// Says of what lies near its beginning or end that it may belong to it.
    func leaveOpen(_ what: String, _ judgement: inout Judgement) {
        judgement.doubt(
            isByHand ? "late-mark" : "clock-bound",
            isByHand
                ? "\(what), and may have come before or after what a mark made by hand tells"
                : "\(what), closer to the mark than its time is known",
            remedy: isByHand
                ? "let the test script send the marks"
                : "send the marks through the trace's own clock (UDP datagrams in the capture)")
    }
}
