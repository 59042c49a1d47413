internal import CaptureAnalyzer
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

    private static let kind = TextFileKind(
        "an installation key", limit: length, remedy: "restore the file, or remove it: the next run makes a new one")

    /// Reads the key, or makes it (mode 0600) under `$XDG_DATA_HOME/handoff` or `~/.local/share/handoff`. Where none is, and
    /// none can be written, a key for this run alone.
    ///
    /// Of runs that begin at once one makes the key, and all take that one. A file that is there and no key is never
    /// replaced: with another key the digests in reports would change, and nobody would know why.
    static func load(_ environment: [String: String]) throws(FileError) -> [UInt8] {
        guard let folder = DataFolder.path(environment), let path = path(environment) else { return fresh() }
        if FileSystem.exists(path) { return try read(path) }
        let key = fresh()
        FileSystem.makeFolder(folder)
        do throws(FileError) {
            if try FileSystem.create(key, at: path, permissions: 0o600) { return key }
        } catch {
            return key
        }
        return try read(path)
    }

    private static func read(_ path: String) throws(FileError) -> [UInt8] {
        var error: FileError
        do throws(FileError) {
            let key = try FileSystem.read(path, as: kind)
            if key.count == length { return key }
            error = FileError(
                path, TextFileError(words: "\(key.count) bytes are no installation key", remedy: kind.remedy))
        } catch let fault {
            error = fault
        }
        error.words += ", and with another one the digests in reports would change"
        error.remedy = kind.remedy
        throw error
    }

    private static func fresh() -> [UInt8] {
        (try? randomBytes(length)) ?? []
    }
}
