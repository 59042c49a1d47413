import Foundation
import SessionTrace
import Testing

@testable import CaptureAnalyzer
@testable import CommandLine
@testable import WireFormats

/// `--filter` narrows traffic, and never what the test said of itself: marks pass every filter.
@Suite struct FilterTests {
    static let share = Places.recordings.appending(path: "conforming-share.pcapng").path

    static func events(_ filter: String?) throws -> [SessionEvent] {
        var options = TraceOptions()
        options.filter = filter
        var events: [SessionEvent] = []
        _ = try TraceReader.read(path: share, options: options) { events.append($0) }
        return events
    }

    static func marks(_ events: [SessionEvent]) -> [String] {
        events.compactMap { event in
            guard case .mark(let mark) = event else { return nil }
            return "\(mark.packet?.number ?? 0) \(mark.kind.rawValue) \(mark.target?.rawValue ?? "")"
        }
    }

    @Test func marksPassEveryFilter() throws {
        let all = try Self.marks(Self.events(nil))
        #expect(all.count >= 5)
        for filter in ["tcp port 1", "tcp port 443", "not udp", "host 10.77.0.20"] {
            #expect(try Self.marks(Self.events(filter)) == all, "\(filter)")
        }
    }

    @Test func trafficIsNarrowed() throws {
        let nothing = try Self.events("tcp port 1")
        #expect(!nothing.contains { if case .exchange = $0 { true } else { false } })
        // The marks' own conversation is all that is left.
        let opened = nothing.count { if case .connectionOpened = $0 { true } else { false } }
        #expect(opened > 0 && opened < 20)
        let one = try Self.events("host 10.77.0.20")
        #expect(one.contains { if case .exchange = $0 { true } else { false } })
        #expect(one.count < (try Self.events(nil)).count)
    }

    @Test func onlyADatagramOfAMarkIsOne() {
        func frame(_ text: String, length: Int? = nil, trailer: Int = 0) -> [UInt8] {
            let size = length ?? 8 + text.utf8.count
            // 28 bytes of whatever headers, the UDP header (ports, length, checksum), the text, what lies behind.
            return [UInt8](repeating: 0x68, count: 28) + [
                0xC0, 0, 0x12, 0xA6, UInt8(size >> 8), UInt8(size & 255), 1, 2,
            ]
                + Array(text.utf8) + [UInt8](repeating: 0, count: trailer)
        }
        func isMark(_ bytes: [UInt8]) -> Bool {
            bytes.withUnsafeBytes { TraceText.holdsMark($0, originalLength: bytes.count) }
        }
        let text = "handoff-mark/1 {\"kind\":\"tap\"}"
        #expect(isMark(frame(text)))
        #expect(isMark(frame(text, trailer: 32)))
        // A TCP segment that speaks of marks, a length that does not fit, too much behind it, too short.
        #expect(!isMark(frame(text, length: 4_000)))
        #expect(!isMark(frame(text, trailer: 65)))
        #expect(!isMark(frame(text, length: 9)))
        #expect(!isMark(Array("handoff-mark/1 {}".utf8)))
        #expect(!isMark(Array(frame(text).dropLast(1))))
        #expect(!isMark([]))
        for length in 0..<80 { _ = isMark([UInt8](repeating: 0x68, count: length)) }
    }
}
