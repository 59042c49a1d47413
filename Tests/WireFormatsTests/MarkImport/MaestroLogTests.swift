import SessionTrace
import Testing
import WireFormats

/// Lines of `~/.maestro/tests/*/maestro.log`: the pattern of Maestro's `LogConfig.kt`, and that of older versions.
@Suite struct MaestroLogTests {
    private static let settings = ImportedMarks.settings(date: "2026-11-30", zoneSeconds: 3_600)

    private func line(_ time: String, _ words: String) -> String {
        "\(time) [ INFO] maestro.cli.runner.TestSuiteInteractor.invoke: \(words)\n"
    }

    @Test("a tap lasts from RUNNING to COMPLETED; its label says on what")
    func taps() throws {
        let text =
            line("06:10:30.001", "Launch app \"health.example.shop\" COMPLETED")
            + line("06:10:31.123", "Tap on \"Share selection and continue\" RUNNING")
            + line(
                "06:10:31.200", "Tap on \"Share selection and continue\" metadata CommandMetadata(numberOfRuns=null)")
            + line("06:10:32.456", "Tap on \"Share selection and continue\" COMPLETED")
            + line("06:10:33.000", "Double tap on \"Continue to Chia\", Index: 0 RUNNING")
            + line("06:10:33.400", "Double tap on \"Continue to Chia\", Index: 0 COMPLETED")
            + line("06:10:34.000", "Tap x3 on (Optional) id: cta RUNNING")
            + line("06:10:34.100", "Tap x3 on (Optional) id: cta COMPLETED")
            + line("06:10:35.000", "Long press on \"Continue to Chia\" RUNNING")
        let settings = ImportedMarks.settings(date: "2026-11-30", zoneSeconds: 3_600, targets: ["id: cta=cta"])
        let marks = try ImportedMarks(text, .maestro, settings: settings)
        #expect(
            marks.lines == [
                "2 tap share 05:10:31.123000000…05:10:32.456999999 Share selection and continue",
                "5 tap neutral 05:10:33.000000000…05:10:33.400999999 ×2 Continue to Chia",
                "7 tap cta 05:10:34.000000000…05:10:34.100999999 ×3 id: cta",
            ])
        #expect(marks.remarks == [])
        #expect(marks.reading.marks.first?.mark.span.earliest.rfc3339 == "2026-11-30T05:10:31.123000000Z")
    }

    @Test("what did not come to its end perhaps was made: a mark without target")
    func unsure() throws {
        let text =
            line("06:10:30.000", "Tap on \"Z\" COMPLETED") + line("06:10:31.000", "Tap on \"A\" RUNNING")
            + line("06:10:32.000", "Tap on \"A\" FAILED") + line("06:10:33.000", "Tap on \"A\" WARNED")
            + line("06:10:34.000", "Tap on \"B\" RUNNING") + line("06:10:34.500", "Tap on \"C\" RUNNING")
            + line("06:10:35.000", "Tap on \"C\" SKIPPED") + "java.lang.Exception: no such element\n"
        let marks = try ImportedMarks(text, .maestro, settings: Self.settings)
        #expect(
            marks.lines == [
                "1 tap - 05:10:30.000000000…05:10:30.000999999 uncertain=true",
                "4 tap - 05:10:30.000000000…05:10:33.000999999 uncertain=true",
                "2 tap - 05:10:31.000000000…05:10:32.000999999 uncertain=true",
                "5 tap - 05:10:34.000000000…05:10:35.000999999 uncertain=true",
            ])
        #expect(
            marks.remarks == [
                "1@1 the end of a tap without its beginning: a mark without target",
                "1@3 a tap that came out as FAILED, and perhaps was made: a mark without target",
                "1@4 a tap that came out as WARNED, and perhaps was made: a mark without target",
                "1@5 a tap without its end, which perhaps was made: a mark without target",
                "1@7 a tap that came out as SKIPPED; no mark", "1@8 not a line of maestro",
            ])
    }

    @Test("older logs have a date, and stamps of a second")
    func older() throws {
        let text = """
            [2026-11-30 05:10:31] [INFO   ] Tap on "Next" RUNNING
            [2026-11-30 05:10:36] [INFO   ] Tap on "Next" COMPLETED
            2026-11-30 05:10:40,500 [ INFO] m.cli.runner.MaestroCommandRunner - Tap on "Continue without sharing" RUNNING
            2026-11-30 05:10:41,500 [ INFO] m.cli.runner.MaestroCommandRunner - Tap on "Continue without sharing" COMPLETED
            """
        let marks = try ImportedMarks(text, .maestro, settings: ImportedMarks.settings(zoneSeconds: 0))
        #expect(
            marks.lines == [
                "1 tap other 05:10:31.000000000…05:10:36.999999999 Next",
                "3 tap neutral 05:10:40.500000000…05:10:41.500999999 Continue without sharing",
            ])
    }

    @Test("the date is asked for, and followed over midnight")
    func dates() throws {
        let text = line("23:59:59.900", "Tap on \"A\" RUNNING") + line("00:00:00.100", "Tap on \"A\" COMPLETED")
        let marks = try ImportedMarks(
            text, .maestro, settings: ImportedMarks.settings(date: "2026-12-31", zoneSeconds: 0))
        #expect(marks.reading.marks.map(\.mark.span.earliest.rfc3339) == ["2026-12-31T23:59:59.900000000Z"])
        #expect(marks.reading.marks.map(\.mark.span.latest.rfc3339) == ["2027-01-01T00:00:00.100999999Z"])
        // A line of before midnight that comes late is of the day before.
        let late = text + line("23:59:59.950", "Tap on \"B\" RUNNING") + line("00:00:00.200", "Tap on \"B\" COMPLETED")
        let both = try ImportedMarks(
            late, .maestro, settings: ImportedMarks.settings(date: "2026-12-31", zoneSeconds: 0))
        #expect(both.reading.marks.last?.mark.span.earliest.rfc3339 == "2026-12-31T23:59:59.950000000Z")
        #expect(both.reading.marks.last?.mark.span.latest.rfc3339 == "2027-01-01T00:00:00.200999999Z")
        #expect(
            MarkError.of { () throws(MarkError) in
                try ImportedMarks(text, .maestro, settings: ImportedMarks.settings(zoneSeconds: 0))
            } == "mark:1:1: the times have no date; give --date, as 2026-11-30")
    }
}
