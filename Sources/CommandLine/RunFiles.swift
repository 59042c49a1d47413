internal import SessionTrace

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The files that a run reads and writes, so that none of its outputs replaces another file of it.
///
/// Files are told apart by what they are, not by what they are called: a link, a hard link and another way of writing the
/// path name one file. Devices and pipes hold nothing that could be lost.
struct RunFiles {
    private enum Identity: Hashable {
        case file(device: UInt64, inode: UInt64)
        /// Not there yet: where it would be made.
        case place(String)
    }

    /// What each file is to the run.
    private var owners: [Identity: String] = [:]

    /// Enters a file that the run reads; `what` is what it is, as in "the policy". What was entered first stays.
    mutating func protect(_ path: String, as what: String) {
        guard let identity = Self.identity(of: path), owners[identity] == nil else { return }
        owners[identity] = what
    }

    /// Enters a file that the run writes. Throws when it is one that was entered before.
    mutating func claim(_ path: String, as what: String) throws(UsageError) {
        guard let identity = Self.identity(of: path) else { return }
        if let owner = owners[identity] {
            throw UsageError(message: "\(what) would overwrite \(path), which is \(owner)")
        }
        owners[identity] = what
    }

    /// By what a file is known; nil for what holds nothing. `-` is whatever standard input was opened on.
    private static func identity(of path: String) -> Identity? {
        var facts = stat()
        guard path == "-" ? fstat(0, &facts) == 0 : stat(FileName.path(path), &facts) == 0 else {
            return path == "-" ? nil : place(path, links: 0).map { .place($0) }
        }
        guard facts.st_mode & S_IFMT == S_IFREG else { return nil }
        return .file(device: UInt64(facts.st_dev), inode: UInt64(facts.st_ino))
    }

    /// Where a file that is not there would be made: through links that lead nowhere yet.
    private static func place(_ path: String, links: Int) -> String? {
        guard links < 40 else { return nil }
        let folder = FileSystem.parent(of: path)
        if let target = FileSystem.target(ofLink: path) {
            return place(target.hasPrefix("/") ? target : "\(folder)/\(target)", links: links + 1)
        }
        guard let base = FileSystem.absolute(folder) else { return nil }
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return base == "/" ? "/\(name)" : "\(base)/\(name)"
    }
}
