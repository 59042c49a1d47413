import Assertions
import SessionTrace

/// Made-up values for the scanner's tests; none was ever valid anywhere.
enum ScannerSamples {
    static let token = "phs_Zk3vQ9xT1bLr7_MwYc2-HdNs8uEj5PaG"
    static let url = "https://chia.health/continue/\(token)"
    static let urlWithQuery = "https://www.chia.health/start?s=\(token)&v=2"
    static let key: [UInt8] = Array("a key for tests only, 32 bytes..".utf8)
    static let redactor = Redactor(installationKey: key)
    static let at = PacketReference(number: 7, time: Instant(nanoseconds: 1_000_000_000))

    static let needle = Needle(number: 1, kind: .handoffURL, label: "U#1", value: url)

    /// One that knows `url` with the usual limits; teaching it takes a while without optimisation.
    private static let taught = makeScanner(limits: ScanLimits())

    /// A scanner that knows `url`.
    static func scanner(limits: ScanLimits = ScanLimits()) -> LeakScanner {
        limits == ScanLimits() ? taught : makeScanner(limits: limits)
    }

    private static func makeScanner(limits: ScanLimits) -> LeakScanner {
        var scanner = LeakScanner(limits: limits, redactor: redactor)
        scanner.learn(needle: needle)
        return scanner
    }

    /// Letters, digits, `-` and `_`.
    static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F, 0x2D: true
        default: false
        }
    }

    static func request(
        _ target: String = "/v1/batch", method: String = "POST", fields: [(String, String)] = [],
        trailers: [(String, String)] = [], body: [UInt8] = []
    ) -> Request {
        var section = FieldSection()
        section.append("Host", "collector.example")
        for (name, value) in fields { section.append(name, value) }
        var trailer = FieldSection()
        for (name, value) in trailers { trailer.append(name, value) }
        return Request(
            method: method, target: target, scheme: "https", authority: "collector.example", fields: section,
            trailers: trailer,
            body: Body(bytes: body, length: body.count, missing: 0, isComplete: true, isCut: false), started: at,
            ended: at)
    }
}

/// A small generator with a fixed sequence (SplitMix64), so that failures repeat.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &self) }
    }

    mutating func word(_ alphabet: String, _ count: Int) -> String {
        let letters = Array(alphabet)
        return String((0..<count).map { _ in letters[Int.random(in: letters.indices, using: &self)] })
    }
}
