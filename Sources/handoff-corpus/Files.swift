internal import FoundationEssentials
internal import Glibc
internal import Lab

/// The files of the corpus.
enum Files {
    static func text(_ path: String) throws(CorpusError) -> String {
        guard let data = FileManager.default.contents(atPath: path) else { throw CorpusError("\(path): can't be read") }
        return String(decoding: data, as: UTF8.self)
    }

    static func write(_ bytes: some Collection<UInt8>, to path: String) throws(CorpusError) {
        guard FileManager.default.createFile(atPath: path, contents: Data(bytes)) else {
            throw CorpusError("\(path): can't be written")
        }
    }

    static func makeFolder(_ path: String) throws(CorpusError) {
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw CorpusError("\(path): \(error)")
        }
    }

    static func remove(_ path: String) {
        try? FileManager.default.removeItem(atPath: path)
    }

    static func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    static func names(in folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
    }

    /// All stories of a folder.
    static func book(_ folder: String) throws -> StoryBook {
        var files: [(name: String, text: String)] = []
        for name in names(in: folder) where name.hasSuffix(".story") {
            files.append((name, try text("\(folder)/\(name)")))
        }
        guard !files.isEmpty else { throw CorpusError("\(folder): no stories") }
        return try StoryBook(files: files)
    }
}
