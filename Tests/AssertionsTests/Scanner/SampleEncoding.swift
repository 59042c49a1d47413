import CZlib
import Foundation
import SessionTrace

/// One layer of encoding as software writes it, and its undoing by means other than the scanner's.
enum SampleEncoding: String, CaseIterable, Sendable {
    case percent, percentLower, percentAll, percentDouble
    case base64, base64Second, base64Third, base64URL
    case hexLower, hexUpper
    case jsonSlash, jsonUnicode, jsonNested
    case gzip, deflate

    /// Whether the result is text that can stand in a header, a query (percent-encoded again), or a JSON string.
    var isText: Bool { self != .gzip && self != .deflate }

    /// Layers that can be put around anything, text or not.
    var takesBinary: Bool {
        switch self {
        case .jsonSlash, .jsonUnicode, .jsonNested: false
        default: true
        }
    }

    func encode(_ bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .percent: percent(bytes) { isUnreserved($0) }
        case .percentLower:
            percent(bytes) { isUnreserved($0) }.map { (0x41...0x46).contains($0) ? $0 | 0x20 : $0 }.restoringCase(
                of: bytes)
        case .percentAll: percent(bytes) { _ in false }
        case .percentDouble: percent(percent(bytes) { isUnreserved($0) }) { isUnreserved($0) }
        case .base64: Array(Data(bytes).base64EncodedString().utf8)
        case .base64Second: Array(Data([0x3C] + bytes + [0x3E]).base64EncodedString().utf8)
        case .base64Third: Array(Data([0x3C, 0x61] + bytes).base64EncodedString().utf8)
        case .base64URL:
            Data(bytes).base64EncodedString().utf8.compactMap { byte -> UInt8? in
                switch byte {
                case 0x2B: 0x2D
                case 0x2F: 0x5F
                case 0x3D: nil
                default: byte
                }
            }
        case .hexLower: bytes.flatMap { Array(String(format: "%02x", $0).utf8) }
        case .hexUpper: bytes.flatMap { Array(String(format: "%02X", $0).utf8) }
        case .jsonSlash: quoted(bytes) { $0 == 0x2F ? "\\/" : nil }
        case .jsonUnicode: quoted(bytes) { isUnreserved($0) && $0 != 0x5F ? nil : String(format: "\\u%04x", $0) }
        case .jsonNested: quoted(Array("{\"a\":[1,".utf8) + quoted(bytes) { _ in nil } + Array("]}".utf8)) { _ in nil }
        case .gzip: deflated(bytes, windowBits: 31)
        case .deflate: deflated(bytes, windowBits: 15)
        }
    }

    /// A JSON string that is `bytes`, quotes included.
    static func jsonEscaped(_ bytes: [UInt8]) -> [UInt8] { SampleEncoding.jsonSlash.quoted(bytes) { _ in nil } }

    private func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }

    private func percent(_ bytes: [UInt8], keeping: (UInt8) -> Bool) -> [UInt8] {
        bytes.flatMap { keeping($0) ? [$0] : Array(String(format: "%%%02X", $0).utf8) }
    }

    /// A JSON string of text, with `replacement` for further characters.
    private func quoted(_ bytes: [UInt8], replacement: (UInt8) -> String?) -> [UInt8] {
        [0x22]
            + bytes.flatMap { byte -> [UInt8] in
                if let text = replacement(byte) { return Array(text.utf8) }
                switch byte {
                case 0x22: return [0x5C, 0x22]
                case 0x5C: return [0x5C, 0x5C]
                case 0..<0x20: return Array(String(format: "\\u%04x", byte).utf8)
                default: return [byte]
                }
            } + [0x22]
    }
}

extension [UInt8] {
    /// Lower-casing of the escapes only: letters that stand in `plain` too keep their case.
    fileprivate func restoringCase(of plain: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var source = plain.makeIterator()
        var index = 0
        while index < count {
            let original = source.next()
            if self[index] == 0x25 {
                result += self[index..<Swift.min(count, index + 3)]
                index += 3
            } else {
                result.append(original ?? self[index])
                index += 1
            }
        }
        return result
    }
}

/// zlib's own compressor; `windowBits` 31 makes gzip, 15 zlib, −15 raw.
func deflated(_ bytes: [UInt8], windowBits: Int32) -> [UInt8] {
    var stream = z_stream()
    guard handoff_deflate_init(&stream, 6, windowBits) == Z_OK else { return [] }
    defer { deflateEnd(&stream) }
    var input = bytes
    var output = [UInt8](repeating: 0, count: bytes.count + bytes.count / 8 + 256)
    let written = input.withUnsafeMutableBufferPointer { input in
        output.withUnsafeMutableBufferPointer { output -> Int in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            stream.next_out = output.baseAddress
            stream.avail_out = UInt32(output.count)
            _ = deflate(&stream, Z_FINISH)
            return output.count - Int(stream.avail_out)
        }
    }
    return Array(output.prefix(written))
}
