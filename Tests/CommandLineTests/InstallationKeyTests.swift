import Foundation
import Synchronization
import Testing

@testable import CommandLine

/// The key of an installation: made once, by whoever is first, and never replaced.
@Suite struct InstallationKeyTests {
    private static func load(_ scratch: Scratch) throws -> [UInt8] {
        try InstallationKey.load(["XDG_DATA_HOME": scratch.path("data")])
    }

    @Test func isMadeOnceAndItsOwnersAlone() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        let key = try Self.load(scratch)
        #expect(key.count == InstallationKey.length)
        #expect(try Self.load(scratch) == key)
        let path = scratch.path("data/handoff/installation-key")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path("data/handoff"))
        #expect(names == ["installation-key"], "no draft is left")
    }

    /// Many first uses at once, many times: all of them have the key that stays.
    @Test func firstUsesAtOnceAgree() throws {
        for _ in 0..<40 {
            let scratch = try Scratch()
            defer { scratch.remove() }
            let keys = Mutex<[[UInt8]]>([])
            DispatchQueue.concurrentPerform(iterations: 16) { _ in
                let key = (try? Self.load(scratch)) ?? []
                keys.withLock { $0.append(key) }
            }
            let made = Set(keys.withLock { $0 })
            #expect(made == [try Self.load(scratch)])
        }
    }

    @Test(arguments: [0, 31, 33, 70_000]) func aDamagedFileIsAnErrorAndStays(count: Int) throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        _ = try Self.load(scratch)
        let path = scratch.path("data/handoff/installation-key")
        let damaged = Data(repeating: 7, count: count)
        try damaged.write(to: URL(filePath: path))
        let trace = Places.recordings.appending(path: "conforming-share.pcapng").path
        for words in [["check", trace], ["show", trace], ["show", "--rule", "HR-46", trace]] {
            let run = CommandRun(words, environment: ["XDG_DATA_HOME": scratch.path("data")])
            #expect(run.status == .unreadable)
            #expect(run.talk.hasPrefix("handoff: \(path): "), "\(run.talk)")
            #expect(
                run.talk.hasSuffix(
                    ", and with another one the digests in reports would change; restore the file, or remove it: the next run makes a new one\n"
                ), "\(run.talk)")
            #expect(run.talk.split(separator: "\n").count == 1)
        }
        #expect(try Data(contentsOf: URL(filePath: path)) == damaged)
    }

    @Test func whereNoneCanBeWrittenARunHasItsOwn() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        let file = try scratch.file("file", "no folder")
        let environment = ["XDG_DATA_HOME": file]
        let key = try InstallationKey.load(environment)
        #expect(key.count == InstallationKey.length)
        #expect(try InstallationKey.load(environment) != key)
    }
}
