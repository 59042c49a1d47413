import CaptureAnalyzer
import Foundation
import SessionTrace
import Testing
import WireFormats

/// Counts of captures from public projects, beside what tshark says of them.
@Suite(.enabled(if: SharedCaptures.folder != nil, "no shared captures here"))
struct CaptureFactsTests {
    /// Where we differ from tshark, and why.
    private static let differences: [String: [String: String]] = [
        // tshark stops at the section of version 2.0; we step over it and read the section behind it.
        "gopacket_le_test901.pcapng": ["packets": "2", "captured_bytes": "628", "wire_bytes": "628"],
        // Times before 1970 in two's complement, which tshark shows as the year 586524.
        "pcapplusplus_pcapng-example.pcapng": ["first_time": "-505.425287", "last_time": "2894531997.938836488"],
    ]

    @Test("packets, bytes and times", arguments: SharedCaptures.names)
    func facts(name: String) throws {
        var file = try CaptureFile(path: SharedCaptures.path(name))
        var packets = 0
        var captured = 0
        var wire = 0
        var truncated = 0
        var first: Instant?
        var last: Instant?
        while let record = try file.next() {
            if case .opaque(let block) = record {
                // tshark counts these as packets, so their bytes are in its facts.
                packets += 1
                captured += block.length
                wire += block.length
            }
            guard case .packet(let packet) = record else { continue }
            packets += 1
            #expect(packet.reference.number == packets)
            captured += packet.bytes.count
            wire += packet.originalLength
            truncated += packet.isTruncated ? 1 : 0
            if packet.hasTimestamp {
                first = min(first ?? packet.reference.time, packet.reference.time)
                last = max(last ?? packet.reference.time, packet.reference.time)
            }
        }
        var expected = SharedCaptures.facts(name)
        for (key, value) in Self.differences[name] ?? [:] { expected[key] = value }
        #expect(String(packets) == expected["packets"])
        #expect(String(captured) == expected["captured_bytes"])
        #expect(String(wire) == expected["wire_bytes"])
        #expect(String(truncated) == expected["truncated_packets"])
        #expect(first == nanoseconds(expected["first_time"]), "first time")
        #expect(last == nanoseconds(expected["last_time"]), "last time")
        let summary = file.summary
        #expect(summary.packets == packets)
        #expect(summary.isComplete == (name != "gopacket_le_test901.pcapng"), "\(summary.notes)")
    }

    /// `1340954905.298858` as an instant; nil for nothing.
    private func nanoseconds(_ text: String?) -> Instant? {
        guard let parts = text?.split(separator: "."), parts.count == 2, let seconds = Int64(parts[0]),
            let fraction = Int64(parts[1].padding(toLength: 9, withPad: "0", startingAt: 0))
        else { return nil }
        return Instant(nanoseconds: seconds * 1_000_000_000 + (seconds < 0 ? -fraction : fraction))
    }
}
