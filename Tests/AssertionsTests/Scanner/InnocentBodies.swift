import Assertions
import Foundation
import SessionTrace

/// Requests as apps send them, full of what looks like a secret and is none: random tokens of a handoff token's length
/// and alphabet, other people's base64, digests, compressed batches, credentials, cookies. The same seed makes the same
/// traffic.
struct InnocentBodies {
    private var generator: SeededGenerator
    private static let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    private static let tokenLetters = letters + "-_"
    private static let words = [
        "screen", "view", "open", "close", "tap", "network", "battery", "locale", "version", "build", "checkout",
        "cart",
        "product", "image", "error", "timeout", "retry", "session", "health", "partner", "continue", "start",
    ]

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    /// The next request, with about `size` bytes of body.
    mutating func next(size: Int) -> Request {
        ScannerSamples.request(
            "/v2/events?d=\(word(Self.letters, 40))&id=\(uuid())&t=\(word(Self.tokenLetters, 32))",
            fields: [
                (
                    "Authorization",
                    "Bearer eyJhbGciOiJIUzI1NiJ9.\(word(Self.tokenLetters, 180)).\(word(Self.tokenLetters, 43))"
                ),
                ("Cookie", "sid=\(word("0123456789abcdef", 64)); last=\(token())"),
                ("User-Agent", "PartnerApp/3.1 CFNetwork/1490 Darwin/23.0"),
            ], body: body(size))
    }

    private mutating func body(_ size: Int) -> [UInt8] {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: return generator.bytes(size)
        case 1: return Array(Data(generator.bytes(size * 3 / 4)).base64EncodedString().utf8)
        case 2: return Array(word("0123456789abcdef", size).utf8)
        case 3: return deflated(rows(size * 3), windowBits: 31)
        case 4: return zstdCompressed(rows(size * 3))
        case 5:
            return Array(
                (0..<size / 60).map { "k\($0)=\(word(Self.letters, 10))%20\(token())" }.joined(separator: "&").utf8)
        case 6:
            return Array((0..<size / 10).map { _ in pick() }.joined(separator: " ").utf8)
        default: return rows(size)
        }
    }

    /// A JSON batch of events.
    private mutating func rows(_ size: Int) -> [UInt8] {
        Array(
            ("["
                + (0..<max(1, size / 420)).map { row in
                    #"{"id":"\#(uuid())","name":"\#(pick())_\#(pick())","note":"line\n\ttab \"quoted\" \/ path","stack":"at com/example/app/SomeClassName/methodName(File.kt:\#(row))\n","h":"\#(word("0123456789abcdef", 64))","b":"\#(Data(generator.bytes(33)).base64EncodedString())","t":"\#(token())","u":"https://img.example/a%20b/c?x=%7B%22y%22%3A1%7D&k=\#(token())","x":"&#3\#(row % 10);&amp;"}"#
                }.joined(separator: ",") + "]").utf8)
    }

    /// Length and alphabet of a handoff token's body.
    private mutating func token() -> String { word(Self.tokenLetters, 32) }

    private mutating func pick() -> String { Self.words[Int.random(in: Self.words.indices, using: &generator)] }

    private mutating func word(_ alphabet: String, _ count: Int) -> String {
        let letters = Array(alphabet.utf8)
        var text = ""
        // One word in sixteen million would be a token as good as any.
        repeat {
            text = String(
                decoding: (0..<count).map { _ in letters[Int.random(in: letters.indices, using: &generator)] },
                as: UTF8.self)
        } while text.hasPrefix("phs_")
        return text
    }

    private mutating func uuid() -> String {
        let digits = word("0123456789abcdef", 32)
        var parts: [Substring] = []
        var rest = digits[...]
        for length in [8, 4, 4, 4, 12] {
            parts.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return parts.joined(separator: "-")
    }

    /// Ten values of a session or two.
    static let needles: [Needle] = {
        var generator = SeededGenerator(seed: 4_711)
        func hex(_ count: Int) -> String { generator.word("0123456789abcdef", count) }
        var values: [(Needle.Kind, String)] = []
        for _ in 0..<3 {
            values.append((.handoffURL, "https://chia.health/h/phs_" + generator.word(tokenLetters, 32)))
        }
        for _ in 0..<3 { values.append((.idempotencyKey, "\(hex(8))-4c1d-4f5a-9d55-\(hex(12))")) }
        for _ in 0..<2 { values.append((.sessionIdentifier, "hs-" + hex(12))) }
        values.append((.catalogID, "item-4711-abcdef"))
        values.append((.canary, "crafted-value-5f1e77"))
        return values.enumerated().map { number, value in
            Needle(number: number, kind: value.0, label: "needle#\(number)", value: value.1)
        }
    }()

    /// A scanner that knows them.
    static func scanner() -> LeakScanner {
        var scanner = LeakScanner(redactor: ScannerSamples.redactor)
        for needle in needles { scanner.learn(needle: needle) }
        return scanner
    }
}
