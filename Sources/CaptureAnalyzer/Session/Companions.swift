internal import SessionTrace
internal import WireFormats

/// Files that belong to a trace: key logs and marks, named by the caller or found beside it.
struct Companions {
    /// The key logs: where they came from, and their text.
    private(set) var keyLogs: [(path: String, bytes: [UInt8])] = []
    /// The marks of the side files, in file order.
    private(set) var marks: [MarkFile] = []

    /// Process evidence.
    private(set) var actors: [ActorFile] = []

    /// Notes on what lies beside the trace and is not read.
    private(set) var notes: [String] = []

    /// Loads what `options` name, once for however many traces: it may be a pipe, whose content comes one time.
    static func named(_ options: TraceOptions) throws(TraceError) -> Companions {
        var companions = Companions()
        let (markFiles, actorFiles) = (once(options.markFiles), once(options.actorFiles))
        try companions.read(once(options.keyLogs), markFiles, actorFiles)
        // Who names a file expects something of it; one that is found may say "none".
        for (path, file) in zip(markFiles, companions.marks) where file.marks.isEmpty {
            companions.notes.append("\(path) holds no mark")
        }
        for (path, file) in zip(actorFiles, companions.actors) where file.isEmpty {
            companions.notes.append("\(path) holds no process evidence")
        }
        return companions
    }

    /// What `options` name, and what lies beside the trace at `path`: `NAME.keylog`, `NAME.keys`, `NAME.marks.jsonl` and
    /// `NAME.actors.jsonl`, where NAME is the path with or without its extensions.
    static func load(for path: String, options: TraceOptions) throws(TraceError) -> Companions {
        var companions: Companions
        if let named = options.named { companions = named } else { companions = try named(options) }
        let all = paths(for: path, options: options)
        try companions.read(
            try companions.found(all.keyLogs, besides: options.keyLogs),
            try companions.found(all.marks, besides: options.markFiles),
            try companions.found(all.actors, besides: options.actorFiles))
        return companions
    }

    /// Those of `paths` that nobody named and that can be read; notes the others, if they can be passed over.
    private mutating func found(_ paths: [String], besides named: [String]) throws(TraceError) -> [String] {
        var files: [String] = []
        for path in paths where !named.contains(path) {
            switch FoundFile(path) {
            case .file: files.append(path)
            case .folder: notes.append("\(path) is a folder, and not read with the trace")
            case .nothing, .other:
                throw TraceError(
                    "\(path): is found beside the trace and no file; remove it, or name the one that is meant")
            }
        }
        return files
    }

    private mutating func read(
        _ keyLogs: [String], _ markFiles: [String], _ actorFiles: [String]
    ) throws(TraceError) {
        for file in keyLogs { self.keyLogs.append((file, try Self.bytes(of: file, .keyLog))) }
        for file in markFiles {
            let marks = MarkFile(try Self.bytes(of: file, .marks), name: file)
            if let error = marks.errors.first { throw TraceError("\(error); mend the line or leave it out") }
            self.marks.append(marks)
        }
        for file in actorFiles { actors.append(try ActorFile(try Self.bytes(of: file, .actors), name: file)) }
    }

    /// Where they are: those that `options` name, then those beside the trace.
    static func paths(
        for path: String, options: TraceOptions
    ) -> (keyLogs: [String], marks: [String], actors: [String]) {
        var keyLogs = options.keyLogs
        var markFiles = options.markFiles
        var actorFiles = options.actorFiles
        if options.readsCompanions, path != "-" {
            for name in names(of: path) {
                keyLogs += ["\(name).keylog", "\(name).keys"].filter(isThere)
                markFiles += ["\(name).marks.jsonl"].filter(isThere)
                actorFiles += ["\(name).actors.jsonl"].filter(isThere)
            }
        }
        return (once(keyLogs), once(markFiles), once(actorFiles))
    }

    /// The path, and the path without `.pcapng`, `.pcap.gz` and the like.
    private static func names(of path: String) -> [String] {
        var names = [path]
        for packing in ["", ".gz", ".zst"] {
            for format in [".pcapng", ".pcap", ".cap", ".ntar"] where path.hasSuffix(format + packing) {
                names.append(String(path.dropLast(format.count + packing.count)))
            }
        }
        return names
    }

    /// Each file once, however often and under whatever names it is given: a mark that is read twice is two taps.
    private static func once(_ paths: [String]) -> [String] {
        guard paths.count > 1 else { return paths }
        var known: Set<FileIdentity> = []
        return paths.filter { path in FileIdentity(path).map { known.insert($0).inserted } ?? true }
    }

    private static func isThere(_ path: String) -> Bool {
        FoundFile(path) != .nothing
    }

    private static func bytes(of path: String, _ kind: TextFileKind) throws(TraceError) -> [UInt8] {
        do throws(TextFileError) {
            return try TextFile.read(path, as: kind)
        } catch {
            throw TraceError("\(path): \(error.words); \(error.remedy ?? "give a readable file")")
        }
    }
}
