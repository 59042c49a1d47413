/// What all TLS connections of one trace share: the key log and the budget for records that wait for keys.

/// Limits on memory that input can fill, in bytes.
public struct DecryptionLimits: Hashable, Sendable {
    /// Ciphertext that one connection may hold while it waits for keys.
    public var heldPerConnection = 1 << 20
    /// Ciphertext that all connections together may hold.
    public var heldOverall = 32 << 20

    /// The defaults: 1 MiB and 32 MiB.
    public init() {}
}

/// State that is shared by all connections of a trace and passed to each call.
public struct DecryptionContext {
    /// The secrets.
    public var keys: KeyLog
    /// Set when no more keys can come (all of them were read before the packets): nothing is held back then.
    public var keysAreComplete = false
    /// Limits.
    public let limits: DecryptionLimits

    /// A context without keys.
    public init(keys: KeyLog = KeyLog(), limits: DecryptionLimits = DecryptionLimits()) {
        self.keys = keys
        self.limits = limits
    }
}
