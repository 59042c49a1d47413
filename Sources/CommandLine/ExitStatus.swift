/// What the exit status of `handoff` means; the documentation has the same table.
public enum ExitStatus: Int32, Sendable {
    /// No violation of severity error, and no gated rule inconclusive.
    case conforming = 0
    /// At least one violation of severity error (of a warning too under `--strict`).
    case violation = 1
    /// Wrong usage, or an invalid policy.
    case usage = 2
    /// An input could not be read, or ends inside a block or packet.
    case unreadable = 3
    /// None of that, but a gated rule is inconclusive, or something that must be exercised was not.
    case inconclusive = 4
    /// A fault of handoff itself.
    case internalError = 5

    /// The order in which the worst of several is chosen.
    private var badness: Int {
        switch self {
        case .conforming: 0
        case .inconclusive: 1
        case .unreadable: 2
        case .violation: 3
        case .usage: 4
        case .internalError: 5
        }
    }

    /// The worse of two: 5, 2, 1, 3, 4, 0.
    public func worse(_ other: ExitStatus) -> ExitStatus {
        badness >= other.badness ? self : other
    }
}
