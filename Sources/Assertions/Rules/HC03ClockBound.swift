internal import SessionTrace

/// **HC-03 clock-bound.** The marks' clock is known well enough against the packets'.
///
/// A mark that came through the trace's own clock has no error: order decides. A foreign clock is known to the policy's
/// `clock-error`, a log's to 250 ms. What lies within the bound of a tap is not decided by the rules about taps.
enum ClockBound: Rule {
    static let description = RuleDescription(
        id: "HC-03", name: "clock-bound", severity: .warning,
        sentence: "The times of the marks are known well enough.", heading: "The test matrix",
        inconclusiveWhen: "a mark's clock is bounded by more than 250 ms")

    /// The widest bound at which marks still decide.
    static let widest = Nanoseconds.milliseconds(250)

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no tap is marked"
        var worst = Nanoseconds(0)
        for tap in session.taps {
            judgement.looked(at: tap.evidence)
            worst = max(worst, tap.clockBound)
        }
        let byHand = session.taps.filter(\.isByHand).count
        if byHand > 0 { judgement.assume("hand-marks", "\(byHand) of \(session.taps.count) taps were marked by hand") }
        if worst > widest {
            judgement.doubt(
                "clock-bound", "marks are known to ±\(worst) only, more than \(widest)",
                remedy: "send the marks through the trace's own clock (UDP datagrams in the capture)")
        }
        judgement.passSentence =
            worst.count == 0
            ? "\(counted(session.taps.count, "tap")) marked on the trace's own clock"
            : "\(counted(session.taps.count, "tap")) known to ±\(worst)"
    }
}
