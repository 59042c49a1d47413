/// Bytes that no output may show: a handoff URL, a token, a key.
///
/// Equality and hashing work on the bytes themselves; every way of printing one says only that it is there and how
/// long it is. Only this package can read it.
public struct Secret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The bytes.
    package let bytes: [UInt8]

    /// Wraps bytes.
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Wraps text.
    public init(_ text: String) {
        bytes = Array(text.utf8)
    }

    /// Length in bytes.
    public var count: Int { bytes.count }

    public var description: String { "‹secret, \(bytes.count) B›" }
    public var debugDescription: String { description }
    /// No children, so that `dump` and string interpolation of an enclosing value show nothing either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
