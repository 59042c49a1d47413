import Foundation
import Testing

@testable import CommandLine

/// `show --facts` beside what tshark 4.4 said of the same captures. Where we differ on purpose,
/// `docs/tshark-differences.md` names both values and the reason; the test reads its table.
@Suite struct FactsTests {
    /// Keys that are compared; the rest are tshark's own heuristics.
    static let keys = [
        "packets", "captured_bytes", "wire_bytes", "first_time", "last_time", "truncated_packets", "tcp_streams",
        "udp_streams", "http1_requests", "http1_responses", "http2_requests", "http2_responses", "client_hellos",
        "server_hellos", "dns_queries", "dns_responses", "dns_query_names", "mdns_packets", "websocket_frames",
        "ip_fragments", "sni", "ja4", "request",
    ]

    struct Difference {
        var tshark: String
        var ours: String
    }

    static func captures() -> [String] {
        guard let folder = Places.captures, let rows = try? Places.table(folder.appending(path: "index.tsv")) else {
            return []
        }
        return rows.map { $0[0] }
    }

    /// `file:key` → both values, from the table in the documentation.
    static func differences() throws -> [String: Difference] {
        let text = try String(contentsOf: Places.root.appending(path: "docs/tshark-differences.md"), encoding: .utf8)
        var differences: [String: Difference] = [:]
        for line in text.split(separator: "\n") where line.hasPrefix("| `") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces.union(["`"])) }
            guard cells.count >= 6 else { continue }
            differences["\(cells[1]):\(cells[2])"] = Difference(tshark: cells[3], ours: cells[4])
        }
        return differences
    }

    /// Values by key; `sni` and `ja4` are sorted, `request` gathers the request lines without their packet numbers.
    static func read(_ text: String) -> [String: String] {
        var facts: [String: String] = [:]
        var requests: [String] = []
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            if parts[0] == "request", parts.count >= 6 {
                guard parts[2] != "http3" else { continue }
                requests.append(parts[2...].joined(separator: " "))
            } else if parts.count >= 2 {
                facts[parts[0]] = parts[1]
            }
        }
        for key in ["sni", "ja4"] {
            facts[key] = facts[key]?.split(separator: ",").sorted().joined(separator: ",")
        }
        // A long list is compared by its length where the table argues about it.
        let list = requests.sorted().joined(separator: "; ")
        facts["request"] = list
        if list.utf8.count > 4_000 { facts["requests"] = "\(requests.count) requests" }
        return facts
    }

    @Test(
        .enabled(if: Places.captures != nil, "the shared captures are not beside the repository"), arguments: captures()
    )
    func agreesWithTshark(file: String) throws {
        let folder = try #require(Places.captures)
        let row = try #require(try Places.table(folder.appending(path: "index.tsv")).first { $0[0] == file })
        var words = ["show", "--facts", folder.appending(path: file).path]
        if !row[4].isEmpty { words += ["--keylog", folder.appending(path: row[4]).path] }
        let run = CommandRun(words)
        #expect(run.status.rawValue == (file == "gopacket_le_test901.pcapng" ? 3 : 0), "\(run.talk)")
        let facts = folder.appending(path: "facts").appending(path: file + ".tsv")
        let theirs = Self.read(try String(contentsOf: facts, encoding: .utf8))
        let ours = Self.read(run.result)
        let differences = try Self.differences()
        for key in Self.keys {
            let expected = theirs[key] ?? ""
            if let difference = differences["\(file):\(key)"] {
                let isLong = ours["requests"] != nil && key == "request"
                #expect((isLong ? theirs["requests"] : expected) == difference.tshark, "tshark's \(key) in the table")
                #expect((isLong ? ours["requests"] : ours[key]) ?? "" == difference.ours, "\(key), argued in the table")
            } else {
                #expect(ours[key] ?? "" == expected, "\(key)")
            }
        }
    }
}
