public import SessionTrace
internal import WireFormats

/// What goes with a trace file, and how it is read.
public struct TraceOptions: Sendable {
    /// Paths of NSS key logs, besides those found beside the trace.
    public var keyLogs: [String] = []
    /// Paths of mark files (JSON Lines), besides the one found beside the trace.
    public var markFiles: [String] = []
    /// Paths of files with process evidence (docs/actors.md), besides the one found beside the trace.
    public var actorFiles: [String] = []
    /// A BPF expression; packets that do not match are left out.
    public var filter: String?
    /// Whether `NAME.keylog`, `NAME.keys`, `NAME.marks.jsonl` and `NAME.actors.jsonl` beside the trace are read.
    public var readsCompanions = true
    /// For a trace that is still being written: its writer's word. Reading then ends when the writer says so.
    public var growth: TraceGrowth?
    /// Whether the facts list every request.
    public var keepsRequestLines = false
    /// What was read of the files that are named; nil where each trace reads them for itself.
    var named: Companions?

    /// The defaults.
    public init() {}
}

/// An input that could not be read at all.
public struct TraceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One line: what, where, what to do.
    public var description: String
    /// Whether the filter expression is what is wrong.
    public var isFilter: Bool

    /// Makes an error.
    public init(_ description: String, isFilter: Bool = false) {
        self.description = description
        self.isFilter = isFilter
    }
}

/// What is known of a trace once it has been read.
public struct TraceReading: Sendable {
    /// What the `traceEnded` event said.
    public var summary: TraceSummary
    /// What any analyser would count.
    public var facts: CaptureFacts
    /// How many packets the filter left out.
    public var filteredPackets = 0
}

/// Reads a capture file from its packets to session events.
///
///     file → packets → IP → TCP and UDP → TLS, QUIC, DNS, HTTP → events
public enum TraceReader {
    /// The options with the files that they name read, for any number of traces. Finds what is wrong with them whatever
    /// the trace: a filter that is no expression, a key log, a file of marks or of actors that can't be read.
    public static func prepare(_ options: TraceOptions) throws(TraceError) -> TraceOptions {
        if let filter = options.filter {
            do throws(PacketFilterError) {
                _ = try PacketFilter(filter)
            } catch {
                throw TraceError(error.reason, isFilter: true)
            }
        }
        var prepared = options
        prepared.named = try Companions.named(options)
        return prepared
    }

    /// The files that are read with the trace at `path`: those that `options` name, and those found beside it.
    public static func companionPaths(of path: String, options: TraceOptions) -> [String] {
        let found = Companions.paths(for: path, options: options)
        return found.keyLogs + found.marks + found.actors
    }

    /// Reads the trace at `path` (`-` for standard input) and gives every event to `receive`, the last one `traceEnded`.
    ///
    /// A file that is cut short or damaged gives everything that is whole; the summary says so. Throws only when nothing
    /// can be read: no such file, no capture, a filter that does not compile, a bad companion file.
    public static func read(
        path: String, options: TraceOptions, into receive: (SessionEvent) -> Void
    ) throws(TraceError) -> TraceReading {
        let companions = try Companions.load(for: path, options: options)
        var session = TraceSession(companions: companions, options: options)
        do {
            var file = try CaptureFile(path: path, filter: options.filter, growth: options.growth)
            session.begin(companions, into: receive)
            while let record = try file.next() {
                session.take(record, into: receive)
            }
            return session.finish(file.summary, into: receive)
        } catch {
            throw TraceError("\(error)", isFilter: error.code == .filter)
        }
    }
}
