import Assertions
import Crypto
import SessionTrace
import Testing

/// One case of each kind of miss, double report and chain that led elsewhere, as the whole matrix (`make scanner-matrix`)
/// showed them: found once, told so.
@Suite("LeakScanner: chains")
struct LeakChainTests {
    /// What is sent, how, where, and how it is told.
    struct Case: CustomTestStringConvertible, Sendable {
        var value: String
        var chain: [SampleEncoding]
        var place: String
        var told: String

        init(_ value: String, _ chain: [SampleEncoding], _ place: String, _ told: String) {
            self.value = value
            self.chain = chain
            self.place = place
            self.told = told
        }

        var testDescription: String { "\(value), \(chain.map(\.rawValue)), \(place)" }
    }

    private static let url = ScannerSamples.url
    private static let token = ScannerSamples.token

    private static func place(_ name: String) throws -> LeakPlace {
        try #require(LeakPlace.all.first { $0.description == name || $0.description == name + " " })
    }

    static let cases: [Case] = [
        // Text of two bytes a character beside the separator of two places.
        Case(url, [.percent, .utf16LittleEndian], "header:referer", "header:referer → percent → utf-16le"),
        // A row over several pages, a string in chunks: what one piece shows is not told beside the whole.
        Case(url, [.unicodeEscaped, .jsonNested], "body SQLite page", "body → sqlite → escapes → escapes → json:/a/1"),
        Case(url, [.htmlHex, .base32], "body SQLite page", "body → sqlite → html → base32"),
        Case(url, [.jsonNested, .base64], "body CBOR in chunks", "body → cbor → escapes → json:/a/1 → base64"),
        // A percent sign that is a length is no escape; a bracket that is one begins no JSON, a backslash no escape.
        Case(url, [.base32Hex, .base64URL], "body SQLite page", "body → base32hex → base64"),
        Case(url, [.jsonSlash, .base58], "body MessagePack", "body → base58"),
        Case(url, [.jsonSlash, .base58], "body protobuf", "body → base58"),
        Case("hs-9f2c41d07ab3", [.hexEscaped, .deflate], "body protobuf", "body → escapes → deflate"),
        // Quoted-printable within a JSON string of a JSON string.
        Case(
            url, [.quotedPrintable, .jsonNested], "body JSON in a string",
            "body → json:/payload → json:/a/1 → quoted-printable → escapes → json:/a/1"),
        Case(
            "crafted-value-5f1e77", [.quotedPrintable, .jsonSlash], "body json:/events/1/props/link",
            "body → json:/events/1/props/link → quoted-printable"),
        // No budget runs out: two percent-encodings are one layer.
        Case(url, [.percentDouble, .base64Second], "body file name", "body → multipart:f → base64"),
        Case(url, [.percentDouble, .percentDouble], "body UTF-16 JSON", "body → utf-16le → json:/u"),
        // Escapes, lengths and other bytes of a decoding before a value that is read whole.
        Case(url, [.base64Third, .base32], "body whole", "body → base64 → base32"),
        Case(url, [.jsonSlash, .base32], "body form:data", "body → form:data → base32"),
        // Padding before a line break joins no lines.
        Case(url, [.base64, .base32], "body multipart:report", "body → multipart:report → base64 → base32"),
        Case(url, [.percentAll, .base32], "path", "path → percent → base32"),
        // A name goes on behind the value, and may begin before it.
        Case(token, [.base32Hex, .hexLower], "dns-name labels", "dns-name → base32hex → hex"),
        Case(token, [.base32Hex, .hexLower], "server-name labels", "server-name → base32hex → hex"),
        // Short values, of which two encodings make less text than is decoded.
        Case("hs-9f2c41d07ab3", [.base58, .jsonUnicode], "header:referer", "header:referer → base58"),
        Case("hs-9f2c41d07ab3", [.base58, .reversed], "header:referer", "header:referer → base58 → reversed"),
        // Nothing undoes what is turned round, so percent-encoding of percent-encoding is entered as a pattern.
        Case(
            "https://chia.health/begin/glp1-month-0042", [.reversed, .percentDouble], "body whole",
            "body → reversed → percent → percent"),
        // Two encodings that lengthen nothing, of a value so short that base64 or UTF-16 around them is not undone.
        Case(
            "item-4711-abcdef", [.reversed, .rot13], "body data: URL", "body → json:/img → base64 → rot13 → reversed"),
        Case("hs-9f2c41d07ab3", [.rot13, .reversed], "body data: URL", "body → json:/img → base64 → rot13 → reversed"),
        Case(
            "hs-9f2c41d07ab3", [.reversed, .rot13], "body binary property list, UTF-16",
            "body → utf-16be → rot13 → reversed"),
        // The length before a text reads as a field's name, padding that was turned round as its equals sign.
        Case(url, [.reversed, .base64], "body binary property list, UTF-16", "body → utf-16be → reversed → base64"),
        // A compressed value whose base64 was turned round or moved.
        Case(
            url, [.reversed, .base64, .gzip], "body json:/events/1/props/link",
            "body → json:/events/1/props/link → reversed → base64 → gzip"),
        Case(url, [.rot13, .base64URL, .deflate], "header:referer", "header:referer → rot13 → base64url → deflate"),
        Case(url, [.reversed, .base64URL, .deflate], "body protobuf", "body → reversed → base64url → deflate"),
        Case(url, [.rot13, .base64, .gzip], "body MessagePack", "body → rot13 → base64 → gzip"),
        // A declared coding that stores a part as it is.
        Case(url, [.jsonSlash, .jsonUnicode], "body json:/u deflate", "body → deflate → json:/u → escapes → escapes"),
        Case(
            "disclosure-2026-03", [.base32Lower, .hexSpaced], "body multipart:log coded part",
            "body → multipart:log → gzip → base32 → hex"),
    ]

    @Test("found once, and told by the way that leads to it", arguments: cases)
    func told(_ sample: Case) throws {
        var scanner = LeakMatrix.scanner()
        let encoded = sample.chain.reversed().reduce(Array(sample.value.utf8)) { $1.encode($0) }
        let result = try Self.place(sample.place).scan(encoded, with: &scanner).result
        #expect(result.hits.map(\.place) == [sample.told])
        #expect(result.gaps == [])
    }

    @Test("a digest under an encoding, at the places where it was missed")
    func digests() throws {
        var scanner = LeakMatrix.scanner()
        let md5 = HashFunction.md5.digest(of: Array(Self.url.utf8))
        let sha256 = HashFunction.sha256.digest(of: Array(Self.url.utf8))
        let cases: [([UInt8], [SampleEncoding], String, String)] = [
            (md5, [.jsonNested, .base64], "body CBOR in chunks", "body → cbor → escapes → json:/a/1 → base64 → md5"),
            (
                sha256, [.percent], "body JSON in a string",
                "body → json:/payload → json:/a/1 → percent → sha256"
            ),
            (md5, [.base64Second], "body binary property list, UTF-16", "body → utf-16be → base64 → md5"),
            (md5, [.base64Second], "body gRPC, compressed", "body → gzip → base64 → md5"),
            (md5, [.base64Third], "header-name:*", "header-name:‹random› → base64 → md5"),
        ]
        for (digest, chain, place, told) in cases {
            let encoded = chain.reversed().reduce(digest) { $1.encode($0) }
            #expect(try Self.place(place).scan(encoded, with: &scanner).result.hits.map(\.place) == [told])
        }
        // Markup around quoted-printable escapes what that left as it was.
        for function in LeakMatrix.functions {
            for value in LeakMatrix.hashed {
                let faults = LeakMatrix.digestFaults(
                    function.digest(of: value), under: [.quotedPrintable], in: [try Self.place("body XML")], &scanner)
                #expect(faults == [])
            }
        }
    }

    @Test("a value among much base64, at any place of it", arguments: [0, 1, 7, 12, 23])
    func longRun(offset: Int) {
        var scanner = LeakScanner(redactor: ScannerSamples.redactor)
        var generator = SeededGenerator(seed: 5)
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
        for (encoding, step) in [(SampleEncoding.base32, "base32"), (.hexLower, "hex"), (.base32Lower, "base32")] {
            let text =
                Array(generator.word(letters, 30_000 + offset).utf8) + [0x2F]
                + encoding.encode(Array(Self.token.utf8)) + [0x2B] + Array(generator.word(letters, 20_000).utf8)
            let hits = scanner.scan(bytes: text, location: "message").hits
            #expect(hits.map(\.place) == ["message → \(step)"])
            #expect(hits.first?.matchedDigest == ScannerSamples.redactor.digest(Self.token))
        }
    }

    @Test("every place carries something, or says why it can't", arguments: LeakPlace.all)
    func refusals(place: LeakPlace) {
        let encoded = LeakMatrix.chains.map { chain in
            (chain, chain.reversed().reduce(Array(Self.token.utf8)) { $1.encode($0) })
        }
        #expect(encoded.contains { place.refusal(of: $0.1, under: $0.0) == nil })
        // Lines and bytes that are no text are refused where a text of one line stands, and nowhere else.
        let gzip = SampleEncoding.gzip.encode(Array(Self.token.utf8))
        #expect((place.refusal(of: gzip, under: [.gzip]) == nil) == (place.capacity == .binary))
    }

    @Test("brotli as the samples write it is what the decoder reads")
    func brotliSample() {
        for length in [6, 7, 9, 65, 129, 577, 578, 6_300, 30_000] {
            let text = Array(String(repeating: "a text to be coded; ", count: 2_000).utf8.prefix(length))
            #expect(Replay.undone(BrotliWriter.encode(text), coding: "br") == text)
        }
    }
}
