internal import CQREncode

/// A QR code: the set-up page's address as a square of dark and light modules (ISO/IEC 18004), made by libqrencode.
public struct QRCode: Hashable, Sendable {
    /// Longest text that is encoded, in bytes: a code that a phone reads off a screen is small.
    public static let textLimit = 1_000
    /// Light modules around the code that scanners need.
    public static let quietZone = 4

    /// Modules along one side, without the quiet zone.
    public let size: Int
    /// Row by row from the top left: true is dark.
    public let modules: [Bool]

    /// Encodes `text` with medium error correction; nil when it is empty, too long, or holds a NUL.
    public init?(_ text: String) {
        guard !text.isEmpty, text.utf8.count <= Self.textLimit, !text.utf8.contains(0),
            let code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_M)
        else { return nil }
        defer { QRcode_free(code) }
        let size = Int(code.pointee.width)
        guard size > 0, let data = code.pointee.data else { return nil }
        self.size = size
        // The lowest bit of each byte is the module; the others say what it is for.
        modules = (0..<size * size).map { data[$0] & 1 == 1 }
    }

    /// Whether the module is dark; light outside the code.
    public func isDark(row: Int, column: Int) -> Bool {
        guard (0..<size).contains(row), (0..<size).contains(column) else { return false }
        return modules[row * size + column]
    }
}

extension QRCode {
    /// The code for a terminal, two rows of modules a line of half blocks.
    ///
    /// With `setsColours` each line sets black on white itself, so that dark modules are dark whatever the terminal's own
    /// colours are. Without (no colours wanted) light modules are drawn, as on a dark background; most scanners read the
    /// inverse on a light one too.
    public func terminalText(setsColours: Bool = true) -> String {
        let range = -Self.quietZone..<size + Self.quietZone
        var text = ""
        for top in stride(from: range.lowerBound, to: range.upperBound, by: 2) {
            if setsColours { text += "\u{1B}[30;107m" }
            for column in range {
                let upper = isDark(row: top, column: column) == setsColours
                let lower = isDark(row: top + 1, column: column) == setsColours
                text += upper ? (lower ? "█" : "▀") : (lower ? "▄" : " ")
            }
            text += setsColours ? "\u{1B}[0m\n" : "\n"
        }
        return text
    }

    /// The code as a self-contained SVG image with its quiet zone; one unit a module, scaled by whoever shows it.
    public var svg: String {
        let side = size + 2 * Self.quietZone
        var path = ""
        for row in 0..<size {
            var column = 0
            while column < size {
                guard isDark(row: row, column: column) else {
                    column += 1
                    continue
                }
                let start = column
                while column < size, isDark(row: row, column: column) { column += 1 }
                path +=
                    "M\(start + Self.quietZone) \(row + Self.quietZone)h\(column - start)v1H\(start + Self.quietZone)z"
            }
        }
        return
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(side) \(side)\" shape-rendering=\"crispEdges\">"
            + "<rect width=\"\(side)\" height=\"\(side)\" fill=\"#fff\"/><path d=\"\(path)\" fill=\"#000\"/></svg>"
    }
}
