import Assertions
import Foundation
import Testing

@testable import CommandLine

@Suite struct ExceptCommandTests {
    /// A folder with a policy, gone when this is.
    final class Folder {
        let path: String
        var policy: String { "\(path)/handoff.yml" }

        init(_ text: String) throws {
            path = FileManager.default.temporaryDirectory.appending(path: "except-\(UUID().uuidString)").path
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: URL(filePath: policy))
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        func text() throws -> String { String(decoding: try Data(contentsOf: URL(filePath: policy)), as: UTF8.self) }
    }

    static func day(in days: Double) -> String {
        String(Date(timeIntervalSinceNow: days * 86_400).ISO8601Format().prefix(10))
    }

    static let why = ["--reason", "fixed in 5.3", "--owner", "ana"]

    /// From a failing trace to a passing one, as a person would go.
    @Test func aFindingIsAccepted() throws {
        let recording = Places.recordings.appending(path: "url-in-analytics-query.pcapng").path
        let policy = try String(contentsOf: Places.recordings.appending(path: "handoff.yml"), encoding: .utf8)
        let folder = try Folder(policy)
        func verdicts() -> CommandRun {
            CommandRun(["check", "--policy", folder.policy, "--report", "json=-", recording])
        }
        let before = verdicts()
        #expect(before.status == .violation)
        let prints = Set(before.result.matches(of: /"fingerprint": *"([0-9a-f]{16})"/).map { String($0.output.1) })
        #expect(!prints.isEmpty)
        for print in prints {
            let run = CommandRun(
                ["except", "add", String(print.prefix(10)), "--from", recording, "--policy", folder.policy]
                    + ["--expires", Self.day(in: 30)] + Self.why)
            #expect(run.status == .conforming, "\(run.talk)")
            #expect(run.result.contains(print))
        }
        #expect(try folder.text().hasPrefix(policy.prefix(200)))
        let after = verdicts()
        #expect(after.status != .violation, "\(after.result)")
        #expect(after.result.contains("accepted until"))
    }

    @Test(arguments: [
        (["3fd1", "--rule", "HR-46"], "--reason"),
        (["3fd1", "--rule", "HR-46", "--reason", "r"], "--owner"),
        (["3fd1", "--rule", "HR-46", "--reason", "r", "--owner", "o"], "--expires"),
        (["3fd1", "--rule", "HR-46", "--reason", "r", "--owner", "o", "--expires", "soon"], "2027-01-31"),
        (["3fd1", "--rule", "HR-46", "--reason", "r", "--owner", "o", "--expires", "2020-01-01"], "is over"),
        (["3fd1", "--rule", "HR-46", "--reason", "r", "--owner", "o", "--expires", "2126-01-01"], "180 days"),
        (["3fd", "--rule", "HR-46"], "4 to 16"),
        (["xyzw", "--rule", "HR-46"], "4 to 16"),
        (["3fd1", "--rule", "HR-460"], "did you mean HR-4"),
        (["3fd1"], "--from TRACE"),
    ])
    func wrongUsageSaysWhatToDo(words: [String], hint: String) throws {
        let folder = try Folder("version: 1\n")
        let run = CommandRun(["except", "add"] + words + ["--policy", folder.policy])
        #expect(run.status == .usage)
        #expect(run.talk.contains(hint), "\(run.talk)")
        #expect(run.talk.split(separator: "\n").count == 1)
        #expect(try folder.text() == "version: 1\n")
    }

    @Test func aFingerprintThatNoTraceShowsIsNotWritten() throws {
        let folder = try Folder("version: 1\n")
        let run = CommandRun(
            ["except", "add", "0123456789abcdef", "--policy", folder.policy, "--expires", Self.day(in: 3), "--from"]
                + [Places.recordings.appending(path: "conforming-share.pcapng").path] + Self.why)
        #expect(run.status == .usage)
        #expect(run.talk.contains("no finding with 0123456789abcdef"))
        #expect(try folder.text() == "version: 1\n")
    }

    @Test func permissionsAndLinksStay() throws {
        let folder = try Folder("version: 1\n")
        let link = "\(folder.path)/link.yml"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.policy)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: folder.policy)
        let run = CommandRun(
            ["except", "add", "abcd", "--rule", "hr-46", "--policy", link, "--expires", Self.day(in: 3)] + Self.why)
        #expect(run.status == .conforming, "\(run.talk)")
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.policy)
        #expect(attributes[.posixPermissions] as? Int == 0o640)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == folder.policy)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
        #expect(try folder.text().contains("HR-46"))
    }

    /// What else is in the file stays as it is, also what is no text of it.
    @Test func theRestOfTheFileStays() throws {
        let folder = try Folder("\u{FEFF}version: 1\n")
        let words = [
            "except", "add", "3fd1", "--rule", "HR-46", "--policy", folder.policy, "--expires", Self.day(in: 30),
        ]
        #expect(CommandRun(words + Self.why).status == .conforming)
        #expect(
            try Data(contentsOf: URL(filePath: folder.policy)).starts(
                with: [0xEF, 0xBB, 0xBF] + Array("version: 1\n".utf8)))
        let latin = Data("version: 1 # caf".utf8) + [0xE9, 0x0A]
        try latin.write(to: URL(filePath: folder.policy))
        let run = CommandRun(words + Self.why)
        #expect(run.status == .usage && run.talk.contains("is not UTF-8") && run.talk.split(separator: "\n").count == 1)
        #expect(try Data(contentsOf: URL(filePath: folder.policy)) == latin)
    }

    /// Whatever a reason holds, the policy reads it back as it was given, or it is refused.
    @Test(arguments: [
        "a\nb", "bell\u{7}", "\u{1B}[31mred", "sep\u{2028}arated \u{2029} \u{85}", "\u{FEFF}mark", "\u{FFFE}\u{FFFF}",
        "\u{202E}turned", "no: # yaml", "'\"\\", " padded ", "~", "2027-01-31", "\u{1F600}\u{200D}", "\u{10FFFE}",
    ])
    func aReasonReadsBackAsItWas(text: String) throws {
        let folder = try Folder("version: 1\n")
        let run = CommandRun(
            ["except", "add", "3fd1", "--rule", "HR-46", "--policy", folder.policy, "--expires", Self.day(in: 30)]
                + ["--reason", text, "--owner", text])
        #expect(run.status == .conforming || (run.status == .usage && text.contains("\u{10FFFE}")), "\(run.talk)")
        #expect(run.talk.split(separator: "\n").count <= 1)
        guard run.status == .conforming else {
            #expect(try folder.text() == "version: 1\n")
            return
        }
        let written = try folder.text()
        let policy = try Policy.parse(yaml: written, file: "p")
        #expect(policy.exceptions.first?.reason == text && policy.exceptions.first?.owner == text, "\(written)")
        // What no editor shows must not stand there as it is.
        #expect(written.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control })
        #expect(!written.unicodeScalars.contains { "\u{202E}\u{2028}\u{2029}\u{FEFF}".unicodeScalars.contains($0) })
    }
}
