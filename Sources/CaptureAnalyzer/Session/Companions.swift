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

    /// Loads what `options` name and what lies beside the trace at `path`: `NAME.keylog`, `NAME.keys`,
    /// `NAME.marks.jsonl` and `NAME.actors.jsonl`, where NAME is the path with or without its extensions.
    static func load(for path: String, options: TraceOptions) throws(TraceError) -> Companions {
        var companions = Companions()
        let (keyLogs, markFiles, actorFiles) = paths(for: path, options: options)
        let named = Set(options.keyLogs + options.markFiles + options.actorFiles)
        for file in keyLogs + markFiles + actorFiles where !named.contains(file) && FoundFile(file) == .other {
            throw TraceError("\(file): is found beside the trace and no file; remove it, or name the one that is meant")
        }
        for file in keyLogs { companions.keyLogs.append((file, try bytes(of: file, .keyLog))) }
        for file in markFiles {
            let marks = MarkFile(try bytes(of: file, .marks), name: file)
            if let error = marks.errors.first { throw TraceError("\(error); mend the line or leave it out") }
            companions.marks.append(marks)
        }
        for file in actorFiles {
            companions.actors.append(try ActorFile(try bytes(of: file, .actors), name: file))
        }
        return companions
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
