import CaptureAnalyzer
import Foundation
import Testing

/// No more of a text file is read than its kind may have, whatever the path leads to.
@Suite struct TextFileTests {
    private static let kind = TextFileKind("a note", limit: 1_000, remedy: "write less")

    private static func path(_ bytes: [UInt8]) throws -> String {
        let path = FileManager.default.temporaryDirectory.appending(path: "handoff-text-\(UUID().uuidString)").path
        try Data(bytes).write(to: URL(filePath: path))
        return path
    }

    @Test func aFileOfTheLimitIsReadAndOneByteMoreIsNot() throws {
        let whole = try Self.path([UInt8](repeating: 0x61, count: 1_000))
        let more = try Self.path([UInt8](repeating: 0x61, count: 1_001))
        defer { for path in [whole, more] { try? FileManager.default.removeItem(atPath: path) } }
        #expect(try TextFile.read(whole, as: Self.kind).count == 1_000)
        let error = try #require(throws: TextFileError.self) { try TextFile.read(more, as: Self.kind) }
        #expect(error.words == "is larger than 1000 bytes, the most that a note may have")
        #expect(error.remedy == "write less")
    }

    @Test func aDeviceWithoutAnEndIsRefused() throws {
        let error = try #require(throws: TextFileError.self) { try TextFile.read("/dev/zero", as: .marks) }
        #expect(error.words == "is larger than 64 MiB, the most that a file of marks may have")
    }

    /// `head -c 16384 /dev/zero | gzip -9n`: 52 bytes.
    @Test func theLimitCountsWhatIsUnpacked() throws {
        let packed = try #require(
            Data(base64Encoded: "H4sIAAAAAAACA+3BMQEAAADCoPVPbQwfoAAAAAAAAAAAAAAAAAAAAIC3AYbSVKsAQAAA"))
        let path = try Self.path(Array(packed))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let error = try #require(throws: TextFileError.self) { try TextFile.read(path, as: Self.kind) }
        #expect(error.words.hasPrefix("is larger than 1000 bytes"))
        let room = TextFileKind("a note", limit: 16_384, remedy: "write less")
        #expect(try TextFile.read(path, as: room) == [UInt8](repeating: 0, count: 16_384))
    }

    @Test func whatCannotBeReadIsNoEnd() throws {
        let folder = FileManager.default.temporaryDirectory.path
        #expect(throws: TextFileError(words: "Is a directory", remedy: nil)) {
            try TextFile.read(folder, as: Self.kind)
        }
    }
}
