import SessionTrace
import Testing
import WireFormats

/// Lines of libimobiledevice's `idevicesyslog`, pymobiledevice3's `syslog live` and macOS' `log stream --style syslog`.
@Suite struct IOSSyslogTests {
    private static let mark = #"handoff-mark {"kind":"tap","target":"neutral"}"#

    @Test(
        "a stamp of a second stands for the whole second, one of microseconds for one",
        arguments: [
            ("Nov 30 05:10:31 iPhone Shop(Foundation)[123] <Notice>: ", "05:10:31.000000000…05:10:31.999999999"),
            ("Nov 30 05:10:31 Shop(Foundation)[123] <Notice>: ", "05:10:31.000000000…05:10:31.999999999"),
            ("Nov 30 05:10:31.123456 Shop[123] <Notice>: ", "05:10:31.123456000…05:10:31.123456999"),
            ("2026-11-30 05:10:31.123456 Shop{Foundation}[123] <NOTICE>: ", "05:10:31.123456000…05:10:31.123456999"),
            ("2026-11-30 05:10:31 Shop{Foundation}[123] <NOTICE>: ", "05:10:31.000000000…05:10:31.999999999"),
            ("2026-11-30 06:10:31.123456+0100  localhost Shop[123]: ", "05:10:31.123456000…05:10:31.123456999"),
            ("2026-11-30 00:10:31.123456-05:00 localhost Shop[123]: (lib) ", "05:10:31.123456000…05:10:31.123456999"),
            (
                "\u{1B}[0;32m2026-11-30 05:10:31.5\u{1B}[0m Shop{}[123] <INFO>: ",
                "05:10:31.500000000…05:10:31.599999999"
            ),
        ])
    func formats(head: String, span: String) throws {
        let marks = try ImportedMarks(
            "[connected]\n\(head)\(Self.mark)\n", .iosSyslog,
            settings: ImportedMarks.settings(year: 2026, zoneSeconds: 0))
        #expect(marks.lines == ["2 tap neutral \(span)"])
        #expect(marks.remarks == [])
    }

    @Test("a day of one digit, as syslog pads it")
    func oneDigit() throws {
        let marks = try ImportedMarks(
            "Dec  3 05:10:31 iPhone Shop[123] <Notice>: \(Self.mark)", .iosSyslog,
            settings: ImportedMarks.settings(year: 2026, zoneSeconds: 0))
        #expect(marks.reading.marks.first?.mark.span.earliest.rfc3339 == "2026-12-03T05:10:31.000000000Z")
    }

    @Test func whatTheSystemHidesIsAnError() {
        let line = "Nov 30 05:10:31 iPhone Shop[123] <Notice>: handoff-mark <private>"
        let error = MarkError.of { () throws(MarkError) in
            try ImportedMarks(line, .iosSyslog, settings: ImportedMarks.settings(year: 2026, zoneSeconds: 0))
        }
        #expect(error == "mark:1:57: the mark is hidden: log its text with privacy: .public")
    }

    @Test("a time of receipt before each line is kept as one bound of the offset")
    func receipts() throws {
        let text = """
            2026-11-30T05:10:31.2Z 2026-11-30 05:10:31.123456+0000 x Shop[1]: nothing
            2026-11-30 05:10:31.123456+0000 x Shop[1]: nothing
            """
        #expect(try ImportedMarks(text, .iosSyslog).reading.receipts.map(\.line) == [1])
    }

    @Test("times are asked for only when a line needs them")
    func unneededTimes() throws {
        let text = "Nov 30 05:10:31 iPhone kernel[0] <Notice>: nothing\n\tof ours\n"
        #expect(try ImportedMarks(text, .iosSyslog).remarks == ["1@2 not a line of ios-syslog"])
    }
}
