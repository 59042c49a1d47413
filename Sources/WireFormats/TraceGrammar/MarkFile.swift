import SessionTrace

/// A side file of marks (`NAME.marks.jsonl`): JSON Lines, one mark a line, each with `at`.
public struct MarkFile: Hashable, Sendable {
    /// Most marks read from one file.
    public static let markLimit = 100_000

    /// The marks in the order of the file.
    public private(set) var marks: [ReadMark] = []
    /// What was not understood in marks that are used all the same: `file:line: …`.
    public private(set) var warnings: [String] = []
    /// Lines that could not be read.
    public private(set) var errors: [MarkError] = []

    /// Reads the bytes of a file; `name` is how errors call it. Blank lines, CR LF and a byte order mark are taken.
    public init(_ bytes: [UInt8], name: String) {
        var lineNumber = 0
        let content = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        for slice in content.split(separator: 0x0A, omittingEmptySubsequences: false) {
            lineNumber += 1
            guard slice.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }) else { continue }
            guard marks.count + errors.count < Self.markLimit else {
                errors.append(
                    MarkError(file: name, line: lineNumber, column: 1, reason: "more than \(Self.markLimit) marks"))
                return
            }
            do throws(MarkError) {
                let reading = try MarkReader.read(Array(slice), source: .sideFile, packet: nil)
                marks.append(reading)
                warnings += reading.warnings.map { "\(name):\(lineNumber): \($0)" }
            } catch {
                errors.append(
                    MarkError(file: name, line: lineNumber, column: error.column, reason: error.reason))
            }
        }
    }
}
