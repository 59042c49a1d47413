import ContentCodings
import Foundation
import SessionTrace

/// Follows a hit's chain with decoders other than the scanner's (Foundation, `JSONValue`) and says whether it leads to a
/// value. Where a step does not say which of several runs is meant, all are followed.
enum Replay {
    static func leads(from bytes: [UInt8], through chain: [String], to value: [UInt8]) -> Bool {
        var candidates = [bytes]
        for step in chain {
            candidates = candidates.flatMap { apply(step, to: $0) }
            if candidates.isEmpty { return false }
        }
        return candidates.contains { contains($0, value) }
    }

    private static func apply(_ step: String, to bytes: [UInt8]) -> [[UInt8]] {
        switch step {
        case "gzip", "deflate", "br", "zstd":
            // Where the field begins with something else (`u=`), the stream begins later.
            return bytes.indices.filter { $0 == 0 || bytes[$0] == 0x1F || bytes[$0] == 0x78 }
                .map { ContentCodings.decodeAll(Array(bytes[$0...]), codings: [step], limit: 64 << 20).bytes }
        case "percent":
            return [percentDecoded(bytes)]
        case "base64", "base64url":
            return runs(bytes, isMember: { isAlphanumeric($0) || [0x2B, 0x2F, 0x2D, 0x5F].contains($0) }).flatMap {
                run in
                (0..<4).compactMap { skip -> [UInt8]? in
                    guard run.count > skip else { return nil }
                    var text = run.dropFirst(skip).map { byte -> UInt8 in
                        byte == 0x2D ? 0x2B : byte == 0x5F ? 0x2F : byte
                    }
                    while text.count % 4 == 1 { text.removeLast() }
                    while text.count % 4 != 0 { text.append(0x3D) }
                    return Data(base64Encoded: Data(text)).map(Array.init)
                }
            }
        case "hex":
            return runs(
                bytes, isMember: { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || (0x41...0x46).contains($0 & 0xDF) }
            )
            .flatMap { run in
                (0..<2).map { skip in
                    let digits = Array(run.dropFirst(skip))
                    return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
                        UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
                    }
                }
            }
        case "escapes":
            return strings(bytes)
        case let step where step.hasPrefix("json:"):
            let text = String(decoding: bytes, as: UTF8.self)
            let start = text.firstIndex { $0 == "{" || $0 == "[" } ?? text.startIndex
            guard let value = try? JSONValue.parse(String(text[start...])),
                let found = value.value(at: String(step.dropFirst(5)))?.stringValue
            else { return [] }
            return [Array(found.utf8)]
        case let step where step.hasPrefix("line:"):
            let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
            guard let number = Int(step.dropFirst(5)), lines.indices.contains(number - 1) else { return [] }
            return [Array(lines[number - 1])]
        case let step where step.hasPrefix("form:"):
            return bytes.split(separator: 0x26).filter { $0.starts(with: Array(step.dropFirst(5).utf8) + [0x3D]) }
                .map { Array($0.dropFirst(step.utf8.count - 4)) }
        case let step where step.hasPrefix("multipart:"):
            // Up to the final boundary, from the empty line after the name.
            let name = Array("name=\"\(step.dropFirst(10))\"".utf8)
            guard let head = index(of: name, in: bytes, from: 0),
                let start = index(of: [0x0D, 0x0A, 0x0D, 0x0A], in: bytes, from: head)
            else { return [] }
            let end = index(of: Array("\r\n--b0un".utf8), in: bytes, from: start) ?? bytes.count
            return [Array(bytes[(start + 4)..<end])]
        default:
            return []
        }
    }

    private static func percentDecoded(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == 0x25, index + 2 < bytes.count,
                let value = UInt8(String(decoding: bytes[index + 1...index + 2], as: UTF8.self), radix: 16)
            {
                result.append(value)
                index += 3
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return result
    }

    /// All JSON strings in a text, decoded by a real parser.
    private static func strings(_ bytes: [UInt8]) -> [[UInt8]] {
        var result: [[UInt8]] = []
        let quotes = bytes.indices.filter { bytes[$0] == 0x22 }
        for (number, start) in quotes.enumerated() {
            for end in quotes.dropFirst(number + 1) {
                if let value = try? JSONValue.parse([0x5B] + Array(bytes[start...end]) + [0x5D]),
                    let elements = value.elements,
                    let text = elements.first?.stringValue
                {
                    result.append(Array(text.utf8))
                    break
                }
            }
        }
        return result
    }

    private static func runs(_ bytes: [UInt8], isMember: (UInt8) -> Bool) -> [[UInt8]] {
        bytes.split(whereSeparator: { !isMember($0) }).filter { $0.count >= 8 }.map(Array.init)
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF)
    }

    private static func index(of part: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
        guard bytes.count >= start + part.count else { return nil }
        return (start...bytes.count - part.count).first { bytes[$0..<$0 + part.count].elementsEqual(part) }
    }

    private static func contains(_ bytes: [UInt8], _ value: [UInt8]) -> Bool {
        guard bytes.count >= value.count else { return false }
        let folded = bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        let wanted = value.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        return (0...folded.count - wanted.count).contains { folded[$0..<$0 + wanted.count].elementsEqual(wanted) }
    }
}
