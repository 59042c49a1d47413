/// The folder of this user's own data: the installation key and the certificate authority.
enum DataFolder {
    /// `$XDG_DATA_HOME/handoff` or `~/.local/share/handoff`; nil when the environment names neither.
    static func path(_ environment: [String: String]) -> String? {
        if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return "\(data)/handoff" }
        return environment["HOME"].map { "\($0)/.local/share/handoff" }
    }
}
