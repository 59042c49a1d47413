internal import Glibc
internal import SessionTrace
internal import Synchronization
internal import WireFormats

/// The passive capture beside the proxy (`--also-capture`): one interface, one thread.
final class BypassCapture: Sendable {
    /// Most hosts that a filter names.
    private static let hostLimit = 64
    /// Longest wait for packets, in milliseconds: how late a held one may be, and a word to stop.
    private static let patience: Int32 = 100

    /// What the capture needs of the recording.
    struct Owner: Sendable {
        /// Runs with the knowledge to itself.
        var withKnowledge: @Sendable ((inout BypassSorter.Knowledge) -> Void) -> Void
        /// Records packets.
        var record: @Sendable ([BypassSorter.Packet]) -> Void
        /// The capture has ended before its time.
        var ended: @Sendable (RecordingError) -> Void
    }

    private struct State {
        var thread: pthread_t?
        var counts = CaptureCounts()
    }

    let capture: LiveCapture
    private let isStopping = Atomic(false)
    private let state = Mutex(State())

    init(_ interface: String) throws(RecordingError) {
        capture = try LiveCapture(interface)
    }

    /// How many packets so far.
    var counts: CaptureCounts { state.withLock { $0.counts } }

    /// Begins to capture: what comes after the return is seen, however late the thread gets its turn.
    func start(_ owner: Owner) {
        let work = Unmanaged.passRetained(Work(self, owner, filteredVersion: follow(owner, since: nil)))
        var identity = pthread_t()
        let result = pthread_create(
            &identity, nil,
            { argument in
                if let argument {
                    let work = Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
                    var signals = sigset_t()
                    sigfillset(&signals)
                    pthread_sigmask(SIG_BLOCK, &signals, nil)
                    work.capture.run(work.owner, filteredVersion: work.filteredVersion)
                }
                return nil
            }, work.toOpaque())
        guard result == 0 else {
            work.release()
            owner.ended(
                RecordingError(
                    code: .capture, subject: capture.interface, description: SystemError.words(result)))
            return
        }
        let started = identity
        state.withLock { $0.thread = started }
    }

    /// Decides upon everything that waits and ends; the thread has ended on return.
    func stop() {
        isStopping.store(true, ordering: .relaxed)
        let thread = state.withLock { state in
            defer { state.thread = nil }
            return state.thread
        }
        if let thread { pthread_join(thread, nil) }
    }

    private final class Work: Sendable {
        let capture: BypassCapture
        let owner: Owner
        let filteredVersion: Int

        init(_ capture: BypassCapture, _ owner: Owner, filteredVersion: Int) {
            self.capture = capture
            self.owner = owner
            self.filteredVersion = filteredVersion
        }
    }

    /// Sets the filter for what is known now, when that is not the version of `since`; gives the version that is filtered.
    private func follow(_ owner: Owner, since: Int?) -> Int {
        var version = 0
        var expression: String?
        owner.withKnowledge { knowledge in
            version = knowledge.version
            if version != since { expression = Self.expression(knowledge) }
        }
        // Packets come up unfiltered should the filter be refused; they are sorted all the same.
        if let expression { capture.filter(expression) }
        return version
    }

    private func run(_ owner: Owner, filteredVersion: Int) {
        var sorter = BypassSorter(interface: capture.interface, linkType: capture.linkType)
        var isLast = false
        var version = filteredVersion
        while true {
            version = follow(owner, since: version)
            do throws(RecordingError) {
                try take(into: &sorter, owner)
            } catch {
                owner.ended(error)
                state.withLock { $0.counts.dropped &+= 1 }
                break
            }
            if isLast { break }
            // Once more after the word to stop: the kernel may still be gathering.
            isLast = isStopping.load(ordering: .relaxed)
        }
        var rest: [BypassSorter.Packet] = []
        owner.withKnowledge { rest = sorter.releaseAll(knowing: $0) }
        owner.record(rest)
        count(sorter)
    }

    private func take(into sorter: inout BypassSorter, _ owner: Owner) throws(RecordingError) {
        capture.wait(Self.patience)
        let now = Monitor<Int>.now()
        var due: [BypassSorter.Packet] = []
        var fault: RecordingError?
        // Most packets belong to proxied connections, and are not even copied.
        owner.withKnowledge { knowledge in
            do throws(RecordingError) {
                try capture.packets { bytes, originalLength, time in
                    sorter.take(bytes, originalLength: originalLength, at: time, now: now, knowing: knowledge)
                }
            } catch {
                fault = error
            }
            due = sorter.release(now: now, knowing: knowledge)
        }
        if !due.isEmpty { owner.record(due) }
        count(sorter)
        if let fault { throw fault }
    }

    private func count(_ sorter: borrowing BypassSorter) {
        let dropped = capture.droppedPackets &+ sorter.droppedPackets
        let (proxied, recorded) = (sorter.proxiedPackets, sorter.recordedPackets)
        state.withLock { state in
            state.counts.proxied = proxied
            state.counts.recorded = recorded
            state.counts.dropped = max(dropped, state.counts.dropped)
        }
    }

    /// What the kernel may let through: IP, but for our own ports. Not only the addresses that are known as devices': a
    /// filter can't be changed soon enough for a device that becomes known and goes around the proxy at the same time.
    /// Loopback is the exception once a device is there: what else a host says to itself is much, and nobody's.
    static func expression(_ knowledge: borrowing BypassSorter.Knowledge) -> String {
        var parts = ["(ip or ip6)"]
        let local = knowledge.devices.keys.filter(\.isLoopback).map { "host \($0)" }.sorted()
        if (1...hostLimit).contains(local.count) {
            parts.append("(not (net 127.0.0.0/8 or host ::1) or \(local.joined(separator: " or ")))")
        }
        for own in knowledge.own {
            let isEvery = own.address.low == 0 && own.address.high == 0
            parts.append("not (port \(own.port)" + (isEvery ? ")" : " and host \(own.address.unmapped))"))
        }
        return parts.joined(separator: " and ")
    }
}
