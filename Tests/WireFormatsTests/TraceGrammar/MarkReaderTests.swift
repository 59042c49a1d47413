import SessionTrace
import Testing
import WireFormats

@Suite struct MarkReaderTests {
    private static let arrival = PacketReference(number: 7, time: time("2026-11-29T12:00:00.500Z"))

    private static func time(_ text: String) -> Instant {
        Instant(rfc3339: text) ?? .distantPast
    }

    private func read(
        _ text: String, _ source: Mark.Source = .datagram, packet: PacketReference? = arrival
    ) throws(MarkError) -> ReadMark {
        try MarkReader.read(Array(text.utf8), source: source, packet: packet)
    }

    @Test("every member")
    func members() throws {
        let reading = try read(
            #"""
            {"kind":"tap","target":"share","id":"7f3a","at":"2026-11-29T12:00:00Z","until":"2026-11-29T12:00:01Z",
             "phase":"pre","count":2,"by":"person","clock":"phone","device":"Pixel","name":"first tap",
             "attrs":{"platform":"android","n":1.50,"flag":true,"nested":{"a":[1]}}}
            """#, .sideFile, packet: nil)
        #expect(
            reading.mark
                == Mark(
                    id: "7f3a", kind: .tap, target: .share,
                    span: TimeSpan(Self.time("2026-11-29T12:00:00Z"), Self.time("2026-11-29T12:00:01Z")),
                    isOnTraceClock: false, phase: .pre, count: 2, by: .person, source: .sideFile, clock: "phone",
                    device: "Pixel", name: "first tap",
                    attributes: ["platform": "android", "n": "1.50", "flag": "true", "nested": #"{"a":[1]}"#]))
        #expect(reading.warnings == [])
    }

    @Test("the least that a mark needs")
    func least() throws {
        let mark = try read(#"{"kind":"end","id":12,"clock":null}"#).mark
        #expect(
            mark
                == Mark(
                    id: "12", kind: .end, span: TimeSpan(Self.arrival.time), isOnTraceClock: true, source: .datagram,
                    packet: Self.arrival))
    }

    @Test("what later versions may know is kept, with a warning")
    func unknownWords() throws {
        let reading = try read(#"{"kind":"wave","target":"shelf","colour":"red"}"#)
        #expect(reading.mark.kind == .other("wave"))
        #expect(reading.mark.target == .other)
        #expect(
            reading.warnings == [
                "kind 'wave' is not known", "target 'shelf' is not known; taken for 'other'",
                "member 'colour' is not known",
            ])
    }

    @Test(
        "spans: how it came, its members, first and last millisecond after 12:00:00, on the trace's clock",
        arguments: [
            (Mark.Source.datagram, "", 500, 500, true),
            (.datagram, #","at":"2026-11-29T12:00:00.200Z""#, 200, 500, true),
            (.datagram, #","at":"2026-11-29T12:00:00.900Z""#, 500, 500, true),
            (.datagram, #","at":"2026-11-29T12:00:00.200Z","clock":"phone""#, 200, 500, false),
            (.datagram, #","clock":"phone""#, 500, 500, true),
            (.datagram, #","at":"2026-11-29T12:00:00.200Z","until":"2026-11-29T12:00:00.300Z""#, 200, 300, true),
            (.datagram, #","at":"2026-11-29T12:00:00.200Z","until":"2026-11-29T12:00:15.200Z""#, 200, 15_200, true),
            (.datagram, #","until":"2026-11-29T12:00:15Z""#, 500, 15_000, true),
            (.datagram, #","until":"2026-11-29T12:00:00Z""#, 500, 500, true),
            (.comment, "", 500, 500, true), (.comment, #","at":"2026-11-29T12:00:00.900+00:00""#, 900, 900, true),
            (.comment, #","at":"2026-11-29T13:00:00.100+01:00","clock":"lab""#, 100, 100, false),
        ] as [(Mark.Source, String, Int64, Int64, Bool)])
    func spans(source: Mark.Source, members: String, first: Int64, last: Int64, isOnTraceClock: Bool) throws {
        let mark = try read(#"{"kind":"tap""# + members + "}", source).mark
        let noon = Self.time("2026-11-29T12:00:00Z")
        #expect(mark.span.earliest == noon.advanced(byNanoseconds: first * 1_000_000))
        #expect(mark.span.latest == noon.advanced(byNanoseconds: last * 1_000_000))
        #expect(mark.isOnTraceClock == isOnTraceClock)
    }

    @Test(
        "faults and their places",
        arguments: [
            (#"{"target":"share"}"#, 1, "a mark without kind"),
            (#"["tap"]"#, 1, "a mark is an object, not an array"),
            (#"{"kind":"tap","kind":"end"}"#, 15, "'kind' is given twice"),
            (#"{"kind":7}"#, 2, "kind is a number, not a string"),
            (#"{"kind":"tap","at":"12:00"}"#, 15, "at is no RFC 3339 time with a zone (2026-11-29T12:00:00.123456Z)"),
            (
                #"{"kind":"tap","at":"2026-11-29T12:00:00"}"#, 15,
                "at is no RFC 3339 time with a zone (2026-11-29T12:00:00.123456Z)"
            ),
            (#"{"kind":"tap","at":"2026-11-29T12:00:01Z","until":"2026-11-29T12:00:00Z"}"#, 43, "until is before at"),
            (#"{"kind":"tap","phase":"mid"}"#, 15, "phase is neither pre or post"),
            (#"{"kind":"tap","by":"me"}"#, 15, "by is neither script or person"),
            (#"{"kind":"tap","count":0}"#, 15, "count is no whole number from 1 to 1000"),
            (#"{"kind":"tap","count":1.0}"#, 15, "count is no whole number from 1 to 1000"),
            (#"{"kind":"tap","attrs":[]}"#, 15, "attrs is an array, not an object"),
            (#"{"kind":"tap",}"#, 15, "expected a member name"),
        ])
    func faults(text: String, column: Int, reason: String) {
        let error = #expect(throws: MarkError.self) { try read(text) }
        #expect(error == MarkError(line: 1, column: column, reason: reason))
    }

    @Test("mutated marks never trap")
    func mutations() {
        let seed = Array(
            #"{"kind":"tap","target":"share","id":"7f3a","at":"2026-11-29T12:00:00Z","count":2,"attrs":{"a":"b"}}"#.utf8
        )
        var random = SeededRandom(6)
        var readable = 0
        for _ in 0..<20_000 {
            var text = seed
            text[Int.random(in: 0..<text.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            if (try? MarkReader.read(text, source: .datagram, packet: Self.arrival)) != nil { readable += 1 }
        }
        #expect(readable > 1_000 && readable < 19_000)
    }
}
