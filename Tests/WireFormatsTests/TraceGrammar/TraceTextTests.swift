import SessionTrace
import Testing
import WireFormats

@Suite struct TraceTextTests {
    private let packet = PacketReference(number: 3, time: Instant(nanoseconds: 1_764_417_600_000_000_000))

    private func readDatagram(_ text: String) -> TraceTextReading? {
        Array(text.utf8).withUnsafeBytes { TraceText.read(datagram: $0, at: packet) }
    }

    @Test("a mark is written and read back equal, as comment")
    func markRoundTrip() throws {
        let mark = Mark(
            id: "a\"b", kind: .tap, target: .neutral,
            span: TimeSpan(packet.time, packet.time.advanced(byNanoseconds: 15_000_000_000)), isOnTraceClock: true,
            phase: .post, count: 2, by: .person, source: .comment, device: "é", name: "n",
            attributes: ["platform": "ios", "x": "1"], packet: packet)
        guard case .mark(let reading) = TraceText.read(comment: TraceText.text(of: mark), on: packet) else {
            Issue.record("no mark")
            return
        }
        #expect(reading.mark == mark)
        #expect(reading.warnings == [])
    }

    @Test("a proxy event is written and read back equal")
    func eventRoundTrip() {
        let event = ProxyEvent(
            kind: .upstreamTLS, at: Instant(nanoseconds: 1_764_417_599_123_456_789), packet: packet,
            attributes: ["version": "TLSv1.3", "alpn": "h2", "nested": #"{"a":[1,2]}"#])
        #expect(
            TraceText.text(of: event)
                == #"handoff-event/1 {"kind":"upstream-tls","at":"2025-11-29T11:59:59.123456789Z","#
                + #""alpn":"h2","nested":"{\"a\":[1,2]}","version":"TLSv1.3"}"#)
        #expect(TraceText.read(comment: TraceText.text(of: event), on: packet) == .event(event))
    }

    @Test("events of other writers: no at, nested values, unknown kinds")
    func foreignEvent() {
        #expect(
            TraceText.read(comment: #"handoff-event/1 {"kind":"teleported","to":{"x":[1, 2]},"n":3}"#, on: packet)
                == .event(
                    ProxyEvent(
                        kind: .other("teleported"), at: packet.time, packet: packet,
                        attributes: ["to": #"{"x":[1,2]}"#, "n": "3"])))
    }

    @Test(
        "ordinary comments and datagrams",
        arguments: ["", "hello", "handoff", "handoff-mar", " handoff-mark/1 {}", "Handoff-mark/1 {}"])
    func ordinary(text: String) {
        #expect(TraceText.read(comment: text, on: packet) == nil)
        #expect(readDatagram(text) == nil)
    }

    @Test(
        "what claims to be ours and can't be read",
        arguments: [
            ("handoff-mark/2 {}", "a mark of another version than 1"),
            ("handoff-mark/1 {", "a mark that can't be read: 1:2: the text ends inside a value"),
            ("handoff-event/2 {}", "a proxy event of another version than 1"),
            ("handoff-event/1 {}", "a proxy event without a kind"),
            (#"handoff-event/1 {"kind":"x","a":1,"a":2}"#, "a proxy event with a member given twice"),
            (#"handoff-event/1 {"kind":"x","at":"now"}"#, "a proxy event whose at is no RFC 3339 time with a zone"),
            ("handoff-event/1 nope", "a proxy event that is not JSON: 1:2: expected a value"),
        ])
    func unreadable(text: String, reason: String) {
        #expect(TraceText.read(comment: text, on: packet) == .unreadable(reason))
    }

    @Test("an object over the limit")
    func limit() {
        let long = String(repeating: "x", count: TraceText.objectLimit)
        #expect(
            readDatagram(#"handoff-mark/1 {"kind":"note","name":"\#(long)"}"#)
                == .unreadable("a mark that can't be read: 1:1: longer than 65000 bytes"))
    }

    @Test("a datagram with a line end behind the object")
    func datagram() {
        guard case .mark(let reading)? = readDatagram("handoff-mark/1 {\"kind\":\"launch\"}\r\n") else {
            Issue.record("no mark")
            return
        }
        #expect(reading.mark.kind == .launch && reading.mark.source == .datagram && reading.mark.packet == packet)
    }
}

@Suite struct MarkRepeatsTests {
    private func mark(_ text: String, number: Int) throws -> ReadMark {
        try MarkReader.read(
            Array(text.utf8), source: .datagram,
            packet: PacketReference(number: number, time: Instant(nanoseconds: Int64(number))))
    }

    @Test("a datagram sent three times, members in another order, other content, no id")
    func repeats() throws {
        var repeats = MarkRepeats()
        func seen(_ text: String, _ number: Int) throws -> Bool { repeats.isRepeat(try mark(text, number: number)) }
        let tap = #"{"kind":"tap","id":"1"}"#
        #expect(try !seen(tap, 1))
        #expect(try seen(tap, 2))
        #expect(try seen(#"{"id":"1","kind":"tap"}"#, 3))
        #expect(try !seen(#"{"kind":"tap","id":"1","target":"share"}"#, 4))
        #expect(try !seen(#"{"kind":"tap","id":"1","at":"2026-11-29T12:00:00Z"}"#, 4))
        let anonymous = #"{"kind":"tap"}"#
        #expect(try !seen(anonymous, 5))
        #expect(try seen(anonymous, 5))
        #expect(try !seen(anonymous, 6))
    }

    @Test("beyond the limit the oldest are forgotten")
    func limit() throws {
        var repeats = MarkRepeats(byteLimit: 100)
        for number in 0..<50 {
            let reading = try mark(#"{"kind":"tap","id":"\#(number)"}"#, number: number)
            let answers = [repeats.isRepeat(reading), repeats.isRepeat(reading)]
            #expect(answers == [false, true])
        }
        let first = try mark(#"{"kind":"tap","id":"0"}"#, number: 51)
        let isKnown = repeats.isRepeat(first)
        #expect(!isKnown)
    }
}

@Suite struct MarkFileTests {
    @Test("lines, blank lines, line ends, faults with their places")
    func lines() {
        let text =
            "\u{FEFF}" + #"{"kind":"launch","at":"2026-11-29T12:00:00Z"}"# + "\r\n\n  \n"
            + #"{"kind":"tap","target":"share"}"# + "\n" + #"{"kind":"jump","at":"2026-11-29T12:00:01Z"}"# + "\n"
            + #"  {"kind":"tap","at":5}"# + "\n{"
        let file = MarkFile(Array(text.utf8), name: "a.marks.jsonl")
        #expect(file.marks.map(\.mark.kind) == [.launch, .other("jump")])
        #expect(file.marks.allSatisfy { !$0.mark.isOnTraceClock && $0.mark.source == .sideFile })
        #expect(file.warnings == ["a.marks.jsonl:5: kind 'jump' is not known"])
        #expect(
            file.errors.map(\.description) == [
                "a.marks.jsonl:4:1: a mark in a side file needs at", "a.marks.jsonl:6:17: at is a number, not a string",
                "a.marks.jsonl:7:2: the text ends inside a value",
            ])
    }

    @Test("more marks than the limit")
    func limit() {
        let line = Array(#"{"kind":"note","at":"2026-11-29T12:00:00Z"}"#.utf8) + [0x0A]
        let file = MarkFile(Array(repeatElement(line, count: MarkFile.markLimit + 5).joined()), name: "m")
        #expect(file.marks.count == MarkFile.markLimit)
        #expect(file.errors.map(\.line) == [MarkFile.markLimit + 1])
    }
}
