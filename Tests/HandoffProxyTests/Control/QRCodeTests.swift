import Foundation
import HandoffProxy
import Testing

@Suite struct QRCodeTests {
    /// The code as a grey image (netpbm P5), `scale` pixels a module.
    private static func image(_ code: QRCode, scale: Int = 4) -> Data {
        let side = (code.size + 2 * QRCode.quietZone) * scale
        var data = Data("P5\n\(side) \(side)\n255\n".utf8)
        for y in 0..<side {
            for x in 0..<side {
                let isDark = code.isDark(row: y / scale - QRCode.quietZone, column: x / scale - QRCode.quietZone)
                data.append(isDark ? 0 : 255)
            }
        }
        return data
    }

    @Test(
        .enabled(if: ControlTool.find("ZXingReader") != nil),
        arguments: [
            "http://192.168.1.1:4773/", "http://[2001:db8:1234:5678:9abc:def0:1234:5678]:4773/", "a",
        ]) func aScannerReadsWhatWasWritten(text: String) async throws
    {
        let code = try #require(QRCode(text))
        let file = FileManager.default.temporaryDirectory.appending(path: "handoff-qr-\(UUID().uuidString).pgm")
        try Self.image(code).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let output = try await ControlTool.run("ZXingReader", ["-format", "QRCode", file.path])
        #expect(output.contains("\"\(text)\""), "\(output)")
    }

    /// The half blocks of a terminal, read back.
    @Test(arguments: [true, false]) func theTerminalShowsTheSameModules(setsColours: Bool) throws {
        let code = try #require(QRCode("http://192.168.1.1:4773/"))
        let lines = code.terminalText(setsColours: setsColours).split(separator: "\n").map(String.init)
        #expect(lines.count == (code.size + 2 * QRCode.quietZone + 1) / 2)
        for (number, line) in lines.enumerated() {
            var line = line
            if setsColours {
                #expect(line.hasPrefix("\u{1B}[30;107m") && line.hasSuffix("\u{1B}[0m"))
                line = String(line.dropFirst("\u{1B}[30;107m".count).dropLast("\u{1B}[0m".count))
            }
            let blocks = Array(line)
            #expect(blocks.count == code.size + 2 * QRCode.quietZone)
            for (index, block) in blocks.enumerated() {
                let (row, column) = (2 * number - QRCode.quietZone, index - QRCode.quietZone)
                let isUpperDrawn = block == "█" || block == "▀"
                let isLowerDrawn = block == "█" || block == "▄"
                #expect((code.isDark(row: row, column: column) == setsColours) == isUpperDrawn)
                #expect((code.isDark(row: row + 1, column: column) == setsColours) == isLowerDrawn)
            }
        }
    }

    @Test func finderPatternsAreWhereTheStandardPutsThem() throws {
        // ISO/IEC 18004 §6.3.3: a dark ring of 7, a light of 5, a dark square of 3, in three corners.
        let code = try #require(QRCode("handoff"))
        #expect(code.size == 21)
        for (top, left) in [(0, 0), (0, code.size - 7), (code.size - 7, 0)] {
            for row in 0..<7 {
                for column in 0..<7 {
                    let ring = max(abs(row - 3), abs(column - 3))
                    #expect(code.isDark(row: top + row, column: left + column) == (ring != 2))
                }
            }
        }
    }

    @Test func limitsAreKept() {
        #expect(QRCode("") == nil)
        #expect(QRCode("a\u{0}b") == nil)
        #expect(QRCode(String(repeating: "a", count: QRCode.textLimit)) != nil)
        #expect(QRCode(String(repeating: "a", count: QRCode.textLimit + 1)) == nil)
    }

    @Test func theSVGHoldsEveryDarkModule() throws {
        let code = try #require(QRCode("http://192.168.1.1:4773/"))
        // Runs of `M x y h n` cover as many modules as are dark.
        let runs = code.svg.split(separator: "h").dropFirst().compactMap { Int($0.prefix { $0.isNumber }) }
        #expect(runs.reduce(0, +) == code.modules.count { $0 })
    }
}
