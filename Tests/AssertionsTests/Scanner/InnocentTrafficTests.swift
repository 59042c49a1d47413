import Assertions
import Foundation
import SessionTrace
import Testing

/// What must not be found, and what must not break.
@Suite("LeakScanner: innocent traffic, budgets, malformed input")
struct InnocentTrafficTests {
    typealias Samples = ScannerSamples

    private static let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

    private func scan(_ body: [UInt8], limits: ScanLimits = ScanLimits()) -> ScanResult {
        var scanner = Samples.scanner(limits: limits)
        return scanner.scan(Samples.request(body: body))
    }

    @Test(
        "look-alikes of the shape",
        arguments: [
            "xphs_Zk3vQ9xT1bLr7MwYc2HdNs8u", "my-phs_Zk3vQ9xT1bLr7MwYc2HdNs8u", "graphs_Zk3vQ9xT1bLr7MwYc2HdNs8u",
            "phs_short", "phs_123456789012345", "PHS_ZK3VQ9XT1BLR7MWYC2HDNS8U", "phs-Zk3vQ9xT1bLr7MwYc2HdNs8u",
            "phs_Zk3vQ9xT.1bLr7MwYc2HdNs8u", "%41phs_Zk3vQ9xT1bLr7MwYc2HdNs8u", "\\u0041phs_Zk3vQ9xT1bLr7MwYc2HdNs8u",
            "graphs_of_the_last_sixteen_weeks_and_more",
        ])
    func lookAlikes(text: String) {
        #expect(scan(Array("{\"a\":\"\(text)\"}".utf8)).hits.isEmpty)
        #expect(scan(Array(Data("<\(text)>".utf8).base64EncodedString().utf8)).hits.isEmpty)
        #expect(scan(Array(text.utf8.flatMap { String(format: "%02x", $0).utf8 })).hits.isEmpty)
    }

    @Test(
        "the shape where an escape stands before it",
        arguments: ["/%2Fphs_", "\\u002fphs_", "\\nphs_", "=phs_", "\"phs_", ":phs_", "\\x2Fphs_", ".phs_"])
    func afterEscapes(prefix: String) {
        #expect(scan(Array("{\"a\":\"\(prefix)Zk3vQ9xT1bLr7MwYc2HdNs8uZZ\"}".utf8)).hits.count == 1)
    }

    @Test("the neutral URL and other URLs of the host")
    func neutralURL() {
        for url in [
            "https://chia.health/continue", "https://chia.health/continue/", "https://chia.health/", "/continue/",
        ] {
            #expect(scan(Array(#"{"u":"\#(url)","v":"\#(Data(url.utf8).base64EncodedString())"}"#.utf8)) == .clean)
        }
    }

    @Test("random traffic with many needles known", arguments: 0..<8)
    func random(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        var scanner = LeakScanner(redactor: Samples.redactor)
        for number in 0..<40 {
            let token = "phs_" + generator.word(Self.letters, 32)
            scanner.learn(
                needle: Needle(number: number, kind: .handoffURL, label: "U", value: "https://chia.health/c/\(token)"))
        }
        for _ in 0..<8 {
            let request = Samples.request(
                "/v2/events?d=\(generator.word(Self.letters, 40))&id=\(UUID().uuidString)",
                fields: [
                    (
                        "Authorization",
                        "Bearer eyJhbGciOiJIUzI1NiJ9.\(generator.word(Self.letters + "-_", 180)).\(generator.word(Self.letters + "-_", 43))"
                    ),
                    ("Cookie", "sid=\(generator.word("0123456789abcdef", 64)); b=\(generator.word(Self.letters, 24))"),
                ], body: body(&generator))
            let result = scanner.scan(request)
            #expect(result == .clean, "\(result.hits.map(\.place)) \(result.gaps)")
        }
    }

    private func body(_ generator: inout SeededGenerator) -> [UInt8] {
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: return generator.bytes(20_000)
        case 1: return Array(Data(generator.bytes(15_000)).base64EncodedString().utf8)
        case 2: return Array(generator.word("0123456789abcdef", 20_000).utf8)
        case 3: return deflated(Array(generator.word(Self.letters + " \n", 30_000).utf8), windowBits: 31)
        case 4:
            let rows = (0..<60).map { row in
                #"{"id":"\#(UUID().uuidString)","name":"event \#(row)","note":"line\n\ttab \"quoted\" \/ path","stack":"at com/example/app/SomeClassName/methodName(File.kt:\#(row))\n","h":"\#(generator.word("0123456789abcdef", 40))","b":"\#(Data(generator.bytes(33)).base64EncodedString())","u":"https://img.example/a%20b/c?x=%7B%22y%22%3A1%7D"}"#
            }
            return Array(("[" + rows.joined(separator: ",") + "]").utf8)
        default:
            let fields = (0..<50).map {
                "k\($0)=\(generator.word(Self.letters, 10))%20\(generator.word(Self.letters, 30))"
            }
            return Array(fields.joined(separator: "&").utf8)
        }
    }

    @Test("budgets are told when they run out")
    func budgets() {
        func gaps(_ body: [UInt8], _ change: (inout ScanLimits) -> Void) -> [ScanGap.Reason] {
            var limits = ScanLimits()
            change(&limits)
            return scan(body, limits: limits).gaps.map(\.reason)
        }
        let zeros = deflated([UInt8](repeating: 0x20, count: 4 << 20), windowBits: 31)
        #expect(gaps(zeros) { $0.expansion = 20 } == [.budget("expansion")])
        #expect(
            gaps(zeros) {
                $0.decodedBytes = 1 << 20; $0.expansion = 10_000
            } == [.budget("decoded-bytes")])
        #expect(gaps(zeros) { $0.expansion = 10_000 } == [])

        var nested = Array(Samples.url.utf8)
        for _ in 0..<5 { nested = Array(Data([0x3C] + nested + [0x3E, 0x3E]).base64EncodedString().utf8) }
        #expect(gaps(nested) { $0.depth = 4 } == [.budget("depth")])
        #expect(scan(nested, limits: deeper(6)).hits.count == 1)

        let blobs = (0..<50).map {
            Data("{\"n\":\"\\u00\(30 + $0)x\(String(repeating: "y", count: $0))\"}".utf8).base64EncodedString()
        }
        let many = Array(("[\"" + blobs.joined(separator: "\",\"") + "\"]").utf8)
        #expect(gaps(many) { $0.views = 10 } == [.budget("views")])
        #expect(gaps(many) { _ in } == [])

        let starts = (0..<1_100).flatMap { _ in [0x78, 0x9C, 0xFD, 0xFF, 0x00, 0x81, 0x82, 0x83] as [UInt8] }
        #expect(gaps(starts) { _ in } == [.budget("zlib-guesses")])
        let parts = String(repeating: "--b\r\nContent-Type: a/b\r\n\r\nx\r\n", count: 1_100)
        #expect(gaps(Array(parts.utf8)) { _ in } == [.budget("parts")])

        let repeated = Array(String(repeating: Samples.token + " ", count: 300).utf8)
        #expect(gaps(repeated) { $0.matches = 100 } == [.budget("matches")])
        #expect(scan(repeated).hits.count == 1)
    }

    private func deeper(_ depth: Int) -> ScanLimits {
        var limits = ScanLimits()
        limits.depth = depth
        return limits
    }

    @Test("mutated input of every kind is survived", arguments: 0..<16)
    func mutated(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed) &* 977)
        let json = Array(
            #"{"a":"\u0041\n\"\#(Samples.url)\"","b":[{"c":"%7b%22\#(Samples.token)"}],"d":"\#(Data(Samples.url.utf8).base64EncodedString())"}"#
                .utf8)
        let multipart =
            Array(
                ("--b\r\nContent-Disposition: form-data; name=\"x\"\r\nContent-Encoding: gzip\r\n\r\n").utf8)
            + deflated(json, windowBits: 31)
            + Array("\r\n--b\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\na=3D=\r\nb\r\n--b--".utf8)
        let seeds: [[UInt8]] = [
            json, multipart, deflated(json, windowBits: 15), Array("a=%20&b=\(Samples.url)&\(Samples.token)".utf8),
            json + [0x0A] + json + [0x0A], Array("42[\"a\",".utf8) + json + [0x5D],
        ]
        var scanner = Samples.scanner()
        for _ in 0..<60 {
            var bytes = seeds[Int.random(in: seeds.indices, using: &generator)]
            for _ in 0..<Int.random(in: 1...12, using: &generator) where !bytes.isEmpty {
                let place = Int.random(in: bytes.indices, using: &generator)
                switch Int.random(in: 0..<5, using: &generator) {
                case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &generator)
                case 1: bytes.remove(at: place)
                case 2:
                    bytes.insert(
                        [0x22, 0x5C, 0x25, 0x7B, 0x5D, 0x0A, 0x2D, 0][Int.random(in: 0..<8, using: &generator)],
                        at: place)
                case 3: bytes.removeSubrange(place...)
                default: bytes += bytes[..<place]
                }
            }
            let fields = [
                (
                    "Content-Encoding",
                    ["gzip", "br", "zstd, deflate", "", ",,x"][Int.random(in: 0..<5, using: &generator)]
                ),
                ("Content-Type", "multipart/mixed; boundary=b"),
                ("Cookie", String(decoding: bytes.prefix(90), as: UTF8.self)),
            ]
            let result = scanner.scan(
                Samples.request(String(decoding: bytes.prefix(60), as: UTF8.self), fields: fields, body: bytes))
            #expect(result.hits.allSatisfy { !$0.place.contains(Samples.token.dropFirst(4)) })
            _ = scanner.scan(
                NameLookup(
                    connection: ConnectionID(0), seen: Samples.at, isResponse: false, isMulticast: false, name: nil,
                    rawName: Array(bytes.prefix(120)), type: 1))
        }
    }

    @Test("content that turns up again below itself")
    func cycle() {
        // A string that holds its own percent-decoding, whose blob is found in both.
        let blob = Data("{\"u\":\"\(Samples.url)\",\"v\":\"%41\"}".utf8).base64EncodedString()
        let text = "\"\(blob)\\u0025\" \"\(blob)%25\" \"\(blob)%\" \"\\u0025\""
        #expect(!scan(Array(text.utf8)).hits.isEmpty)
    }

    @Test("a run of one digit is hex of a shorter one, and of that one again: it holds nothing, and costs no depth")
    func uniform() {
        for digit in ["3", "4", "a"] {
            let run = String(repeating: digit, count: 4_000)
            #expect(scan(Array(run.utf8)) == .clean)
            #expect(
                scan(Array(#"{"a":"\#(Data(deflated(Array(run.utf8), windowBits: 15)).base64EncodedString())"}"#.utf8))
                    == .clean)
        }
    }

    @Test("a run that ends or begins as a turned stream does is turned only where there is one")
    func turned() {
        var generator = SeededGenerator(seed: 21)
        let runs = (0..<400).map { _ in "rW" + generator.word(Self.letters, 120) + "Je" }
        let body = Array(("[\"" + runs.joined(separator: "\",\"") + "\"]").utf8)
        var limits = ScanLimits()
        limits.views = 8
        #expect(scan(body, limits: limits) == .clean)
    }

    @Test("tiny inputs")
    func tiny() {
        for length in 0..<40 {
            #expect(scan(Array(repeating: 0x41, count: length)) == .clean)
            #expect(scan(Array(Samples.token.utf8.prefix(length))).hits.count == (length >= 20 ? 1 : 0))
        }
    }
}
