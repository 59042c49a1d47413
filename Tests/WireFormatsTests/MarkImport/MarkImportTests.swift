import SessionTrace
import Testing
import WireFormats

/// What holds for every format.
@Suite struct MarkImportTests {
    /// A log of each format with a share tap in it.
    private static let logs: [(format: MarkImport.Format, text: String)] = [
        (
            .getevent,
            """
            [ 10.000000] /dev/input/event2: EV_KEY       BTN_TOUCH            DOWN
            [ 10.000000] /dev/input/event2: EV_SYN       SYN_REPORT           00000000
            [ 10.300000] /dev/input/event2: EV_KEY       BTN_TOUCH            UP
            [ 10.300000] /dev/input/event2: EV_SYN       SYN_REPORT           00000000
            """
        ),
        (
            .logcat,
            #"""
            1764479431.123456  1234  1240 I handoff : handoff-mark {"kind":"tap","target":"share","name":"é€"}
            1764479432.123456  1234  1240 I handoff : handoff-mark {"kind":"end"}
            """#
        ),
        (.iosSyslog, #"2026-11-30 05:10:31.123456+0100 x[1]: handoff-mark {"kind":"tap","target":"share"}"#),
        (
            .maestro,
            """
            [2026-11-30 05:10:31] [INFO   ] Tap on "Share selection and continue" RUNNING
            [2026-11-30 05:10:36] [INFO   ] Tap on "Share selection and continue" COMPLETED
            """
        ),
        (
            .appium,
            """
            2026-11-30 05:10:31:304 [HTTP] --> POST /session/1/element/98/click
            2026-11-30 05:10:31:801 [HTTP] <-- POST /session/1/element/98/click 200 497 ms - 14
            """
        ),
        (
            .xcuitest,
            """
                t =     0.00s Start Test at 2026-11-30 05:10:00.000
                t =     1.00s Tap "Share selection and continue" Button
                t =     1.90s Tear Down
            """
        ),
    ]
    private static let utc = ImportedMarks.settings(zoneSeconds: 0)

    private func lines(_ pieces: [ArraySlice<UInt8>], _ format: MarkImport.Format) throws -> [String] {
        var marks = MarkImport(format, settings: Self.utc)
        for piece in pieces { try marks.receive(piece) }
        let imported = ImportedMarks(reading: try marks.finish())
        return imported.lines + imported.remarks
    }

    @Test("any cut into pieces, either line end, a last line without one, a byte order mark: the same marks")
    func splits() throws {
        var random = SystemRandomNumberGenerator()
        for (format, text) in Self.logs {
            let expected = try lines([Array(text.utf8)[...]], format)
            #expect(expected.contains { $0.contains(" tap ") }, "\(format)")
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            let texts = [
                text, text + "\n", "\u{FEFF}" + text, lines.joined(separator: "\r\n"),
                lines.joined(separator: "\r\n") + "\r\n", lines.joined(separator: "\r\r\n"),
                lines.map { "\u{1B}[36m\($0)\u{1B}[0m" }.joined(separator: "\n"),
            ]
            for text in texts {
                let bytes = Array(text.utf8)
                #expect(try self.lines(bytes.indices.map { bytes[$0...$0] }, format) == expected, "\(format)")
                for _ in 0..<20 {
                    var cuts = (0..<4).map { _ in Int.random(in: 0...bytes.count, using: &random) }
                    cuts = ([0, bytes.count] + cuts).sorted()
                    let pieces = zip(cuts, cuts.dropFirst()).map { bytes[$0..<$1] }
                    #expect(try self.lines(pieces, format) == expected, "\(format)")
                }
            }
        }
    }

    @Test("a log cut off at any byte, or with any byte changed, traps nowhere", arguments: MarkImport.Format.allCases)
    func anything(format: MarkImport.Format) {
        var random = SystemRandomNumberGenerator()
        for (_, text) in Self.logs {
            let bytes = Array(text.utf8)
            for index in bytes.indices {
                var changed = bytes
                changed[index] = .random(in: 0...255, using: &random)
                for bytes in [Array(bytes[..<index]), changed] {
                    var marks = MarkImport(format, settings: Self.utc)
                    guard (try? marks.receive(bytes[...])) != nil else { continue }
                    _ = try? marks.finish()
                }
            }
        }
    }

    @Test("the marks of an import are lines that a side file reads again")
    func roundTrip() throws {
        for (format, text) in Self.logs {
            let reading = try ImportedMarks(text, format, settings: Self.utc).reading
            let lines = reading.marks.map { String(TraceText.text(of: $0.mark).dropFirst(TraceText.markPrefix.count)) }
            let file = MarkFile(Array(lines.joined(separator: "\n").utf8), name: "x")
            #expect(file.errors == [] && file.warnings == [])
            #expect(file.marks.map(\.mark) == reading.marks.map(\.mark))
        }
    }

    @Test("a line that is longer than any mark is told, and the rest is read")
    func longLines() throws {
        let long = String(repeating: "x", count: 256 << 10)
        let text = "\(long)\n\(long)x\n1764479431.5  1  2 I a: handoff-mark {\"kind\":\"end\"}\n"
        let marks = try ImportedMarks(text, .logcat)
        #expect(marks.lines.count == 1)
        #expect(marks.remarks == ["1@1 not a line of logcat", "1@2 longer than 262144 bytes"])
    }

    @Test("labels: those of the handoff are known, an option adds to them")
    func labels() {
        func takes(_ text: String) -> Bool {
            var labels = TapLabels()
            return labels.add(text)
        }
        for good in ["Teilen=share", "a=b=neutral", "1,2-3,4=cta"] { #expect(takes(good)) }
        for bad in ["share", "=share", "x=", "x=sharing", ""] { #expect(!takes(bad)) }
        #expect(
            TapLabels.standard == [
                "Share selection and continue": .share, "Continue without sharing": .neutral,
                "Continue to Chia": .neutral,
            ])
    }
}
