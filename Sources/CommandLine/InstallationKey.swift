internal import Crypto

/// The secret that keys the digests in reports, one an installation: equal secrets look equal in all reports made here,
/// and nobody else can guess a value from its digest.
enum InstallationKey {
    static let length = 32
    /// What it is called where a file is told from others.
    static let name = "the key of this installation's digests"

    /// Where the key is kept; nil where the environment names no place.
    static func path(_ environment: [String: String]) -> String? {
        DataFolder.path(environment).map { "\($0)/installation-key" }
    }

    private static let remedy = "restore the file, or remove it: the next run makes a new one"

    /// Reads the key, or makes it (mode 0600) under `$XDG_DATA_HOME/handoff` or `~/.local/share/handoff`. Where none can be
    /// read, and none written, a key for this run alone: `tell` gets the line that says so.
    ///
    /// Of runs that begin at once one makes the key, and all take that one. A file that is there and no key is never
    /// replaced: with another key the digests in reports would change, and nobody would know why.
    static func load(_ environment: [String: String], tell: (String) -> Void) throws(FileError) -> [UInt8] {
        let key = fresh()
        guard let path = path(environment) else {
            tell("neither XDG_DATA_HOME nor HOME names a folder for \(name): it is not saved, and \(consequence)")
            return key
        }
        if FileSystem.exists(path) || FileSystem.isLink(path) { return try read(path, orElse: key, tell) }
        FileSystem.makeFolder(FileSystem.parent(of: path))
        do throws(FileError) {
            if try FileSystem.create(key, at: path, permissions: 0o600) { return key }
        } catch {
            tell("\(path): \(error.words); \(name) is not saved, and \(consequence)")
            return key
        }
        return try read(path, orElse: key, tell)
    }

    private static let consequence = "the digests in this run's reports are like no other run's"

    /// The key in the file; the other one where the system gives this user none.
    private static func read(
        _ path: String, orElse other: [UInt8], _ tell: (String) -> Void
    ) throws(FileError) -> [UInt8] {
        let content: FileSystem.PlainContent
        do throws(FileError) {
            content = try FileSystem.readPlain(path, limit: length)
        } catch {
            tell("\(path): \(error.words); without \(name), \(consequence)")
            return other
        }
        var fault: FileError
        switch content {
        case .whole(let key) where key.count == length: return key
        case .whole(let bytes): fault = FileError(path, words: "\(bytes.count) bytes are no installation key")
        case .larger: fault = FileError(path, words: "more than \(length) bytes are no installation key")
        case .noFile: fault = FileError(path, words: "is no regular file")
        }
        fault.words += ", and with another one the digests in reports would change"
        fault.remedy = remedy
        throw fault
    }

    private static func fresh() -> [UInt8] {
        (try? randomBytes(length)) ?? []
    }
}
