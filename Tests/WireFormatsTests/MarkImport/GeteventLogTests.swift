import SessionTrace
import Testing
import WireFormats

/// Samples in the shape of source.android.com "Getevent" and of AOSP's `getevent.c`, drivers of protocol B and A of the
/// kernel's `multi-touch-protocol`.
@Suite struct GeteventLogTests {
    private static let tap = """
        add device 1: /dev/input/event2
          name:     "main_touch"
        could not get driver version for /dev/input/mouse0, Not a typewriter
        [   12345.678901] /dev/input/event2: EV_ABS       ABS_MT_TRACKING_ID   0000119b
        [   12345.678901] /dev/input/event2: EV_ABS       ABS_MT_POSITION_X    0000034b
        [   12345.678901] /dev/input/event2: EV_ABS       ABS_MT_POSITION_Y    000006c9
        [   12345.678901] /dev/input/event2: EV_KEY       BTN_TOUCH            DOWN
        [   12345.678901] /dev/input/event2: EV_SYN       SYN_REPORT           00000000
        [   12345.731234] /dev/input/event2: EV_ABS       ABS_MT_TRACKING_ID   ffffffff
        [   12345.731234] /dev/input/event2: EV_KEY       BTN_TOUCH            UP
        [   12345.731234] /dev/input/event2: EV_SYN       SYN_REPORT           00000000             rate 18

        """

    @Test("a tap lasts from DOWN to UP, on the monotonic clock, once though two events tell of it")
    func oneTap() throws {
        let marks = try ImportedMarks(Self.tap, .getevent)
        #expect(marks.lines == ["8 tap - 03:25:45.678901000…03:25:45.731234999 x=843 y=1737"])
        #expect(marks.reading.marks.map(\.isMonotonic) == [true])
        #expect(marks.remarks == ["1@8 a touch of which no region says what it was on"])
        #expect(marks.reading.receipts == [])
    }

    @Test("the kernel leaves out a position that has not changed: the next tap is where the last one was")
    func samePosition() throws {
        let second = """
            [   12346.100000] /dev/input/event2: EV_ABS       ABS_MT_TRACKING_ID   0000119c
            [   12346.100000] /dev/input/event2: EV_KEY       BTN_TOUCH            DOWN
            [   12346.100000] /dev/input/event2: EV_SYN       SYN_REPORT           00000000
            [   12346.150000] /dev/input/event2: EV_ABS       ABS_MT_TRACKING_ID   ffffffff
            [   12346.150000] /dev/input/event2: EV_KEY       BTN_TOUCH            UP
            [   12346.150000] /dev/input/event2: EV_SYN       SYN_REPORT           00000000
            """
        let share = ImportedMarks.settings(targets: ["800,1700-900,1800=share"])
        let marks = try ImportedMarks(Self.tap + second, .getevent, settings: share)
        #expect(
            marks.lines == [
                "8 tap share 03:25:45.678901000…03:25:45.731234999 x=843 y=1737",
                "14 tap share 03:25:46.100000000…03:25:46.150000999 x=843 y=1737",
            ])
        #expect(marks.remarks == [])
    }

    @Test(
        "a region has its edges, and a finger must stay in it",
        arguments: [
            ("843,1737-843,1737=share", "share"), ("844,1737-900,1737=share", "other"),
            ("800,1700-842,1800=share", "other"), ("800,1738-900,1800=share", "other"),
            ("800,1700-900,1736=neutral", "other"), ("0,0-5000,5000=neutral", "neutral"),
        ])
    func regions(region: String, target: String) throws {
        let marks = try ImportedMarks(Self.tap, .getevent, settings: ImportedMarks.settings(targets: [region]))
        #expect(marks.reading.marks.map { $0.mark.target?.rawValue } == [target])
    }

    @Test(
        "a finger that leaves the region, or comes into it, taps nothing in it",
        arguments: [(10, 10, 10, 100), (10, 10, 100, 10), (100, 10, 10, 10), (10, 100, 10, 10)])
    func swipes(x: Int, y: Int, toX: Int, toY: Int) throws {
        func hex(_ number: Int) -> String {
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: 8 - digits.count) + digits
        }
        let swipe = """
            [ 1.000000] /dev/input/event2: EV_ABS ABS_MT_TRACKING_ID 00000001
            [ 1.000000] /dev/input/event2: EV_ABS ABS_MT_POSITION_X \(hex(x))
            [ 1.000000] /dev/input/event2: EV_ABS ABS_MT_POSITION_Y \(hex(y))
            [ 1.000000] /dev/input/event2: EV_SYN SYN_REPORT 00000000
            [ 1.100000] /dev/input/event2: EV_ABS ABS_MT_POSITION_X \(hex(toX))
            [ 1.100000] /dev/input/event2: EV_ABS ABS_MT_POSITION_Y \(hex(toY))
            [ 1.100000] /dev/input/event2: EV_SYN SYN_REPORT 00000000
            [ 1.200000] /dev/input/event2: EV_ABS ABS_MT_TRACKING_ID ffffffff
            [ 1.200000] /dev/input/event2: EV_SYN SYN_REPORT 00000000
            """
        let marks = try ImportedMarks(
            swipe, .getevent, settings: ImportedMarks.settings(targets: ["0,0-20,20=share"]))
        #expect(
            marks.lines == [
                "4 tap other 00:00:01.000000000…00:00:01.200000999 to-x=\(toX) to-y=\(toY) x=\(x) y=\(y)"
            ])
    }

    private static func hex(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    /// A finger that goes down at x 0 and moves along y.
    private static func moving(_ ys: [Int], at second: Int = 1, last: String = "ffffffff") -> String {
        var text = ""
        for (number, y) in ys.enumerated() {
            let head = "[ \(second).\(number)00000] /dev/input/event2:"
            if number == 0 {
                text += "\(head) EV_ABS ABS_MT_TRACKING_ID 00000001\n\(head) EV_ABS ABS_MT_POSITION_X 00000000\n"
            }
            text += "\(head) EV_ABS ABS_MT_POSITION_Y \(hex(y))\n\(head) EV_SYN SYN_REPORT 00000000\n"
        }
        let head = "[ \(second).900000] /dev/input/event2:"
        return text + "\(head) EV_ABS ABS_MT_TRACKING_ID \(last)\n\(head) EV_SYN SYN_REPORT 00000000\n"
    }

    /// By more than a twentieth of the largest coordinate, and not less than 32 units: the finger may roll.
    @Test(
        "a finger that moves away taps nothing, wherever it is lifted",
        arguments: [
            ([2_000, 500], "other"), ([2_000, 1_900], "-"), ([2_000, 1_899], "other"), ([1_900, 2_000], "-"),
            ([1_899, 2_000], "other"), ([2_000, 500, 2_000], "other"), ([100, 132], "-"), ([100, 133], "other"),
            ([640, 608], "-"), ([640, 607], "other"), ([680, 647, 680], "-"),
        ])
    func scrolls(ys: [Int], target: String) throws {
        let marks = try ImportedMarks(Self.moving(ys), .getevent)
        #expect(marks.reading.marks.map { $0.mark.target?.rawValue ?? "-" } == [target], "\(marks.lines)")
        #expect(marks.remarks.isEmpty == (target == "other"), "\(marks.remarks)")
    }

    /// The coordinates of a screen are larger than this touch tells: an earlier one said so.
    @Test("the largest coordinate is the screen's, not the touch's")
    func scale() throws {
        let text = Self.moving([20_000], at: 1) + Self.moving([400, 900], at: 2)
        #expect(try ImportedMarks(text, .getevent).reading.marks.map(\.mark.target) == [nil, nil])
        #expect(try ImportedMarks(Self.moving([400, 900]), .getevent).reading.marks.map(\.mark.target) == [.other])
    }

    @Test("sideways too, and with BTN_TOUCH alone")
    func scrollsOfAnotherKind() throws {
        let sideways = Self.moving([2_000, 500]).replacing("POSITION_X", with: "T").replacing(
            "POSITION_Y", with: "POSITION_X"
        )
        .replacing("ABS_T", with: "ABS_MT_POSITION_Y").replacing("MT_T ", with: "MT_POSITION_Y ")
        #expect(try ImportedMarks(sideways, .getevent).reading.marks.map(\.mark.target) == [.other])
        let single = """
            [ 1.000000] EV_ABS ABS_X 00000010
            [ 1.000000] EV_ABS ABS_Y 000007d0
            [ 1.000000] EV_KEY BTN_TOUCH DOWN
            [ 1.000000] EV_SYN SYN_REPORT 00000000
            [ 1.100000] EV_ABS ABS_Y 000001f4
            [ 1.100000] EV_SYN SYN_REPORT 00000000
            [ 1.200000] EV_KEY BTN_TOUCH UP
            [ 1.200000] EV_SYN SYN_REPORT 00000000
            """
        #expect(try ImportedMarks(single, .getevent).reading.marks.map(\.mark.target) == [.other])
    }

    @Test("two fingers of protocol B are two taps, though BTN_TOUCH goes down once")
    func twoFingers() throws {
        let text = """
            [ 10.000000] /dev/input/event2: EV_ABS       ABS_MT_SLOT          00000000
            [ 10.000000] /dev/input/event2: EV_ABS       ABS_MT_TRACKING_ID   00000001
            [ 10.000000] /dev/input/event2: EV_KEY       BTN_TOUCH            DOWN
            [ 10.000000] /dev/input/event2: EV_SYN       SYN_REPORT           00000000
            [ 10.200000] /dev/input/event2: EV_ABS       ABS_MT_SLOT          00000001
            [ 10.200000] /dev/input/event2: EV_ABS       ABS_MT_TRACKING_ID   00000002
            [ 10.200000] /dev/input/event2: EV_SYN       SYN_REPORT           00000000
            [ 10.300000] /dev/input/event2: EV_ABS       ABS_MT_SLOT          00000000
            [ 10.300000] /dev/input/event2: EV_ABS       ABS_MT_TRACKING_ID   ffffffff
            [ 10.300000] /dev/input/event2: EV_SYN       SYN_REPORT           00000000
            [ 10.400000] /dev/input/event2: EV_ABS       ABS_MT_SLOT          00000001
            [ 10.400000] /dev/input/event2: EV_ABS       ABS_MT_TRACKING_ID   ffffffff
            [ 10.400000] /dev/input/event2: EV_KEY       BTN_TOUCH            UP
            [ 10.400000] /dev/input/event2: EV_SYN       SYN_REPORT           00000000
            """
        #expect(
            try ImportedMarks(text, .getevent).lines == [
                "4 tap - 00:00:10.000000000…00:00:10.300000999", "7 tap - 00:00:10.200000000…00:00:10.400000999",
            ])
    }

    @Test("protocol A repeats its fingers in each report: BTN_TOUCH tells of the tap; numbers without -l")
    func protocolA() throws {
        let text = """
            [ 20.000000] /dev/input/event2: 0003 0035 00000164
            [ 20.000000] /dev/input/event2: 0003 0036 00000506
            [ 20.000000] /dev/input/event2: 0003 0039 00000000
            [ 20.000000] /dev/input/event2: 0001 014a 00000001
            [ 20.000000] /dev/input/event2: 0000 0002 00000000
            [ 20.000000] /dev/input/event2: 0000 0000 00000000
            [ 20.010000] /dev/input/event2: 0003 0039 00000001
            [ 20.010000] /dev/input/event2: 0000 0002 00000000
            [ 20.010000] /dev/input/event2: 0003 0039 00000000
            [ 20.010000] /dev/input/event2: 0000 0002 00000000
            [ 20.010000] /dev/input/event2: 0000 0000 00000000
            [ 20.090000] /dev/input/event2: 0001 014a 00000000
            [ 20.090000] /dev/input/event2: 0000 0000 00000000
            """
        #expect(
            try ImportedMarks(text, .getevent).lines == ["6 tap - 00:00:20.000000000…00:00:20.090000999 x=356 y=1286"])
    }

    @Test("one device's lines without its name; a touch that the log cuts off is the moment of DOWN")
    func cutOff() throws {
        let text = """
            [   12345.678901] EV_KEY       BTN_TOUCH            DOWN
            [   12345.678901] EV_SYN       SYN_REPORT           00000000
            """
        let marks = try ImportedMarks(text, .getevent)
        #expect(marks.lines == ["2 tap - 03:25:45.678901000…03:25:45.678901999"])
        #expect(marks.remarks.contains("1@2 a touch without its end; its mark is the moment of DOWN"))
    }

    @Test("a time of receipt before each line is kept as one bound of the offset")
    func receipts() throws {
        let text = """
            1764479431.120394 [   12345.678901] /dev/input/event2: EV_KEY       BTN_TOUCH            DOWN
            2026-11-30T05:10:31.120394Z [   12345.678901] /dev/input/event2: EV_SYN       SYN_REPORT           00000000
            """
        let marks = try ImportedMarks(text, .getevent)
        #expect(marks.reading.receipts.map(\.line) == [1, 2])
        #expect(marks.lines.count == 1)
    }

    @Test("when the kernel's clock could not be set, the stamps are of the wall clock")
    func wallClock() throws {
        let text = """
            [1764479431.120394] /dev/input/event2: EV_KEY BTN_TOUCH DOWN
            [1764479431.120394] /dev/input/event2: EV_SYN SYN_REPORT 00000000
            """
        #expect(try ImportedMarks(text, .getevent).reading.marks.map(\.isMonotonic) == [false])
    }

    @Test func otherLinesAreCounted() throws {
        let marks = try ImportedMarks(Self.tap + "adb: device offline\n", .getevent)
        #expect(marks.remarks.contains("1@12 not a line of getevent"))
        #expect(marks.lines.count == 1)
    }

    @Test func linesWithoutTimesAreRefused() {
        let text = "/dev/input/event2: EV_KEY       BTN_TOUCH            DOWN\n"
        #expect(
            MarkError.of { () throws(MarkError) in try ImportedMarks(text, .getevent) }
                == "mark:1:1: the lines have no times; run getevent -lt")
    }

    @Test func limitsHold() throws {
        var text = ""
        for device in 0...64 { text += "[ 1.000000] /dev/input/event\(device): EV_KEY BTN_TOUCH DOWN\n" }
        text += "[ 2.000000] /dev/input/event0: EV_ABS ABS_MT_SLOT 00000040\n"
        text += "[ 2.000000] /dev/input/event0: EV_SYN SYN_REPORT 00000000\n"
        for _ in 0...4_096 { text += "[ 3.000000] /dev/input/event1: EV_ABS ABS_MT_POSITION_X 00000001\n" }
        let marks = try ImportedMarks(text, .getevent)
        #expect(marks.remarks.contains("1@65 more than 64 input devices"))
        #expect(marks.remarks.contains("1@67 a slot beyond 32"))
        #expect(marks.remarks.contains("2@4163 a report of more than 4096 events"), "\(marks.remarks)")
    }
}
