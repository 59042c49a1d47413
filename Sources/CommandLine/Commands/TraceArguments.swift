internal import Assertions
internal import CaptureAnalyzer

/// The options that every command with a trace has.
enum TraceArguments {
    static let options: [OptionSyntax] = [
        .value("policy", "FILE", "the policy; default: handoff.yml beside the trace, then in the folders above it"),
        .value(
            "keylog", "FILE", repeats: true, "an NSS key log; NAME.keylog and NAME.keys beside the trace are read too"),
        .value("marks", "FILE", repeats: true, "marks as JSON Lines; NAME.marks.jsonl beside the trace is read too"),
        .value(
            "actors", "FILE", repeats: true,
            "process evidence as JSON Lines; NAME.actors.jsonl beside the trace is read too"
        ),
        .value(
            "filter", "EXPRESSION",
            "take only packets that match this BPF expression (pcap-filter(7)), and those with marks"),
    ]

    static func options(from arguments: Arguments) -> TraceOptions {
        var options = TraceOptions()
        options.keyLogs = arguments.all("keylog")
        options.markFiles = arguments.all("marks")
        options.actorFiles = arguments.all("actors")
        options.filter = arguments.value("filter")
        return options
    }

    /// Finds what no trace can be read with, once and before any is read: a filter that is no expression is wrong usage; a
    /// key log, a file of marks or of actors that can't be read is an unreadable input.
    static func validate(_ arguments: Arguments) throws {
        do {
            try TraceReader.validate(options(from: arguments))
        } catch {
            guard error.isFilter else { throw error }
            throw UsageError(message: error.description)
        }
    }
}

/// Loads each policy once, however many traces it judges.
struct PolicyBook {
    private let given: String?
    private var loaded: [String: Policy] = [:]

    init(given: String?) {
        self.given = given
    }

    /// The policy for a trace: the one given, the nearest `handoff.yml`, or the defaults.
    mutating func policy(for trace: String) throws -> Policy {
        guard let path = given ?? TraceFiles.policy(for: trace) else { return .defaults }
        if let policy = loaded[path] { return policy }
        let policy = try Self.load(path)
        loaded[path] = policy
        return policy
    }

    /// Reads one policy file.
    static func load(_ path: String) throws -> Policy {
        do {
            // A byte order mark is no part of the text (Windows editors write one).
            var bytes = try FileSystem.read(path, as: .policy)[...]
            if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
            return try Policy.parse(yaml: String(decoding: bytes, as: UTF8.self), file: path)
        } catch let error as FileError {
            throw InvalidPolicy(message: error.remedy == nil ? "\(error); give a policy with --policy" : "\(error)")
        } catch let error as PolicyError {
            throw InvalidPolicy(message: "\(error)")
        }
    }
}

/// A policy that can't be used; exit status 2.
struct InvalidPolicy: Error {
    var message: String
}
