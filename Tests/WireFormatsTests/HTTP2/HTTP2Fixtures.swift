import Foundation
import SessionTrace

@testable import WireFormats

/// Shared files, frames built by hand, and the feeding of an observer, for the suites of HTTP/2 and DNS.
enum HTTP2Fixtures {
    /// The folder of shared captures and vectors: `HANDOFF_SHARED`, or `../shared` beside the package.
    static let shared: URL? = {
        if let path = ProcessInfo.processInfo.environment["HANDOFF_SHARED"] { return URL(fileURLWithPath: path) }
        var folder = URL(fileURLWithPath: #filePath)
        while folder.path != "/" {
            folder.deleteLastPathComponent()
            guard FileManager.default.fileExists(atPath: folder.appendingPathComponent("Package.swift").path) else {
                continue
            }
            let shared = folder.deletingLastPathComponent().appendingPathComponent("shared")
            return FileManager.default.fileExists(atPath: shared.path) ? shared : nil
        }
        return nil
    }()

    static let tshark = "/usr/bin/tshark"
    static let nghttp = "/usr/bin/nghttp"
    static let nghttpd = "/usr/sbin/nghttpd"

    /// Whether the shared captures and tshark are there.
    static let hasCaptures: Bool = {
        guard let folder = shared?.appendingPathComponent("captures") else { return false }
        return FileManager.default.isExecutableFile(atPath: tshark)
            && FileManager.default.fileExists(atPath: folder.path)
    }()

    /// Whether nghttp2's own client and server are there.
    static let hasPeer =
        FileManager.default.isExecutableFile(atPath: nghttp) && FileManager.default.isExecutableFile(atPath: nghttpd)

    static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    static func packet(_ number: Int) -> PacketReference {
        PacketReference(number: number, time: Instant(nanoseconds: Int64(number) * 1_000_000))
    }

    // MARK: Frames

    static func frame(_ type: UInt8, flags: UInt8 = 0, stream: UInt32, _ payload: [UInt8] = []) -> [UInt8] {
        let count = payload.count
        let head = [UInt8(count >> 16), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF), type, flags]
        return head + number(stream) + payload
    }

    static func number(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> UInt32($0)) }
    }

    /// Literals without indexing, so that the block depends on no table.
    static func literals(_ fields: [(String, String)]) -> [UInt8] {
        fields.flatMap { [0] + string($0.0) + string($0.1) }
    }

    /// A literal with incremental indexing.
    static func inserted(_ name: String, _ value: String) -> [UInt8] { [0x40] + string(name) + string(value) }

    static func string(_ text: String) -> [UInt8] { integer(text.utf8.count, prefix: 7, pattern: 0) + Array(text.utf8) }

    static func integer(_ value: Int, prefix: Int, pattern: UInt8) -> [UInt8] {
        let mask = (1 << prefix) - 1
        if value < mask { return [pattern | UInt8(value)] }
        var bytes = [pattern | UInt8(mask)]
        var rest = value - mask
        while rest >= 128 {
            bytes.append(UInt8(rest & 0x7F | 0x80))
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }

    static func request(_ method: String, _ path: String, more: [(String, String)] = []) -> [UInt8] {
        literals([(":method", method), (":scheme", "https"), (":authority", "api.example"), (":path", path)] + more)
    }

    // MARK: Feeding

    /// One thing that happens on a connection.
    enum Input: Sendable {
        case bytes(Side, [UInt8])
        case hole(Side, Int?)
        case finished(Side)
    }

    /// How the bytes of an input are cut.
    enum Cut {
        case whole
        case octets
        case random(seed: UInt64)
    }

    /// Feeds the inputs, all bytes of one input with one packet number however they are cut, and closes the connection.
    static func events(
        _ inputs: [Input], startSeen: Bool = true, cut: Cut = .whole, limits: ConversationLimits = ConversationLimits(),
        cause: ConnectionEnd.Cause = .finished
    ) -> [SessionEvent] {
        var observer = HTTP2Observer(
            connection: ConnectionID(7), scheme: "https", startSeen: startSeen, limits: limits, firstExchangeIndex: 0)
        return feed(&observer, inputs, cut: cut, cause: cause)
    }

    static func feed(
        _ observer: inout HTTP2Observer, _ inputs: [Input], cut: Cut = .whole, cause: ConnectionEnd.Cause = .finished
    ) -> [SessionEvent] {
        var output: [ConversationOutput] = []
        var generator = SplitGenerator(state: 1)
        if case .random(let seed) = cut { generator = SplitGenerator(state: seed) }
        for (index, input) in inputs.enumerated() {
            let packet = packet(index + 1)
            switch input {
            case .bytes(let side, let bytes):
                var rest = bytes[...]
                while !rest.isEmpty {
                    let count: Int
                    switch cut {
                    case .whole: count = rest.count
                    case .octets: count = 1
                    case .random:
                        count = min(
                            rest.count,
                            Int.random(in: 1...(Bool.random(using: &generator) ? 12 : 900), using: &generator))
                    }
                    rest.prefix(count).withUnsafeBytes { observer.receive($0, from: side, at: packet, into: &output) }
                    rest = rest.dropFirst(count)
                }
            case .hole(let side, let length): observer.hole(length: length, from: side, at: packet, into: &output)
            case .finished(let side): observer.finished(side: side, at: packet, into: &output)
            }
        }
        observer.closed(cause: cause, at: packet(inputs.count + 1), into: &output)
        return output.compactMap { if case .event(let event) = $0 { event } else { nil } }
    }

    static func exchanges(_ events: [SessionEvent]) -> [Exchange] {
        events.compactMap { if case .exchange(let exchange) = $0 { exchange } else { nil } }
    }

    static func spots(_ events: [SessionEvent]) -> [BlindSpot] {
        events.compactMap { if case .blindSpot(let spot) = $0 { spot } else { nil } }
    }
}

/// xorshift64*: the same cuts and mutations in every run.
struct SplitGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_F491_4F6C_DD1D
    }
}
