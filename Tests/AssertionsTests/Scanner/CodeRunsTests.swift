import Foundation
import Testing

@testable import Assertions

/// Bytes that are written as numbers, and streams without a mark.
@Suite("LeakScanner: bytes as numbers, streams without a mark")
struct CodeRunsTests {
    private static let url = Array(ScannerSamples.url.utf8)

    private func places(_ body: String) -> [String] { places(Array(body.utf8)) }

    private func places(_ body: [UInt8]) -> [String] {
        var scanner = ScannerSamples.scanner()
        let result = scanner.scan(ScannerSamples.request(body: body))
        #expect(result.gaps == [])
        return result.hits.map(\.place)
    }

    private func numbers(_ bytes: [UInt8], _ separator: String = ",", isSigned: Bool = false) -> String {
        bytes.map { isSigned ? "\(Int8(bitPattern: $0))" : "\($0)" }.joined(separator: separator)
    }

    @Test("an array of bytes, at any place of a text", arguments: 0..<24)
    func arrays(offset: Int) {
        let pad = String(repeating: "x", count: offset)
        #expect(places(#"{"\#(pad)":[\#(numbers(Self.url))]}"#) == ["body → codes"])
        #expect(places("\(pad) [\n  \(numbers(Self.url, ",\n  "))\n]") == ["body → codes"])
        #expect(places(#"{"type":"Buffer","\#(pad)":1234,"data":[\#(numbers(Self.url, ", "))]}"#) == ["body → codes"])
    }

    @Test("what the bytes are is looked into, negative ones as Java writes them too")
    func layers() {
        let gzip = SampleEncoding.gzip.encode(Self.url)
        #expect(places("[\(numbers(gzip))]") == ["body → codes → gzip"])
        #expect(places("[\(numbers(gzip, isSigned: true))]") == ["body → codes → gzip"])
        let inner = SampleEncoding.base64.encode(Array("[\(numbers(Self.url))]".utf8))
        #expect(places(#"{"a":"\#(String(decoding: inner, as: UTF8.self))"}"#) == ["body → json:/a → base64 → codes"])
    }

    @Test("an object of counted members")
    func members() {
        let members = Self.url.enumerated().map { "\"\($0.offset)\":\($0.element)" }.joined(separator: ",")
        #expect(places("{\"v\":{\(members)}}") == ["body → codes"])
        // What is out of order is no such object.
        let others = Self.url.enumerated().map { "\"\($0.offset * 2)\":\($0.element)" }.joined(separator: ",")
        #expect(places("{\"v\":{\(others)}}").isEmpty)
    }

    @Test("numbers that are none of a byte, or too few")
    func others() {
        func runs(_ text: String) -> [[UInt8]] {
            Array(text.utf8).withUnsafeBytes { bytes in
                var runs = CodeRuns(bytes)
                var found: [[UInt8]] = []
                var output: [UInt8] = []
                while runs.nextRun(into: &output) != nil { found.append(output) }
                return found
            }
        }
        let ten = numbers(Array(100..<110))
        #expect(runs(ten) == [Array(100..<110)])
        #expect(runs("1024,\(ten),300,\(ten)") == [Array(100..<110), Array(100..<110)])
        #expect(runs("x\(ten)y\(ten).5,\(ten)").first == Array(100..<110))
        #expect(runs(numbers(Array(100..<107))).isEmpty)
        #expect(runs((0..<40).map { "\(1_000 + $0)" }.joined(separator: ",")).isEmpty)
        #expect(runs("-129,-130,-200,-300,-400,-500,-600,-700,-800").isEmpty)
        #expect(runs(String(repeating: " ,-", count: 400)).isEmpty)
        for length in 0..<60 { _ = runs(String(repeating: "104,", count: length) + "1") }
    }

    @Test("deflate without a header: with fixed codes, with codes of its own, in several blocks")
    func rawDeflate() {
        let json = Array(#"{"u":"\#(ScannerSamples.url)"}"#.utf8)
        var generator = SeededGenerator(seed: 6)
        let long = json + Array((0..<6_000).map { _ in "\(generator.word("abcdefgh ", 5)):" }.joined().utf8)
        for text in [json, long, long + long.reversed() + long] {
            let raw = deflated(text, windowBits: -15)
            #expect(places(raw) == ["body → deflate → json:/u"])
            let base64 = Data(raw).base64EncodedString()
            #expect(places(#"{"z":"\#(base64)"}"#) == ["body → json:/z → base64 → deflate → json:/u"])
        }
        let part =
            Array("--b\r\nContent-Disposition: form-data; name=\"z\"\r\n\r\n".utf8) + deflated(json, windowBits: -15)
            + Array("\r\n--b--\r\n".utf8)
        #expect(places(part) == ["body → multipart:z → deflate → json:/u"])
    }

    @Test("random bytes are hardly ever taken for such a stream")
    func randomBytes() {
        var generator = SeededGenerator(seed: 12)
        var plausible = 0
        for _ in 0..<20_000 {
            let bytes = generator.bytes(40)
            if bytes.withUnsafeBytes(DeflateGuess.isPlausible) { plausible += 1 }
            #expect(bytes.withUnsafeBytes { DeflateGuess.text(in: $0, limit: 1 << 16) } == nil)
        }
        #expect(plausible < 1_400)
    }
}
