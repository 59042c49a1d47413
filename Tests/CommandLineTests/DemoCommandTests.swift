import Foundation
import Synchronization
import Testing

@testable import CommandLine

/// The whole of it: device, proxy, recording, live judge, mock hosts, and the recording read back.
@Suite struct DemoCommandTests {
    @Test func everySessionGetsTheVerdictThatItDeserves() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "demo-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let said = SaidText()
        let console = Console(result: { said.add($0) }, talk: { said.add($0) })
        // On a thread of its own: the command waits for tasks, which need the threads that tests run on.
        let status = await withCheckedContinuation { continuation in
            Thread {
                let handoff = Handoff(environment: ["XDG_DATA_HOME": "\(folder)/data"], console: console)
                continuation.resume(returning: handoff.run(["demo", "--out", folder]))
            }.start()
        }
        #expect(status == .conforming, "\(said.text)")
        #expect(said.text.contains("All 4 sessions got the verdict that they deserve"))
        // The recordings hold no private key, and neither does any report a token.
        let report = try String(contentsOfFile: "\(folder)/demo.json", encoding: .utf8)
        #expect(!report.contains("phs_"))
    }

    @Test func aFolderThatIsAFileIsWrongUsage() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "demo-\(UUID().uuidString)").path
        try Data().write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let console = Console(result: { _ in }, talk: { _ in })
        #expect(Handoff(environment: [:], console: console).run(["demo", "--out", path]) == .usage)
    }
}

/// What a command said, from any thread.
private final class SaidText: Sendable {
    private let parts = Mutex<[String]>([])

    func add(_ text: String) { parts.withLock { $0.append(text) } }
    var text: String { parts.withLock { $0.joined() } }
}
