/// Finds the traces that operands name and the policy that goes with each.
enum TraceFiles {
    private static let endings = [".pcap", ".pcapng", ".cap", ".ntar"].flatMap { [$0, "\($0).gz", "\($0).zst"] }

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
        guard depth < 16 else { return [] }
        var paths: [String] = []
        for name in try FileSystem.names(in: folder) {
            let path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
            // A link to a folder may lead back up, and a pipe or device would be waited for.
            if FileSystem.isFolder(path) {
                if !FileSystem.isLink(path) { paths += try captures(in: path, depth: depth + 1) }
            } else if endings.contains(where: name.hasSuffix), FileSystem.isFile(path) {
                paths.append(path)
            }
        }
        return paths
    }

    /// `handoff.yml` beside the trace, or the nearest one above it; nil when there is none. As short as the trace was
    /// given: what is said of it is to be read.
    static func policy(for trace: String) -> String? {
        guard let start = FileSystem.absolute(trace == "-" ? "." : FileSystem.parent(of: trace)) else { return nil }
        var folder = start
        while true {
            let candidate = folder == "/" ? "/handoff.yml" : "\(folder)/handoff.yml"
            if FileSystem.exists(candidate) {
                guard !trace.hasPrefix("/"), let here = FileSystem.absolute("."),
                    candidate.hasPrefix(here == "/" ? here : here + "/")
                else { return candidate }
                return String(candidate.dropFirst(here == "/" ? 1 : here.count + 1))
            }
            guard folder != "/" else { return nil }
            folder = FileSystem.parent(of: folder)
        }
    }
}
