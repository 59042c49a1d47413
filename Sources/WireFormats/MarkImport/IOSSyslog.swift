internal import SessionTrace

/// The app's own words in the system log of an iOS device or simulator.
///
/// ```
/// Nov 30 05:10:31 iPhone Shop(Foundation)[123] <Notice>: handoff-mark {"kind":"tap","target":"share"}
/// 2026-11-30 05:10:31.123456 Shop{Foundation}[123] <NOTICE>: handoff-mark {"kind":"tap","target":"share"}
/// 2026-11-30 05:10:31.123456+0100  localhost Shop[123]: handoff-mark {"kind":"tap","target":"share"}
/// ```
///
/// The first is libimobiledevice's `idevicesyslog` over the old relay, whose stamps are whole seconds
/// (libimobiledevice issue 976); newer ones over os_trace_relay, and pymobiledevice3's `syslog live` (the second,
/// `pymobiledevice3/cli/syslog.py`), have microseconds. The third is `log stream --style syslog` for a simulator. A message
/// has to be public (`privacy: .public`): what the system hides shows as `<private>`.
struct IOSSyslog: MarkLogReader {
    mutating func take(_ line: LogLine, _ log: inout MarkLog) throws(MarkError) {
        var cursor = LineCursor(line.bytes)
        guard let (receipt, civil) = cursor.received(Self.head) else {
            if !cursor.take("[connected") && !cursor.take("[disconnected") { log.leaveOut(line.number) }
            return
        }
        log.understand(isCertain: Self.namesProcess(cursor.rest))
        log.dating.follow(civil)
        if receipt != nil {
            log.receive(receipt, try log.reading(of: .civil(civil), line: line.number), line: line.number)
        }
        guard cursor.find("handoff-mark") != nil else { return }
        let stamp = try log.reading(of: .civil(civil), line: line.number)
        if try !log.takeOwnWords(cursor, stamp: stamp, line: line.number) {
            log.remark("speaks of handoff-mark without an object", line.number)
        }
    }

    mutating func finish(_ log: inout MarkLog) throws(MarkError) {}

    /// Whether a process with its number stands there: `Shop(Foundation)[123] <Notice>:`, `Shop[123]:`.
    private static func namesProcess(_ text: ArraySlice<UInt8>) -> Bool {
        var rest = text.prefix(256)
        while let open = rest.firstIndex(of: UInt8(ascii: "[")) {
            let digits = rest[(open + 1)...].prefix { (0x30...0x39).contains($0) }
            rest = rest[digits.endIndex...]
            guard !digits.isEmpty, rest.first == UInt8(ascii: "]") else { continue }
            let behind = rest.dropFirst()
            if behind.first == UInt8(ascii: ":") || behind.starts(with: " <".utf8) { return true }
        }
        return false
    }

    private static func head(_ cursor: inout LineCursor) -> LogStamp.Civil? {
        guard let civil = cursor.civil(), civil.month != nil, cursor.next == 0x20 else { return nil }
        cursor.skipSpaces()
        return civil
    }
}
