import SessionTrace
import Testing

@testable import CaptureAnalyzer

/// Each limit of `DecryptionLimits` is crossed: what does not fit is dark, and nothing stays held.
@Suite(.enabled(if: SharedCaptures.folder != nil, "the shared captures are not here"))
struct DecryptionLimitsTests {
    private func stream(_ name: String, _ connection: Int = 0) throws -> RecordedStreams.Conversation {
        let (streams, _) = try RecordedStreams.read(SharedCaptures.path(name))
        return try #require(streams.first { $0.connection.id.number == connection })
    }

    @Test(arguments: ["bytes", "records", "overall"]) func heldCiphertext(limit: String) throws {
        let name = "zeek_tls-1.2-stream-keylog.pcap"
        var limits = DecryptionLimits()
        switch limit {
        case "bytes": limits.heldPerConnection = 20_000
        case "records": limits.heldRecordsPerConnection = 5
        default: limits.heldOverall = 20_000
        }
        var context = DecryptionContext(limits: limits)
        let transcript = try stream(name).play(&context, lateKeys: SharedCaptures.keyText(name))
        #expect(transcript.session?.readability == .opaque(.noKeys))
        #expect(transcript.blindSpots.first?.bytes ?? 0 > 100_000)
        #expect(context.heldBytes == 0)
    }

    /// Keys that come after waiting was given up still open what follows.
    @Test(arguments: ["zeek_tls-1.2-stream-keylog.pcap", "wireshark_challenge01_ooo_stream.pcapng.gz"])
    func keysAfterGivingUp(name: String) throws {
        let (streams, embedded) = try RecordedStreams.read(SharedCaptures.path(name))
        let stream = try #require(streams.first { $0.connection.id.number == 0 })
        let keys = embedded + SharedCaptures.keyText(name)
        let whole = stream.play(keys: keys)
        var limits = DecryptionLimits()
        limits.heldPerConnection = 40_000
        var context = DecryptionContext(limits: limits)
        var decoder = TLSConnectionDecoder(connection: ConnectionID(0))
        var transcript = TLSTranscript()
        for (index, step) in stream.steps.enumerated() {
            if index == stream.steps.count / 2 { context.keys.add(nss: keys) }
            guard case .bytes(let side, let bytes, let packet) = step else { continue }
            bytes.withUnsafeBytes {
                decoder.receive($0, from: side, at: packet, context: &context, into: &transcript)
            }
        }
        decoder.finish(at: stream.last, context: &context, into: &transcript)
        #expect(transcript.session?.readability == .partly(.noKeys))
        let text = transcript.text(.server)
        #expect(text.count > 10_000)
        #expect(whole.text(.server).suffix(text.count).elementsEqual(text))
        #expect(context.heldBytes == 0)
    }

    @Test func failuresInARow() throws {
        let name = "zeek_tls-1.2-stream-keylog.pcap"
        var damaged = try stream(name)
        let start = damaged.steps.count / 3
        for (index, step) in damaged.steps.enumerated() where index > start {
            guard case .bytes(.server, let bytes, let packet) = step, bytes.count > 200 else { continue }
            damaged.steps[index] = .bytes(.server, bytes.dropLast(1) + [0x5A], packet)
        }
        var limits = DecryptionLimits()
        limits.failuresInARow = 2
        let keys = SharedCaptures.keyText(name)
        let strict = damaged.play(keys: keys, limits: limits)
        let patient = damaged.play(keys: keys)
        #expect(strict.text(.server).count <= patient.text(.server).count)
        #expect(strict.session?.readability != .decrypted)
    }

    @Test func trialsForALostNumber() throws {
        let name = "zeek_tls-1.2-stream-keylog.pcap"
        var holed = try stream(name)
        let keys = SharedCaptures.keyText(name)
        let first = try #require(holed.firstStep(withPlaintextOf: .server, keys: keys))
        let indices = holed.steps.indices.filter { $0 > first && holed.steps[$0].isBytes(from: .server) }
        // Forty segments are gone, and nobody knows how many bytes they had.
        for index in indices.dropFirst(5).prefix(40) {
            guard case .bytes(let side, _, let packet) = holed.steps[index] else { continue }
            holed.steps[index] = .hole(side, nil, packet)
        }
        var limits = DecryptionLimits()
        limits.trialBytes = 1
        let without = holed.play(keys: keys, limits: limits)
        let with = holed.play(keys: keys)
        #expect(with.text(.server).count > without.text(.server).count)
    }

    @Test func rememberedSessions() {
        var sessions = ResumableSessions(limit: 2)
        for number in 0..<4 as Range<UInt8> {
            sessions.remember([number], id: [number])
            sessions.remember([number], ticket: [number])
        }
        #expect((0..<4).map { sessions.master(id: [$0]) } == [[0], [1], nil, nil])
        #expect((0..<4).map { sessions.master(ticket: [$0]) } == [[0], [1], nil, nil])
        sessions.remember([9], id: [1])
        #expect(sessions.master(id: [1]) == [9])
    }
}
