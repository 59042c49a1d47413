import CaptureAnalyzer
import Foundation
import SessionTrace
import WireFormats

/// The streams of a capture, kept so that they can be played to a decoder again and again, cut in other ways.
struct RecordedStreams: StreamSink {
    enum Step: Equatable {
        case bytes(Side, [UInt8], PacketReference)
        case hole(Side, Int?, PacketReference)
        case datagram(Side, [UInt8], PacketReference)
    }

    struct Conversation {
        var connection: Connection
        var steps: [Step] = []
        var last: PacketReference
    }

    var conversations: [Conversation] = []
    private var count = 0

    /// Reads a capture; its embedded key log text comes second.
    static func read(_ path: String) throws -> (streams: [Conversation], keys: String) {
        var file = try CaptureFile(path: path)
        var packets = PacketStreams()
        var sink = RecordedStreams()
        var keys = ""
        while let record = try file.next() {
            switch record {
            case .packet(let packet):
                packets.receive(packet, into: &sink)
            case .secrets(let secrets):
                if secrets.kind == .tlsKeyLog { keys += String(decoding: secrets.bytes, as: UTF8.self) + "\n" }
            default:
                break
            }
        }
        packets.finish(into: &sink)
        return (sink.conversations, keys)
    }

    mutating func nextConnectionID() -> ConnectionID {
        count += 1
        return ConnectionID(count - 1)
    }

    mutating func opened(_ connection: Connection) {
        while conversations.count <= connection.id.number {
            conversations.append(Conversation(connection: connection, last: connection.opened))
        }
        conversations[connection.id.number] = Conversation(connection: connection, last: connection.opened)
    }

    mutating func received(
        _ bytes: UnsafeRawBufferPointer, from side: Side, endOffset: UInt64, at packet: PacketReference,
        on id: ConnectionID
    ) {
        conversations[id.number].steps.append(.bytes(side, Array(bytes), packet))
    }

    mutating func hole(
        length: Int?, from side: Side, endOffset: UInt64, noticed: PacketReference, span: TimeSpan, cause: HoleCause,
        on id: ConnectionID
    ) {
        conversations[id.number].steps.append(.hole(side, length, noticed))
    }

    mutating func acknowledged(by side: Side, upTo offset: UInt64, at: PacketReference, on id: ConnectionID) {}
    mutating func overlapConflict(from side: Side, at: PacketReference, on id: ConnectionID) {}
    mutating func finished(side: Side, at: PacketReference, on id: ConnectionID) {}
    mutating func closed(_ end: ConnectionEnd) { conversations[end.id.number].last = end.last }
    mutating func datagram(
        _ bytes: UnsafeRawBufferPointer, length: Int, from side: Side, at packet: PacketReference, on id: ConnectionID
    ) {
        conversations[id.number].steps.append(.datagram(side, Array(bytes), packet))
    }
    mutating func identified(_ process: ProcessIdentity, of id: ConnectionID) {}
    mutating func blind(_ spot: BlindSpot) {}
}

/// Everything that a decoder gave, in a form that can be compared.
struct TLSTranscript: TLSSink, Equatable {
    enum Entry: Equatable {
        case event(SessionEvent)
        case serverHello
        case applicationProtocol(String?)
        case plaintext(Side, [UInt8])
        case hole(Side, Int?)
        case finished(Side)
    }

    var entries: [Entry] = []

    mutating func secureEvent(_ event: SessionEvent) { entries.append(.event(event)) }
    mutating func serverHello(at packet: PacketReference) { entries.append(.serverHello) }
    mutating func applicationProtocol(_ name: String?, at packet: PacketReference) {
        entries.append(.applicationProtocol(name))
    }
    mutating func plaintext(_ bytes: UnsafeRawBufferPointer, from side: Side, at packet: PacketReference) {
        // Neighbouring records are one entry, so that what is compared does not depend on their borders.
        if case .plaintext(side, let before)? = entries.last {
            entries[entries.count - 1] = .plaintext(side, before + Array(bytes))
        } else {
            entries.append(.plaintext(side, Array(bytes)))
        }
    }
    mutating func plaintextHole(length: Int?, from side: Side, at packet: PacketReference) {
        entries.append(.hole(side, length))
    }
    mutating func plaintextFinished(from side: Side, at packet: PacketReference) { entries.append(.finished(side)) }

    /// All plaintext of a side.
    func text(_ side: Side) -> [UInt8] {
        entries.reduce(into: []) { text, entry in
            if case .plaintext(side, let bytes) = entry { text += bytes }
        }
    }

    var session: SecureSession? {
        for case .event(.secureSession(let session)) in entries { return session }
        return nil
    }

    var hellos: [ClientHello] {
        entries.compactMap { if case .event(.clientHello(let hello)) = $0 { hello } else { nil } }
    }

    var blindSpots: [BlindSpot] {
        entries.compactMap { if case .event(.blindSpot(let spot)) = $0 { spot } else { nil } }
    }

    var serverHellos: Int { entries.count { $0 == .serverHello } }
    var applicationProtocols: [String?] {
        entries.compactMap { if case .applicationProtocol(let name) = $0 { .some(name) } else { nil } }
    }
}

extension RecordedStreams.Conversation {
    /// How a conversation's bytes are cut before they are played.
    enum Cut {
        case asCaptured
        case everyByte
        case random(seed: UInt64)
    }

    /// Whether its first bytes are TLS.
    var isTLS: Bool {
        var start: [UInt8] = []
        var first: Side?
        for case .bytes(let side, let bytes, _) in steps where first == nil || first == side {
            first = side
            start += bytes
            switch start.withUnsafeBytes({ TLSRecognition($0, startSeen: connection.startSeen) }) {
            case .tls: return true
            case .other: return false
            case .undecided: continue
            }
        }
        return false
    }

    /// Plays it to a decoder. With `lateKeys` the keys come when everything has been played.
    func play(
        keys: String, cut: Cut = .asCaptured, lateKeys: Bool = false,
        limits: DecryptionLimits = DecryptionLimits()
    ) -> TLSTranscript {
        var context = DecryptionContext(limits: limits)
        if !lateKeys { context.keys.add(nss: keys) }
        context.keysAreComplete = !lateKeys
        return play(&context, cut: cut, lateKeys: lateKeys ? keys : nil)
    }

    func play(_ context: inout DecryptionContext, cut: Cut = .asCaptured, lateKeys: String? = nil) -> TLSTranscript {
        var decoder = TLSConnectionDecoder(connection: connection.id, startSeen: connection.startSeen)
        var transcript = TLSTranscript()
        var generator = TestGenerator(seed: 1)
        if case .random(let seed) = cut { generator = TestGenerator(seed: seed) }
        for step in steps {
            switch step {
            case .bytes(let side, let bytes, let packet):
                bytes.withUnsafeBytes { bytes in
                    var start = 0
                    while start < bytes.count {
                        let length =
                            switch cut {
                            case .asCaptured: bytes.count - start
                            case .everyByte: 1
                            case .random: Int.random(in: 1...min(bytes.count - start, 700), using: &generator)
                            }
                        decoder.receive(
                            UnsafeRawBufferPointer(rebasing: bytes[start..<start + length]), from: side, at: packet,
                            context: &context, into: &transcript)
                        start += length
                    }
                }
            case .hole(let side, let length, let packet):
                decoder.hole(length: length, from: side, at: packet, context: &context, into: &transcript)
            case .datagram:
                break
            }
        }
        if let lateKeys { context.keys.add(nss: lateKeys) }
        decoder.finish(at: last, context: &context, into: &transcript)
        return transcript
    }
}

/// A generator with a seed, so that a failure can be had again (SplitMix64).
struct TestGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
