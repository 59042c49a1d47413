import Foundation
import SessionTrace
import Testing

@testable import CaptureAnalyzer
@testable import HandoffProxy

/// Names of files are bytes: what a run writes goes to the name that was given, whether or not it is UTF-8.
@Suite struct OddOutputNameTests {
    private static func names(_ scratch: Scratch) throws -> [String] {
        let folder = try #require(opendir(scratch.folder.path))
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            names.append(withUnsafeBytes(of: &entry.pointee.d_name) { FileName.text($0.prefix { $0 != 0 }) })
        }
        return names.filter { !$0.hasPrefix(".") }.sorted()
    }

    private static let odd = FileName.text([0x61, 0xFF])

    @Test func aKeyLog() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        _ = try KeyLogFile(path: scratch.folder.path + "/" + Self.odd)
        #expect(try Self.names(scratch) == [Self.odd])
    }

    @Test func aRecording() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        _ = try BlockFile(path: scratch.folder.path + "/" + Self.odd, limit: nil)
        #expect(try Self.names(scratch) == [Self.odd])
    }

    @Test func aControlFile() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        let path = scratch.folder.path + "/\(Self.odd)/control.json"
        let file = ControlFile(address: "127.0.0.1:1", token: ControlSecret(text: "t"))
        try file.write(to: path)
        #expect(try Self.names(scratch) == [Self.odd])
        #expect(try ControlFile.read(path).address == file.address)
        file.remove(from: path)
        #expect(throws: ControlFileError.self) { try ControlFile.read(path) }
    }
}
