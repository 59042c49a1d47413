import EventLoop
import Foundation
import HandoffProxy
import SessionTrace
import Synchronization
import Testing

@testable import CommandLine

/// `handoff mark` against a real control API.
@Suite struct MarkCommandTests {
    /// A recorder's control API on a port of the kernel's choice, and what it recorded.
    private final class Recorder: Sendable {
        let plane: ControlPlane
        let marks: Marks
        let address: Endpoint
        let controlFile: String
        private let loop: EventLoop
        private let listeners: ControlListeners

        final class Marks: Sendable {
            let taken = Mutex<[Mark]>([])
        }

        init(_ scratch: Scratch) async throws {
            let marks = Marks()
            loop = try EventLoop(name: "mark-test")
            plane = try ControlPlane(
                version: "test",
                downloads: CertificateDownloads(
                    name: "", fingerprint: "", pem: [], der: [], mobileconfig: [], android: [], androidName: ""),
                seams: ControlPlane.Seams { mark, _, _, _ in
                    marks.taken.withLock { taken in
                        taken.append(mark)
                        return RecordedMark(sequence: taken.count, files: ["a.pcapng"])
                    }
                }, started: WallClock.now())
            self.marks = marks
            listeners = ControlListeners(plane: plane, loop: loop)
            try await listeners.start(control: Endpoint(address: IPAddress(ipv4: 0x7F00_0001), port: 0))
            address = try #require(await listeners.controlAddress)
            controlFile = scratch.path("run/handoff/control.json")
            try ControlFile(address: "\(address)", token: plane.token).write(to: controlFile)
        }

        func end() async {
            await listeners.stop()
            let loop = loop
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    loop.stop()
                    continuation.resume()
                }
            }
        }
    }

    @Test func theKindsAreTheRecorders() {
        for kind in MarkCommand.kinds {
            if case .other = Mark.Kind(rawValue: kind) { Issue.record("\(kind) is no kind") }
            #expect(MarkCommand.syntax.help.contains(kind))
        }
        #expect(Set(MarkCommand.kinds).count == 19)
    }

    /// Runs a command on a thread of its own: what answers it needs the threads that tests run on.
    private func command(_ words: [String], environment: [String: String] = [:]) async -> CommandRun {
        await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: CommandRun(words, environment: environment)) }.start()
        }
    }

    /// A recorder that found another one running has a file of its own; once the other is gone it is found by itself.
    @Test func theRecorderThatIsLeftIsFound() async throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        let recorder = try await Recorder(scratch)
        let environment = ["XDG_RUNTIME_DIR": scratch.path("run")]
        let other = recorder.controlFile.replacingOccurrences(of: "control.json", with: "control-4778.json")
        try FileManager.default.moveItem(atPath: recorder.controlFile, toPath: other)
        #expect(await command(["mark", "tap", "share"], environment: environment).status == .conforming)
        try FileManager.default.copyItem(
            atPath: other, toPath: other.replacingOccurrences(of: "4778", with: "4779"))
        let unclear = await command(["mark", "tap", "share"], environment: environment)
        #expect(unclear.status == .usage && unclear.talk.contains("control-4778.json or "))
        await recorder.end()
    }

    @Test func aMarkIsSentAndItsAcknowledgementPrinted() async throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        let recorder = try await Recorder(scratch)
        let environment = ["XDG_RUNTIME_DIR": scratch.path("run")]

        let tap = await command(["mark", "tap", "--target", "share", "--count", "2"], environment: environment)
        #expect(tap.status == .conforming && tap.talk == "")
        #expect(try JSONValue.parse(tap.result)["sequence"]?.integerValue == 1)
        let short = await command(["mark", "tap", "neutral", "--by=script", "--id", "7"], environment: environment)
        #expect(short.status == .conforming)
        let again = await command(
            ["mark", "tap", "neutral", "--by=script", "--id", "7", "--control", recorder.controlFile])
        #expect(try JSONValue.parse(again.result)["repeat"]?.boolValue == true)
        let half = await command(
            [
                "mark", "tap", "share", "--id", "8", "--phase", "pre", "--attr", "row=3", "--note", "first",
                "--control", "\(recorder.address)", "--token", recorder.plane.token.text,
            ])
        #expect(half.status == .conforming)
        let marks = recorder.marks.taken.withLock { $0 }
        #expect(marks.map(\.target) == [.share, .neutral, .share])
        #expect(marks.map(\.by) == [.person, .script, .script])
        #expect(marks.first?.count == 2 && marks.first?.id?.hasPrefix("mark-") == true)
        #expect(marks.last?.phase == .pre && marks.last?.attributes == ["row": "3", "note": "first"])

        // A kind that is none would be recorded, and mean nothing.
        let odd = await command(["mark", "somersault"], environment: environment)
        #expect(odd.status == .usage && odd.talk.contains("kind 'somersault' is not known"))
        let tab = await command(["mark", "tab"], environment: environment)
        #expect(tab.status == .usage && tab.talk.contains("did you mean tap?"), "\(tab.talk)")
        #expect(odd.talk.contains("known: scenario, launch, "), "\(odd.talk)")
        // A target that is none would be recorded as another one.
        for words in [["mark", "tap", "--target", "shar"], ["mark", "tap", "shar"]] {
            let slip = await command(words, environment: environment)
            #expect(slip.status == .usage && slip.talk.contains("did you mean share?"), "\(slip.talk)")
        }
        let other = await command(["mark", "tap", "sofa"], environment: environment)
        #expect(other.status == .usage && other.talk.contains("cta, share, neutral, policy, return, other"))
        // What the recorder refuses is told in one line.
        let late = await command(
            ["mark", "tap", "--at", "2026-01-02T00:00:00Z", "--until", "2026-01-01T00:00:00Z"], environment: environment
        )
        #expect(late.status == .usage && late.talk.contains("refused the mark: "))
        #expect(late.talk.split(separator: "\n").count == 1)
        let stranger = await command(["mark", "end", "--control", "\(recorder.address)", "--token", "guess"])
        #expect(stranger.status == .unreadable && stranger.talk.contains("token"))
        await recorder.end()

        let gone = await command(["mark", "end"], environment: environment)
        #expect(gone.status == .unreadable)
        #expect(gone.talk.contains("no recorder answers at \(recorder.address)"))
        #expect(gone.talk.split(separator: "\n").count == 1)
    }

    @Test func withoutARecorderItSaysSo() async throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        let run = await command(["mark", "end"], environment: ["XDG_RUNTIME_DIR": scratch.path("run")])
        #expect(run.status == .unreadable && run.talk.contains("no recorder is running here"))
        #expect(run.talk.split(separator: "\n").count == 1)
    }

    @Test(arguments: [
        (["mark"], "mark needs KIND"), (["mark", "tap", "share", "--target", "cta"], "the target is given twice"),
        (["mark", "tap", "--at", "noon"], "--at is an RFC 3339 time"),
        (["mark", "tap", "--count", "0"], "--count is a whole"),
        (["mark", "tap", "--phase", "mid"], "--phase takes pre or post, not mid"),
        (["mark", "tap", "--attr", "x"], "--attr takes NAME=VALUE"),
        (["mark", "tap", "--colour", "x"], "unknown option"),
    ]) func wrongWordsAreUsageErrors(words: [String], message: String) async {
        let run = await command(words)
        #expect(run.status == .usage)
        #expect(run.talk.contains(message), "\(run.talk)")
    }
}
