public import SessionTrace

/// What a request tells by itself of who sent it, for people: `app`, `browser`, `webview`, `os`, or `?`.
///
/// Rules know more (other requests of the connection, the process of it); this is for timelines.
public struct SenderSigns: Sendable {
    private var agents = UserAgent()

    /// Begins with nothing known.
    public init() {}

    /// The word for the sender of `request`, which the recorded process decides where there is one.
    public mutating func sender(of request: Request, process: ProcessIdentity?) -> String {
        var reading = agents.read(request)
        if let process = ActorReading(process: process) { reading = process.combined(with: reading) }
        return reading.actor == .unknown ? "?" : reading.actor.rawValue
    }
}
