import CaptureAnalyzer
import Foundation
import Testing
import WireFormats

/// Real captures, cut, mutated and read in pieces: never a trap, and always the packets before the cut.
@Suite(.enabled(if: SharedCaptures.folder != nil, "no shared captures here"))
struct CapturePrefixTests {
    private static let plainNames = SharedCaptures.names.filter { !$0.hasSuffix(".gz") && !$0.hasSuffix(".zst") }
    /// Files up to this size (bytes) are cut at every byte, larger ones at `cuts` places.
    private static let smallSize = 3_000
    private static let cuts = 60

    /// Where each packet ends in the file, and a digest of it.
    private struct Outline: Equatable {
        var packets: [Int] = []
        var isCutShort = false

        /// Reads bytes; each look shows `chunk()` more at most.
        init(_ bytes: UnsafeRawBufferPointer, chunk: () -> Int = { Int.max }) throws {
            var parser = CaptureParser()
            var start = 0
            var end = min(bytes.count, chunk())
            while true {
                let window = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
                switch try parser.step(window, isFinal: end == bytes.count) {
                case .record(let record, let length):
                    start += length
                    if case .packet(let packet) = record {
                        var hasher = Hasher()
                        hasher.combine(bytes: packet.bytes)
                        hasher.combine(packet.reference)
                        hasher.combine(packet.originalLength)
                        packets.append(hasher.finalize())
                    }
                case .passed(let length):
                    start += length
                case .needsMore(let count):
                    #expect(count > window.count && count <= CaptureLimits().block + 64)
                    let step = chunk()
                    end = step > bytes.count - end ? bytes.count : end + step
                case .end:
                    isCutShort = parser.isCutShort
                    return
                }
            }
        }
    }

    @Test("cut at every kind of place", arguments: plainNames)
    func cuts(name: String) throws {
        let bytes = try SharedCaptures.bytes(name)
        let whole = try bytes.withUnsafeBytes { try Outline($0) }
        let places =
            bytes.count <= Self.smallSize
            ? Array(4...bytes.count) : (0..<Self.cuts).map { _ in Int.random(in: 4...bytes.count) }
        var cutShort = 0
        for count in places {
            let cut = try bytes.withUnsafeBytes { try Outline(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            #expect(Array(whole.packets.prefix(cut.packets.count)) == cut.packets, "cut at \(count)")
            #expect(cut.isCutShort || cut.packets.count < whole.packets.count || count >= bytes.count - 4_096)
            cutShort += cut.isCutShort ? 1 : 0
        }
        #expect(cutShort > places.count / 2)
    }

    @Test("any chunks", arguments: plainNames)
    func chunks(name: String) throws {
        let bytes = try SharedCaptures.bytes(name)
        try bytes.withUnsafeBytes { raw in
            let whole = try Outline(raw)
            if bytes.count < 100_000 { #expect(try Outline(raw, chunk: { 1 }) == whole) }
            #expect(try Outline(raw, chunk: { Int.random(in: 1...3_000) }) == whole)
        }
    }

    @Test("mutations", arguments: plainNames)
    func mutations(name: String) throws {
        let original = try SharedCaptures.bytes(name)
        for _ in 0..<40 {
            var bytes = original
            for _ in 0..<4 { bytes[Int.random(in: 4..<min(bytes.count, 2_000))] = UInt8.random(in: 0...255) }
            _ = try bytes.withUnsafeBytes { try Outline($0) }
        }
    }
}
