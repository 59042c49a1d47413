import ContentCodings
import Testing

@Suite("DecodedContent")
struct DecodedContentTests {
    @Test("Content-Encoding is read as a list in order, identity left out")
    func tokens() {
        #expect(ContentCodings.tokens(["gzip , BR", "identity,\tzstd"]) == ["gzip", "br", "zstd"])
        #expect(ContentCodings.tokens([]) == [])
    }

    @Test("a chain is undone from its last coding")
    func chain() {
        // gzip of brotliZeros would need an encoder; a stored-block gzip is made by hand instead.
        let inner = CodedSamples.brotli
        let outer = Self.storedGzip(inner)
        let result = ContentCodings.decodeAll(outer, codings: ["br", "gzip"], limit: 1 << 20)
        #expect(result == DecodedContent(bytes: CodedSamples.text, undone: [.gzip, .brotli], problems: []))
        #expect(result.isWhole)
        let wrongOrder = ContentCodings.decodeAll(outer, codings: ["gzip", "br"], limit: 1 << 20)
        #expect(!wrongOrder.problems.isEmpty)
    }

    @Test("no coding leaves the bytes as they are")
    func none() {
        #expect(
            ContentCodings.decodeAll(CodedSamples.text, codings: ["identity"], limit: 10)
                == DecodedContent(bytes: CodedSamples.text, undone: [], problems: []))
    }

    @Test("wrong labels: another coding, or none")
    func mislabelled() {
        let asBrotli = ContentCodings.decodeAll(CodedSamples.zstd, codings: ["gzip"], limit: 1 << 20)
        #expect(asBrotli.bytes == CodedSamples.text)
        #expect(asBrotli.problems == [.mislabelled("gzip", found: "zstd")])
        let plain = ContentCodings.decodeAll(CodedSamples.text, codings: ["gzip"], limit: 1 << 20)
        #expect(plain.bytes == CodedSamples.text)
        #expect(plain.problems == [.mislabelled("gzip", found: nil)])
        #expect(plain.undone == [])
    }

    @Test("problems are named")
    func problems() {
        func problem(_ bytes: [UInt8], _ codings: [String], limit: Int = 1 << 20) -> [DecodedContent.Problem] {
            ContentCodings.decodeAll(bytes, codings: codings, limit: limit).problems
        }
        #expect(problem(Array(CodedSamples.gzip.dropLast(4)), ["gzip"]) == [.truncated("gzip")])
        #expect(problem(CodedSamples.gzip + [1, 2], ["gzip"]) == [.trailingBytes("gzip", count: 2)])
        #expect(problem(CodedSamples.gzip, ["compress"]) == [.unknownCoding("compress")])
        #expect(problem(CodedSamples.gzip, ["gzip"], limit: 899) == [.outputLimit("gzip")])
        #expect(problem(CodedSamples.gzip, ["gzip"], limit: 900) == [])
        #expect(problem(CodedSamples.brotliZeros, ["br"], limit: 1 << 30) == [.expansionLimit("br")])
        #expect(
            problem(CodedSamples.gzip, Array(repeating: "gzip", count: ContentCodings.chainLimit + 1))
                == [.tooManyCodings(ContentCodings.chainLimit + 1)])
    }

    @Test("magic bytes")
    func sniff() {
        func sniff(_ bytes: [UInt8]) -> ContentDecoder.Coding? { bytes.withUnsafeBytes { ContentCodings.sniff($0) } }
        #expect(sniff(CodedSamples.gzip) == .gzip)
        #expect(sniff(CodedSamples.zlib) == .deflate)
        #expect(sniff(CodedSamples.zstd) == .zstd)
        #expect(sniff(CodedSamples.zstdSkippable) == .zstd)
        #expect(sniff(CodedSamples.text) == nil)
        #expect(sniff([]) == nil)
    }

    /// A gzip member with one stored block; its CRC is left zero where zlib checks it last, so it is computed here.
    static func storedGzip(_ content: [UInt8]) -> [UInt8] {
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in content {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        crc = ~crc
        func little(_ value: UInt32, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) }
        }
        let count = UInt32(content.count)
        return [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 1] + little(count, 2) + little(~count, 2) + content
            + little(crc, 4) + little(count, 4)
    }
}
