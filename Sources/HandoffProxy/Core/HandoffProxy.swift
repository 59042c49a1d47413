public import Crypto
public import EventLoop
public import SessionTrace
internal import Synchronization

/// The recording proxy: listeners in front of devices, relays to origins, a recording of the devices' side.
///
/// ```
/// init ──start──► listening ──stop──► stopped
/// ```
public final class HandoffProxy: Sendable {
    /// How it behaves.
    public let configuration: ProxyConfiguration
    /// Who signs the leaves that devices see.
    public let authority: CertificateAuthority
    /// Where it records.
    public let recording: Recording
    /// Who decides what of the journey on Chia is recorded; nil: everything is.
    public let journey: (any JourneyGuide)?
    /// The faults to inject: those of the configuration, and what is added while it runs.
    public let faults: FaultTable
    /// What it runs on. The caller's: it stops them after `stop`.
    public let loops: EventLoopGroup
    /// What intercepted connections share.
    let interceptor: Interceptor
    let live: LiveEvents
    let table: ConnectionTable
    private let state = Mutex(State())

    private struct State {
        var acceptors: [Acceptor] = []
        var service: Task<Void, Never>?
        var check: DestinationCheck?
        var control: ControlPlane?
        var isStopped = false
    }

    /// Makes a proxy that does not listen yet. Throws when a file that the configuration names can't be used.
    public init(
        configuration: ProxyConfiguration, authority: CertificateAuthority, recording: Recording,
        journey: (any JourneyGuide)? = nil, faults: FaultTable = FaultTable(), loops: EventLoopGroup
    ) throws(ProxyError) {
        self.configuration = configuration
        self.authority = authority
        self.recording = recording
        self.journey = journey
        self.faults = faults
        self.loops = loops
        for text in configuration.faults {
            do throws(FaultRuleError) {
                guard faults.add(try FaultRule(parsing: text)) != nil else {
                    throw FaultRuleError(text: text, column: 1, problem: "there are too many faults", nearest: nil)
                }
            } catch {
                throw ProxyError(.invalidOption, place: "--fault", reason: error.description)
            }
        }
        live = LiveEvents(backlog: configuration.limits.liveEventBacklog)
        table = ConnectionTable(limits: configuration.limits)
        interceptor = try Interceptor(
            configuration: configuration, authority: authority, faults: faults, guide: journey, live: live)
    }

    // MARK: - What it says

    /// A new stream of live events, from now on; it ends after `stop`.
    public var events: AsyncStream<LiveEvent> { live.subscribe() }

    /// Where it listens, with the ports that the kernel chose; empty before `start`.
    public var addresses: [Endpoint] { state.withLock { $0.acceptors.map(\.local) } }

    /// Connections of devices that are open.
    public var openConnections: Int { table.count }

    /// Who answers what devices ask of the proxy itself.
    var control: ControlPlane? { state.withLock { $0.control } }

    func take(_ control: ControlPlane) {
        state.withLock { $0.control = control }
        interceptor.tell(control.trust)
    }

    /// Which destinations clients may reach.
    var check: DestinationCheck {
        state.withLock { $0.check } ?? DestinationCheck(allowed: configuration.allowedDestinations)
    }

    // MARK: - Life

    /// Binds all listeners, and serves clients from then on. Throws when one can't be bound; none is then.
    public func start() async throws(ProxyError) {
        DescriptorLimit.raise()
        var acceptors: [Acceptor] = []
        do throws(ProxyError) {
            for address in configuration.listeners {
                acceptors.append(try await Acceptor.listen(on: address, loop: loops.next()))
            }
        } catch {
            for acceptor in acceptors { await acceptor.close() }
            throw error
        }
        var check = DestinationCheck(allowed: configuration.allowedDestinations)
        check.own = acceptors.map(\.local) + [configuration.controlAddress].compactMap { $0 }
        check.local = Set(LocalAddresses.all().map(\.address))
        let listening = acceptors
        // The one task that all connections are children of, so that stopping it stops them and waiting for it waits
        // for them.
        let service = Task(executorPreference: loops.next()) {
            await withDiscardingTaskGroup { group in
                for acceptor in listening {
                    group.addTask(executorPreference: acceptor.loop) { await acceptor.serve(for: self) }
                }
            }
        }
        state.withLock { state in
            state.acceptors = listening
            state.service = service
            state.check = check
        }
        for acceptor in listening {
            control?.listenerBound(acceptor.local)
            live.post(
                LiveEvent(
                    .listening, at: WallClock.now(), text: "Listening on \(acceptor.local)."))
        }
    }

    /// Stops: listeners are closed, running connections may come to their end until they have been silent for a while or
    /// `stopGrace` is over, then they are closed and recorded as such. Everything has ended on return.
    public func stop() async {
        let (acceptors, service) = state.withLock { state in
            defer { state.isStopped = true }
            return state.isStopped ? ([], nil) : (state.acceptors, state.service)
        }
        for acceptor in acceptors { await acceptor.close() }
        guard let service else {
            // Never started, or stopped before: nothing more is going to happen.
            live.finish()
            return
        }
        let clock = ContinuousClock()
        let deadline = clock.now + configuration.timeouts.stopGrace
        while clock.now < deadline, table.isBusy(at: WallClock.now()) {
            do { try await Task.sleep(for: .milliseconds(20)) } catch { break }
        }
        service.cancel()
        await service.value
        live.finish()
    }
}

extension HandoffProxy {
    /// Whether `endpoint` is one of our listeners: who goes there wants the proxy itself.
    func isOwn(_ endpoint: Endpoint) -> Bool { check.isOwn(endpoint) }
}
