import Foundation
import SessionTrace
import Testing

@testable import CaptureAnalyzer

/// Decryption across holes: what can't be known is left out, what comes after is read again.
@Suite(.enabled(if: SharedCaptures.folder != nil, "the shared captures are not here"))
struct StreamHoleTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var connection = 0
        /// Bytes that are played at most from the server's side.
        var limit = 400_000

        var testDescription: String { "\(name) \(connection)" }
    }

    static let cases = [
        Case(name: "wireshark_challenge01_ooo_stream.pcapng.gz"), Case(name: "zeek_tls-1.2-stream-keylog.pcap"),
        Case(name: "wireshark_http2-data-reassembly.pcap"),
        // CBC with MAC then encryption, and with encryption then MAC.
        Case(name: "pcapfs_all_ciphers.pcap", connection: 7), Case(name: "pcapfs_all_ciphers.pcap", connection: 10),
    ]

    @Test(arguments: cases, [true, false]) func readingGoesOnAfterAHole(test: Case, isLengthKnown: Bool) throws {
        let (streams, embedded) = try RecordedStreams.read(SharedCaptures.path(test.name))
        let keys = embedded + SharedCaptures.keyText(test.name)
        var stream = try #require(streams.first { $0.connection.id.number == test.connection })
        stream.cutServer(to: test.limit)
        let whole = stream.play(keys: keys)
        let original = whole.text(.server)
        var generator = TestGenerator(seed: 11)
        // Holes anywhere after the handshake, each alone.
        let first = try #require(stream.firstStep(withPlaintextOf: .server, keys: keys))
        let indices = stream.steps.indices.filter { $0 >= first && stream.steps[$0].isBytes(from: .server) }
        for _ in 0..<12 {
            var holed = stream
            guard let index = indices.randomElement(using: &generator) else { return }
            guard case .bytes(let side, let bytes, let packet) = stream.steps[index] else { continue }
            holed.steps[index] = .hole(side, isLengthKnown ? bytes.count : nil, packet)
            let transcript = holed.play(keys: keys)
            let text = transcript.text(.server)
            // What is given is the original without one piece.
            let prefix = zip(text, original).prefix { $0 == $1 }.count
            let rest = text.dropFirst(prefix)
            #expect(original.suffix(rest.count).elementsEqual(rest), "step \(index)")
            // No more is lost than the hole and the records that it touches; without its length some more may be.
            let loss = original.count - text.count
            if isLengthKnown {
                #expect(loss <= bytes.count + 2 * 16_384, "step \(index): \(loss) of \(bytes.count)")
            }
            if loss > 0 {
                #expect(transcript.session?.readability == .partly(.hole), "step \(index)")
                #expect(transcript.entries.contains { if case .hole(.server, _) = $0 { true } else { false } })
                #expect(transcript.blindSpots.contains { $0.reason == .tcpHole && $0.from == .server })
            }
            #expect(transcript.text(.client) == whole.text(.client))
        }
    }

    /// Many holes in both directions at once: never plaintext that was not there.
    @Test(arguments: cases) func manyHoles(test: Case) throws {
        let (streams, embedded) = try RecordedStreams.read(SharedCaptures.path(test.name))
        let keys = embedded + SharedCaptures.keyText(test.name)
        var stream = try #require(streams.first { $0.connection.id.number == test.connection })
        stream.cutServer(to: test.limit)
        let whole = stream.play(keys: keys)
        var generator = TestGenerator(seed: 23)
        for _ in 0..<10 {
            var holed = stream
            for index in holed.steps.indices where Int.random(in: 0..<20, using: &generator) == 0 {
                guard case .bytes(let side, let bytes, let packet) = holed.steps[index] else { continue }
                holed.steps[index] = .hole(side, Bool.random(using: &generator) ? bytes.count : nil, packet)
            }
            let transcript = holed.play(keys: keys)
            for side in Side.allCases {
                #expect(whole.text(side).holds(piecesOf: transcript.text(side)))
            }
        }
    }
}

extension RecordedStreams.Step {
    func isBytes(from wanted: Side) -> Bool {
        if case .bytes(wanted, _, _) = self { true } else { false }
    }
}

extension RecordedStreams.Conversation {
    /// Ends the conversation when the server has sent this many bytes.
    mutating func cutServer(to limit: Int) {
        var count = 0
        for (index, step) in steps.enumerated() {
            if case .bytes(.server, let bytes, _) = step { count += bytes.count }
            if count > limit {
                steps.removeSubrange(index...)
                return
            }
        }
    }

    /// The first step after which plaintext of a side has been given.
    func firstStep(withPlaintextOf side: Side, keys: String) -> Int? {
        var start = 0
        var end = steps.count
        while start < end {
            let middle = (start + end) / 2
            var part = self
            part.steps = Array(steps[...middle])
            if part.play(keys: keys).text(side).isEmpty { start = middle + 1 } else { end = middle }
        }
        return start < steps.count ? start + 1 : nil
    }
}

extension [UInt8] {
    /// Whether `other` is this with pieces left out, where at least 16 bytes at a time are kept.
    func holds(piecesOf other: [UInt8]) -> Bool {
        var position = 0
        var index = 0
        while index < other.count {
            if position < count, self[position] == other[index] {
                position += 1
                index += 1
                continue
            }
            // Look for where the next bytes go on.
            let probe = Array(other[index..<Swift.min(index + 16, other.count)])
            guard let next = firstIndex(of: probe, from: position) else { return false }
            position = next
        }
        return true
    }

    private func firstIndex(of probe: [UInt8], from start: Int) -> Int? {
        guard start + probe.count <= count else { return nil }
        return (start...(count - probe.count)).first { self[$0..<$0 + probe.count].elementsEqual(probe) }
    }
}
