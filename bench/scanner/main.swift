import ContentCodings
import Crypto
import Foundation
import SessionTrace

@testable import Assertions

// The scanner by itself: how fast, how large, how long to teach, and whether it finds all and nothing.
//
//   scanner-bench learn                 teaching a scanner, and its memory
//   scanner-bench speed [MiB] [KIND]    bodies of one kind after the other
//   scanner-bench write KIND MiB FILE   the same bodies for another program
//   scanner-bench matrix [STEP]         needle × encodings × places, every STEP-th pair (1: all)
//   scanner-bench innocent MiB [SEED]   traffic in which nothing is to be found, 128 MiB a seed
//   scanner-bench patterns FILE         the patterns of ten needles, hex, one a line; FILE.text those that are text

/// Processor seconds: what else the machine does is not counted.
func seconds(_ work: () -> Void) -> Double {
    let start = clock()
    work()
    return Double(clock() - start) / Double(CLOCKS_PER_SEC)
}

func shown(_ value: Double, _ digits: Int = 1) -> String { String(format: "%.\(digits)f", value) }

func bodies(_ kind: String, _ size: Int) -> [UInt8] {
    var generator = SeededGenerator(seed: 99)
    var result: [UInt8] = []
    result.reserveCapacity(size + 1_024)
    let words = [
        "the", "session", "was", "opened", "after", "network", "change", "and", "battery", "level", "checkout",
    ]
    var row = 0
    while result.count < size {
        row += 1
        switch kind {
        case "text":
            result += Array((words[Int.random(in: words.indices, using: &generator)] + " ").utf8)
        case "json":
            result += Array(
                #"{"id":\#(row),"name":"event_\#(row % 97)","screen":"product detail","ms":\#(row % 5_000),"props":{"plan":"basic","price":"12.50","list":[1,2,3]},"ok":true},"#
                    .utf8)
        case "base64": result += Array(Data(generator.bytes(6_000)).base64EncodedString().utf8) + [0x0A]
        case "binary": result += generator.bytes(8_192)
        default: fatalError("kind of body: text, json, base64, binary")
        }
    }
    return result
}

let arguments = Array(CommandLine.arguments.dropFirst())
func number(_ index: Int, _ other: Int) -> Int { arguments.count > index ? Int(arguments[index]) ?? other : other }

switch arguments.first {
case "learn":
    var first = LeakScanner(redactor: ScannerSamples.redactor)
    _ = first.scan(bytes: [0], location: "warm")
    let empty = seconds { _ = LeakScanner(redactor: ScannerSamples.redactor) }
    var scanner = LeakScanner(redactor: ScannerSamples.redactor)
    let cold = seconds { scanner.learn(needle: ScannerSamples.needle) }
    var times: [Double] = []
    for round in 0..<20 {
        var generator = SeededGenerator(seed: UInt64(round))
        let token = "phs_" + generator.word("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", 32)
        let needle = Needle(number: round, kind: .handoffURL, label: "U", value: "https://chia.health/h/\(token)")
        var fresh = LeakScanner(redactor: ScannerSamples.redactor)
        times.append(seconds { fresh.learn(needle: needle) })
    }
    print("a scanner without needles: \(shown(empty * 1e6)) µs")
    print(
        "a handoff URL, the first of the process: \(shown(cold * 1e3, 2)) ms; later: \(shown((times.sorted()[10]) * 1e3, 2)) ms"
    )
    print("  \(scanner.patternMemory.count) patterns, \(scanner.patternMemory.bytes / 1_024) KiB")
    var ten = InnocentBodies.scanner()
    let time = seconds { ten = InnocentBodies.scanner() }
    print(
        "ten needles (3 URLs, 3 keys, 2 ids, 1 item, 1 canary): \(shown(time * 1e3, 2)) ms, \(ten.patternMemory.count) patterns, \(ten.patternMemory.bytes / 1_024) KiB"
    )
case "speed":
    let size = number(1, 64) << 20
    var scanner = InnocentBodies.scanner()
    for kind in arguments.count > 2 ? [arguments[2]] : ["text", "json", "base64", "binary"] {
        let all = bodies(kind, size)
        let pieces = stride(from: 0, to: all.count, by: 1 << 20).map { Array(all[$0..<min($0 + 1 << 20, all.count)]) }
        var best = Double.infinity
        var hits = 0
        for _ in 0..<3 {
            best = min(
                best,
                seconds { for piece in pieces { hits += scanner.scan(bytes: piece, location: "body").hits.count } })
        }
        print("\(kind): \(shown(Double(all.count) / best / 1e6, 0)) MB/s, \(hits) hits")
    }
    var traffic = InnocentBodies(seed: 3)
    let heads = (0..<2_000).map { _ in traffic.next(size: 0) }
    let time = seconds { for head in heads { _ = scanner.scan(head) } }
    print("a head of five fields, new secrets in each: \(shown(time / 2_000 * 1e6)) µs")
case "write":
    _ = FileManager.default.createFile(atPath: arguments[3], contents: Data(bodies(arguments[1], number(2, 64) << 20)))
case "matrix":
    var run = MatrixRun(step: number(1, 1))
    exit(run.run(shown: number(2, 40)) ? 0 : 1)
case "innocent":
    let run = InnocentRun.all(size: number(1, 1_024) << 20, seed: number(2, 1))
    print(
        "\(run.requests) requests, \(run.sent) bytes, searched in \(shown(run.searching)) CPU s (\(shown(Double(run.sent) / run.searching / 1e6, 0)) MB/s): \(run.found.count) found"
    )
    for place in run.found.prefix(20) { print("  " + place) }
    exit(run.found.isEmpty ? 0 : 1)
case "patterns":
    // Hex of each pattern, and whether case counts; and beside it those that are text, for grep.
    var lines = ""
    var text: [UInt8] = []
    func write(_ pattern: EncodedPattern) {
        lines += pattern.bytes.map { String(format: "%02x", $0) }.joined() + (pattern.isCaseSensitive ? " s\n" : " i\n")
        if pattern.bytes.allSatisfy({ (0x20...0x7E).contains($0) }) { text += pattern.bytes + [0x0A] }
    }
    for needle in InnocentBodies.needles {
        let forms = NeedleForms(of: needle)
        for (form, bytes) in forms.forms {
            let isCore = form == .tokenBody || form == .value
            for pattern in EncodedPattern.all(of: bytes, depth: isCore ? .nested : .wholeValue) { write(pattern) }
        }
        for (form, bytes) in forms.digested {
            let isMain = form == .token || bytes == needle.value.bytes
            for pattern in DigestPatterns.all(of: bytes, keys: [], depth: isMain ? .nested : .encoded) {
                write(pattern)
            }
        }
    }
    _ = FileManager.default.createFile(atPath: arguments[1], contents: Data(lines.utf8))
    _ = FileManager.default.createFile(atPath: arguments[1] + ".text", contents: Data(text))
default:
    print(
        "usage: scanner-bench learn | speed [MiB] | write KIND MiB FILE | matrix [STEP] | innocent MiB [SEED] | patterns FILE"
    )
    exit(2)
}
