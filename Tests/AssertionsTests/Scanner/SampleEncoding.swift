import CZlib
import CZstd
import Foundation
import SessionTrace

/// One layer of encoding as software writes it, and its undoing by means other than the scanner's.
enum SampleEncoding: String, CaseIterable, Sendable {
    case percent, percentLower, percentAll, percentDouble
    case base64, base64Second, base64Third, base64URL
    case hexLower, hexUpper
    case jsonSlash, jsonUnicode, jsonNested
    case base32, base32Lower, base32Hex, base32Fourth, base58
    case hexEscaped, hexSpaced, unicodeEscaped
    case htmlDecimal, htmlHex
    case utf16LittleEndian, utf16BigEndian
    case quotedPrintable
    case reversed, rot13
    case gzip, deflate, zstd

    /// Compressions.
    static let compressions: [SampleEncoding] = [.gzip, .deflate, .zstd]

    /// Whether the result is text that can stand in a header, a query (percent-encoded again), or a JSON string.
    var isText: Bool {
        switch self {
        case .gzip, .deflate, .zstd, .utf16LittleEndian, .utf16BigEndian: false
        default: true
        }
    }

    /// Whether it is written in lines, which a header cannot carry.
    var hasLines: Bool { self == .quotedPrintable }

    /// Layers that can be put around anything, text or not.
    var takesBinary: Bool {
        switch self {
        case .jsonSlash, .jsonUnicode, .jsonNested, .htmlDecimal, .htmlHex, .utf16LittleEndian, .utf16BigEndian,
            .unicodeEscaped, .reversed, .rot13:
            false
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
        case .base32: base32(bytes, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
        case .base32Lower: base32(bytes, "abcdefghijklmnopqrstuvwxyz234567")
        case .base32Hex: base32(bytes, "0123456789ABCDEFGHIJKLMNOPQRSTUV")
        case .base32Fourth: base32([0x3C, 0x61, 0x3E] + bytes + [0x3C], "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
        case .base58: base58(bytes)
        case .hexEscaped: bytes.flatMap { Array(String(format: "\\x%02x", $0).utf8) }
        case .hexSpaced: Array(bytes.map { String(format: "%02x", $0) }.joined(separator: " ").utf8)
        case .unicodeEscaped: bytes.flatMap { Array(String(format: "\\u%04x", $0).utf8) }
        case .htmlDecimal: bytes.flatMap { Array("&#\($0);".utf8) }
        case .htmlHex: bytes.flatMap { Array(String(format: "&#x%x;", $0).utf8) }
        case .utf16LittleEndian: Array(String(decoding: bytes, as: UTF8.self).data(using: .utf16LittleEndian) ?? Data())
        case .utf16BigEndian: Array(String(decoding: bytes, as: UTF8.self).data(using: .utf16BigEndian) ?? Data())
        case .quotedPrintable: quotedPrintable(bytes)
        case .reversed: bytes.reversed()
        case .rot13: bytes.map(Self.rot13)
        case .gzip: deflated(bytes, windowBits: 31)
        case .deflate: deflated(bytes, windowBits: 15)
        case .zstd: zstdCompressed(bytes)
        }
    }

    /// A JSON string that is `bytes`, quotes included.
    static func jsonEscaped(_ bytes: [UInt8]) -> [UInt8] { SampleEncoding.jsonSlash.quoted(bytes) { _ in nil } }

    static func rot13(_ byte: UInt8) -> UInt8 {
        guard (0x41...0x5A).contains(byte & 0xDF), byte >= 0x41 else { return byte }
        let first = byte & 0x20 | 0x41
        return (byte - first + 13) % 26 + first
    }

    private func base32(_ bytes: [UInt8], _ alphabet: String) -> [UInt8] {
        let letters = Array(alphabet.utf8)
        let bits = bytes.flatMap { byte in (0..<8).reversed().map { byte >> $0 & 1 } }
        return stride(from: 0, to: bits.count, by: 5).map { start in
            letters[Int((0..<5).reduce(0) { $0 << 1 | (start + $1 < bits.count ? bits[start + $1] : 0) })]
        }
    }

    /// By long division, a digit at a time.
    private func base58(_ bytes: [UInt8]) -> [UInt8] {
        let letters = Array("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz".utf8)
        var rest = bytes
        var digits: [UInt8] = []
        while rest.contains(where: { $0 != 0 }) {
            var remainder = 0
            for index in rest.indices {
                let value = remainder * 256 + Int(rest[index])
                rest[index] = UInt8(value / 58)
                remainder = value % 58
            }
            digits.append(letters[remainder])
        }
        return bytes.prefix { $0 == 0 }.map { _ in letters[0] } + digits.reversed()
    }

    /// Every third character escaped, with soft breaks after 20 characters or so.
    private func quotedPrintable(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            if index % 3 == 0 || byte == 0x3D || !(0x21...0x7E).contains(byte) {
                result += Array(String(format: "=%02X", byte).utf8)
            } else {
                result.append(byte)
            }
            if index % 14 == 13 { result += [0x3D, 0x0D, 0x0A] }
        }
        return result
    }

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

/// libzstd's own compressor.
func zstdCompressed(_ bytes: [UInt8]) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: ZSTD_compressBound(bytes.count))
    let written = ZSTD_compress(&output, output.count, bytes, bytes.count, 3)
    return ZSTD_isError(written) == 0 ? Array(output.prefix(written)) : []
}

/// The first frame of what begins with one.
func zstdDecompressed(_ bytes: [UInt8]) -> [UInt8] {
    let size = ZSTD_findFrameCompressedSize(bytes, bytes.count)
    guard ZSTD_isError(size) == 0 else { return [] }
    var output = [UInt8](repeating: 0, count: 1 << 20)
    let written = ZSTD_decompress(&output, output.count, bytes, size)
    return ZSTD_isError(written) == 0 ? Array(output.prefix(written)) : []
}
