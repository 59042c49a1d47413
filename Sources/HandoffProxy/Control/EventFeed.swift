public import SessionTrace
internal import Synchronization

/// What happens in a run, for whoever listens: a bounded memory of the latest events, and readers at their own speed.
///
/// A reader that falls behind is told how many events it missed; nobody waits for it. Thread-safe.
public final class EventFeed: Sendable {
    /// Events remembered.
    public static let memoryLimit = 1_024
    /// Longest text of one event, in bytes; a longer one is replaced by its length.
    public static let textLimit = 4_096
    /// Readers at one time.
    public static let readerLimit = 16

    /// One event.
    public struct Event: Hashable, Sendable {
        /// Its place, from 1.
        public var number: Int
        /// What it is: `mark`, `trust`, `refused`, …: letters, digits and dashes.
        public var name: String
        /// What it says: JSON on one line.
        public var data: String
    }

    private struct State {
        var events: [Event] = []
        var next = 1
        var readers: [Int: AsyncStream<Void>.Continuation] = [:]
        var nextReader = 0
        var isOver = false
    }

    private let state = Mutex(State())

    /// A feed without events.
    public init() {}

    /// Tells all readers; never waits.
    public func publish(_ name: String, _ data: JSONValue) {
        var text = data.description
        if text.utf8.count > Self.textLimit { text = "{\"bytes-left-out\":\(text.utf8.count)}" }
        let readers = state.withLock { state -> [AsyncStream<Void>.Continuation] in
            state.events.append(Event(number: state.next, name: name, data: text))
            state.next += 1
            // Half at once, so that an event moves the others seldom.
            if state.events.count > Self.memoryLimit { state.events.removeFirst(Self.memoryLimit / 2) }
            return Array(state.readers.values)
        }
        for reader in readers { reader.yield() }
    }

    /// Wakes all readers without an event, so that each sees whether its listener is still there.
    func wakeReaders() {
        for reader in state.withLock({ Array($0.readers.values) }) { reader.yield() }
    }

    /// No event follows: readers end once they have read what there is.
    public func finish() {
        let readers = state.withLock { state in
            state.isOver = true
            return Array(state.readers.values)
        }
        for reader in readers { reader.finish() }
    }

    /// The number of the event after the latest.
    public var nextNumber: Int { state.withLock { $0.next } }

    /// A reader; nil when there are as many as may be.
    func reader() -> (id: Int, wakeUps: AsyncStream<Void>)? {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state -> Int? in
            guard state.readers.count < Self.readerLimit, !state.isOver else { return nil }
            state.nextReader += 1
            state.readers[state.nextReader] = continuation
            return state.nextReader
        }
        return id.map { ($0, stream) }
    }

    /// The reader has gone.
    func leave(_ id: Int) {
        state.withLock { $0.readers.removeValue(forKey: id) }?.finish()
    }

    /// The events from `number` on, and how many of them are forgotten.
    func events(from number: Int) -> (events: [Event], missed: Int) {
        state.withLock { state in
            let oldest = state.events.first?.number ?? state.next
            let start = min(max(0, number - oldest), state.events.count)
            return (Array(state.events[start...]), max(0, oldest - number))
        }
    }
}

extension EventFeed.Event {
    /// The event as server-sent events have it (WHATWG HTML §9.2.6).
    var serverSentText: String { "id: \(number)\nevent: \(name)\ndata: \(data)\n\n" }
}
