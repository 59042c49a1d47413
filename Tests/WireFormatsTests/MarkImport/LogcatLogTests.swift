import SessionTrace
import Testing
import WireFormats

/// Lines as `liblog/logprint.cpp` prints them, ActivityTaskManager's as recent Androids write them.
@Suite struct LogcatLogTests {
    private static let mark = #"handoff-mark {"kind":"tap","target":"share","id":"t1","attrs":{"item":"7"}}"#
    private static let view =
        "ActivityTaskManager: START u0 {act=android.intent.action.VIEW cat=[android.intent.category.BROWSABLE] "
        + "dat=https://chia.health/h/… flg=0x10000000 cmp=com.android.chrome/com.google.android.apps.chrome.Main "
        + "(has extras)} with LAUNCH_MULTIPLE from uid 10234 (health.example.shop) (BAL_ALLOW_VISIBLE_WINDOW) "

    @Test(
        "every format that has a time",
        arguments: [
            ("1764479431.123456  1234  1240 I handoff : ", "05:10:31.123456000…05:10:31.123456999"),
            ("         1764479431.123  1234  1240 D My long tag: ", "05:10:31.123000000…05:10:31.123999999"),
            ("1764479431.123 10234  1234  1240 I handoff : ", "05:10:31.123000000…05:10:31.123999999"),
            ("1764479431.123 u0_a123  1234  1240 I handoff : ", "05:10:31.123000000…05:10:31.123999999"),
            ("11-30 05:10:31.123  1234  1240 I handoff : ", "05:10:31.123000000…05:10:31.123999999"),
            ("2026-11-30 05:10:31.123456  1234  1240 W handoff : ", "05:10:31.123456000…05:10:31.123456999"),
            ("2026-11-30 06:10:31.123 +0100  1234  1240 I handoff : ", "05:10:31.123000000…05:10:31.123999999"),
            ("11-30 05:10:31.123 I/handoff ( 1234): ", "05:10:31.123000000…05:10:31.123999999"),
            ("11-30 05:10:31.123 I/handoff(12345): ", "05:10:31.123000000…05:10:31.123999999"),
            (
                "2026-11-30T05:10:32.5Z 11-30 05:10:31.123  1234  1240 I handoff : ",
                "05:10:31.123000000…05:10:31.123999999"
            ),
        ])
    func formats(head: String, span: String) throws {
        let text = "--------- beginning of main\n\(head)\(Self.mark)\n"
        let marks = try ImportedMarks(
            text, .logcat, settings: ImportedMarks.settings(year: 2026, zoneSeconds: 0))
        #expect(marks.lines == ["2 tap share \(span) item=7"])
        #expect(marks.reading.marks.map(\.mark.id) == ["t1"])
        #expect(marks.remarks == [])
        #expect(marks.reading.receipts.count == (head.contains("T05") ? 1 : 0))
    }

    @Test func monotonicTimesAreNoTimesOfDay() throws {
        let marks = try ImportedMarks("   12345.678  1234  1240 I handoff : \(Self.mark)", .logcat)
        #expect(marks.reading.marks.map(\.isMonotonic) == [true])
        #expect(marks.lines == ["1 tap share 03:25:45.678000000…03:25:45.678999999 item=7"])
    }

    @Test("what the app says itself: its own time, other spellings, words behind the object")
    func ownWords() throws {
        let text = #"""
            1764479431.500  1  2 I a: handoff-mark/1 {"kind":"tap","at":"2025-11-30T05:10:31.2Z"}
            1764479431.600  1  2 I flutter: I/handoff: handoff-mark {"kind":"tap","name":"a \" } b"} [shop][ui]
            1764479431.700  1  2 I a: handoff-mark {"kind":"tap","phase":"pre","id":1}
            1764479431.800  1  2 I a: xhandoff-mark {"kind":"tap"} and handoff-marks {"kind":"tap"}
            1764479431.900  1  2 I a: the word handoff-mark tells nothing
            1764479432.000  1  2 I a: handoff-mark {"kind":"tap","at":"2030-01-01T00:00:00Z"}
            """#
        let marks = try ImportedMarks(text, .logcat)
        #expect(
            marks.lines == [
                "1 tap - 05:10:31.200000000…05:10:31.500999999",
                "2 tap - 05:10:31.600000000…05:10:31.600999999 a \" } b",
                "3 tap - 05:10:31.700000000…05:10:31.700999999", "6 tap - 05:10:32.000000000…05:10:32.000999999",
            ])
        #expect(marks.reading.marks[2].mark.phase == .pre)
        #expect(
            marks.remarks == [
                "2@4 speaks of handoff-mark without an object",
                "1@6 at is later than the mark's arrival; the arrival is used",
            ])
    }

    @Test("a browser's start is `opened`; nothing of the URL is kept")
    func opened() throws {
        let text = "1764479431.123  1652  4143 I \(Self.view)result code=0\n"
        let marks = try ImportedMarks(text, .logcat)
        #expect(marks.lines == ["1 opened - 05:10:31.123000000…05:10:31.123999999 package=com.android.chrome"])
        for imported in marks.reading.marks { #expect(!TraceText.text(of: imported.mark).contains("chia.health")) }
        let old = text.replacing("ActivityTaskManager", with: "ActivityManager").replacing("result code=0", with: "")
        #expect(try ImportedMarks(old, .logcat).lines == marks.lines)
        #expect(try ImportedMarks(text.replacing("code=0", with: "code=3"), .logcat).lines == marks.lines)
        #expect(try ImportedMarks(text.replacing("dat=https", with: "dat=HTTP"), .logcat).lines == marks.lines)
    }

    @Test("the way back to the app, the tester's own start, and another app open no browser")
    func otherStarts() throws {
        func judged(_ part: String, _ instead: String) throws -> ImportedMarks {
            try ImportedMarks(
                "1764479431.123  1652  4143 I \(Self.view)result code=0\n".replacing(part, with: instead), .logcat)
        }
        let back = try judged("com.android.chrome/com.google", "health.example.shop/.MainActivity")
        #expect(back.lines == [])
        #expect(back.remarks == ["1@1 a web page was opened in an app that is no known browser; no mark"])
        let fromShell = try judged("uid 10234", "uid 2000")
        #expect(fromShell.lines == [])
        #expect(fromShell.remarks == ["1@1 a web page was opened from the shell, not by an app; no mark"])
        #expect(try judged("uid 10234", "uid 20001").lines.count == 1)
        let chooser = try judged("com.android.chrome/", "com.android.intentresolver/")
        #expect(chooser.remarks == ["1@1 a choice of browsers was shown: which opened, and when, is not known"])
        #expect(try judged("com.android.chrome/", "com.android.chromeless/").lines == [])
        #expect(try judged("com.android.chrome/", "com.brave.browser_beta/").lines.count == 1)
        #expect(try judged("cmp=com.android.chrome/com.google.android.apps.chrome.Main ", "").lines == [])
        for browser in [
            "org.mozilla.firefox", "com.sec.android.app.sbrowser", "com.chrome.beta", "com.opera.mini.native",
        ] {
            #expect(
                try judged("com.android.chrome", browser).lines == [
                    "1 opened - 05:10:31.123000000…05:10:31.123999999 package=\(browser)"
                ])
        }
    }

    @Test func openedInTheFormatOfTime() throws {
        let text = "11-30 05:10:31.123 I/\(Self.view)result code=0".replacing(
            "Manager: START", with: "Manager( 1652): START")
        #expect(
            try ImportedMarks(text, .logcat, settings: ImportedMarks.settings(year: 2026, zoneSeconds: 0)).lines == [
                "1 opened - 05:10:31.123000000…05:10:31.123999999 package=com.android.chrome"
            ])
    }

    @Test(
        "times at the edges of what there is",
        arguments: [
            ("12-31 23:59:60.0", true), ("12-31 23:59:61.0", false), ("12-31 23:60:00.0", false),
            ("12-31 24:00:00.0", false), ("13-01 00:00:00.0", false), ("00-01 00:00:00.0", false),
            ("12-32 00:00:00.0", false), ("12-00 00:00:00.0", false), ("9200000000.0", true), ("9200000001.0", false),
            ("10000000000.0", false), ("1000000000", false), ("12-31 00:00:00.0 +2359", true),
            ("12-31 00:00:00.0 +2400", false), ("12-31 00:00:00.0 +2360", false), ("12-31 00:00:00.1234567891", true),
        ])
    func edges(stamp: String, isTime: Bool) throws {
        let marks = try ImportedMarks(
            "1.0  1  2 I a: b\n\(stamp)  1  2 I a: \(Self.mark)\n0123456789\n", .logcat,
            settings: ImportedMarks.settings(year: 2026, zoneSeconds: 0))
        #expect(marks.lines.count == (isTime ? 1 : 0))
    }

    @Test("seconds from 1970 begin in 2001; what is less counts from boot")
    func boot() throws {
        for (stamp, isMonotonic) in [("1000000000.0", false), ("999999999.9", true)] {
            let marks = try ImportedMarks("\(stamp)  1  2 I a: \(Self.mark)", .logcat)
            #expect(marks.reading.marks.map(\.isMonotonic) == [isMonotonic])
        }
    }

    @Test("half a year is no new year")
    func halfAYear() throws {
        let text = ["12-01", "06-01", "12-01"].map { "\($0) 00:00:00.0  1  2 I a: \(Self.mark)\n" }.joined()
        let marks = try ImportedMarks(text, .logcat, settings: ImportedMarks.settings(year: 2026, zoneSeconds: 0))
        #expect(
            marks.reading.marks.map { String($0.mark.span.earliest.rfc3339.prefix(10)) } == [
                "2026-06-01", "2026-12-01", "2026-12-01",
            ])
    }

    @Test(
        "starts that open no browser",
        arguments: [
            ("dat=https://", "dat=content://"), ("action.VIEW", "action.SEND"), ("result code=0", "result code=-92"),
            ("result code=0", "result code=102"), ("cmp=com.android.chrome/", "cmp=android/"),
            ("ActivityTaskManager", "SomethingElse"), ("{act", "act"), ("dat=https://chia.health/h/… ", ""),
        ])
    func notOpened(part: String, instead: String) throws {
        let text = "1764479431.123  1652  4143 I \(Self.view)result code=0\n".replacing(part, with: instead)
        #expect(try ImportedMarks(text, .logcat).lines == [])
    }

    @Test("a mark that can't be read is not left out in silence: line and column")
    func badMark() {
        let head = "1764479431.500  1  2 I a: handoff-mark "
        func error(_ object: String) -> String {
            MarkError.of { () throws(MarkError) in try ImportedMarks("\n\(head)\(object)\n", .logcat) }
        }
        #expect(error(#"{"target":"share"}"#) == "mark:2:40: a mark without kind")
        #expect(error(#"{"kind":"tap","count":0}"#) == "mark:2:54: count is no whole number from 1 to 1000")
        #expect(error(#"{"kind":"tap""#).hasPrefix("mark:2:53: "))
        #expect(error("<private>") == "mark:2:40: the mark is hidden: log its text with privacy: .public")
    }

    @Test("a year and a zone that the log leaves out are asked for, and followed over New Year")
    func years() throws {
        let text = """
            12-31 23:59:59.900  1  2 I a: handoff-mark {"kind":"tap"}
            01-01 00:00:00.100  1  2 I a: handoff-mark {"kind":"tap"}
            12-31 23:59:59.950  1  2 I a: handoff-mark {"kind":"tap"}
            """
        func error(_ settings: MarkImport.Settings) -> String {
            MarkError.of { () throws(MarkError) in try ImportedMarks(text, .logcat, settings: settings) }
        }
        #expect(error(ImportedMarks.settings(zoneSeconds: 0)) == "mark:1:1: the times have no year; give --year")
        #expect(
            error(ImportedMarks.settings(year: 2026)) == "mark:1:1: the times have no zone; give --zone, as +01:00 or Z"
        )
        let marks = try ImportedMarks(text, .logcat, settings: ImportedMarks.settings(year: 2026, zoneSeconds: 3_600))
        #expect(
            marks.reading.marks.map(\.mark.span.earliest.rfc3339) == [
                "2026-12-31T22:59:59.900000000Z", "2026-12-31T22:59:59.950000000Z", "2026-12-31T23:00:00.100000000Z",
            ])
        #expect(
            MarkError.of { () throws(MarkError) in
                try ImportedMarks(
                    "02-29 00:00:00.000  1  2 I a: handoff-mark {\"kind\":\"tap\"}", .logcat,
                    settings: ImportedMarks.settings(year: 2026, zoneSeconds: 0))
            } == "mark:1:1: there is no such date: 2026-02-29")
    }

    @Test func whatIsNoLogcatIsCountedAndAWholeFileOfItRefused() throws {
        let marks = try ImportedMarks("1764479431.123  1  2 I a: b\nplain words\nand more\n", .logcat)
        #expect(marks.remarks == ["2@2 not a line of logcat"])
        #expect(
            MarkError.of { () throws(MarkError) in try ImportedMarks("\nplain words\n", .logcat) }
                == "mark:2:1: no line is one of logcat; is it another format?")
        #expect(
            MarkError.of { () throws(MarkError) in try ImportedMarks("", .logcat) }
                == "mark:1:1: is empty: a log of logcat was to be here")
    }
}
