import Foundation
import Testing

@testable import CommandLine

/// A set of sixty traces as a lab makes them in three days, some without keys, marks or the right policy: what one run says
/// of them all together, and what it tells a newcomer to do next, is kept in `docs/three-days.txt`.
///
/// `HANDOFF_WRITE_GOLDEN=1` writes it anew; read the difference before it is committed.
@Suite struct ThreeDaysTests {
    @Test func oneRunTellsWhatToDoNext() throws {
        // Paths are told as they were given.
        try #require(FileManager.default.changeCurrentDirectoryPath(Places.root.path))
        let list = try String(contentsOf: Places.recordings.appending(path: "three-days.txt"), encoding: .utf8)
        let traces = list.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
        #expect(traces.count == 60 && Set(traces).count == 60)
        let run = CommandRun(["check"] + traces)
        #expect(run.status == .violation)
        // Each trace's own table is tested elsewhere.
        let place = try #require(run.result.firstRange(of: "\nViolations\n"))
        let text =
            "$ handoff check …  (the 60 traces of pcaps/three-days.txt; what it says of each is left out)\n"
            + run.result[place.lowerBound...]
        let file = Places.root.appending(path: "docs/three-days.txt")
        if ProcessInfo.processInfo.environment["HANDOFF_WRITE_GOLDEN"] == "1" {
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        #expect(try text == String(contentsOf: file, encoding: .utf8))
    }
}
