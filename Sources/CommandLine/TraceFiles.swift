internal import Assertions
internal import CaptureAnalyzer

/// Finds the traces that operands name and the policy that goes with each.
enum TraceFiles {
    private static let endings = [".pcap", ".pcapng", ".cap", ".ntar"].flatMap { [$0, "\($0).gz", "\($0).zst"] }

    /// How many folders deep captures are looked for.
    static let deepest = 16

    /// Replaces each folder among `operands` by the captures in it and below it, in the order of their names. A folder
    /// without a capture stays, so that it is told and not passed over.
    static func expand(_ operands: [String]) throws(FileError) -> [String] {
        var paths: [String] = []
        for operand in operands {
            if operand != "-", FileSystem.isFolder(operand) {
                let found = try captures(in: operand, depth: 0)
                paths += found.isEmpty ? [operand] : found
            } else {
                paths.append(operand)
            }
        }
        return paths
    }

    private static func captures(in folder: String, depth: Int) throws(FileError) -> [String] {
        guard depth < deepest else {
            throw FileError(folder, words: "lies \(deepest) folders below the one that was named; name it itself")
        }
        var paths: [String] = []
        for name in try FileSystem.names(in: folder) {
            let path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
            // A link to a folder may lead back up, and a pipe or device would be waited for.
            if FileSystem.isFolder(path) {
                if !FileSystem.isLink(path) { paths += try captures(in: path, depth: depth + 1) }
            } else if endings.contains(where: name.lowercased().hasSuffix) {
                // A link that leads nowhere was to be a trace: it is told, and not passed over.
                if FileSystem.isFile(path) || !FileSystem.exists(path) { paths.append(path) }
            }
        }
        return paths
    }

    /// Where the policy for a trace is: `handoff.yml` beside it, or the nearest one above it.
    static func policyPlace(for trace: String) -> PolicyPlace {
        var place = PolicyPlace()
        guard let start = FileSystem.absolute(trace == "-" ? "." : FileSystem.parent(of: trace)) else { return place }
        var folder = start
        while true {
            let lead = folder == "/" ? "/" : "\(folder)/"
            // What the other spelling holds is not read, and whoever wrote it would not know.
            if FileSystem.exists("\(lead)handoff.yaml") {
                place.passedOver.append(
                    "\(short("\(lead)handoff.yaml", for: trace)) is not read: call it handoff.yml, or name it with --policy"
                )
            }
            let path = short("\(lead)handoff.yml", for: trace)
            switch FoundFile("\(lead)handoff.yml") {
            case .nothing: break
            case .folder: place.passedOver.append("\(path) is a folder, and not read as a policy")
            case .file, .other:
                place.path = path
                place.origin = folder == start ? .beside : .above
                return place
            }
            guard folder != "/" else { return place }
            folder = FileSystem.parent(of: folder)
        }
    }

    /// The same without how it was found; nil when there is none.
    static func policy(for trace: String) -> String? { policyPlace(for: trace).path }

    /// What a file is read as for its name alone, where it lies beside a trace.
    enum Companion: String, Equatable {
        case keyLog = "a key log"
        case marks = "marks"
        case actors = "process evidence"
        case policy = "the policy"

        init?(_ path: String) {
            let endings: [(String, Companion)] = [
                (".keylog", .keyLog), (".keys", .keyLog), (".marks.jsonl", .marks), (".actors.jsonl", .actors),
                ("/handoff.yml", .policy),
            ]
            guard let known = endings.first(where: { "/\(path)".hasSuffix($0.0) }) else { return nil }
            self = known.1
        }
    }

    /// Throws when the next run might take `what`, written to `path`, for something else than it is.
    static func refuse(_ path: String, as what: String, takenFor kind: Companion? = nil) throws(UsageError) {
        guard let companion = Companion(path), companion != kind else { return }
        throw UsageError(
            message: "\(what) at \(path) would be read as \(companion.rawValue) by the next run; give it another name")
    }

    /// A path as short as the trace was given: what is said of it is to be read.
    private static func short(_ path: String, for trace: String) -> String {
        guard !trace.hasPrefix("/"), let here = FileSystem.absolute("."),
            path.hasPrefix(here == "/" ? here : here + "/")
        else { return path }
        return String(path.dropFirst(here == "/" ? 1 : here.count + 1))
    }
}

/// Where a policy is and how it was found.
struct PolicyPlace: Equatable {
    /// Nil when there is none, and the defaults apply.
    var path: String?
    var origin = JudgingConditions.PolicyOrigin.none
    /// What on the way is called like a policy, or almost, and is not read: a line each.
    var passedOver: [String] = []
}
