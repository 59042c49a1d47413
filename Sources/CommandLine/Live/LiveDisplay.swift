internal import Assertions
internal import HandoffProxy
internal import Reports
internal import SessionTrace

/// What the terminal shows while a session is recorded: one stream of lines on standard error, so that the verdict at the
/// end has standard output for itself.
struct LiveDisplay: Sendable {
    let console: Console
    let style: TextStyle
    /// How much is shown; each level holds the ones before it.
    enum Level: Int, Comparable {
        /// What someone must act on.
        case alarms
        /// Violations as they are seen.
        case findings
        /// The timeline, and what the proxy has to say.
        case timeline

        static func < (lhs: Level, rhs: Level) -> Bool { lhs.rawValue < rhs.rawValue }
    }

    let level: Level

    init(console: Console, environment: [String: String], level: Level) {
        self.console = console
        style = console.talkStyle(environment)
        self.level = level
    }

    /// What a judge has to say of the trace of `device`; nil while there is one alone.
    func show(_ output: LiveJudge.Output, of device: String?) {
        let prefix = device.map { "[\($0)] " } ?? ""
        switch output {
        case .timeline(let lines):
            guard level >= .timeline else { return }
            let shown =
                device == nil
                ? lines : lines.split(separator: "\n").map { "\(prefix)\($0)\n" }.joined()
            console.talk(shown)
        case .violated(let rule):
            guard level >= .findings else { return }
            line(style.paint("✗ \(prefix)\(rule.id) \(rule.name): \(rule.sentence)", asAlarm: rule.severity == .error))
        case .excused(let rule):
            guard level >= .findings else { return }
            line("✓ \(prefix)\(rule.id) \(rule.name): no longer violated")
        }
    }

    /// What the proxy has to say.
    func show(_ event: LiveEvent) {
        guard event.isAlarm || level >= .timeline else { return }
        let text = "\(event.at.timeOfDay)  \(event.text)"
        if event.isAlarm { alarm(text) } else { line("  \(text)") }
    }

    /// Something that someone must act on.
    func alarm(_ text: String) {
        line(style.paint("! \(text)", asAlarm: true))
    }

    /// One line of words of our own.
    func say(_ text: String) {
        line(text)
    }

    private func line(_ text: String) {
        console.talk(text + "\n")
    }
}
