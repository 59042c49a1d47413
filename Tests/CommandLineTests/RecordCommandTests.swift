import Foundation
import HandoffProxy
import SessionTrace
import Synchronization
import Testing

@testable import Assertions
@testable import CommandLine

@Suite struct RecordCommandTests {
    private struct Ran: Sendable {
        var status: Status
        var result: String
        var talk: String
    }

    /// Runs a command on a thread of its own: it waits for tasks, which need the threads that tests run on.
    private static func run(_ words: [String], in folder: String) async -> Ran {
        await withCheckedContinuation { continuation in
            Thread {
                let (result, talk) = (Gathered(), Gathered())
                let console = Console(result: { result.add($0) }, talk: { talk.add($0) })
                let status = Handoff(
                    environment: ["XDG_DATA_HOME": "\(folder)/data", "XDG_RUNTIME_DIR": folder], console: console
                ).run(words)
                continuation.resume(returning: Ran(status: status, result: result.text, talk: talk.text))
            }.start()
        }
    }

    private static func temporaryFolder() throws -> String {
        let path = FileManager.default.temporaryDirectory.appending(path: "record-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    @Test(arguments: [
        ["--out", ""], ["--device", ""],
        ["--listen", "nowhere"], ["--listen", "127.0.0.1:99999"], ["--allow", "10.0.0.0/40"], ["--allow", "host"],
        ["--allow-destination", "x"], ["--proxy-auth", "nocolon"], ["--resolve", "a:b"],
        ["--upstream-proxy", "ftp://x"],
        ["--upstream-ca", "/nonexistent/ca.pem"], ["--insecure-upstream", "a b"], ["--passthrough", "https://x/"],
        ["--client-cert", "host"], ["--chia-journey", "all"], ["--max-size", "12"], ["--max-size", "1T"],
        ["--control", "4775"], ["--marks", "here"], ["--for", "0s"], ["--for", "soon"], ["--profile", "x"],
        ["--report", "pdf=x"], ["--fault", "POST: 503"], ["--fault", "POST /x: explode"], ["--nonsense"],
    ])
    func wrongUsageIsToldInOneLine(_ words: [String]) async throws {
        let folder = try Self.temporaryFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let ran = await Self.run(
            ["record", "--out", "\(folder)/a.pcapng", "--control", "none", "--marks", "none", "--for", "1s"]
                .withoutOption(words[0]) + words, in: folder)
        #expect(ran.status == .usage, "\(words): \(ran.talk)")
        let lines = ran.talk.split(separator: "\n")
        #expect(lines.count == 1 && lines[0].hasPrefix("handoff: "), "\(ran.talk)")
    }

    @Test func aFileThatIsThereIsNotReplaced() async throws {
        let folder = try Self.temporaryFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = "\(folder)/a.pcapng"
        try Data("mine".utf8).write(to: URL(filePath: path))
        let ran = await Self.run(["record", "--out", path, "--for", "1s"], in: folder)
        #expect(ran.status == .usage)
        #expect(ran.talk.contains("is there already"))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
    }

    @Test func aRecordingWithoutTrafficIsInconclusiveAndReadsBack() async throws {
        let folder = try Self.temporaryFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = "\(folder)/quiet.pcapng"
        let ran = await Self.run(
            [
                "record", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0", "--marks", "127.0.0.1:0", "--out",
                path,
                "--for", "1s", "--report", "json=\(folder)/live.json",
                "--fault", "POST /handoff-session: 503 once",
            ], in: folder)
        #expect(ran.status == .inconclusive, "\(ran.talk)")
        #expect(ran.talk.contains("never fired"))
        let checked = await Self.run(["check", path, "--report", "json=\(folder)/later.json"], in: folder)
        #expect(checked.status == .inconclusive)
        let live = try String(contentsOfFile: "\(folder)/live.json", encoding: .utf8)
        let later = try String(contentsOfFile: "\(folder)/later.json", encoding: .utf8)
        // What the recorder alone knows, the fault that never fired, is in its report: that alone may be read.
        let missing = try JSONValue.parse(live)["notExercised"]?.elements?.compactMap(\.stringValue) ?? []
        #expect(missing.count == 2 && missing.last?.contains("never fired") == true)
        #expect(live.replacing(#/",\s*"[^"]*never fired[^"]*"/#, with: "\"") == later)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        // The token of the control API goes with the run.
        #expect(!FileManager.default.fileExists(atPath: "\(folder)/handoff/control.json"))
    }

    @Test func optionsReachTheConfiguration() throws {
        let arguments = try Arguments(
            [
                "--listen", "lan:5000", "--listen", "tproxy:[::1]:6000", "--resolve", "a.example:443:192.0.2.1:8443",
                "--passthrough", "*.pinned.example", "--chia-journey", "record", "--marks", "none",
                "--no-default-passthrough", "--max-size", "2M", "--for", "10m",
            ], syntax: RecordCommand.syntax)
        let configuration = try RecordArguments.configuration(
            arguments, policy: .defaults, environment: ["SSLKEYLOGFILE": "keys.log"], lan: { IPAddress("192.0.2.7") })
        #expect(configuration.listeners.map(\.description) == ["192.0.2.7:5000", "tproxy:[::1]:6000"])
        #expect(configuration.resolveOverrides.map(\.description) == ["a.example:443:192.0.2.1:8443"])
        #expect(configuration.passthroughHosts.map(\.description) == ["*.pinned.example"])
        #expect(configuration.chiaJourney == .record)
        #expect(configuration.markAddress == nil)
        #expect(configuration.controlAddress != nil)
        #expect(!configuration.usesDefaultPassthrough)
        #expect(configuration.keyLogPath == "keys.log")
        #expect(try RecordArguments.maximumSize(arguments) == 2_000_000)
        #expect(try RecordArguments.duration(arguments) == .seconds(600))
    }
}

extension [String] {
    /// The words without an option and its value.
    fileprivate func withoutOption(_ name: String) -> [String] {
        guard let index = firstIndex(of: name), index + 1 < count else { return self }
        return Array(self[..<index] + self[(index + 2)...])
    }
}

private final class Gathered: Sendable {
    private let parts = Mutex<[String]>([])

    func add(_ text: String) { parts.withLock { $0.append(text) } }
    var text: String { parts.withLock { $0.joined() } }
}
