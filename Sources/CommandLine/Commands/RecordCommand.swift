internal import Assertions
internal import CaptureAnalyzer
internal import Crypto
internal import EventLoop
internal import HandoffProxy
internal import SessionTrace

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// `handoff record`: stands in front of a device, records its session, and judges it.
struct RecordCommand {
    static let syntax = CommandSyntax(
        name: "record", operands: "", operandCount: 0...0,
        summary: "Record a device's session as its proxy, and judge it live.", options: RecordArguments.options,
        notes: """
            Stop with q, Ctrl-C or POST /stop. Keys while recording (press, then touch): t share, d share twice,
            n continue without sharing, c call to action, b background, f foreground, r return, u takes the last one back.
            SSLKEYLOGFILE gets the secrets of the device's side. The recording holds them too: Wireshark needs nothing else.
            Exit status: as check; 3 also when recording had to stop before its time, 4 also when a fault never fired.
            """)

    /// A recording shorter than this holds no frame.
    private static let emptyRecording = 1_024

    private let handoff: Handoff
    private let arguments: Arguments

    init(handoff: Handoff, arguments: Arguments) {
        self.handoff = handoff
        self.arguments = arguments
    }

    func run() throws -> ExitStatus {
        FreedMemory.returnSoon()
        guard arguments.value("device")?.isEmpty != true else {
            throw UsageError(message: "--device is empty; leave it out, or give it a name")
        }
        let reports = try ReportRequest.parse(arguments.all("report"))
        let path = Self.path(arguments)
        guard !FileSystem.exists(path) else {
            throw UsageError(message: "\(path) is there already; give another name with --out")
        }
        let display = LiveDisplay(
            console: handoff.console, environment: handoff.environment,
            level: arguments.has("quiet") ? .findings : .timeline)
        var settings = try self.settings(path: path)
        if let control = settings.configuration.controlAddress, !control.address.isLoopback {
            display.alarm(
                "The control API listens at \(control), beyond this host: whoever has its token can mark and stop from there."
            )
        }
        settings.recording.maximumFileSize = try RecordArguments.maximumSize(arguments)
        settings.recording.alsoCapture = arguments.all("also-capture")
        settings.actorFiles = arguments.all("actors")
        try refuseToOverwrite(settings, reports)
        // Who gives the credential is one device: the answer that asks for it belongs into the same file.
        settings.recording.device =
            (arguments.value("device") ?? settings.configuration.credential?.user).map { .named($0) }
        let duration = try RecordArguments.duration(arguments)
        _ = try arguments.choice("inconclusive", Inconclusive.self)
        for report in reports where report.path != "-" {
            guard FileSystem.isFolder(FileSystem.parent(of: report.path)) else {
                throw UsageError(message: "--report \(report.path): there is no such folder")
            }
        }
        UnjudgedReports(handoff: handoff, traces: [path]).begin(reports)
        let outcome: RecordSession.Outcome
        do {
            let session = try RecordSession(settings, display: display)
            outcome = try Blocking.run { try await Self.record(session, for: duration, display) }
        } catch let error
            where error is RecordingError || error is AuthorityError || error is ProxyError
            || error is ControlFileError
        {
            // Nothing was served: the empty recording would only be in the way of the next attempt.
            if let size = FileSystem.size(of: path), size < Self.emptyRecording { FileSystem.remove(path) }
            throw StartFailure(message: "\(error)")
        }
        return try give(outcome, reports, settings.policyPlace)
    }

    private func settings(path: String) throws -> RecordSession.Settings {
        var policies = PolicyBook(given: arguments.value("policy"))
        let choice = policies.choice(for: path)
        let policy = try choice.policy.get()
        for note in policies.notes { handoff.console.complain(note) }
        var judging = JudgeOptions()
        judging.profile = try arguments.choice("profile", JudgeOptions.Profile.self) ?? .full
        judging.strict = arguments.has("strict")
        judging.installationKey = try handoff.installationKey()
        judging.now = WallClock.now
        var configuration = try RecordArguments.configuration(
            arguments, policy: policy, environment: handoff.environment, lan: { HostAddress.onNetwork })
        configuration.controlTokenPath = ControlFile.defaultPath(handoff.environment)
        return RecordSession.Settings(
            configuration: configuration, path: path, policyPlace: choice.place,
            authorityFolder: try AuthorityArguments.directory(arguments, handoff), policy: policy, judging: judging)
    }

    /// No output may replace what the run reads, or another output: the recording, key logs and reports.
    private func refuseToOverwrite(
        _ settings: RecordSession.Settings, _ reports: [ReportRequest]
    ) throws(UsageError) {
        let configuration = settings.configuration
        var files = RunFiles()
        if let policy = settings.policyPlace.path { files.protect(policy, as: "the policy") }
        for actors in settings.actorFiles { files.protect(actors, as: "process evidence that is read") }
        for authorities in [configuration.upstreamAuthorities].compactMap(\.self) {
            files.protect(authorities, as: "the file of --upstream-ca")
        }
        for certificate in configuration.clientCertificates {
            files.protect(certificate.path, as: "a file of --client-cert")
        }
        for name in (try? FileSystem.names(in: settings.authorityFolder)) ?? [] {
            files.protect("\(settings.authorityFolder)/\(name)", as: "the certificate authority's")
        }
        if let key = InstallationKey.path(handoff.environment) { files.protect(key, as: InstallationKey.name) }
        try files.claim(settings.path, as: "the recording")
        // Key logs are appended to, be it by both sides.
        var keyLogs = files
        if let path = configuration.keyLogPath {
            let name = "the key log of SSLKEYLOGFILE"
            try files.claim(path, as: name)
            try TraceFiles.refuse(path, as: name, takenFor: .keyLog)
        }
        if let path = configuration.upstreamKeyLogPath {
            let name = "the key log of origins"
            try keyLogs.claim(path, as: name)
            try TraceFiles.refuse(path, as: name, takenFor: .keyLog)
        }
        if let path = configuration.upstreamKeyLogPath { files.protect(path, as: "the key log of origins") }
        for path in TraceReader.companionPaths(of: settings.path, options: TraceOptions()) {
            files.protect(path, as: "read with the recording")
        }
        try ReportRequest.claim(reports, in: &files)
    }

    /// Where the recording goes.
    static func path(_ arguments: Arguments) -> String {
        arguments.value("out").map { $0.hasSuffix(".pcapng") ? $0 : "\($0).pcapng" } ?? defaultPath
    }

    /// `session-20261130-041821.pcapng`, by the clock of this host in UTC.
    private static var defaultPath: String {
        let time = WallClock.now.rfc3339.prefix(19).filter(\.isNumber)
        return "session-\(time.prefix(8))-\(time.suffix(6)).pcapng"
    }

    // MARK: The run

    private static func record(
        _ session: RecordSession, for duration: Duration?, _ display: LiveDisplay
    ) async throws -> RecordSession.Outcome {
        try await session.start()
        await RecordGreeting(session: session).show(on: display)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { display.say("Stopping: \(await session.waitForStop()).") }
            group.addTask {
                for await number in Signals.stream([SIGINT, SIGTERM, SIGHUP]) {
                    session.requestStop(number == SIGINT ? "Ctrl-C" : "signal \(number)")
                    return
                }
            }
            group.addTask { await Self.readKeys(session, display) }
            if let duration {
                group.addTask {
                    guard (try? await Task.sleep(for: duration)) != nil else { return }
                    session.requestStop("the time given with --for is over")
                }
            }
            // The first task waits for the end; the others only ask for it, or run until then.
            while let _ = await group.next() {
                group.cancelAll()
                break
            }
        }
        return await session.finish()
    }

    private static func readKeys(_ session: RecordSession, _ display: LiveDisplay) async {
        guard let terminal = TerminalKeys() else {
            // No terminal: signals, the control API and --for end the run.
            try? await Task.sleep(for: .seconds(86_400 * 365))
            return
        }
        defer { terminal.restore() }
        var keys = MarkKeys(idPrefix: session.control.idPrefix)
        for await byte in terminal.stream {
            let now = WallClock.now
            switch keys.press(byte, at: now) {
            case .mark(let mark):
                let receipt = session.control.take(mark, at: now)
                display.say(
                    "── armed: \(mark.kind.rawValue) \(mark.target?.rawValue ?? "") (mark \(receipt.recorded.sequence)), touch now"
                )
            case .withdraw(let mark, let of):
                let receipt = session.control.take(mark, at: now)
                display.say(
                    "── taken back: \(of.kind.rawValue) \(of.target?.rawValue ?? "") (mark \(receipt.recorded.sequence))"
                )
            case .nothingToWithdraw: display.say("── there is no mark to take back")
            case .stop: session.requestStop("key q")
            case .help: display.say(MarkKeys.help)
            case .none: break
            }
        }
    }

    // MARK: The verdict

    private func give(
        _ outcome: RecordSession.Outcome, _ reports: [ReportRequest], _ policy: PolicyPlace
    ) throws -> ExitStatus {
        var options = SetOptions()
        options.strict = arguments.has("strict")
        options.inconclusiveCounts = try arguments.choice("inconclusive", Inconclusive.self) != .warn
        // Whoever reads a report alone must see in it why the run ends as it does.
        options.missing = outcome.faults
        let traces = outcome.judged.map { judged in
            var trace = judged.trace
            trace.stopped = outcome.stopped.first { $0.path == trace.path }?.stopped.map {
                "recording stopped before the end: \($0)"
            }
            trace.conditions = JudgingConditions(policy: policy.path, policyOrigin: policy.origin)
            return trace
        }
        let set = SetVerdict(traces: traces, options: options)
        // A second device's recording has its name only now.
        var files = RunFiles()
        for trace in outcome.judged { files.protect(trace.trace.path, as: "a recording of this run") }
        var refusals: [UsageError] = []
        let writable = reports.filter { report in
            do throws(UsageError) {
                try ReportRequest.claim([report], in: &files)
                return true
            } catch {
                refusals.append(error)
                return false
            }
        }
        var status = VerdictOutput(
            handoff: handoff, reports: writable, isVerbose: arguments.has("verbose")
        ).give(set)
        for refusal in refusals {
            handoff.console.complain("\(refusal.message); it is not written")
            status = status.worse(.usage)
        }
        for trace in outcome.judged.map(\.trace) {
            handoff.console.talk("The recording is \(trace.path): handoff check and Wireshark read it as it is.\n")
        }
        return status
    }
}

/// A recording that could not begin, though its words are right; exit status 2.
struct StartFailure: Error {
    var message: String
}
