internal import SessionTrace

/// One look at two clocks: the reference clock said `earliest`, then the other clock `device`, then the reference clock
/// `latest`. All in nanoseconds, each as wide as its last digit leaves it open.
public struct ClockProbe: Hashable, Sendable {
    /// Where the other clock's reading lies.
    var device: Int64
    /// The reference clock was at least this far ahead of the other; nil if the probe does not bound it.
    var least: Int64?
    /// The reference clock was at most this far ahead of the other.
    var most: Int64
    /// The other clock counts from boot.
    var isMonotonic: Bool
    /// The line of the file that it stands in.
    public var line: Int

    /// A probe `HOST0 DEVICE HOST1`.
    init(host0: LogStamp.Reading, device: LogStamp.Reading, host1: LogStamp.Reading, line: Int) {
        self.device = device.nanoseconds
        let end = host1.span.latest.nanoseconds
        least = Instant(nanoseconds: host0.nanoseconds)
            .nanoseconds(since: device.span.latest)
        most = Instant(nanoseconds: end).nanoseconds(since: Instant(nanoseconds: device.nanoseconds))
        isMonotonic = device.isMonotonic
        self.line = line
    }

    /// A line that a host received: it was written before, so that the offset has one bound.
    init(receipt: LogStamp.Reading, device: LogStamp.Reading, line: Int) {
        self.device = device.nanoseconds
        most = receipt.span.latest.nanoseconds(since: Instant(nanoseconds: device.nanoseconds))
        isMonotonic = device.isMonotonic
        self.line = line
    }

    /// A probe from whole nanoseconds, for tests and other makers of probes.
    public init(host0: Int64, device: Int64, host1: Int64, isMonotonic: Bool = false, line: Int) {
        let reading = { LogStamp.Reading(nanoseconds: $0, unit: 1, isMonotonic: isMonotonic) }
        self.init(host0: reading(host0), device: reading(device), host1: reading(host1), line: line)
    }
}

/// A file of probes: a line each, `HOST0 DEVICE HOST1`, every time RFC 3339 or in seconds; blank lines and lines that
/// begin with `#` say nothing.
public struct ClockProbeFile: Hashable, Sendable {
    /// Most probes of one file.
    public static let probeLimit = 100_000

    /// The probes in the order of the file.
    public private(set) var probes: [ClockProbe] = []

    /// Reads the bytes of a file. Throws at the first line that is no probe.
    public init(_ bytes: [UInt8]) throws(MarkError) {
        var lines = LogLines()
        var all = lines.receive(bytes[...])
        if let last = lines.finish() { all.append(last) }
        for (number, line) in all {
            guard let line else { throw MarkError(line: number, column: 1, reason: "the line is too long") }
            var cursor = LineCursor(line.bytes)
            cursor.skipSpaces()
            if cursor.isAtEnd || cursor.next == UInt8(ascii: "#") { continue }
            guard probes.count < Self.probeLimit else {
                throw MarkError(line: number, column: 1, reason: "more than \(Self.probeLimit) probes")
            }
            let host0 = try Self.time(&cursor, number, "HOST0")
            let device = try Self.time(&cursor, number, "DEVICE")
            let place = cursor.index
            let host1 = try Self.time(&cursor, number, "HOST1")
            guard cursor.isAtEnd else { throw Self.fault(cursor, number, "a probe has three times") }
            guard !host0.isMonotonic, !host1.isMonotonic else {
                throw MarkError(line: number, column: 1, reason: "the host's times are not of a wall clock")
            }
            guard host0.nanoseconds <= host1.span.latest.nanoseconds else {
                throw MarkError(line: number, column: place + 1, reason: "HOST1 is before HOST0")
            }
            probes.append(ClockProbe(host0: host0, device: device, host1: host1, line: number))
        }
        guard !probes.isEmpty else { throw MarkError(line: 1, column: 1, reason: "there is no probe in it") }
    }

    private static func time(
        _ cursor: inout LineCursor, _ line: Int, _ name: String
    ) throws(MarkError) -> LogStamp.Reading {
        let start = cursor.index
        if let reading = cursor.seconds(fractionIsOptional: true),
            cursor.isAtEnd || cursor.next == 0x20 || cursor.next == 0x09
        {
            cursor.skipSpaces()
            return reading
        }
        cursor.index = start
        if let civil = cursor.civil(), civil.zoneSeconds != nil, civil.month != nil,
            cursor.isAtEnd || cursor.next == 0x20 || cursor.next == 0x09
        {
            cursor.skipSpaces()
            return try LogDating().reading(of: civil, line: line)
        }
        cursor.index = start
        throw fault(cursor, line, "\(name) is neither RFC 3339 with a zone nor seconds: a probe is HOST0 DEVICE HOST1")
    }

    private static func fault(_ cursor: LineCursor, _ line: Int, _ reason: String) -> MarkError {
        MarkError(line: line, column: cursor.column, reason: reason)
    }
}
