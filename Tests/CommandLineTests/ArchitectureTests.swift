import Foundation
import Testing

/// The arrows between modules, as the sources import them: downwards only.
@Suite struct ArchitectureTests {
    /// What each module may import besides the standard library.
    static let allowed: [String: Set<String>] = [
        "SessionTrace": [],
        "ContentCodings": ["CZlib", "CBrotli", "CZstd"],
        "Crypto": ["SessionTrace", "COpenSSL", "Synchronization"],
        "WireFormats": ["SessionTrace", "Crypto", "ContentCodings", "CNghttp2"],
        "CaptureAnalyzer": [
            "SessionTrace", "WireFormats", "Crypto", "ContentCodings", "CPcap", "Synchronization",
        ],
        "Assertions": ["SessionTrace", "Crypto", "ContentCodings", "CYaml"],
        "Reports": ["SessionTrace", "Assertions"],
        // Threads and tasks belong to the event loop, what stands on it, and the command line: the rest are values.
        "EventLoop": ["SessionTrace", "CUV", "CJemalloc", "CLinuxSockets", "Synchronization"],
        "HandoffProxy": [
            "SessionTrace", "WireFormats", "Crypto", "ContentCodings", "EventLoop", "CQREncode", "CPcap",
            "Synchronization",
        ],
        "Lab": ["SessionTrace", "WireFormats", "Crypto", "EventLoop", "Synchronization", "CNghttp2"],
        "CommandLine": [
            "SessionTrace", "WireFormats", "CaptureAnalyzer", "Assertions", "Reports", "Crypto", "EventLoop",
            "HandoffProxy", "Lab", "FoundationEssentials", "Dispatch", "Synchronization",
        ],
        "handoff": ["CommandLine"],
        "handoff-corpus": [
            "Lab", "Crypto", "EventLoop", "SessionTrace", "FoundationEssentials", "Dispatch", "Synchronization",
        ],
    ]

    /// The platform's own C library, open to all.
    static let platform: Set<String> = ["Glibc", "Musl", "Darwin"]

    /// C libraries that one Swift file of a module may import.
    static let oneImporter = ["CPcap", "CNghttp2", "CYaml", "CJemalloc"]

    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static func imports() throws -> [(module: String, file: String, imported: String)] {
        let sources = root.appending(path: "Sources")
        var found: [(module: String, file: String, imported: String)] = []
        for module in try FileManager.default.contentsOfDirectory(atPath: sources.path) where module != "CLibraries" {
            let folder = sources.appending(path: module)
            let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
            for file in files where file.hasSuffix(".swift") {
                let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
                for line in text.split(separator: "\n") {
                    let words = line.split(separator: " ")
                    guard let keyword = words.firstIndex(of: "import"), keyword <= 1, words.count > keyword + 1 else {
                        continue
                    }
                    if keyword == 1, !["public", "internal", "package", "private", "fileprivate"].contains(words[0]) {
                        continue
                    }
                    found.append((module, "\(module)/\(file)", String(words[keyword + 1])))
                }
            }
        }
        return found
    }

    @Test func modulesImportOnlyWhatTheyMay() throws {
        let imports = try Self.imports()
        #expect(!imports.isEmpty)
        for (module, file, imported) in imports {
            let may = try #require(Self.allowed[module], "a module that the table does not know: \(module)")
            #expect(may.contains(imported) || Self.platform.contains(imported), "\(file) imports \(imported)")
        }
    }

    @Test(arguments: oneImporter)
    func oneFileImportsEachLibrary(library: String) throws {
        let importers = try Self.imports().filter { $0.imported == library }
        for (module, files) in Dictionary(grouping: importers, by: \.module) {
            #expect(files.count <= 1, "\(library) in \(module): \(files.map(\.file))")
        }
    }
}
