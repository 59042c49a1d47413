import SessionTrace
import Testing
import WireFormats

/// What `xcodebuild test` prints, in the shape of transcripts published with Xcode 10 to 16.
@Suite struct XCUITestLogTests {
    private static let utc = ImportedMarks.settings(zoneSeconds: 0)
    private static let test = """
        2026-11-30 05:10:26.838966+0000 UITests-Runner[1454:15770] Running tests...
        Test Suite 'All tests' started at 2026-11-30 05:10:27.400
        Test Suite 'HandoffUITests' started at 2026-11-30 05:10:27.474.
        Test Case '-[UITests.HandoffUITests testShare]' started.
            t =      nans Suite Set Up
            t =     0.00s Start Test at 2026-11-30 05:10:27.500
            t =     0.06s Set Up
            t =     0.07s     Open health.example.shop
            t =     3.98s Tap "Share selection and continue" Button
            t =     3.98s     Wait for health.example.shop to idle
            t =     4.01s     Find the "Share selection and continue" Button
            t =     4.05s         Check for interrupting elements affecting "Share selection and continue" Button
            t =     4.05s     Synthesize event
            t =     4.06s         Find the "Share selection and continue" Button
            t =     4.15s     Wait for health.example.shop to idle
            t =     4.80s Checking existence of `"Done" Button`
            t =     4.90s Double-tap “Continue to Chia” Button
            t =     5.00s     Synthesize event
        Test Case '-[UITests.HandoffUITests testShare]' passed (5.123 seconds).
        Test Suite 'HandoffUITests' passed at 2026-11-30 05:10:33.000.
             Executed 1 test, with 0 failures (0 unexpected) in 5.123 (5.126) seconds

        """

    @Test("a tap lasts from the event's synthesis to what follows it, and half a hundredth more at both ends")
    func taps() throws {
        let marks = try ImportedMarks(Self.test, .xcuitest, settings: Self.utc)
        #expect(
            marks.lines == [
                "9 tap share 05:10:31.545000000…05:10:31.655999999 Share selection and continue",
                "17 tap neutral 05:10:32.495000000…05:10:32.628999999 ×2 Continue to Chia",
            ])
        #expect(marks.remarks == ["2@1 not a line of xcuitest"])
    }

    @Test("without lines of synthesis a tap lasts to the next activity beside it")
    func filtered() throws {
        let text = Self.test.split(separator: "\n").filter { $0.contains("s Tap") || !$0.contains("s     ") }
            .joined(separator: "\n")
        #expect(
            try ImportedMarks(text, .xcuitest, settings: Self.utc).lines == [
                "8 tap share 05:10:31.475000000…05:10:32.305999999 Share selection and continue",
                "10 tap neutral 05:10:32.395000000…05:10:32.628999999 ×2 Continue to Chia",
            ])
    }

    @Test("a test that does not say when it began did so between the suites' stamps")
    func suites() throws {
        let text = Self.test.split(separator: "\n").filter { !$0.contains("Start Test") }.joined(separator: "\n")
        // The test began from 27.474 on, and its 5.123 s ended by 33.000: until 27.882.
        #expect(
            try ImportedMarks(text, .xcuitest, settings: Self.utc).lines == [
                "8 tap share 05:10:31.519000000…05:10:32.037999999 Share selection and continue",
                "16 tap neutral 05:10:32.469000000…05:10:33.010999999 ×2 Continue to Chia",
            ])
        let unended = text.split(separator: "\n").filter { !$0.contains(" passed at ") }.joined(separator: "\n")
        let marks = try ImportedMarks(unended, .xcuitest, settings: Self.utc)
        #expect(marks.lines == [])
        #expect(marks.remarks.contains("2@8 a tap whose test does not say when it began; no mark"))
    }

    @Test("a tap that failed before its event is no mark")
    func failures() throws {
        let failed = """
            Test Case '-[A b]' started.
                t =     0.00s Start Test at 2026-11-30 05:10:27.500
                t =     1.00s Tap "Share selection and continue" Button
                t =     1.10s     Find the "Share selection and continue" Button
            /x/A.swift:12: error: -[A b] : Failed to tap "Share selection and continue" Button: No matches found
                t =     2.00s Tear Down
            Test Case '-[A b]' failed (2.123 seconds).
            """
        let marks = try ImportedMarks(failed, .xcuitest, settings: Self.utc)
        #expect(marks.lines == [])
        #expect(marks.remarks == ["1@3 a tap that failed; no mark", "1@5 not a line of xcuitest"])
    }

    /// The event was on its way, or nothing tells whether it was.
    @Test("a tap that failed behind its event, or that the log cuts off, perhaps was made")
    func unsure() throws {
        let failed = """
            Test Case '-[A b]' started.
                t =     0.00s Start Test at 2026-11-30 05:10:27.500
                t =     1.00s Tap "Share selection and continue" Button
                t =     1.05s     Find the "Share selection and continue" Button
                t =     1.10s     Synthesize event
            /x/A.swift:12: error: -[A b] : Failed to tap: timed out
                t =     2.00s Tear Down
            Test Case '-[A b]' failed (2.123 seconds).
            """
        let marks = try ImportedMarks(failed, .xcuitest, settings: Self.utc)
        #expect(marks.lines == ["3 tap - 05:10:28.595000000…05:10:29.505999999 uncertain=true"])
        #expect(marks.remarks.first == "1@3 a tap that failed, and perhaps was made: a mark without target")
        // Lines of what happens within a tap were filtered out.
        let filtered = failed.split(separator: "\n").filter { !$0.contains("s     ") }.joined(separator: "\n")
        #expect(
            try ImportedMarks(filtered, .xcuitest, settings: Self.utc).lines == [
                "3 tap - 05:10:28.495000000…05:10:29.505999999 uncertain=true"
            ])
        for lines in 3...5 {
            let cut = failed.split(separator: "\n").prefix(lines).joined(separator: "\n")
            let marks = try ImportedMarks(cut, .xcuitest, settings: Self.utc)
            let start = lines == 5 ? "28.595" : "28.495"
            let end = ["28.505", "28.555", "28.605"][lines - 3]
            #expect(marks.lines == ["3 tap - 05:10:\(start)000000…05:10:\(end)999999 uncertain=true"])
            #expect(marks.remarks == ["1@3 a tap without its end, which perhaps was made: a mark without target"])
        }
    }

    @Test("an event that is synthesized again goes on; a tap without a label has no target")
    func again() throws {
        let text = """
            Test Case '-[A b]' started.
                t =     0.00s Start Test at 2026-11-30 05:10:00.000
                t =     1.00s Tap Coordinate
                t =     1.10s     Synthesize event
                t =     1.20s     Wait for x to idle
                t =     1.30s     Synthesize event (retry 1)
                t =     1.40s     Wait for x to idle
                t =     1.90s Tear Down
            """
        let marks = try ImportedMarks(text, .xcuitest, settings: Self.utc)
        #expect(marks.lines == ["3 tap - 05:10:01.095000000…05:10:01.405999999"])
        #expect(marks.remarks == ["1@3 a tap on something without a label"])
    }

    @Test func theZoneIsAskedFor() {
        #expect(
            MarkError.of { () throws(MarkError) in try ImportedMarks(Self.test, .xcuitest) }
                == "mark:2:1: the times have no zone; give --zone, as +01:00 or Z")
    }
}
