import Foundation
import Testing

@testable import CommandLine

/// `--actors`: evidence of processes from elsewhere decides what a User-Agent can't.
@Suite struct ActorsOptionTests {
    private static let recording = Places.recordings.appending(path: "conforming-share.pcapng")
    /// The connection of the opening in that recording.
    private static let socket =
        #"{"kind":"socket","at":"2026-11-30T01:50:34Z","local":"10.77.0.2:57128","remote":"10.77.0.20:443","process":"com.apple.WebKit.Networking","effective":"NAME","source":"pcapd"}"#

    private static func inFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "handoff-actors-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    private static func line(of rule: String, _ run: CommandRun) -> String {
        run.result.split(separator: "\n").first { $0.contains(rule) }.map(String.init) ?? ""
    }

    @Test func aProcessDecidesWhatAUserAgentCannot() throws {
        try Self.inFolder { folder in
            let file = folder.appending(path: "a.jsonl")
            func check(_ name: String) throws -> (status: Status, line: String) {
                try Data(Self.socket.replacingOccurrences(of: "NAME", with: name).utf8).write(to: file)
                let run = CommandRun(["check", "--actors", file.path, Self.recording.path])
                return (run.status, Self.line(of: "HR-33", run))
            }
            let without = CommandRun(["check", Self.recording.path])
            #expect(Self.line(of: "HR-33", without).contains("inconclusive"), "\(without.result)")
            let safari = try check("MobileSafari")
            #expect(safari.line.contains("pass"), "\(safari.line)")
            let view = try check("SafariViewService")
            #expect(view.status == .violation && view.line.contains("FAIL"), "\(view.line)")
        }
    }

    @Test func aFileBesideTheTraceIsReadByItself() throws {
        try Self.inFolder { folder in
            let trace = folder.appending(path: "run.pcapng")
            try FileManager.default.copyItem(at: Self.recording, to: trace)
            try FileManager.default.copyItem(
                at: Places.recordings.appending(path: "handoff.yml"), to: folder.appending(path: "handoff.yml"))
            let start =
                #"{"kind":"activity","at":"2026-11-30T01:50:33Z","component":"com.android.chrome/org.chromium.chrome.browser.ChromeTabbedActivity","action":"android.intent.action.VIEW"}"#
            try Data(start.utf8).write(to: folder.appending(path: "run.actors.jsonl"))
            let run = CommandRun(["check", trace.path])
            #expect(Self.line(of: "HR-33", run).contains("pass"), "\(run.result)")
            let shown = CommandRun(["show", trace.path])
            #expect(shown.result.contains("ChromeTabbedActivity"))
        }
    }

    /// Whose a port of the proxy is says nothing of a capture that the proxy did not make: the DNS query for Chia's name that
    /// follows the tap is nobody's still.
    @Test func aListenersPortSaysNothingInAPassiveCapture() throws {
        try Self.inFolder { folder in
            let file = folder.appending(path: "a.jsonl")
            let lines = [53, 443].map { #"{"kind":"listener","port":\#($0),"actor":"app"}"# }
            try Data(lines.joined(separator: "\n").utf8).write(to: file)
            let without = CommandRun(["check", Self.recording.path])
            let run = CommandRun(["check", "--actors", file.path, Self.recording.path])
            #expect(run.result == without.result && run.status == without.status)
            #expect(Self.line(of: "HR-03", run).contains("pass"), "\(run.result)")
        }
    }

    @Test func aBadFileIsAnUnreadableInput() throws {
        try Self.inFolder { folder in
            let file = folder.appending(path: "a.jsonl")
            try Data("\n{\"kind\":\"sockets\"}".utf8).write(to: file)
            let run = CommandRun(["check", "--actors", file.path, Self.recording.path])
            #expect(run.status == .unreadable)
            #expect(run.talk.contains("a.jsonl:2: unknown kind \"sockets\"; did you mean \"socket\"?"), "\(run.talk)")
            let twice =
                #"{"kind":"socket","at":"2026-11-30T01:50:34Z","local":"10.77.0.2:1","process":"a","process":"b"}"#
            try Data("\n\n\(twice)".utf8).write(to: file)
            let repeated = CommandRun(["check", "--actors", file.path, Self.recording.path])
            #expect(repeated.status == .unreadable)
            #expect(repeated.talk.contains("a.jsonl:3: \"process\" is given twice"), "\(repeated.talk)")
            let missing = CommandRun(["check", "--actors", "\(folder.path)/none", Self.recording.path])
            #expect(missing.status == .unreadable)
        }
    }
}
