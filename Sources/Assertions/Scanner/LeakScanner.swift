public import SessionTrace

/// Searches what the device sent for values that must not be there, under every encoding and container that the
/// wire formats carry (RULES section 2).
///
/// Bytes in, hits out; needles are learned as the trace shows them, and a learned needle concerns everything that is
/// scanned after it. The token's shape is a needle from the start.
public struct LeakScanner: Sendable {
    /// The bounds of one scan.
    public let limits: ScanLimits
    private let redactor: Redactor

    /// Makes a scanner that knows the token's shape only.
    public init(limits: ScanLimits = ScanLimits(), redactor: Redactor) {
        self.limits = limits
        self.redactor = redactor
    }

    /// Adds a value to be found from now on; takes well under a millisecond. Values that are too short or too uniform
    /// to mean anything (under 8 bytes or an estimated 40 bits) are not searched.
    public mutating func learn(needle: Needle) {
    }

    /// Scans the request of an exchange; a response is no leak.
    public mutating func scan(_ exchange: Exchange) -> ScanResult {
        guard let request = exchange.request, !exchange.isPushed else { return .clean }
        return scan(request)
    }

    /// Scans a request: line, header fields, trailers, body.
    public mutating func scan(_ request: Request) -> ScanResult {
        .clean
    }

    /// Scans what came back (for rules about what the app receives); locations are as for requests.
    public mutating func scan(_ response: Response) -> ScanResult {
        .clean
    }

    /// Scans a WebSocket message.
    public mutating func scan(_ message: Message) -> ScanResult {
        .clean
    }

    /// Scans the name of a DNS question.
    public mutating func scan(_ lookup: NameLookup) -> ScanResult {
        .clean
    }

    /// Scans a TLS server name.
    public mutating func scan(serverName: HostName) -> ScanResult {
        .clean
    }

    /// Scans any bytes under a location of the caller's choice.
    public mutating func scan(bytes: [UInt8], location: String) -> ScanResult {
        .clean
    }
}
