/// The version of handoff, as `--version`, reports and recordings give it.
public let handoffVersion = "0.1.0"
