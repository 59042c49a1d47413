import Foundation
import HandoffProxy
import Testing

@Suite struct ControlFileTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "handoff-file-\(UUID().uuidString)")

    @Test func isWrittenForItsOwnerAloneAndReadBack() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "a/b/control.json").path
        let token = try ControlSecret.random()
        let file = ControlFile(address: "127.0.0.1:4775", token: token)
        try file.write(to: path)
        let read = try ControlFile.read(path)
        #expect(read.address == "127.0.0.1:4775" && read.token.matches(token.text))
        let permissions = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(permissions == 0o600)
        let above = try FileManager.default.attributesOfItem(atPath: folder.appending(path: "a/b").path)
        #expect(above[.posixPermissions] as? Int == 0o700)
    }

    @Test func aNewerRecordersFileStays() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "control.json").path
        let old = ControlFile(address: "127.0.0.1:1", token: try .random())
        let new = ControlFile(address: "127.0.0.1:2", token: try .random())
        try old.write(to: path)
        try new.write(to: path)
        old.remove(from: path)
        #expect(try ControlFile.read(path).address == "127.0.0.1:2")
        new.remove(from: path)
        #expect(throws: ControlFileError.self) { try ControlFile.read(path) }
    }

    @Test func aLinkInTheWayIsReplacedNotFollowed() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let victim = folder.appending(path: "victim").path
        try "mine".write(toFile: victim, atomically: false, encoding: .utf8)
        let path = folder.appending(path: "control.json").path
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: victim)
        try ControlFile(address: "127.0.0.1:1", token: .random()).write(to: path)
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "mine")
        #expect(try ControlFile.read(path).address == "127.0.0.1:1")
    }

    @Test func otherFilesAreNoControlFiles() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appending(path: "x").path
        for text in ["", "{}", "[1]", #"{"address":"a"}"#, String(repeating: " ", count: 10_000) + "{}"] {
            try text.write(toFile: path, atomically: false, encoding: .utf8)
            #expect(throws: ControlFileError.self) { try ControlFile.read(path) }
        }
        #expect(throws: ControlFileError.self) { try ControlFile.read(folder.path) }
    }

    @Test func itsPlaceFollowsTheEnvironment() {
        #expect(
            ControlFile.defaultPath(["XDG_RUNTIME_DIR": "/run/user/1", "HOME": "/h"])
                == "/run/user/1/handoff/control.json")
        #expect(
            ControlFile.defaultPath(["XDG_RUNTIME_DIR": "relative", "XDG_DATA_HOME": "/d"]) == "/d/handoff/control.json"
        )
        #expect(ControlFile.defaultPath(["HOME": "/h"]) == "/h/.local/share/handoff/control.json")
        #expect(ControlFile.defaultPath([:]) == nil)
    }
}
