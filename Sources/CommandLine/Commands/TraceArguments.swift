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
            "take only packets that match this expression (pcap-filter(7), no names), and those with marks"
        ),
    ]

    static func options(from arguments: Arguments) -> TraceOptions {
        var options = TraceOptions()
        options.keyLogs = arguments.all("keylog")
        options.markFiles = arguments.all("marks")
        options.actorFiles = arguments.all("actors")
        options.filter = arguments.value("filter")
        return options
    }

    /// Throws for an option on how traces are read where none is: what it names would count for nothing.
    static func refuseWithoutTrace(_ arguments: Arguments, _ trace: String) throws(UsageError) {
        guard !arguments.has(trace) else { return }
        for option in options where option.name != "policy" && arguments.has(option.name) {
            throw UsageError(message: "--\(option.name) is for reading a trace; name one with --\(trace)")
        }
    }

    /// Enters everything that reading the traces at `paths` takes in, named or found beside them.
    static func protect(_ paths: [String], _ options: TraceOptions, in files: inout RunFiles) {
        for path in paths { files.protect(path, as: path == "-" ? "standard input" : "a trace that is read") }
        var asked: Set<String> = []
        for companion in paths.flatMap({ TraceReader.companionPaths(of: $0, options: options) })
        where asked.insert(companion).inserted {
            files.protect(companion, as: "read with a trace")
        }
    }

    /// How the traces are read, with what is named for them: read once, and before any trace is. A filter that is no
    /// expression is wrong usage; a key log, a file of marks or of actors that can't be read is an unreadable input.
    static func reading(_ arguments: Arguments, traces: [String] = []) throws -> TraceOptions {
        let options = options(from: arguments)
        let inputs = traces + options.keyLogs + options.markFiles + options.actorFiles
        guard inputs.count(where: { $0 == "-" }) <= 1 else {
            throw UsageError(message: "standard input can be read only once")
        }
        do {
            return try TraceReader.prepare(options)
        } catch {
            guard error.isFilter else { throw error }
            throw UsageError(message: error.description)
        }
    }
}

/// Loads each policy once, however many traces it judges.
struct PolicyBook {
    private let given: String?
    private var loaded: [String: Result<Policy, InvalidPolicy>] = [:]
    private var passedOver: Set<String> = []
    /// The files that were read.
    var paths: [String] { loaded.keys.sorted() }

    init(given: String?) {
        self.given = given
    }

    /// The policy for a trace, and where it is: the one given, the nearest `handoff.yml`, or the defaults.
    mutating func choice(for trace: String) -> (place: PolicyPlace, policy: Result<Policy, InvalidPolicy>) {
        let place = given.map { PolicyPlace(path: $0, origin: .named) } ?? TraceFiles.policyPlace(for: trace)
        passedOver.formUnion(place.passedOver)
        guard let path = place.path else { return (place, .success(.defaults)) }
        let policy = loaded[path] ?? (place.origin == .named ? Self.result(path) : Self.found(path))
        loaded[path] = policy
        return (place, policy)
    }

    /// The same for a command that can do nothing without it.
    mutating func policy(for trace: String) throws(InvalidPolicy) -> Policy {
        try choice(for: trace).policy.get()
    }

    /// What to say of files that were looked at by none, a line each.
    var notes: [String] { passedOver.sorted() }

    /// What nobody named has to be a file: a pipe would be waited for without end, and a link that leads nowhere is no "none".
    private static func found(_ path: String) -> Result<Policy, InvalidPolicy> {
        guard FoundFile(path) == .other else { return result(path) }
        return .failure(InvalidPolicy(message: "\(path): is no file; remove it, or give a policy with --policy"))
    }

    private static func result(_ path: String) -> Result<Policy, InvalidPolicy> {
        do {
            return .success(try load(path))
        } catch {
            return .failure(error as? InvalidPolicy ?? InvalidPolicy(message: "\(error)"))
        }
    }

    static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Reads one policy file.
    static func load(_ path: String) throws -> Policy {
        do {
            // A byte order mark is no part of the text (Windows editors write one).
            var bytes = try FileSystem.read(path, as: .policy)[...]
            if bytes.starts(with: byteOrderMark) { bytes = bytes.dropFirst(byteOrderMark.count) }
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

    /// Where a command has to have one.
    static let none = InvalidPolicy(
        message: "no handoff.yml here or in a folder above; make one with handoff policy init > handoff.yml")
}
