import ContentCodings
import Crypto
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

    /// The same for a chain that ends in digests: the decodings lead to a digest of one of `values`.
    static func leads(from bytes: [UInt8], through chain: [String], toDigestOf values: [[UInt8]]) -> Bool {
        let hashing = Array(chain.drop { !isHashing($0) })
        guard let outermost = hashing.first, isDigest(outermost) else { return false }
        var candidates = [bytes]
        for step in chain.dropLast(hashing.count) { candidates = candidates.flatMap { apply(step, to: $0) } }
        var digests = values
        for step in hashing.reversed() { digests = digests.flatMap { write(step, $0) } }
        return candidates.contains { candidate in digests.contains { contains(candidate, Array($0.prefix(12))) } }
    }

    /// What is under one content coding.
    static func undone(_ bytes: [UInt8], coding: String) -> [UInt8] {
        ContentCodings.decodeAll(bytes, codings: [coding], limit: 64 << 20).bytes
    }

    private static func isDigest(_ step: String) -> Bool {
        !write(step, [0]).isEmpty && step != "hex" && step != "base64"
    }

    private static func isHashing(_ step: String) -> Bool { isDigest(step) }

    /// A digest, or the notations of one that another was given.
    private static func write(_ step: String, _ bytes: [UInt8]) -> [[UInt8]] {
        switch step {
        case "md5": [HashFunction.md5.digest(of: bytes)]
        case "sha1": [HashFunction.sha1.digest(of: bytes)]
        case "sha224": [HashFunction.sha224.digest(of: bytes)]
        case "sha256": [HashFunction.sha256.digest(of: bytes)]
        case "sha384": [HashFunction.sha384.digest(of: bytes)]
        case "sha512": [HashFunction.sha512.digest(of: bytes)]
        case "sha3-256": [HashFunction.sha3With256Bits.digest(of: bytes)]
        case "blake2b": [HashFunction.blake2b.digest(of: bytes)]
        case "hex": [SampleEncoding.hexLower.encode(bytes), SampleEncoding.hexUpper.encode(bytes)]
        case "base64": [SampleEncoding.base64.encode(bytes)]
        default: []
        }
    }

    private static func apply(_ step: String, to bytes: [UInt8]) -> [[UInt8]] {
        switch step {
        case "zstd":
            return bytes.indices.filter { $0 + 4 < bytes.count && bytes[$0] == 0x28 && bytes[$0 + 1] == 0xB5 }
                .map { zstdDecompressed(Array(bytes[$0...])) }
        case "gzip", "deflate", "br":
            // Where the field begins with something else (`u=`), the stream begins later.
            return bytes.indices.filter { $0 == 0 || bytes[$0] == 0x1F || bytes[$0] == 0x78 }
                .map { ContentCodings.decodeAll(Array(bytes[$0...]), codings: [step], limit: 64 << 20).bytes }
        case "percent":
            // The first percent sign may be a length.
            let behind = bytes.firstIndex(of: 0x25).map { percentDecoded(Array(bytes[($0 + 1)...])) }
            return [percentDecoded(bytes)] + (behind.map { [$0] } ?? [])
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
        case "hex" where bytes.contains(0x20) || bytes.contains(0x3A):
            let text = bytes.filter { $0 != 0x20 && $0 != 0x3A }
            return apply("hex", to: text)
                + bytes.split { $0 == 0x22 || $0 == 0x3D || $0 == 0x0A }.filter {
                    $0.count >= 8 && $0.count < bytes.count
                }
                .flatMap { apply("hex", to: Array($0)) }
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
            return strings(bytes) + [unescaped(bytes)]
        case "base32", "base32hex":
            return runs(bytes, isMember: isAlphanumeric).flatMap { run in
                (0..<3).flatMap { skip in
                    (0..<3).map { base32(Array(run.dropFirst(skip).dropLast($0)), isHex: step == "base32hex") }
                }
            }
        case "base58":
            return runs(bytes, isMember: isAlphanumeric).flatMap { run in
                (0..<3).flatMap { skip in (0..<3).map { base58(Array(run.dropFirst(skip).dropLast($0))) } }
            }
        case "html":
            // A character a byte, so that what is no text stays as it is.
            let text = String(String.UnicodeScalarView(bytes.map { UnicodeScalar($0) }))
                .replacingOccurrences(of: "&amp;", with: "&").replacingOccurrences(of: "&lt;", with: "<")
            return [text, replaced(text, "&#([0-9]+);", 10), replaced(text, "&#x([0-9a-fA-F]+);", 16)]
                .map { $0.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }
        case "utf-16le", "utf-16be":
            return [
                bytes.indices.filter {
                    bytes[$0] != 0 && ($0 + 1 < bytes.count && bytes[$0 + 1] == 0 || $0 > 0 && bytes[$0 - 1] == 0)
                }.map { bytes[$0] }
            ]
        case "quoted-printable":
            let joined = String(String.UnicodeScalarView(bytes.map { UnicodeScalar($0) })).replacingOccurrences(
                of: "=\r\n", with: "")
            return [percentDecoded(Array(joined.unicodeScalars.map { $0 == "=" ? 0x25 : UInt8($0.value & 255) }))]
        case "cbor":
            // The sample's chunks of 30 bytes, each behind two bytes of its length, from the fifth byte on.
            return [
                stride(from: 4, to: bytes.count - 1, by: 32).flatMap { bytes[($0 + 2)..<min($0 + 32, bytes.count - 1)] }
            ]
        case "sqlite":
            // Without the four bytes at the head of each overflow page.
            guard bytes.count > 1_024 else { return [] }
            let cell = bytes[(512 + (Int(bytes[517]) << 8 | Int(bytes[518])))..<1_020]
            return [cell + stride(from: 1_024, to: bytes.count, by: 512).flatMap { bytes[($0 + 4)..<($0 + 512)] }]
        case "reversed": return [bytes.reversed()]
        case "rot13": return [bytes.map(SampleEncoding.rot13)]
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
                .map { Array($0) }
        case let step where step.hasPrefix("multipart:"):
            // Up to the final boundary, from the empty line after the name.
            let name = Array("name=\"\(step.dropFirst(10))\"".utf8)
            guard let head = index(of: name, in: bytes, from: 0),
                let start = index(of: [0x0D, 0x0A, 0x0D, 0x0A], in: bytes, from: head)
            else { return [] }
            let end = index(of: Array("\r\n--b0un".utf8), in: bytes, from: start) ?? bytes.count
            let header = Array(bytes[head..<start])
            return [Array(bytes[(start + 4)..<end]), header, percentDecoded(header)]
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

    /// Backslash escapes anywhere, each read once.
    private static func unescaped(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let isEscape = index + 1 < bytes.count && bytes[index] == 0x5C
            let length: Int? = isEscape ? [0x78: 2, 0x75: 4, 0x2F: 0][bytes[index + 1]] : nil
            guard let length, index + 2 + length <= bytes.count else {
                result.append(bytes[index])
                index += 1
                continue
            }
            let digits = String(decoding: bytes[index + 2..<index + 2 + length], as: UTF8.self)
            if length == 0 {
                result.append(0x2F)
            } else if let value = UInt32(digits, radix: 16), let scalar = UnicodeScalar(value) {
                result += value < 256 ? [UInt8(value)] : Array(String(Character(scalar)).utf8)
            } else {
                result += bytes[index..<index + 2 + length]
            }
            index += 2 + length
        }
        return result
    }

    private static func replaced(_ text: String, _ pattern: String, _ radix: Int) -> String {
        var result = text
        while let range = result.range(of: pattern, options: .regularExpression) {
            let digits = result[range].filter { $0.isHexDigit }
            let value = UInt32(digits, radix: radix) ?? 0x3F
            result.replaceSubrange(range, with: String(Character(UnicodeScalar(value) ?? "?")))
        }
        return result
    }

    private static func base32(_ text: [UInt8], isHex: Bool) -> [UInt8] {
        let letters = Array((isHex ? "0123456789ABCDEFGHIJKLMNOPQRSTUV" : "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567").utf8)
        var bits: [UInt8] = []
        for byte in text {
            let upper = (0x61...0x7A).contains(byte) ? byte & 0xDF : byte
            guard let value = letters.firstIndex(of: upper) else { break }
            bits += (0..<5).reversed().map { UInt8(value) >> $0 & 1 }
        }
        return stride(from: 0, to: bits.count - 7, by: 8).map { start in
            bits[start..<start + 8].reduce(0) { $0 << 1 | $1 }
        }
    }

    private static func base58(_ text: [UInt8]) -> [UInt8] {
        let letters = Array("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz".utf8)
        var number: [UInt8] = []
        for byte in text {
            guard let value = letters.firstIndex(of: byte) else { return [] }
            var carry = value
            for index in number.indices.reversed() {
                carry += Int(number[index]) * 58
                number[index] = UInt8(carry & 255)
                carry >>= 8
            }
            while carry > 0 {
                number.insert(UInt8(carry & 255), at: 0)
                carry >>= 8
            }
        }
        return text.prefix { $0 == letters[0] }.map { _ in 0 } + number
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
