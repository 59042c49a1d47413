import SessionTrace
import Testing

@testable import HandoffProxy

@Suite struct MarkIntakeTests {
    static let phone = Endpoint(address: IPAddress(ipv4: 0xC0A8_0107), port: 40_000)
    static let here = Endpoint(address: IPAddress(ipv4: 0xC0A8_0101), port: 4774)

    static func origin(_ seconds: Int64) -> MarkIntake.Origin {
        MarkIntake.Origin(from: phone, to: here, arrival: Instant(nanoseconds: seconds * 1_000_000_000))
    }

    /// Reads and records a mark; the sequence number is the count.
    private static func take(
        _ text: String, _ intake: inout MarkIntake, at seconds: Int64 = 100
    ) throws -> MarkAcknowledgement {
        switch try intake.read(Array(text.utf8), origin: origin(seconds)) {
        case .repeated(let acknowledgement): return acknowledgement
        case .new(let reading):
            return intake.recorded(
                reading, as: RecordedMark(sequence: intake.count + 1, files: ["a.pcapng"]), origin: origin(seconds))
        }
    }

    @Test func aMarkIsAcknowledgedWithTimeAndNumber() throws {
        var intake = MarkIntake(idPrefix: "run")
        let first = try Self.take(#"{"kind":"tap","target":"share"}"#, &intake)
        #expect(first.mark.id == "run-1")
        #expect(first.mark.span == TimeSpan(Instant(nanoseconds: 100_000_000_000)))
        #expect(
            first.json.description
                == #"{"sequence":1,"at":"1970-01-01T00:01:40.000000000Z","arrived":"1970-01-01T00:01:40.000000000Z","kind":"tap","target":"share","id":"run-1","by":"script","repeat":false,"files":["a.pcapng"]}"#
        )
        let second = try Self.take(#"{"kind":"tap","target":"share"}"#, &intake)
        #expect(second.recorded.sequence == 2 && second.mark.id == "run-2" && !second.isRepeat)
    }

    @Test func equalIdAndContentIsOneMark() throws {
        var intake = MarkIntake(idPrefix: "run")
        let first = try Self.take(#"{"kind":"tap","id":"7"}"#, &intake, at: 1)
        let again = try Self.take(#"{"id":"7","kind":"tap"}"#, &intake, at: 2)
        #expect(again.isRepeat && again.recorded == first.recorded && again.arrival == first.arrival)
        #expect(intake.count == 1)
        // Another content is another mark: a rule has to see the contradiction.
        let other = try Self.take(#"{"kind":"launch","id":"7"}"#, &intake, at: 3)
        #expect(!other.isRepeat && other.recorded.sequence == 2)
        #expect(other.warnings == ["the id was used before with other content"])
    }

    @Test func aTimeBeforeArrivalMakesASpanAndALaterOneIsNotUsed() throws {
        var intake = MarkIntake(idPrefix: "run")
        let early = try Self.take(#"{"kind":"tap","at":"1970-01-01T00:01:39Z"}"#, &intake)
        #expect(early.mark.span.earliest.nanoseconds == 99_000_000_000)
        #expect(early.mark.span.latest.nanoseconds == 100_000_000_000)
        let late = try Self.take(#"{"kind":"tap","at":"1970-01-01T00:01:41Z"}"#, &intake)
        #expect(late.mark.span == TimeSpan(Instant(nanoseconds: 100_000_000_000)))
        #expect(!late.warnings.isEmpty)
    }

    @Test(arguments: [
        ("", "1:1: the text ends inside a value"), ("{}", "1:1: a mark without kind"),
        (#"{"kind":"tap","count":0}"#, "1:15: count is no whole number from 1 to 1000"),
        (#"{"kind":"tap","at":"noon"}"#, "1:15: at is no RFC 3339 time with a zone (2026-11-29T12:00:00.123456Z)"),
        (#"{"kind":"tap","kind":"tap"}"#, "1:15: 'kind' is given twice"),
        ("[]", "1:1: a mark is an object, not an array"),
    ]) func aBadMarkIsRefusedInOneLine(text: String, sentence: String) {
        var intake = MarkIntake(idPrefix: "run")
        #expect(throws: MarkRefusal(status: 400, sentence: sentence)) { try Self.take(text, &intake) }
        #expect(intake.count == 0)
    }

    @Test func takingBackWithoutANameTakesTheLastMarkByAPerson() throws {
        var intake = MarkIntake(idPrefix: "run")
        #expect(throws: MarkRefusal.self) { try Self.take(#"{"kind":"withdraw"}"#, &intake) }
        _ = try Self.take(#"{"kind":"tap","by":"person","id":"p"}"#, &intake)
        _ = try Self.take(#"{"kind":"tap","id":"s"}"#, &intake)
        #expect(try Self.take(#"{"kind":"withdraw"}"#, &intake).mark.attributes == ["id": "p"])
        #expect(throws: MarkRefusal.self) { try Self.take(#"{"kind":"withdraw"}"#, &intake) }
    }

    @Test func thereIsAnEndToMarksAndToMemory() throws {
        var few = MarkIntake(idPrefix: "run", markLimit: 2)
        _ = try Self.take(#"{"kind":"tap","id":"a"}"#, &few)
        _ = try Self.take(#"{"kind":"tap","id":"b"}"#, &few)
        #expect(throws: MarkRefusal(status: 429, sentence: "more than 2 marks in one run")) {
            try Self.take(#"{"kind":"tap","id":"c"}"#, &few)
        }
        // A repeat is acknowledged still.
        #expect(try Self.take(#"{"kind":"tap","id":"b"}"#, &few).isRepeat)

        var forgetful = MarkIntake(idPrefix: "run", memoryLimit: 5_000)
        for id in 0..<9 { _ = try Self.take(#"{"kind":"tap","id":"\#(id)"}"#, &forgetful) }
        #expect(try Self.take(#"{"kind":"tap","id":"8"}"#, &forgetful).isRepeat)
        #expect(try !Self.take(#"{"kind":"tap","id":"0"}"#, &forgetful).isRepeat)
    }

    @Test func formsBecomeObjects() throws {
        let object = try MarkForm.object([
            ("kind", "tap"), ("target", "share"), ("count", "2"), ("until", ""), ("attrs.row", "a\"b"),
        ])
        #expect(
            String(decoding: object, as: UTF8.self)
                == #"{"kind":"tap","target":"share","count":2,"attrs":{"row":"a\"b"}}"#)
        #expect(throws: MarkRefusal.self) { try MarkForm.object([("kind", "tap"), ("colour", "red")]) }
        #expect(throws: MarkRefusal.self) { try MarkForm.object([("kind", "tap"), ("kind", "tap")]) }
    }

    @Test func contentHoldsOneManyOrLines() throws {
        func count(_ text: String) throws -> Int { try MarkForm.objects(json: Array(text.utf8)).count }
        #expect(try count(#"{"kind":"tap"}"#) == 1)
        #expect(try count("{\n \"kind\": \"tap\"\n}") == 1)
        #expect(try count(#" [{"kind":"tap"},{"kind":"end"}]"#) == 2)
        #expect(try count("{\"kind\":\"tap\"}\n\n{\"kind\":\"end\"}\r\n") == 2)
        #expect(throws: MarkRefusal.self) { try count(" \n") }
        #expect(throws: MarkRefusal.self) { try count("[]") }
        #expect(throws: MarkRefusal.self) {
            try count("[" + Array(repeating: "1", count: 1_001).joined(separator: ",") + "]")
        }
        #expect(throws: MarkRefusal.self) {
            try count(Array(repeating: "{}", count: 1_001).joined(separator: "\n"))
        }
    }
}
