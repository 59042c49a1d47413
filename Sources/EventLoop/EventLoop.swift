internal import Glibc
internal import SessionTrace
internal import Synchronization

/// One thread that runs tasks and waits for sockets and timers, as a Swift executor: an epoll set with a libuv loop inside.
///
/// As an actor's `unownedExecutor` it runs all of that actor on its thread; as a task's preferred executor it runs what is
/// not isolated to anything else. Sockets belong to one loop and are used from code that runs on it.
///
/// Each turn runs at most `jobsPerTurn` jobs and then looks at sockets and timers, so that neither starves the other. A
/// task that finds its socket ready again and again makes way after `operationsPerJob` operations.
///
/// `stop()` must be called before the last reference goes: the thread holds the loop.
public final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
    // Sendable: `shared` is behind its lock; everything under "The loop's own" is touched only by the loop's thread (or,
    // after its end, by the thread that runs late jobs in its name), and `polled.wake()` is safe anywhere.

    /// Jobs run before sockets and timers are looked at again.
    static let jobsPerTurn = 256
    /// Socket operations that a job may do without having waited, before it makes way for others.
    static let operationsPerJob = 32

    /// What its thread is called.
    public let name: String

    enum Work: @unchecked Sendable {
        // Sendable: closures from other threads are (`execute`); the loop's own never leave its queue but for late work,
        // when its thread is gone.
        /// A job of an actor that lives here.
        case isolated(UnownedJob)
        /// A job of a task that prefers to run here and is isolated to nothing.
        case preferred(UnownedJob)
        case closure(() -> Void)
    }

    private enum State {
        case running, stopping, stopped
    }

    private struct Shared {
        var work = JobQueue<Work>()
        var isWaiting = false
        var state = State.running
    }

    private let shared = Mutex(Shared())
    private let thread = Mutex<pthread_t?>(nil)

    // MARK: The loop's own

    let uv: LibUV
    private let polled: EpollSet
    private var work = JobQueue<Work>()
    private var descriptors: [PolledDescriptor?] = []
    private var freeSlots: [Int] = []
    private var generation: UInt64 = 0
    private(set) var isStopping = false
    /// Operations that the running job may still do without waiting.
    var operationsLeft = operationsPerJob
    /// Called when the loop stops: whoever waits for something other than a descriptor.
    private var stopActions: [UInt64: () -> Void] = [:]
    private var nextTicket: UInt64 = 0

    /// Starts the loop's thread. Throws when the system gives no descriptor or thread.
    public init(name: String) throws(EventLoopError) {
        self.name = name
        uv = try LibUV()
        do throws(EventLoopError) {
            polled = try EpollSet()
        } catch {
            uv.close()
            throw error
        }
        do throws(EventLoopError) {
            try polled.watchForReading(uv.descriptor, token: Self.libuvToken)
            try start()
        } catch {
            uv.close()
            throw error
        }
    }

    private func start() throws(EventLoopError) {
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<EventLoop>.fromOpaque(argument).takeRetainedValue().main()
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        guard code == 0 else {
            Unmanaged.passUnretained(self).release()
            throw EventLoopError(code: code, operation: "pthread_create")
        }
        self.thread.withLock { $0 = thread }
    }

    // MARK: - Who runs

    private static let currentKey: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// The loop whose thread this is; nil elsewhere.
    public static var current: EventLoop? {
        guard let pointer = pthread_getspecific(currentKey) else { return nil }
        return Unmanaged<EventLoop>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// Whether the caller runs on this loop's thread.
    public var isCurrent: Bool {
        pthread_getspecific(Self.currentKey) == Unmanaged.passUnretained(self).toOpaque()
    }

    public func isIsolatingCurrentContext() -> Bool? {
        isCurrent
    }

    public func checkIsolated() {
        precondition(isCurrent, "not on the thread of event loop \(name)")
    }

    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    public func asUnownedTaskExecutor() -> UnownedTaskExecutor {
        UnownedTaskExecutor(ordinary: self)
    }

    /// A loop for what belongs to the process rather than to a connection: signals, the terminal, look-ups from elsewhere.
    /// Started with the first use, never stopped; nil when the system gives no descriptor for it.
    static let shared: EventLoop? = try? EventLoop(name: "process")

    // MARK: - Work from anywhere

    public func enqueue(_ job: consuming ExecutorJob) {
        submit(.isolated(UnownedJob(job)))
    }

    /// Told apart from an actor's jobs, so that each runs as what it is: else the runtime queues a task once more whenever
    /// it enters or leaves a function.
    @_implements(TaskExecutor,enqueue(_:))
    public func enqueuePreferred(_ job: consuming ExecutorJob) {
        submit(.preferred(UnownedJob(job)))
    }

    /// Runs `work` on the loop's thread, soon, after what is queued already.
    public func execute(_ work: @escaping @Sendable () -> Void) {
        submit(.closure(work))
    }

    private func submit(_ item: Work) {
        if isCurrent, !isStopping {
            work.append(item)
            return
        }
        let (mustWake, isLate) = shared.withLock { shared in
            if shared.state == .stopped { return (false, true) }
            shared.work.append(item)
            defer { shared.isWaiting = false }
            return (shared.isWaiting, false)
        }
        if mustWake { polled.wake() }
        if isLate { LateWork.run(item, inTheNameOf: self) }
    }

    /// Ends the thread and waits for it: sockets are closed, everything that waits is woken with "cancelled", and queued
    /// jobs are run. Never to be called from the loop itself. A second call does nothing.
    public func stop() {
        precondition(!isCurrent, "an event loop can't wait for its own end")
        let mustWake = shared.withLock { shared in
            guard shared.state == .running else { return false }
            shared.state = .stopping
            defer { shared.isWaiting = false }
            return shared.isWaiting
        }
        if mustWake { polled.wake() }
        let thread = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        if let thread { pthread_join(thread, nil) }
    }

    // MARK: - The thread

    private func main() {
        LinuxSocket.nameThread(name)
        pthread_setspecific(Self.currentKey, Unmanaged.passUnretained(self).toOpaque())
        while !takeSharedWork() {
            runJobs(limit: Self.jobsPerTurn)
            let mayWait = work.isEmpty && announceWaiting()
            takeEvents(waiting: mayWait)
        }
        finish()
        pthread_setspecific(Self.currentKey, nil)
    }

    /// Moves what other threads have left to the loop's own queue; true when the loop is to stop.
    private func takeSharedWork() -> Bool {
        shared.withLock { shared in
            shared.isWaiting = false
            while let item = shared.work.popFirst() { work.append(item) }
            return shared.state != .running
        }
    }

    /// Tells other threads that they have to wake the loop; false when they have left something meanwhile.
    private func announceWaiting() -> Bool {
        shared.withLock { shared in
            guard shared.work.isEmpty, shared.state == .running else { return false }
            shared.isWaiting = true
            return true
        }
    }

    private func runJobs(limit: Int) {
        var left = limit
        while left > 0, let item = work.popFirst() {
            left &-= 1
            run(item)
        }
    }

    func run(_ item: Work) {
        operationsLeft = Self.operationsPerJob
        switch item {
        case .isolated(let job):
            job.runSynchronously(
                isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
        case .preferred(let job): job.runSynchronously(on: asUnownedTaskExecutor())
        case .closure(let closure): closure()
        }
    }

    private func finish() {
        isStopping = true
        for descriptor in descriptors { descriptor?.close() }
        let actions = stopActions
        stopActions = [:]
        for action in actions.values { action() }
        while true {
            while let item = work.popFirst() { run(item) }
            let isDone = shared.withLock { shared in
                while let item = shared.work.popFirst() { work.append(item) }
                if work.isEmpty { shared.state = .stopped }
                return work.isEmpty
            }
            if isDone { break }
        }
        uv.close()
    }

    // MARK: - On the loop's thread

    /// Lets every other job that is queued run before the caller goes on.
    func makeWay(isolation: isolated (any Actor)?) async {
        await withUnsafeContinuation(isolation: isolation) { continuation in
            submit(.closure { continuation.resume() })
        }
    }

    /// A number that names one wait on this loop.
    func ticket() -> UInt64 {
        nextTicket &+= 1
        return nextTicket
    }

    func onStop(_ ticket: UInt64, _ action: @escaping () -> Void) {
        stopActions[ticket] = action
    }

    func forgetOnStop(_ ticket: UInt64) {
        stopActions[ticket] = nil
    }

    // MARK: - Descriptors

    /// Enters a descriptor into the set; 0, or the kernel's error number.
    func add(_ descriptor: PolledDescriptor) -> Int32 {
        guard !isStopping else { return ECANCELED }
        let slot: Int
        if let free = freeSlots.popLast() {
            slot = free
        } else {
            slot = descriptors.count
            descriptors.append(nil)
        }
        generation = (generation &+ 1) & 0xFFFF_FFFF
        let token = generation << 32 | UInt64(slot)
        let code = polled.add(descriptor.number, token: token)
        guard code == 0 else {
            freeSlots.append(slot)
            return code
        }
        descriptors[slot] = descriptor
        descriptor.token = token
        return 0
    }

    /// Takes a descriptor out, before it is closed.
    func remove(_ descriptor: PolledDescriptor) {
        guard let token = descriptor.token else { return }
        descriptor.token = nil
        let slot = Int(token & 0xFFFF_FFFF)
        polled.remove(descriptor.number)
        descriptors[slot] = nil
        freeSlots.append(slot)
    }

    /// Descriptors in the set.
    var descriptorCount: Int { descriptors.count - freeSlots.count }

    /// Names no slot: libuv's own descriptor in the set.
    private static let libuvToken: UInt64 = .max

    /// Waits for sockets, timers, signals and other threads if told so, then resumes whoever waited for what came.
    private func takeEvents(waiting: Bool) {
        let time = waiting ? uv.waitingTime : 0
        var isTurnDue = false
        var now: Instant?
        polled.take(milliseconds: time) { token, events in
            if token == Self.libuvToken {
                isTurnDue = true
                return
            }
            let slot = Int(token & 0xFFFF_FFFF)
            // A change of a descriptor that was closed in this very batch finds its slot empty or under another token.
            guard slot < descriptors.count, let descriptor = descriptors[slot], descriptor.token == token
            else { return }
            let instant = now ?? WallClock.now()
            now = instant
            descriptor.changed(events, at: instant)
        }
        if isTurnDue || uv.waitingTime == 0 { uv.turn() }
    }
}

/// Jobs of loops that have ended: they run one after another on a thread of their own, still one at a time per loop.
enum LateWork {
    private static let loop = Mutex<EventLoop?>(nil)

    static func run(_ item: EventLoop.Work, inTheNameOf ended: EventLoop) {
        let loop = loop.withLock { loop in
            if loop == nil { loop = try? EventLoop(name: "late") }
            return loop
        }
        // Without a thread to be had, the caller's own is the last resort; the ended loop has none that could interfere.
        guard let loop else { return ended.impersonate { ended.run(item) } }
        loop.execute { ended.impersonate { ended.run(item) } }
    }
}

extension EventLoop {
    /// Runs `body` as if on this loop, whose thread has ended.
    fileprivate func impersonate(_ body: () -> Void) {
        let before = pthread_getspecific(Self.currentKeyForLateWork)
        pthread_setspecific(Self.currentKeyForLateWork, Unmanaged.passUnretained(self).toOpaque())
        body()
        pthread_setspecific(Self.currentKeyForLateWork, before)
    }

    fileprivate static var currentKeyForLateWork: pthread_key_t { currentKey }
}

/// A fixed number of loops, to spread connections over.
public final class EventLoopGroup: Sendable {
    /// The loops, in a fixed order.
    public let loops: [EventLoop]
    private let turn = Atomic<Int>(0)

    /// Starts `count` loops; by default one a processor core.
    public init(count: Int = EventLoopGroup.coreCount) throws(EventLoopError) {
        var started: [EventLoop] = []
        do throws(EventLoopError) {
            for index in 0..<max(count, 1) { started.append(try EventLoop(name: "loop-\(index)")) }
        } catch {
            for loop in started { loop.stop() }
            throw error
        }
        loops = started
    }

    /// Processor cores that this machine has online; at least 1.
    public static var coreCount: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    /// The loops in turn.
    public func next() -> EventLoop {
        let index = turn.wrappingAdd(1, ordering: .relaxed).oldValue
        return loops[Int(UInt(bitPattern: index) % UInt(loops.count))]
    }

    /// Stops all loops and waits for their threads.
    public func stop() {
        for loop in loops { loop.stop() }
    }
}
