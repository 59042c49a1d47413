internal import Crypto

/// The secret that keys the digests in reports, one an installation: equal secrets look equal in all reports made here,
/// and nobody else can guess a value from its digest.
enum InstallationKey {
    static let length = 32

    /// Reads the key, or makes it (mode 0600) under `$XDG_DATA_HOME/handoff` or `~/.local/share/handoff`. Where neither can
    /// be written, a key for this run alone.
    static func load(_ environment: [String: String]) -> [UInt8] {
        guard let folder = DataFolder.path(environment) else { return fresh() }
        let path = "\(folder)/installation-key"
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
