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
        #expect(run.talk == "handoff: \(log): 1 marks (1 taps, 1 of them share) from 1 lines of logcat\n")
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
            (["mark", "import", "x", "--format=syslog"], "--format is one of getevent, logcat, ios-syslog"),
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

    @Test func whatIsNotThereIsUnreadable() {
        defer { scratch.remove() }
        let run = CommandRun(["mark", "import", scratch.path("none"), "--format=logcat"])
        #expect(run.status == .unreadable)
        #expect(CommandRun(["mark", "--help"]).result.contains("usage: handoff mark [OPTION…] KIND"))
        #expect(CommandRun(["mark", "import", "--help"]).result.contains("usage: handoff mark import"))
    }
}
