internal import SessionTrace

/// **HC-10 clean-start.** The test began cold: the app was launched, the browser had nothing of Chia, and nobody tapped for a
/// while.
///
/// Rules about what happens before the tap see the more, the longer the app could have done it: a `launch` mark, a
/// `browser-clean` mark and ten quiet seconds between the launch and the first tap. What is missing is an assumption.
enum CleanStart: Rule {
    static let description = RuleDescription(
        id: "HC-10", name: "clean-start", severity: .warning,
        sentence: "The test began with a cold app, a clean browser and a quiet while.", heading: "The test matrix",
        inconclusiveWhen: "never; what is missing is an assumption",
        options: ["timing: {quiet-start}"])

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no tap is marked"
        guard let tap = session.taps.map(\.span.earliest).min() else { return }
        judgement.exercised()
        let quiet = session.policy.timing.quietStart
        let launch = session.marks([.launch]).last { $0.span.earliest <= tap }
        let clean = session.marks([.browserClean]).first { $0.span.earliest <= tap }
        for mark in [launch, clean].compactMap(\.self) { judgement.looked(at: session.evidence(mark)) }
        let wait = launch.map { Nanoseconds(max(0, tap.nanoseconds(since: $0.span.latest))) }
        judgement.passSentence = wait.map { "launched \($0) before the first tap, with a clean browser" } ?? ""
        if launch == nil {
            judgement.assume("start-not-clean", "no launch is marked before the first tap: the app may have been warm")
        } else if let wait, wait < quiet {
            judgement.assume("start-not-quiet", "the first tap came \(wait) after the launch, not \(quiet) or more")
        }
        if clean == nil {
            judgement.assume(
                "browser-not-clean", "no browser-clean mark before the first tap: the browser may know Chia already")
        }
        if launch == nil || clean == nil {
            judgement.passSentence =
                "\(launch == nil ? "no launch" : "a launch") and \(clean == nil ? "no clean browser" : "a clean browser") marked before the first tap"
        }
    }
}
