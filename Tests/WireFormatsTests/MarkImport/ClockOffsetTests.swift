import SessionTrace
import Testing
import WireFormats

@Suite struct ClockOffsetTests {
    private static let second: Int64 = 1_000_000_000
    private static let host: Int64 = 1_764_479_431 * second

    private static func span(_ earliest: Int64, _ latest: Int64? = nil) -> TimeSpan {
        TimeSpan(Instant(nanoseconds: earliest), Instant(nanoseconds: latest ?? earliest))
    }

    private func error(_ body: () throws(MarkError) -> Void) -> String {
        do throws(MarkError) {
            try body()
            return "no error"
        } catch {
            return "\(error)"
        }
    }

    /// Host times relative to `host`, device times to 1,000 s after boot.
    private func probe(_ host0: Int64, _ device: Int64, _ host1: Int64, line: Int = 1) -> ClockProbe {
        ClockProbe(
            host0: Self.host + host0, device: 1_000 * Self.second + device, host1: Self.host + host1, isMonotonic: true,
            line: line)
    }

    @Test("one probe bounds the offset; with distance the bounds widen by one in ten thousand")
    func oneProbe() throws {
        let offset = try #require(try ClockOffset(probes: [probe(0, 5, 30)]))
        #expect(offset.isTwoSided && offset.isMonotonic && offset.jitterNanoseconds == 0)
        let device = 1_000 * Self.second + 5
        #expect(try offset.reference(Self.span(device), line: 1) == Self.span(Self.host, Self.host + 30))
        #expect(
            try offset.reference(Self.span(device, device + 7), line: 1)
                == Self.span(Self.host, Self.host + 30 + 7 + 1))
        let later = 100 * Self.second
        #expect(
            try offset.reference(Self.span(device + later), line: 1)
                == Self.span(Self.host + later - 10_000_001, Self.host + later + 30 + 10_000_001))
        #expect(
            try offset.reference(Self.span(device - later), line: 1)
                == Self.span(Self.host - later - 10_000_001, Self.host - later + 30 + 10_000_001))
    }

    @Test("two probes: the narrower of both bounds at any time between")
    func twoProbes() throws {
        let offset = try #require(
            try ClockOffset(probes: [probe(0, 0, 1_000), probe(20_000, 20_400, 20_500, line: 2)]))
        // The second probe's −400…100 and the first's 0…1,000, each a drift of 3 ns wider at the other's place.
        let boot = 1_000 * Self.second
        #expect(try offset.reference(Self.span(boot), line: 1) == Self.span(Self.host, Self.host + 103))
        #expect(
            try offset.reference(Self.span(boot + 20_400), line: 1)
                == Self.span(Self.host + 20_397, Self.host + 20_500))
    }

    @Test("probes without an offset in common: the clock stepped; a drift of 100 ppm is none")
    func steps() throws {
        let hour = 3_600 * Self.second
        // 100 ppm of an hour are 360 ms.
        let drifted = [probe(0, 0, 0), probe(hour + 360_000_000, hour, hour + 360_000_000, line: 2)]
        #expect(try ClockOffset(probes: drifted) != nil)
        let stepped = [probe(0, 0, 0), probe(hour + 360_000_002, hour, hour + 360_000_002, line: 2)]
        #expect(
            error { () throws(MarkError) in _ = try ClockOffset(probes: stepped) }.hasPrefix(
                "mark:2:1: the clock stepped or stood still: lines 1 and 2 leave no offset in common"))
        let back = [probe(0, 0, 0), probe(hour - 360_000_002, hour, hour - 360_000_002, line: 2)]
        #expect(error { () throws(MarkError) in _ = try ClockOffset(probes: back) } != "no error")
        // One of three, which the two others leave no room for, wherever it stands in the file.
        let three = [
            probe(20_000, 20_000, 20_001, line: 1), probe(0, 0, 1, line: 2), probe(14_000, 10_000, 14_001, line: 3),
        ]
        #expect(error { () throws(MarkError) in _ = try ClockOffset(probes: three) }.contains("3 leave no offset"))
    }

    @Test("times far from all probes are another clock's; a minute outside is told")
    func reach() throws {
        let offset = try #require(try ClockOffset(probes: [probe(0, 0, 30)]))
        let boot = 1_000 * Self.second
        #expect(!offset.isOutside(Self.span(boot + 60 * Self.second)))
        #expect(offset.isOutside(Self.span(boot + 60 * Self.second + 1)))
        #expect(!offset.isOutside(Self.span(boot - 60 * Self.second)))
        #expect(offset.isOutside(Self.span(boot - 60 * Self.second - 1)))
        for side: Int64 in [1, -1] {
            let edge = Self.span(boot + side * ClockOffset.reach)
            let beyond = Self.span(boot + side * (ClockOffset.reach + 1))
            #expect(throws: Never.self) { try offset.reference(edge, line: 7) }
            #expect(
                error { () throws(MarkError) in _ = try offset.reference(beyond, line: 7) }.hasPrefix(
                    "mark:7:1: its time is more than a day from every probe"))
        }
        for extreme in [Int64.min, .max] {
            #expect(throws: MarkError.self) { try offset.reference(Self.span(extreme), line: 1) }
        }
    }

    @Test("nothing known is no offset; extreme probes trap nowhere")
    func extremes() throws {
        #expect(try ClockOffset(probes: []) == nil)
        for host in [Int64.min, 0, .max] {
            for device in [Int64.min, 0, .max] {
                let probes = [
                    ClockProbe(host0: host, device: device, host1: host, line: 1),
                    ClockProbe(host0: 0, device: 0, host1: .max, line: 2),
                ]
                _ = error { () throws(MarkError) in
                    let offset = try ClockOffset(probes: probes)
                    _ = try offset?.reference(Self.span(0), line: 1)
                }
            }
        }
        let mixed = [probe(0, 0, 1), ClockProbe(host0: 0, device: 0, host1: 1, isMonotonic: false, line: 2)]
        #expect(error { () throws(MarkError) in _ = try ClockOffset(probes: mixed) }.contains("are probes and log"))
    }

    @Test("random probes of a drifting clock contain the true offset at every time between and around them")
    func randomProbes() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<300 {
            // The host's time is offset + device + drift of at most 100 ppm, in steps that change sign.
            let offset = Int64.random(in: -Self.host...Self.host, using: &random)
            var drift: Int64 = 0
            var device: Int64 = 1_000 * Self.second
            var truth: [(device: Int64, host: Int64)] = []
            for _ in 0..<40 {
                let pause = Int64.random(in: 1...(30 * Self.second), using: &random)
                device += pause
                drift += Int64.random(in: -(pause / 10_000)...(pause / 10_000), using: &random)
                truth.append((device, device + offset + drift))
            }
            let chosen = truth.enumerated().filter { _ in Bool.random(using: &random) }
            let probes = chosen.map { number, point in
                ClockProbe(
                    host0: point.host - .random(in: 0...30_000_000, using: &random), device: point.device,
                    host1: point.host + .random(in: 0...30_000_000, using: &random), line: number + 1)
            }
            guard let bounds = try ClockOffset(probes: probes.shuffled(using: &random)) else { continue }
            for point in truth {
                let span = try bounds.reference(Self.span(point.device), line: 1)
                #expect(span.earliest.nanoseconds <= point.host && point.host <= span.latest.nanoseconds)
            }
            // No wider than what the nearest probe alone leaves open.
            for (_, point) in chosen {
                let span = try bounds.reference(Self.span(point.device), line: 1)
                #expect(span.latest.nanoseconds(since: span.earliest) <= 60_000_000)
            }
        }
    }

    @Test("receipts bound one side; the other is the spread of the delays")
    func receipts() throws {
        var text = ""
        for (index, delay) in [12, 3, 40].enumerated() {
            text +=
                "\(1_764_479_431 + index).0\(delay < 10 ? "0" : "")\(delay) [ \(100 + index).000000] EV_SYN SYN_REPORT 00000000\n"
        }
        let receipts = try ImportedMarks(text, .getevent).reading.receipts
        let offset = try #require(try ClockOffset(probes: [], receipts: receipts))
        #expect(!offset.isTwoSided && offset.isMonotonic)
        #expect(offset.jitterNanoseconds == 37_000_000)
        let span = try offset.reference(Self.span(101 * Self.second), line: 1)
        // Received at 432.003…432.003999 at the latest.
        #expect(span.latest.nanoseconds == Self.host + Self.second + 3_999_999)
        #expect(span.earliest.nanoseconds == span.latest.nanoseconds - 37_000_000)
        // A probe closes the other side.
        let closed = try #require(
            try ClockOffset(probes: [probe(0, -900 * Self.second, Self.second)], receipts: receipts))
        #expect(closed.isTwoSided)
        let both = try closed.reference(Self.span(101 * Self.second), line: 1)
        #expect(both.latest == span.latest)
        #expect(both.earliest.nanoseconds == Self.host + Self.second - 100_001)
    }

    @Test("of a second's receipts the fastest and the slowest are kept")
    func thinning() throws {
        var text = ""
        for (index, delay) in [450, 300, 700, 400, 200, 900, 600].enumerated() {
            text += "1764479431.\(delay) [ 100.\(index)] EV_SYN SYN_REPORT 00000000\n"
        }
        text += "1764479432.999 [ 101.000] EV_SYN SYN_REPORT 00000000\n"
        let receipts = try ImportedMarks(text, .getevent).reading.receipts
        #expect(Set(receipts.map(\.line)) == [3, 5, 8])
    }

    @Test("a device that slept: all lines come later from then on, which is no delay")
    func suspend() throws {
        func receipts(sleep: Int64, last: Int64) throws -> [ClockProbe] {
            var text = ""
            for index in Int64(0)..<6 {
                let late = index < 3 ? 0 : index == 5 ? last : sleep
                text += "\(1_764_479_431 + index + late).500 [ \(100 + index).000000] EV_SYN SYN_REPORT 00000000\n"
            }
            return try ImportedMarks(text, .getevent).reading.receipts
        }
        let slept = try receipts(sleep: 30, last: 30)
        #expect(
            error { () throws(MarkError) in _ = try ClockOffset(probes: [], receipts: slept) }
                == "mark:4:1: the clock stood still or was set back: from this line on all come at least 30000 ms later than before"
        )
        // A stall that ends is a delay.
        #expect(
            try ClockOffset(probes: [], receipts: receipts(sleep: 30, last: 0))?.jitterNanoseconds == 30 * Self.second)
        #expect(try ClockOffset(probes: [], receipts: receipts(sleep: 1, last: 1)) != nil)
    }

    /// Ticks every second from 100 to 111 of the device's first clock, received 50 ms later, with the clock set on by
    /// `step` behind the sixth.
    private static func ticks(step: Int64, drop: Int64 = 0) throws -> [ClockProbe] {
        var text = ""
        for index in Int64(0)..<12 {
            let delay = index < 6 ? 50 + drop : 50
            let device = 100_000 + index * 1_000 + (index < 6 ? 0 : step)
            let host = 1_764_479_431_000 + index * 1_000 + delay
            text +=
                "\(host / 1_000).\(String(host % 1_000 + 1_000).dropFirst()) "
                + "[ \(device / 1_000).\(String(device % 1_000 + 1_000).dropFirst())] EV_SYN SYN_REPORT 00000000\n"
        }
        return try ImportedMarks(text, .getevent).reading.receipts
    }

    @Test(
        "a clock that was set on: what it stamped before keeps its own bound", arguments: [251, 999, 5_000] as [Int64])
    func setForward(step: Int64) throws {
        let offset = try #require(try ClockOffset(probes: [], receipts: Self.ticks(step: step)))
        for (device, host) in [
            (100 * Self.second, Self.host), (103 * Self.second, Self.host + 3 * Self.second),
            (104_500_000_000, Self.host + 4_500_000_000), (105 * Self.second, Self.host + 5 * Self.second),
            (105_400_000_000, Self.host + 5_400_000_000),
            (106 * Self.second + step * 1_000_000, Self.host + 6 * Self.second),
            (111 * Self.second + step * 1_000_000, Self.host + 11 * Self.second),
        ] {
            let span = try offset.reference(Self.span(device), line: 1)
            #expect(span.earliest.nanoseconds <= host && host <= span.latest.nanoseconds, "\(device): \(span)")
        }
    }

    @Test(
        "a fast line bounds the slow ones around it, as long as it is no step", arguments: [(250, true), (251, false)])
    func narrowing(drop: Int64, isNarrowed: Bool) throws {
        let offset = try #require(try ClockOffset(probes: [], receipts: Self.ticks(step: 0, drop: drop)))
        let span = try offset.reference(Self.span(105 * Self.second), line: 1)
        let excess = span.latest.nanoseconds - (Self.host + 5 * Self.second + 50_000_000)
        #expect(isNarrowed ? excess < 2_000_000 : excess >= drop * 1_000_000, "\(excess)")
        let later = try offset.reference(Self.span(106 * Self.second), line: 1)
        #expect(later.latest.nanoseconds < Self.host + 6 * Self.second + 52_000_000)
    }

    @Test("a file of probes: seconds, RFC 3339, comments; as wide as the last digits")
    func file() throws {
        let file = try ClockProbeFile(
            Array(
                """
                # host, device, host
                1764479431.000 1764479436.005 1764479431.030

                2026-11-30T05:10:31.5+00:00\t2026-11-30T06:10:31,5+0100  2026-11-30T05:10:32Z\r
                1764479433 100.5 1764479434

                """.utf8))
        #expect(file.probes.map(\.line) == [2, 4, 5])
        let offset = try #require(try ClockOffset(probes: [file.probes[0]]))
        let device = Self.host + 5_005_000_000
        #expect(
            try offset.reference(Self.span(device), line: 1)
                == Self.span(Self.host - 999_999, Self.host + 30_999_999))
    }

    @Test func aProbeMayTakeNoTime() throws {
        let text = "1764479431.123456789 5.123456789 1764479431.123456789"
        #expect(try ClockProbeFile(Array(text.utf8)).probes.count == 1)
    }

    @Test(
        "errors of a probe file",
        arguments: [
            ("", "mark:1:1: there is no probe in it"), ("# nothing\n", "mark:1:1: there is no probe in it"),
            (
                "1764479431.0 5.0\n",
                "mark:1:17: HOST1 is neither RFC 3339 with a zone nor seconds: a probe is HOST0 DEVICE HOST1"
            ),
            ("\n1764479431.0 5.0 1764479431.5 7\n", "mark:2:31: a probe has three times"),
            (
                "1764479431.0 x 1764479431.5",
                "mark:1:14: DEVICE is neither RFC 3339 with a zone nor seconds: a probe is HOST0 DEVICE HOST1"
            ),
            ("é 1.0 2.0", "mark:1:1: HOST0 is neither RFC 3339 with a zone nor seconds: a probe is HOST0 DEVICE HOST1"),
            ("1764479432.0 5.0 1764479431.5", "mark:1:18: HOST1 is before HOST0"),
            ("100.0 5.0 101.0", "mark:1:1: the host's times are not of a wall clock"),
            (
                "2026-11-30T05:10:31 5.0 1764479431.5",
                "mark:1:1: HOST0 is neither RFC 3339 with a zone nor seconds: a probe is HOST0 DEVICE HOST1"
            ),
        ])
    func fileErrors(text: String, words: String) {
        #expect(error { () throws(MarkError) in _ = try ClockProbeFile(Array(text.utf8)) } == words)
    }
}
