/// Why a name has no addresses.
public enum ResolverError: Error, Hashable, Sendable, CustomStringConvertible {
    case notFound, tryAgain, cancelled, notAName
    case failed(String)
    public var description: String { "\(self)" }
}
