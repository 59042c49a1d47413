/// Why the proxy can't start. The machine's or the caller's fault, never a peer's.
public struct ProxyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What could not be done.
    public enum Code: String, Hashable, Sendable {
        /// An address could not be bound.
        case cannotListen
        /// A file that an option names could not be used.
        case cannotUseFile
        /// An option's value makes no sense.
        case invalidOption
    }

    /// What could not be done.
    public var code: Code
    /// Address, path or option.
    public var place: String
    /// Plain words.
    public var reason: String

    /// Makes an error.
    public init(_ code: Code, place: String, reason: String) {
        self.code = code
        self.place = place
        self.reason = reason
    }

    /// One sentence.
    public var description: String { "\(place): \(reason)" }
}
