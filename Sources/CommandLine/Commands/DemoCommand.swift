internal import Assertions
internal import CaptureAnalyzer
internal import Crypto
internal import EventLoop
internal import HandoffProxy
internal import Lab
internal import Reports
internal import SessionTrace

/// `handoff demo`: four sessions of a scripted device through the real proxy on loopback, recorded, judged, reported.
struct DemoCommand {
    static let syntax = CommandSyntax(
        name: "demo", operands: "", operandCount: 0...0,
        summary: "Record and judge four sessions on loopback: an app that conforms and three that do not.",
        options: [
            .value("out", "DIR", "where recordings and reports go; default handoff-demo here"),
            .flag("timeline", "show what happens while it happens"),
        ],
        notes: """
            A scripted device talks to mock partner, Chia and telemetry servers, all on this host: nothing leaves it.
            Exit status: 0 when every session got the verdict that it deserves, live and read back alike; otherwise 5.
            """)

    private let handoff: Handoff
    private let arguments: Arguments

    init(handoff: Handoff, arguments: Arguments) {
        self.handoff = handoff
        self.arguments = arguments
    }

    private var folder: String { arguments.value("out") ?? "handoff-demo" }

    func run() throws -> ExitStatus {
        FileSystem.makeFolder(folder)
        guard FileSystem.isFolder(folder) else { throw UsageError(message: "--out \(folder): is not a folder") }
        try FileSystem.write(Array(MockHosts.policy.utf8), to: "\(folder)/handoff.yml")
        let policy = try Policy.parse(yaml: MockHosts.policy, file: "\(folder)/handoff.yml")
        var judging = JudgeOptions()
        judging.installationKey = try handoff.installationKey()
        judging.now = WallClock.now
        let console = handoff.console
        let display = LiveDisplay(
            console: console, environment: handoff.environment, level: arguments.has("timeline") ? .timeline : .alarms)
        let (folder, style, options) = (folder, console.style(handoff.environment), judging)
        let shown = try Blocking.run {
            let loops = try EventLoopGroup(count: 1)
            defer { loops.stop() }
            let hosts = try await MockHosts(on: loops.next())
            var played: [Played] = []
            for scenario in LabScenario.all {
                console.result("\(scenario.name): \(scenario.summary)\n")
                let lab = DemoLab(
                    hosts: hosts, loop: loops.next(), folder: folder, policy: policy, judging: options)
                let one = try await lab.play(scenario, display)
                console.result(one.text(style))
                played.append(one)
            }
            await hosts.stop()
            return played
        }
        let set = SetVerdict(traces: shown.map { JudgedTrace(path: $0.path, verdict: $0.live) }, options: SetOptions())
        let reports = try ReportRequest.parse(["json=\(folder)/demo.json", "junit=\(folder)/demo.xml"])
        for report in reports {
            try VerdictOutput(handoff: handoff, reports: [], isVerbose: false).write(report, set)
        }
        console.result("Recordings, reports and the policy are in \(folder)/; try: handoff show \(shown[0].path)\n")
        let wrong = shown.filter { !$0.isRight }.count
        guard wrong == 0 else {
            console.complain("\(wrong) of \(shown.count) sessions did not get the verdict that they deserve")
            return .internalError
        }
        console.result("All \(shown.count) sessions got the verdict that they deserve, live and read back alike.\n")
        return .conforming
    }

    /// A session that was played: what it got and what it deserves.
    struct Played: Sendable {
        var scenario: LabScenario
        var path: String
        /// The verdict while it was recorded.
        var live: TraceVerdict
        /// The verdict of the file.
        var readBack: TraceVerdict
        /// What went wrong besides.
        var trouble: [String]

        private var violated: [RuleResult] {
            live.rules.filter { $0.verdict == .fail && $0.severity == .error }
        }

        private var open: [RuleResult] {
            live.rules.filter { $0.isOpen && live.gate.contains($0.id) }
        }

        var isRight: Bool {
            Set(violated.map(\.id)) == scenario.violates && open.isEmpty && live == readBack && trouble.isEmpty
        }

        func text(_ style: TextStyle) -> String {
            var lines = violated.map { style.paint("  ✗ \($0.id) \($0.name): \($0.sentence)", asAlarm: true) }
            lines += open.map { style.paint("  ? \($0.id) \($0.name): \($0.sentence)", asAlarm: false) }
            let passes = live.rules.filter { $0.verdict == .pass }.count
            lines.append("  \(violated.isEmpty ? "conforms" : "violates the contract"); \(passes) rules pass")
            lines += trouble.map { "  ! \($0)" }
            if live != readBack { lines.append("  ! the recording, read back, is judged otherwise") }
            if !isRight {
                let deserved = scenario.violates.isEmpty ? "none" : scenario.violates.sorted().joined(separator: ", ")
                lines.append("  <-- WRONG: violations that it deserves: \(deserved)")
            }
            return lines.joined(separator: "\n") + "\n\n"
        }
    }
}

/// One session of the demo: a proxy of its own before the mock hosts.
private struct DemoLab {
    let hosts: MockHosts
    let loop: EventLoop
    let folder: String
    let policy: Policy
    let judging: JudgeOptions

    func play(_ scenario: LabScenario, _ display: LiveDisplay) async throws -> DemoCommand.Played {
        var path = "\(folder)/\(scenario.name).pcapng"
        var number = 1
        // The recorder replaces nothing; an earlier demo stays.
        while FileSystem.exists(path) {
            number += 1
            path = "\(folder)/\(scenario.name)-\(number).pcapng"
        }
        let upstream = "\(folder)/mock-hosts-ca.pem"
        try FileSystem.write(Array(hosts.authorityCertificate.utf8), to: upstream)
        var configuration = ProxyConfiguration()
        let anyPort = Endpoint(address: IPAddress(ipv4: 0x7F00_0001), port: 0)
        configuration.listeners = [ListenAddress(endpoint: anyPort)]
        configuration.controlAddress = nil
        configuration.markAddress = nil
        configuration.upstreamAuthorities = upstream
        configuration.resolveOverrides = hosts.resolveOverrides.compactMap { ResolveOverride($0) }
        configuration.faults = scenario.faults
        let session = try RecordSession(
            RecordSession.Settings(
                configuration: configuration, path: path, authorityFolder: "\(folder)/ca", policy: policy,
                judging: judging), display: display)
        try await session.start()
        var trouble: [String] = []
        do {
            let trusted = "\(folder)/proxy-ca.pem"
            try FileSystem.write(Array(session.authority.certificate.pem.utf8), to: trusted)
            guard let proxy = session.proxy.addresses.first else { throw LabError("the proxy listens nowhere") }
            let device = try ScriptedDevice(proxy: proxy, trusting: trusted, on: loop)
            try await LabSession(scenario, device: device, markAddress: session.control.markAddress).play()
        } catch {
            trouble.append("the session could not be played to its end: \(error)")
        }
        let outcome = await session.finish()
        trouble += outcome.faults
        guard let live = outcome.judged.first?.trace.verdict else {
            throw LabError(outcome.judged.first?.trace.error ?? "\(path) was not judged")
        }
        var judge = SessionJudge(policy: policy, options: judging)
        _ = try TraceReader.read(path: path, options: TraceOptions()) { judge.receive($0) }
        return DemoCommand.Played(
            scenario: scenario, path: path, live: live, readBack: judge.finish(), trouble: trouble)
    }
}
