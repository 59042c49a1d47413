import Foundation
import Testing

@testable import Assertions

/// Values that a container cuts into chunks, and bytes that only look as if one did.
@Suite("LeakScanner: chunks")
struct ContainerChunksTests {
    private static let token = "phs_abcWdefghijklmnopqrstu2"

    /// A scanner that knows `token`.
    private func scan(_ body: [UInt8]) -> ScanResult {
        var scanner = LeakScanner(redactor: ScannerSamples.redactor)
        scanner.learn(
            needle: Needle(number: 4, kind: .handoffURL, label: "U#4", value: "https://chia.health/h/\(Self.token)"))
        return scanner.scan(ScannerSamples.request(body: body))
    }

    private func places(_ body: [UInt8]) -> [String] { scan(body).hits.filter { $0.needle != nil }.map(\.place) }

    /// An array with one string in chunks as CBOR reads it, though a letter of `text` is what it takes for a chunk's head.
    private func lookAlike(_ text: String) throws -> [UInt8] {
        let bytes = Array(text.utf8)
        func following(_ place: Int) -> Int { bytes.count - place - 1 }
        let head = try #require(
            bytes.indices.last {
                (0x44...0x57).contains(bytes[$0]) && (4...Int(bytes[$0] & 31)).contains(following($0))
            })
        let tail = [UInt8](repeating: 0x2E, count: Int(bytes[head] & 31) - following(head))
        let body = [0x81, 0x5F, 0x58, UInt8(head + 1), 0x2E] + bytes + tail + [0xFF]
        try #require(body.withUnsafeBytes { CBORChunks($0)?.strings.count } == 1)
        return body
    }

    @Test("a token one of whose letters reads as the head of a chunk")
    func letters() throws {
        #expect(places(try lookAlike(Self.token)) == ["body"])
    }

    @Test("encodings of it of which one does", arguments: [SampleEncoding.base64, .base64URL, .base32])
    func encodedLetters(encoding: SampleEncoding) throws {
        let text = String(decoding: encoding.encode(Array(Self.token.utf8)), as: UTF8.self)
        #expect(places(try lookAlike(text)).count == 1)
    }

    @Test("a database whose pages are said to lie where a token stands")
    func crafted() {
        // The first page's one cell claims a row that goes on in the second, which is no page of it at all.
        let text = Array("x=\(Self.token)&".utf8)
        var database = SQLitePages.database(holding: Array(repeating: 0x41, count: 900))
        for place in [600, 1_022, 1_026, 1_100, 1_500] where place + text.count < database.count {
            var bytes = database
            bytes.replaceSubrange(place..<place + text.count, with: text)
            #expect(places(bytes).count == 1, "\(place)")
        }
        database += text
        #expect(places(database).count == 1)
    }

    @Test("a string in chunks is told once, as what they make together")
    func chunked() {
        func chunks(_ value: [UInt8], _ size: Int) -> [UInt8] {
            [0xA1, 0x61, 0x75, 0x5F]
                + stride(from: 0, to: value.count, by: size).flatMap { start -> [UInt8] in
                    let chunk = value[start..<min(start + size, value.count)]
                    return [0x58, UInt8(chunk.count)] + chunk
                } + [0xFF]
        }
        let value = Array("https://chia.health/h/\(Self.token)?x=1".utf8)
        for size in [8, 13, 30, 47] {
            let result = scan(chunks(value, size))
            #expect(result.hits.count == 1 && result.pieces.isEmpty, "\(size): \(result.hits.map(\.place))")
        }
        // Of a token that nobody taught, what one chunk shows is not told beside the whole.
        var untaught = LeakScanner(redactor: ScannerSamples.redactor)
        let long = Array((Self.token + Self.token.dropFirst(4)).utf8)
        let hits = untaught.scan(ScannerSamples.request(body: chunks(long, 25))).hits
        #expect(hits.map(\.matched) == [Secret(long)])
        // A part of a token, once, as long as the chunks make it.
        let part = Array(("....." + Self.token.dropFirst(4).prefix(19) + ".").utf8)
        #expect(scan(chunks(part, 9)).pieces.map(\.range) == [0..<19])
    }

    @Test("many chunks and many marks are looked up in little time")
    func many() {
        // A hundred thousand strings, a mark of gzip in each.
        let strings = (0..<100_000).flatMap { _ in [0x5F, 0x44, 0x1F, 0x8B, 0x08, 0x00, 0xFF] as [UInt8] }
        let body = [0x9A, 0x00, 0x01, 0x86, 0xA0] + strings
        #expect(scan(body).hits.isEmpty)
    }
}
