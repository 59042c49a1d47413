import Foundation
import Synchronization
import Testing

@testable import CommandLine

/// The key of an installation: made once, by whoever is first, and never replaced.
@Suite struct InstallationKeyTests {
    private static func load(_ scratch: Scratch) throws -> [UInt8] {
        try InstallationKey.load(["XDG_DATA_HOME": scratch.path("data")]) { _ in }
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

    private static let trace = Places.recordings.appending(path: "conforming-share.pcapng").path

    @Test func whereNoneCanBeWrittenARunHasItsOwnAndSaysSo() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        let file = try scratch.file("file", "no folder")
        for words in [["check"], ["show"], ["show", "--rule", "HR-46"]] {
            let run = CommandRun(words + [Self.trace], environment: ["XDG_DATA_HOME": file])
            #expect(run.status == .conforming)
            #expect(run.talk.split(separator: "\n").count == 1, "\(run.talk)")
            #expect(run.talk.contains("\(file)/handoff/installation-key: ") && run.talk.contains("is not saved"))
        }
    }

    /// A key is bytes: none of them makes it a packed file.
    @Test(arguments: [
        [0x1F, 0x8B] as [UInt8], [0x28, 0xB5, 0x2F, 0xFD], [0x50, 0x2A, 0x4D, 0x18], [0xEF, 0xBB, 0xBF],
    ])
    func anyBytesAreAKey(start: [UInt8]) throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        _ = CommandRun(["check", Self.trace], environment: ["XDG_DATA_HOME": scratch.path("data")])
        let key = start + [UInt8](repeating: 9, count: 32 - start.count)
        try Data(key).write(to: URL(filePath: scratch.path("data/handoff/installation-key")))
        let run = CommandRun(["check", Self.trace], environment: ["XDG_DATA_HOME": scratch.path("data")])
        #expect(run.status == .conforming && run.talk.isEmpty, "\(run.talk)")
    }

    /// A file system without hard links (FAT, some network file systems) takes the file all the same.
    @Test(arguments: [EPERM, EOPNOTSUPP, ENOSYS]) func aFileSystemWithoutLinksKeepsIt(number: Int32) throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        let path = scratch.path("key")
        let key = [UInt8](repeating: 1, count: 32)
        func create(_ bytes: [UInt8]) throws -> Bool {
            try FileSystem.create(bytes, at: path, permissions: 0o600) { _, _ in
                errno = number
                return -1
            }
        }
        #expect(try create(key))
        #expect(try !create([2]), "what is there stays")
        #expect(try [UInt8](Data(contentsOf: URL(filePath: path))) == key)
        let facts = try FileManager.default.attributesOfItem(atPath: path)
        #expect(facts[.posixPermissions] as? Int == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path) == ["key"])
    }

    @Test func withoutAnyFolderItIsSaid() throws {
        var said: [String] = []
        #expect(try InstallationKey.load([:]) { said.append($0) }.count == InstallationKey.length)
        #expect(said.count == 1 && said[0].contains("neither XDG_DATA_HOME nor HOME"))
    }

    /// A pipe in its place is neither waited for nor a key.
    @Test(.timeLimit(.minutes(1))) func aPipeIsNoKey() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        try FileManager.default.createDirectory(
            atPath: scratch.path("data/handoff"), withIntermediateDirectories: true)
        #expect(mkfifo(scratch.path("data/handoff/installation-key"), 0o600) == 0)
        let run = CommandRun(["check", Self.trace], environment: ["XDG_DATA_HOME": scratch.path("data")])
        #expect(run.status == .unreadable && run.talk.contains("is no regular file"), "\(run.talk)")
    }

    /// Who may not read the key can judge all the same; that digests differ then has to be said.
    @Test func aKeyThatMayNotBeReadStopsNobody() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        let folder = scratch.path("data/handoff")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // A link to itself can be read by nobody, root not excepted.
        #expect(symlink("installation-key", "\(folder)/installation-key") == 0)
        let run = CommandRun(["check", Self.trace], environment: ["XDG_DATA_HOME": scratch.path("data")])
        #expect(run.status == .conforming, "\(run.talk)")
        #expect(run.talk.split(separator: "\n").count == 1)
        #expect(run.talk.contains("installation-key: ") && run.talk.contains("digests"), "\(run.talk)")
        #expect(!run.talk.contains("restore"))
    }
}
