import CommandLine
import Foundation
import Testing

/// `handoff mark import` as a command: files in, lines out.
@Suite struct MarkImportCommandTests {
    private static let getevent = """
        [   12345.678901] /dev/input/event2: EV_KEY       BTN_TOUCH            DOWN
        [   12345.678901] /dev/input/event2: EV_SYN       SYN_REPORT           00000000
        [   12345.731234] /dev/input/event2: EV_KEY       BTN_TOUCH            UP
        [   12345.731234] /dev/input/event2: EV_SYN       SYN_REPORT           00000000

        """
    private static let logcat =
        "1764479431.123456  1234  1240 I handoff : handoff-mark {\"kind\":\"tap\",\"target\":\"share\"}\n"

    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    private func file(_ name: String, _ text: String) throws -> String {
        let path = scratch.path(name)
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test func aMarkOfAnotherClockNamesIt() throws {
        defer { scratch.remove() }
        let log = try file("log.txt", Self.logcat)
        let run = CommandRun(["mark", "import", log, "--format=logcat"])
        #expect(run.status == .conforming)
        #expect(
            run.result
                == #"{"kind":"tap","target":"share","at":"2025-11-30T05:10:31.123456000Z","until":"2025-11-30T05:10:31.123456999Z","clock":"device"}"#
                + "\n")
        #expect(run.talk == "handoff: \(log): 1 mark (1 tap, 1 of them share) from 1 line of logcat\n")
        #expect(
            CommandRun(["mark", "import", log, "--format=logcat", "--clock=phone"]).result.contains(#""clock":"phone""#)
        )
        #expect(!CommandRun(["mark", "import", log, "--format=logcat", "--capture-clock"]).result.contains("clock"))
    }

    @Test func probesTurnTheMonotonicClockIntoReferenceTime() throws {
        defer { scratch.remove() }
        let log = try file("touch.log", Self.getevent)
        let probes = try file("probes.txt", "1764479431.000000 12345.600000 1764479431.020000\n")
        let run = CommandRun(["mark", "import", log, "--format=getevent", "--probes", probes])
        #expect(run.status == .conforming)
        // 78,901 µs after the probe, whose drift is 7,891 ns; 131,235 µs and 13,124 ns for the end.
        #expect(
            run.result.hasPrefix(
                #"{"kind":"tap","at":"2025-11-30T05:10:31.078892110Z","until":"2025-11-30T05:10:31.151249122Z"}"#),
            "\(run.result)")
        let late = try file("late.txt", "1764479431.000000 12440.000000 1764479431.020000\n")
        #expect(
            CommandRun(["mark", "import", log, "--format=getevent", "--probes", late]).talk.contains(
                "1 × outside of the probes' time"))
        let without = CommandRun(["mark", "import", log, "--format=getevent"])
        #expect(without.status == .unreadable && without.result.isEmpty)
        #expect(without.talk.contains("\(log):2:1: its time counts from boot and says no time of day; give --probes"))
    }

    @Test func whatContradictsIsOneClearLine() throws {
        defer { scratch.remove() }
        let log = try file("touch.log", Self.getevent)
        let stepped = try file(
            "stepped.txt", "1764479431.000 12345.600 1764479431.020\n1764479441.500 12355.600 1764479441.520\n")
        let wall = try file("wall.txt", "1764479431.000 1764479431.010 1764479431.020\n")
        let broken = try file("broken.txt", "1764479431.000 soon 1764479431.020\n")
        for (probes, words) in [
            (stepped, "\(stepped):2:1: the clock stepped or stood still: lines 1 and 2"),
            (wall, "\(log):2:1: its time counts from boot, and the probes' times do not"),
            (broken, "\(broken):1:16: DEVICE is neither RFC 3339"),
        ] {
            let run = CommandRun(["mark", "import", log, "--format=getevent", "--probes", probes])
            #expect(run.status == .unreadable)
            #expect(run.result == "")
            #expect(run.talk.hasPrefix("handoff: \(words)"), "\(run.talk)")
            #expect(run.talk.split(separator: "\n").count == 1)
        }
        let bad = try file("bad.log", Self.logcat.replacing("share\"", with: "share"))
        let run = CommandRun(["mark", "import", bad, "--format=logcat"])
        #expect(run.status == .unreadable && run.talk.hasPrefix("handoff: \(bad):1:"))
    }

    @Test func receiptsGiveOneSideAndKeepTheClocksName() throws {
        defer { scratch.remove() }
        let lines = Self.getevent.split(separator: "\n").enumerated().map { "1764479431.\($0)50000 \($1)" }
        let log = try file("received.log", lines.joined(separator: "\n"))
        let run = CommandRun(["mark", "import", log, "--format=getevent"])
        #expect(run.status == .conforming)
        #expect(run.result.contains(#""clock":"device-monotonic""#))
        #expect(run.talk.contains("the clock is known by times of receipt alone"))
    }

    @Test("dates, zones and targets are taken from options")
    func options() throws {
        defer { scratch.remove() }
        let log = try file(
            "maestro.log",
            """
            06:10:31.123 [ INFO] m.c.r.T.invoke: Tap on "Teilen" RUNNING
            06:10:32.456 [ INFO] m.c.r.T.invoke: Tap on "Teilen" COMPLETED
            """)
        let run = CommandRun([
            "mark", "import", log, "--format", "maestro", "--date=2026-11-30", "--zone=+01:00", "--target",
            "Teilen=share",
        ])
        #expect(
            run.result
                == #"{"kind":"tap","target":"share","at":"2026-11-30T05:10:31.123000000Z","until":"2026-11-30T05:10:32.456999999Z","clock":"runner","name":"Teilen"}"#
                + "\n")
        let west = CommandRun([
            "mark", "import", log, "--format", "maestro", "--date=2026-11-30", "--zone=-05:00",
        ])
        #expect(west.result.contains("2026-11-30T11:10:31.123"))
    }

    @Test(
        "wrong usage",
        arguments: [
            (["mark", "import"], "mark import needs LOG"), (["mark", "import", "x"], "--format is missing"),
            (
                ["mark", "import", "x", "--format=syslog"],
                "--format takes getevent, logcat, ios-syslog, maestro, appium or xcuitest, not syslog"
            ),
            (["mark", "import", "x", "--format=logcat", "--target=share"], "--target takes LABEL=WORD"),
            (["mark", "import", "x", "--format=logcat", "--year=26"], "--year is a year from 1970"),
            (["mark", "import", "x", "--format=logcat", "--date=30.11.2026"], "--date is a date as 2026-11-30"),
            (["mark", "import", "x", "--format=logcat", "--zone=CET"], "--zone is Z or a zone"),
            (["mark", "import", "x", "--format=logcat", "--clock="], "--clock needs a name"),
            (["mark", "import", "x", "--format=logcat", "--capture-clock", "--clock=a"], "--capture-clock goes with"),
            (["mark", "import", "x", "--format=logcat", "--capture-clock", "--probes=a"], "--capture-clock goes with"),
        ])
    func usage(words: [String], message: String) {
        defer { scratch.remove() }
        let run = CommandRun(words)
        #expect(run.status == .usage)
        #expect(run.talk.contains(message), "\(run.talk)")
    }

    /// A log of another tool is one clear line, whatever it holds, and no empty side file with status 0.
    @Test(arguments: ["getevent", "logcat", "ios-syslog", "maestro", "appium", "xcuitest"])
    func anotherToolsLogIsUnreadable(format: String) throws {
        defer { scratch.remove() }
        let pages = Data((0..<9_000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 5) })
        let binary = scratch.path("binary")
        try pages.write(to: URL(filePath: binary))
        for (path, words) in [
            (try file("empty.log", ""), "is empty: a log of \(format)"),
            (try file("blank.log", "\n\n  \n"), "no line is one of \(format)"),
            // Lines with a time and a word in brackets, as many programs write them.
            (
                try file("server.log", "[2026-11-30 05:10:31] [INFO] started\n2026-11-30 05:10:32 [INFO] ready\n"),
                "no line is one of \(format)"
            ),
            (try file("letter.txt", "Dear all,\nthe test went well.\n"), "no line is one of \(format)"),
            (binary, "no line is one of \(format)"),
        ] {
            let run = CommandRun(["mark", "import", path, "--format=\(format)"])
            #expect(run.status == .unreadable && run.result.isEmpty)
            #expect(run.talk.hasPrefix("handoff: \(path):") && run.talk.contains(words), "\(run.talk)")
            #expect(run.talk.split(separator: "\n").count == 1)
        }
    }

    @Test func whatWasDroppedIsCounted() throws {
        defer { scratch.remove() }
        func step(_ second: Int, _ words: String) -> String {
            "06:10:0\(second).000 [ INFO] m.c.r.T.invoke: \(words)\n"
        }
        let log = try file(
            "maestro.log",
            ["Launch app \"x\"", "Input text hunter2", "Input text more", "Tap on \"A\"", "Swipe UP in 400 ms"]
                .enumerated().map { step($0, "\($1) RUNNING") + step($0, "\($1) COMPLETED") }.joined())
        let run = CommandRun(["mark", "import", log, "--format=maestro", "--date=2026-11-30", "--zone=Z"])
        #expect(run.status == .conforming)
        #expect(
            run.talk
                == "handoff: \(log): 1 mark (1 tap, 0 of them share) from 10 lines of maestro; "
                + "4 other steps made none: Input text ×2, Launch app, Swipe UP\n", "\(run.talk)")
        #expect(!run.talk.contains("hunter2"))
    }

    @Test func anIdThatComesTwiceIsTold() throws {
        defer { scratch.remove() }
        func line(_ second: Int, _ object: String) -> String {
            "176447943\(second).123456  1234  1240 I handoff : handoff-mark \(object)\n"
        }
        let log = try file(
            "log.txt",
            line(1, #"{"kind":"tap","target":"share","id":"t1"}"#)
                + line(2, #"{"kind":"tap","target":"neutral","id":"t1"}"#)
                + line(3, #"{"kind":"tap","target":"cta","id":"p","phase":"pre"}"#)
                + line(4, #"{"kind":"tap","target":"cta","id":"p","phase":"post"}"#))
        let run = CommandRun(["mark", "import", log, "--format=logcat"])
        #expect(run.status == .conforming)
        let lines = run.talk.split(separator: "\n")
        #expect(lines.count == 2 && lines[0].hasPrefix("handoff: \(log):2: 1 × the id of an earlier mark"), "\(lines)")
    }

    @Test func cornersOfARegionMayStandInAnyOrder() throws {
        defer { scratch.remove() }
        let touch = Self.getevent.replacing(
            "[   12345.678901] /dev/input/event2: EV_KEY       BTN_TOUCH            DOWN",
            with: """
                [   12345.678901] /dev/input/event2: EV_ABS       ABS_MT_POSITION_X    00000014
                [   12345.678901] /dev/input/event2: EV_ABS       ABS_MT_POSITION_Y    0000001e
                [   12345.678901] /dev/input/event2: EV_KEY       BTN_TOUCH            DOWN
                """)
        let log = try file("touch.log", touch)
        let probes = try file("probes.txt", "1764479431.000000 12345.600000 1764479431.020000\n")
        func target(_ region: String) -> CommandRun {
            CommandRun([
                "mark", "import", log, "--format=getevent", "--probes", probes, "--target", "\(region)=share",
            ])
        }
        for region in ["10,20-40,50", "40,50-10,20", "10,50-40,20", "40,20-10,50"] {
            #expect(target(region).result.contains(#""target":"share""#), "\(region): \(target(region).talk)")
        }
        #expect(target("100,20-40,50").result.contains(#""target":"other""#))
        for wrong in ["Teilen", "1,2-3", "1,2", "a,b-c,d", "1,2-3,-4"] {
            let run = target(wrong)
            #expect(run.status == .usage && run.talk.contains("--target takes X1,Y1-X2,Y2=WORD with getevent"))
        }
    }

    @Test func whatIsNotThereIsUnreadable() {
        defer { scratch.remove() }
        let run = CommandRun(["mark", "import", scratch.path("none"), "--format=logcat"])
        #expect(run.status == .unreadable)
        #expect(CommandRun(["mark", "--help"]).result.contains("usage: handoff mark [OPTION…] KIND"))
        #expect(CommandRun(["mark", "import", "--help"]).result.contains("usage: handoff mark import"))
    }
}
