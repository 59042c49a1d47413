import ContentCodings
import Testing

@Suite("ContentDecoder")
struct ContentDecoderTests {
    struct Outcome: Equatable {
        var bytes: [UInt8] = []
        var consumed = 0
        var status = ContentDecoder.Status.needsInput
        var error: ContentCodingError.Code?
    }

    /// Feeds `input` in pieces of `piece` bytes with at most `limit` bytes of output a call.
    static func decode(
        _ coding: ContentDecoder.Coding, _ input: [UInt8], piece: Int, limit: Int = .max,
        expansion: ContentDecoder.ExpansionLimit? = nil
    ) -> Outcome {
        var decoder = ContentDecoder(coding, expansion: expansion)
        var outcome = Outcome()
        input.withUnsafeBytes { all in
            var at = 0
            while at < all.count || outcome.status == .outputFull {
                let end = at + min(all.count - at, piece)
                do throws(ContentCodingError) {
                    let progress = try decoder.decode(
                        UnsafeRawBufferPointer(rebasing: all[at..<end]), into: &outcome.bytes, limit: limit)
                    at += progress.consumed
                    outcome.status = progress.status
                    if progress.status == .trailingBytes { break }
                } catch {
                    outcome.error = error.code
                    break
                }
            }
        }
        outcome.consumed = decoder.totalConsumed
        return outcome
    }

    static let samples: [(ContentDecoder.Coding, String)] = [
        (.gzip, "gzip"), (.deflate, "zlib"), (.deflate, "raw"), (.rawDeflate, "raw"), (.brotli, "br"), (.zstd, "zstd"),
    ]

    @Test("every coding, in pieces of every size and with small output limits", arguments: samples)
    func decodes(coding: ContentDecoder.Coding, name: String) {
        let input = CodedSamples.coded(name)
        for piece in [1, 2, 3, 7, 20, input.count] {
            for limit in [1, 5, 100, Int.max] {
                let outcome = Self.decode(coding, input, piece: piece, limit: limit)
                let isRight = outcome == Outcome(bytes: CodedSamples.text, consumed: input.count, status: .atBoundary)
                #expect(
                    isRight,
                    "piece \(piece) limit \(limit): \(outcome.bytes.count) \(outcome.consumed) \(outcome.status)")
            }
        }
    }

    @Test("cut input gives a prefix and asks for more", arguments: samples)
    func truncated(coding: ContentDecoder.Coding, name: String) {
        let input = CodedSamples.coded(name)
        for length in 1..<input.count {
            let outcome = Self.decode(coding, Array(input[..<length]), piece: 11)
            #expect(outcome.status == .needsInput, "\(length)")
            #expect(outcome.error == nil)
            #expect(CodedSamples.text.starts(with: outcome.bytes))
        }
        let nearlyAll = Self.decode(coding, Array(input.dropLast(9)), piece: .max)
        #expect(coding == .brotli || coding == .zstd || nearlyAll.bytes.count > 20)
    }

    @Test("bytes after the end are told apart", arguments: samples)
    func trailing(coding: ContentDecoder.Coding, name: String) {
        let input = CodedSamples.coded(name)
        for piece in [1, 5, 1_000] {
            let outcome = Self.decode(coding, input + Array("tail".utf8), piece: piece)
            let isRight = outcome == Outcome(bytes: CodedSamples.text, consumed: input.count, status: .trailingBytes)
            #expect(isRight, "piece \(piece): \(outcome.bytes.count) \(outcome.consumed) \(outcome.status)")
        }
    }

    @Test("several gzip members, and several zstd frames with skippable ones")
    func concatenated() {
        let twice = CodedSamples.text + CodedSamples.text
        for piece in [1, 4, 1_000] {
            let gzip = Self.decode(.gzip, CodedSamples.gzip + CodedSamples.gzip, piece: piece)
            #expect(gzip.bytes == twice && gzip.status == .atBoundary)
            let frames =
                CodedSamples.zstdSkippable + CodedSamples.zstd + CodedSamples.zstdSkippable + CodedSamples.zstd
                + CodedSamples.zstdSkippable
            let zstd = Self.decode(.zstd, frames, piece: piece)
            #expect(zstd.bytes == twice && zstd.status == .atBoundary && zstd.error == nil)
        }
    }

    @Test("wrong bytes are an error, and what came before is kept", arguments: samples)
    func corrupt(coding: ContentDecoder.Coding, name: String) {
        var input = CodedSamples.coded(name)
        input[input.count / 2] ^= 0xFF
        let outcome = Self.decode(coding, input, piece: 3)
        #expect(outcome.error != nil || outcome.bytes != CodedSamples.text)
    }

    @Test("mutated input never traps")
    func mutations() {
        var random = SystemRandomNumberGenerator()
        for (coding, name) in Self.samples {
            for _ in 0..<300 {
                var input = CodedSamples.coded(name)
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    input[Int.random(in: 0..<input.count, using: &random)] = .random(in: 0...255, using: &random)
                }
                let whole = Self.decode(coding, input, piece: .max, limit: 1 << 20)
                let split = Self.decode(coding, input, piece: 3, limit: 1 << 20)
                // The libraries may sit on decoded bytes when an error follows in the same call.
                let isPrefix = split.bytes.starts(with: whole.bytes)
                #expect(isPrefix && (whole.error != nil || whole.bytes.count == split.bytes.count), "\(coding)")
                #expect(whole.error == split.error, "\(coding)")
            }
        }
    }

    @Test("a bomb stops at the expansion limit")
    func bomb() {
        let limit = ContentDecoder.ExpansionLimit(ratio: 1_000, floor: 1 << 16)
        let outcome = Self.decode(.brotli, CodedSamples.brotliZeros, piece: .max, expansion: limit)
        #expect(outcome.error == .expansionLimit)
        #expect(outcome.bytes.count == max(1 << 16, CodedSamples.brotliZeros.count * 1_000))
    }
}
