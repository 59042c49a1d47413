internal import Assertions
internal import Crypto
internal import EventLoop
internal import HandoffProxy
internal import SessionTrace
internal import Synchronization

/// One run of the recording proxy in this process: proxy, control plane, recording and judges, from start to verdict.
///
/// ```
/// init ──start──► recording ──finish──► judged
/// ```
final class RecordSession: Sendable {
    /// What a run is made of.
    struct Settings: Sendable {
        var configuration: ProxyConfiguration
        /// The first trace file.
        var path: String
        /// Where the policy was read from.
        var policyPlace = PolicyPlace()
        /// The certificate authority's folder.
        var authorityFolder: String
        var policy: Policy
        var judging: JudgeOptions
        var recording = RecordingOptions()
        /// Files with process evidence, read when the recording ends.
        var actorFiles: [String] = []
    }

    /// What came of a run.
    struct Outcome: Sendable {
        /// The verdicts, one a device.
        var judged: [Judged]
        /// Files whose recording stopped before its time.
        var stopped: [FileStatus]
        /// Faults that never fired or could not be injected, a sentence each.
        var faults: [String]
    }

    let settings: Settings
    let authority: CertificateAuthority
    /// Marks, set-up page and control API.
    let control: ControlPlane
    let proxy: HandoffProxy
    private let recording: Recording
    private let judges: LiveJudges
    private let faults: FaultTable
    private let loops: EventLoopGroup
    private let listeners: ControlListeners
    private let display: LiveDisplay
    private let controlFile = Mutex<String?>(nil)
    private let telling = Mutex<Task<Void, Never>?>(nil)
    private let stopping = AsyncStream<String>.makeStream()
    private let notices = AsyncStream<RecordingNotice>.makeStream(bufferingPolicy: .bufferingNewest(1_000))

    /// Makes everything that can fail before a device calls: the authority, the trace file, the options' files.
    init(_ settings: Settings, display: LiveDisplay) throws {
        self.settings = settings
        self.display = display
        let started = WallClock.now
        authority = try CertificateAuthority.load(
            directory: settings.authorityFolder, createIfMissing: true, hostName: FileSystem.hostName)
        let judges = LiveJudges(
            policy: settings.policy, options: settings.judging, actorFiles: settings.actorFiles, display: display)
        self.judges = judges
        let said = notices.continuation
        let recording = try Recording(
            path: settings.path, version: handoffVersion, started: started, options: settings.recording,
            onFile: { judges.follow($0) },
            onNotice: { said.yield($0) })
        self.recording = recording
        let policy = settings.policy
        faults = FaultTable { policy.mayHaveFault($0) }
        var guide: LiveJourneyGuide?
        if settings.configuration.chiaJourney == .heads {
            guide = LiveJourneyGuide(
                policy: policy, installationKey: settings.judging.installationKey, judges: judges)
            guide?.attach(to: recording)
        }
        let stop = stopping.continuation
        var seams = ControlPlane.Seams(recording: recording)
        seams.stop = { stop.yield("told by the control API") }
        seams.faults = FaultControls(faults)
        control = try ControlPlane(
            version: handoffVersion, downloads: CertificateDownloads(authority), seams: seams,
            allowedClients: settings.configuration.allowedClients, started: started)
        var configuration = settings.configuration
        configuration.isGuarded = { policy.isGuarded($0) }
        loops = try EventLoopGroup()
        proxy = try HandoffProxy(
            configuration: configuration, authority: authority, recording: recording, journey: guide,
            faults: faults, loops: loops)
        proxy.attach(control)
        listeners = ControlListeners(plane: control, loop: loops.next())
    }

    /// Opens all listeners. Throws when one can't be opened; nothing is served then.
    func start() async throws {
        let events = proxy.events
        let (display, control, notices) = (display, control, notices.stream)
        let teller = Task {
            await withDiscardingTaskGroup { group in
                group.addTask { for await event in events { display.show(event) } }
                group.addTask {
                    for await notice in notices {
                        display.alarm("\(notice)")
                        control.publish(LiveEvent(notice, at: WallClock.now))
                    }
                }
            }
        }
        telling.withLock { $0 = teller }
        do {
            try await listeners.start(
                control: settings.configuration.controlAddress,
                marks: settings.configuration.markAddresses)
            try await proxy.start()
            if let usual = settings.configuration.controlTokenPath, let address = await listeners.controlAddress {
                let path = Self.controlFile(usual, port: address.port)
                try ControlFile(address: "\(address)", token: control.token).write(to: path)
                controlFile.withLock { $0 = path }
            }
        } catch {
            await end()
            throw error
        }
        let own = await proxy.addresses + [listeners.controlAddress].compactMap(\.self) + listeners.markAddresses
        recording.startCapture(excluding: own)
        StartupCode.forget()
    }

    /// The file by which `handoff mark` finds this recorder; nil when there is none.
    var controlFilePath: String? { controlFile.withLock { $0 } }

    /// The usual control file, or one with the port in its name while another recorder that answers has the usual one.
    private static func controlFile(_ usual: String, port: UInt16) -> String {
        guard let other = try? ControlFile.read(usual), let client = try? LocalHTTP(address: other.address),
            client.isAnswered
        else { return usual }
        return usual.hasSuffix(".json") ? "\(usual.dropLast(5))-\(port).json" : "\(usual)-\(port)"
    }

    /// Where the control API is; nil when it is nowhere.
    var controlAddress: Endpoint? {
        get async { await listeners.controlAddress }
    }

    /// Ends the run when `waitForStop` is waiting: `why` is shown.
    func requestStop(_ why: String) {
        stopping.continuation.yield(why)
    }

    /// Waits until something asks for the end; what it was, in words.
    func waitForStop() async -> String {
        for await why in stopping.stream { return why }
        return ""
    }

    /// Closes everything, ends the recording, and judges what was recorded.
    func finish() async -> Outcome {
        await end()
        let stopped = recording.status.filter { $0.stopped != nil }
        let judges = judges
        let console = display.console
        // The judges may have much to read yet, and their threads are waited for: not on one that runs tasks.
        let judged = await withCheckedContinuation { continuation in
            let isStarted = BackgroundThread.start { continuation.resume(returning: judges.finish(console: console)) }
            if !isStarted { continuation.resume(returning: judges.finish(console: console)) }
        }
        return Outcome(judged: judged, stopped: stopped, faults: faults.report.sentences)
    }

    private func end() async {
        await proxy.stop()
        await listeners.stop()
        recording.stop(at: WallClock.now)
        notices.continuation.finish()
        await telling.withLock { $0 }?.value
        if let path = controlFilePath { ControlFile(address: "", token: control.token).remove(from: path) }
        loops.stop()
    }
}

extension LiveEvent {
    /// What the recorder has to say, for readers of the control API's events.
    fileprivate init(_ notice: RecordingNotice, at time: Instant) {
        let kind: Kind
        switch notice {
        case .stopped, .unrecorded, .tooManyDevices, .captureEnded: kind = .recordingStopped
        case .wentAround: kind = .note
        }
        self.init(kind, at: time, text: "\(notice)", isAlarm: true)
    }
}

extension Policy {
    /// Whether what goes to `host` may matter to a rule: the partner's, Chia's and telemetry hosts.
    fileprivate func isGuarded(_ host: HostName) -> Bool {
        roleName(of: host) != nil
    }

    /// Whether a fault that names no host is meant for `host`: the partner's hosts, or any when the policy names none.
    fileprivate func mayHaveFault(_ host: HostName) -> Bool {
        hosts.partner.isEmpty || roleName(of: host) == "partner"
    }
}
