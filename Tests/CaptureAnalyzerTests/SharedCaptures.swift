import Foundation

/// The captures of public projects with known answers, which lie beside the repository and not in it.
enum SharedCaptures {
    /// Their folder: `$HANDOFF_SHARED/captures`, or `../shared/captures` beside the package; nil when absent.
    static let folder: URL? = {
        var candidates: [URL] = []
        if let shared = ProcessInfo.processInfo.environment["HANDOFF_SHARED"] {
            candidates.append(URL(fileURLWithPath: shared))
        }
        var directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        while directory.path != "/" {
            if FileManager.default.fileExists(atPath: directory.appendingPathComponent("Package.swift").path) {
                candidates.append(directory.deletingLastPathComponent().appendingPathComponent("shared"))
                break
            }
            directory.deleteLastPathComponent()
        }
        return candidates.map { $0.appendingPathComponent("captures") }
            .first { FileManager.default.fileExists(atPath: $0.appendingPathComponent("index.tsv").path) }
    }()

    /// The names of all captures in the index; empty when the folder is absent.
    static let names: [String] = {
        guard let folder,
            let index = try? String(contentsOf: folder.appendingPathComponent("index.tsv"), encoding: .utf8)
        else { return [] }
        return index.split(separator: "\n").dropFirst().compactMap { $0.split(separator: "\t").first.map(String.init) }
            .filter { !$0.hasPrefix("har/") && !$0.hasSuffix(".har") }
    }()

    /// The facts that tshark gave for a capture: key to value.
    static func facts(_ name: String) -> [String: String] {
        guard let folder,
            let text = try? String(contentsOf: folder.appendingPathComponent("facts/\(name).tsv"), encoding: .utf8)
        else { return [:] }
        var facts: [String: String] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("request\t") {
            let parts = line.split(separator: "\t", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { facts[String(parts[0])] = String(parts[1]) }
        }
        return facts
    }

    /// The bytes of a capture as stored.
    static func bytes(_ name: String) throws -> [UInt8] {
        guard let folder else { return [] }
        return Array(try Data(contentsOf: folder.appendingPathComponent(name)))
    }

    /// The path of a capture.
    static func path(_ name: String) -> String {
        folder?.appendingPathComponent(name).path ?? name
    }
}
