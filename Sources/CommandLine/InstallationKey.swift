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

    /// Reads the key, or makes it (mode 0600) under `$XDG_DATA_HOME/handoff` or `~/.local/share/handoff`. Where neither can
    /// be written, a key for this run alone.
    static func load(_ environment: [String: String]) -> [UInt8] {
        guard let folder = DataFolder.path(environment), let path = path(environment) else { return fresh() }
        if let key = try? FileSystem.read(path), key.count == length { return key }
        let key = fresh()
        FileSystem.makeFolder(folder)
        try? FileSystem.write(key, to: path, permissions: 0o600)
        return key
    }

    private static func fresh() -> [UInt8] {
        (try? randomBytes(length)) ?? []
    }
}
