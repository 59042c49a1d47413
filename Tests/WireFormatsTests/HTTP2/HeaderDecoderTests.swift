import Foundation
import SessionTrace
import Testing

@testable import WireFormats

/// Both HPACK decoders on the stories of http2jp/hpack-test-case (MIT; `vectors/hpack`), and against each other.
@Suite struct HeaderDecoderTests {
    struct Case {
        var wire: [UInt8]
        var fields: [Pair]
    }

    struct Pair: Hashable {
        var name: [UInt8]
        var value: [UInt8]
        var isKnown = true
    }

    static let stories: [(String, [Case])] = {
        guard let folder = HTTP2Fixtures.shared?.appendingPathComponent("vectors/hpack"),
            let names = try? FileManager.default.subpathsOfDirectory(atPath: folder.path)
        else { return [] }
        return names.filter { $0.hasSuffix(".json") }.sorted().compactMap { name in
            guard let data = try? Data(contentsOf: folder.appendingPathComponent(name)),
                let story = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any],
                let cases = story["cases"] as? [[String: Any]]
            else { return nil }
            return (name, cases.compactMap(Self.readCase))
        }
    }()

    @Test(.enabled(if: !stories.isEmpty, "shared vectors are not there"))
    func storiesDecodeAlikeWithBoth() throws {
        #expect(Self.stories.count >= 20)
        var count = 0
        for (name, cases) in Self.stories {
            let exact = try #require(HeaderInflater())
            var tolerant = TolerantHeaderDecoder(startSeen: true)
            for (index, entry) in cases.enumerated() {
                var fromExact = BoundedFields(byteLimit: 1 << 20, countLimit: 1_000)
                var fromTolerant = fromExact
                let isRead = entry.wire.withUnsafeBytes { exact.decode($0, isCut: false, into: &fromExact) }
                let outcome = entry.wire.withUnsafeBytes { tolerant.decode($0, into: &fromTolerant) }
                #expect(isRead && outcome == .whole, "\(name) case \(index)")
                #expect(Self.pairs(fromExact.section) == entry.fields, "\(name) case \(index)")
                #expect(Self.pairs(fromTolerant.section) == entry.fields, "\(name) case \(index)")
                count += 1
            }
        }
        #expect(count > 150)
    }

    /// Joined before any case: what is said to be known is true, and what is not is said to be unknown.
    @Test(.enabled(if: !stories.isEmpty, "shared vectors are not there"))
    func joinedInTheMiddleNothingIsGuessed() {
        var known = 0
        var unknown = 0
        for (name, cases) in Self.stories {
            for start in stride(from: 0, to: cases.count, by: 2) {
                var decoder = TolerantHeaderDecoder(startSeen: false)
                for (index, entry) in cases.enumerated().dropFirst(start) {
                    var fields = BoundedFields(byteLimit: 1 << 20, countLimit: 1_000)
                    let outcome = entry.wire.withUnsafeBytes { decoder.decode($0, into: &fields) }
                    let read = Self.pairs(fields.section)
                    #expect(outcome == .whole)
                    #expect(read.count == entry.fields.count, "\(name) from \(start), case \(index)")
                    for (one, other) in zip(read, entry.fields) {
                        if one.isKnown {
                            known += 1
                            #expect(one == other, "\(name) from \(start), case \(index)")
                        } else {
                            unknown += 1
                            #expect(one.name.isEmpty || one.name == other.name)
                            #expect(one.value.isEmpty || one.value == other.value)
                        }
                    }
                }
            }
        }
        // Stories without a dynamic table lose nothing; the others lose little after a while.
        #expect(unknown > 100 && known > unknown, "\(known) known, \(unknown) unknown")
    }

    @Test func everyStaticEntryIsTheLibrarys() throws {
        for index in 1...StaticHeaderTable.entries.count {
            let exact = try #require(HeaderInflater())
            var fields = BoundedFields(byteLimit: 1_000, countLimit: 10)
            let isRead = [0x80 | UInt8(index)].withUnsafeBytes { exact.decode($0, isCut: false, into: &fields) }
            #expect(isRead)
            let entry = StaticHeaderTable.entries[index - 1]
            #expect(Self.pairs(fields.section) == [Pair(name: entry.name, value: entry.value)])
        }
    }

    // MARK: The table that is not known

    @Test func indexesBeyondTheSeenInsertionsAreUnknown() {
        var decoder = TolerantHeaderDecoder(startSeen: false)
        // :path literal inserted, then: the insertion (62), the one before it (63), a literal named by 63.
        let block =
            HTTP2Fixtures.inserted("x-a", "1") + [0xBE, 0xBF] + [0x7F, 0x00] + HTTP2Fixtures.string("v") + [0xBE, 0xBF]
        #expect(
            decode(&decoder, block).fields == [
                known("x-a", "1"), known("x-a", "1"), Pair(name: [], value: [], isKnown: false),
                Pair(name: [], value: Array("v".utf8), isKnown: false),
                // The newest is now the one with the unknown name; x-a has moved one on.
                Pair(name: [], value: Array("v".utf8), isKnown: false), known("x-a", "1"),
            ])
    }

    @Test func aTableSetToNothingIsKnownAgain() {
        var decoder = TolerantHeaderDecoder(startSeen: false)
        // Size 0, then 4096: nothing of the past is left, so that a wrong index is a fault and not "unknown".
        var result = decode(&decoder, [0x20, 0x3F, 0xE1, 0x1F] + HTTP2Fixtures.inserted("x-a", "1") + [0xBE])
        #expect(result.outcome == .whole)
        #expect(result.fields == [known("x-a", "1"), known("x-a", "1")])
        result = decode(&decoder, [0xBF])
        #expect(result.outcome == .broken("index 63 is outside the header table"))
        #expect(result.fields == [Pair(name: [], value: [], isKnown: false)])
    }

    @Test func aFullTableHoldsNothingUnknown() {
        var decoder = TolerantHeaderDecoder(startSeen: false)
        // Capacity 100; two entries of 36 bytes leave 28, less than the smallest entry.
        let two = HTTP2Fixtures.inserted("x-a", "1") + HTTP2Fixtures.inserted("x-b", "2")
        #expect(decode(&decoder, HTTP2Fixtures.integer(100, prefix: 5, pattern: 0x20) + two).outcome == .whole)
        #expect(decode(&decoder, [0xBF]).fields == [known("x-a", "1")])
        #expect(decode(&decoder, [0xC0]).outcome == .broken("index 64 is outside the header table"))
        // A third insertion evicts the first.
        let third = decode(&decoder, HTTP2Fixtures.inserted("x-c", "3") + [0xBF, 0xC0])
        #expect(third.fields.dropFirst().first == known("x-b", "2"))
        #expect(third.outcome == .broken("index 64 is outside the header table"))
    }

    @Test func anEntryOfUnknownSizeEvictsOnlyWhatItMust() {
        var decoder = TolerantHeaderDecoder(startSeen: false)
        let setUp = HTTP2Fixtures.integer(110, prefix: 5, pattern: 0x20) + HTTP2Fixtures.inserted("x-a", "1")
        // 36 + at least 33: both may be there, and so may an older one of up to 41 bytes.
        let result = decode(&decoder, setUp + [0x7F, 0x10] + HTTP2Fixtures.string("v") + [0xBF, 0xC0])
        #expect(result.outcome == .whole)
        #expect(result.fields.suffix(2) == [known("x-a", "1"), Pair(name: [], value: [], isKnown: false)])
    }

    @Test func anEntryLargerThanTheTableEmptiesIt() {
        var decoder = TolerantHeaderDecoder(startSeen: true)
        let large = HTTP2Fixtures.inserted("x-large", String(repeating: "v", count: 5_000))
        let result = decode(&decoder, HTTP2Fixtures.inserted("x-a", "1") + large + [0xBE])
        #expect(result.fields.count == 3)
        #expect(result.outcome == .broken("index 62 is outside the header table"))
    }

    @Test func brokenBlocksEndInOneUnknownField() {
        let tables: [[UInt8]] = [
            [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],  // integer without end
            [0xFF, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01],  // and one of too many octets
            [0x40, 0x03, 0x61],  // name cut
            [0x40, 0x01, 0x61, 0x05, 0x62],  // value cut
            [0x40],
        ]
        for block in tables {
            var decoder = TolerantHeaderDecoder(startSeen: true)
            let result = decode(&decoder, [0x82] + block)
            #expect(result.fields == [known(":method", "GET"), Pair(name: [], value: [], isKnown: false)], "\(block)")
            guard case .broken = result.outcome else {
                Issue.record("\(block) should be broken")
                continue
            }
            // From here on the table is unknown, not empty.
            #expect(decode(&decoder, [0xBE]).outcome == .whole)
        }
    }

    @Test func brokenHuffmanCodingCostsOneString() {
        var decoder = TolerantHeaderDecoder(startSeen: true)
        let result = decode(&decoder, [0x40, 0x01, 0x61, 0x81, 0x00, 0x82])
        #expect(result.fields == [Pair(name: [0x61], value: [], isKnown: false), known(":method", "GET")])
        #expect(result.outcome == .broken("Huffman coding of a field value is broken"))
    }

    @Test func limitsOfASection() {
        // One insertion of 4,000 bytes named 1,000 times by one octet each.
        let block =
            HTTP2Fixtures.inserted("x", String(repeating: "v", count: 3_900)) + [UInt8](repeating: 0xBE, count: 1_000)
        for startSeen in [true, false] {
            var decoder = HeaderDecoder(startSeen: startSeen, byteLimit: 64 << 10, countLimit: 100)
            let section = block.withUnsafeBytes { decoder.decode($0) }
            #expect(section.fields.storage.count <= 64 << 10)
            #expect(section.fields.hasUnknownFields && section.complaint != nil)
            // The table is right all the same.
            let next = [UInt8](arrayLiteral: 0xBE).withUnsafeBytes { decoder.decode($0) }
            #expect(next.fields.first("x")?.count == 3_900)
            let many = [UInt8](repeating: 0x82, count: 200).withUnsafeBytes { decoder.decode($0) }
            #expect(many.fields.fields.count == 101 && many.complaint != nil)
        }
    }

    @Test func theTableIsBounded() {
        var decoder = TolerantHeaderDecoder(startSeen: false)
        let value = String(repeating: "v", count: 10_000)
        for number in 0..<200 {
            _ = decode(&decoder, HTTP2Fixtures.inserted("x-\(number)", value))
        }
        // The newest ones within the bound are there, older ones are unknown.
        let kept = TolerantHeaderDecoder.largestTable / 10_040
        #expect(decode(&decoder, HTTP2Fixtures.integer(62 + kept - 2, prefix: 7, pattern: 0x80)).fields[0].isKnown)
        #expect(
            decode(&decoder, HTTP2Fixtures.integer(62 + kept + 2, prefix: 7, pattern: 0x80)).fields[0].isKnown == false)
        let exact = HeaderDecoder(startSeen: true, byteLimit: 1_000, countLimit: 10)
        #expect(exact.isExact)
    }

    @Test func aBrokenBlockTurnsTheExactDecoderTolerant() {
        var decoder = HeaderDecoder(startSeen: true, byteLimit: 1_000, countLimit: 10)
        let broken = ([0x82] + [0xC5]).withUnsafeBytes { decoder.decode($0) }
        #expect(broken.complaint != nil && broken.fields.first(":method") == "GET" && broken.fields.hasUnknownFields)
        #expect(!decoder.isExact)
        let next = (HTTP2Fixtures.inserted("a", "b") + [0xBE, 0xBF]).withUnsafeBytes { decoder.decode($0) }
        #expect(next.fields.fields.map(\.isKnown) == [true, true, false] && next.complaint == nil)
    }

    @Test func mutationsNeverTrap() {
        var generator = SplitGenerator(state: 11)
        let block = HTTP2Fixtures.request("GET", "/a") + HTTP2Fixtures.inserted("x-a", "1") + [0xBE, 0x3F, 0xE1, 0x1F]
        for _ in 0..<20_000 {
            var bytes = block
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            var tolerant = TolerantHeaderDecoder(startSeen: Bool.random(using: &generator))
            for _ in 0..<2 { _ = decode(&tolerant, bytes) }
            var exact = HeaderDecoder(startSeen: true, byteLimit: 4_000, countLimit: 50)
            for _ in 0..<2 { _ = bytes.withUnsafeBytes { exact.decode($0) } }
        }
    }

    /// The library and ours agree on broken input too: what both call whole has the same fields.
    @Test func mutationsAreReadAlike() throws {
        var generator = SplitGenerator(state: 12)
        let block = HTTP2Fixtures.request("GET", "/a") + HTTP2Fixtures.inserted("x-a", "1") + [0xBE]
        var whole = 0
        for _ in 0..<20_000 {
            var bytes = block
            bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            let inflater = try #require(HeaderInflater())
            var tolerant = TolerantHeaderDecoder(startSeen: true)
            var fields = BoundedFields(byteLimit: 1 << 16, countLimit: 1_000)
            guard bytes.withUnsafeBytes({ inflater.decode($0, isCut: false, into: &fields) }) else { continue }
            let result = decode(&tolerant, bytes)
            whole += 1
            #expect(result.fields == Self.pairs(fields.section), "\(bytes)")
        }
        #expect(whole > 5_000)
    }

    private func decode(
        _ decoder: inout TolerantHeaderDecoder, _ block: [UInt8]
    ) -> (fields: [Pair], outcome: TolerantHeaderDecoder.Outcome) {
        var fields = BoundedFields(byteLimit: 1 << 16, countLimit: 1_000)
        let outcome = block.withUnsafeBytes { decoder.decode($0, into: &fields) }
        return (Self.pairs(fields.section), outcome)
    }

    private func known(_ name: String, _ value: String) -> Pair {
        Pair(name: Array(name.utf8), value: Array(value.utf8))
    }

    private static func pairs(_ section: FieldSection) -> [Pair] {
        section.fields.map {
            Pair(name: Array(section.nameBytes($0)), value: Array(section.valueBytes($0)), isKnown: $0.isKnown)
        }
    }

    private static func readCase(_ object: [String: Any]) -> Case? {
        guard let wire = object["wire"] as? String, let headers = object["headers"] as? [[String: String]] else {
            return nil
        }
        let fields = headers.flatMap { header in
            header.map { Pair(name: Array($0.key.utf8), value: Array($0.value.utf8)) }
        }
        return Case(wire: HTTP2Fixtures.bytes(wire), fields: fields)
    }
}
