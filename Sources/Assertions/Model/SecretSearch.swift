/// Searches text for secrets that the policy names: by their shape (`whsec_*`) or by a salted hash.
///
/// Searched is what is there, what it reads once percent escapes and `\/` are undone, and what base64 words in it decode
/// to: no deeper.
struct SecretSearch: Sendable {
    /// One secret found.
    struct Hit: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            /// The policy's pattern.
            case shape(String)
            /// A shape of secret keys that is nobody's in particular.
            case likely(String)
            /// A hash of the policy, by its label.
            case hash(String)
        }
        var kind: Kind
        /// The bytes found: never printed.
        var value: Secret
    }

    private struct Prefix: Sendable {
        var bytes: [UInt8]
        var kind: Hit.Kind
    }

    private let prefixes: [Prefix]
    private let hashes: [Int: [SecretHash]]

    /// Characters that must follow a prefix before it is a secret of its shape.
    static let shortestTail = 12
    /// Windows that are hashed in one text; beyond, nothing more is, and that is said.
    static let windowLimit = 200_000
    /// Bytes of one text in which escapes and base64 are undone; what follows is searched as it is.
    static let decodedLimit = 256 << 10
    /// Words of base64's alphabets that are decoded in one text; that there are more is said.
    static let wordLimit = 4_000
    /// Hits kept of one text.
    static let hitLimit = 16
    /// Prefixes of secret keys that many services use.
    static let likelyPrefixes = ["sk_live_", "sk_test_", "rk_live_"]

    init(_ forbidden: Policy.Forbidden) {
        let own = forbidden.secrets.map { pattern in
            Prefix(bytes: Array(pattern.utf8.dropLast(pattern.hasSuffix("*") ? 1 : 0)), kind: .shape(pattern))
        }
        let likely = Self.likelyPrefixes.filter { prefix in
            !forbidden.secrets.contains { prefix.hasPrefix($0.prefix { $0 != "*" }) }
        }
        prefixes = (own + likely.map { Prefix(bytes: Array($0.utf8), kind: .likely($0 + "*")) }).filter {
            !$0.bytes.isEmpty
        }
        hashes = Dictionary(grouping: forbidden.hashes, by: \.length)
    }

    /// What was found, and whether everything could be looked at.
    func search(_ text: ArraySlice<UInt8>) -> (hits: [Hit], isWhole: Bool) {
        var hits: [Hit] = []
        var isWhole = true
        search(text, &hits, &isWhole)
        let start = text.prefix(Self.decodedLimit)
        if start.contains(0x25) || start.contains(0x5C) {
            let plain = Self.unescaped(start)
            if !start.elementsEqual(plain) { search(plain[...], &hits, &isWhole) }
        }
        let words = Self.base64Words(in: start)
        for word in words.prefix(Self.wordLimit) { search(word[...], &hits, &isWhole) }
        if words.count > Self.wordLimit { isWhole = false }
        return (hits, isWhole)
    }

    private func search(_ text: ArraySlice<UInt8>, _ hits: inout [Hit], _ isWhole: inout Bool) {
        text.withUnsafeBytes { bytes in
            for prefix in prefixes {
                prefix.bytes.withUnsafeBytes { pattern in
                    guard ByteSearch.contains(pattern, in: bytes) else { return }
                    find(prefix, in: bytes, &hits)
                }
            }
        }
        if !hashes.isEmpty { findHashes(in: text, &hits, &isWhole) }
    }

    private func find(_ prefix: Prefix, in bytes: UnsafeRawBufferPointer, _ hits: inout [Hit]) {
        var place = 0
        while hits.count < Self.hitLimit, let start = ByteSearch.first(prefix.bytes[0], in: bytes, from: place) {
            place = start + 1
            guard start + prefix.bytes.count <= bytes.count,
                bytes[start..<start + prefix.bytes.count].elementsEqual(prefix.bytes),
                start == 0 || !Self.isWordByte(bytes[start - 1])
            else { continue }
            var end = start + prefix.bytes.count
            while end < bytes.count, Self.isSecretByte(bytes[end]) { end += 1 }
            guard end - start - prefix.bytes.count >= Self.shortestTail else { continue }
            add(Hit(kind: prefix.kind, value: Secret(Array(bytes[start..<end]))), &hits)
            place = end
        }
    }

    /// Hashes each stretch of a secret's length that begins and ends where words do.
    private func findHashes(in text: ArraySlice<UInt8>, _ hits: inout [Hit], _ isWhole: inout Bool) {
        var windows = 0
        for (length, hashes) in hashes.sorted(by: { $0.key < $1.key }) where text.count >= length {
            for start in text.startIndex...text.endIndex - length {
                let end = start + length
                guard start == text.startIndex || Self.isBreak(text[start - 1], text[start]),
                    end == text.endIndex || Self.isBreak(text[end - 1], text[end])
                else { continue }
                guard windows < Self.windowLimit else {
                    isWhole = false
                    return
                }
                windows += 1
                for hash in hashes where hash.matches(text[start..<end]) {
                    add(Hit(kind: .hash(hash.label), value: Secret(Array(text[start..<end]))), &hits)
                }
            }
        }
    }

    private func add(_ hit: Hit, _ hits: inout [Hit]) {
        if hits.count < Self.hitLimit, !hits.contains(hit) { hits.append(hit) }
    }

    /// A word ends between two bytes of which one belongs to none.
    private static func isBreak(_ one: UInt8, _ other: UInt8) -> Bool { !(isWordByte(one) && isWordByte(other)) }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }

    private static func isSecretByte(_ byte: UInt8) -> Bool {
        isWordByte(byte) || [0x2B, 0x2D, 0x2F, 0x3D, 0x5F].contains(byte)
    }

    /// Percent escapes and escaped slashes undone.
    private static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var plain: [UInt8] = []
        plain.reserveCapacity(text.count)
        var index = text.startIndex
        while index < text.endIndex {
            if text[index] == 0x25, index + 2 < text.endIndex, let value = Hex.byte(text[index + 1], text[index + 2]) {
                plain.append(value)
                index += 3
            } else if text[index] == 0x5C, index + 1 < text.endIndex, text[index + 1] == 0x2F {
                plain.append(0x2F)
                index += 2
            } else {
                plain.append(text[index])
                index += 1
            }
        }
        return plain
    }

    /// Words of 16 to 1,024 characters of base64's alphabets, decoded; the first ones of a text, and one more than are
    /// searched.
    private static func base64Words(in text: ArraySlice<UInt8>) -> [[UInt8]] {
        var words: [[UInt8]] = []
        var start = text.startIndex
        while start < text.endIndex, words.count <= wordLimit {
            var end = start
            while end < text.endIndex, base64Value(text[end]) != nil { end += 1 }
            if (16...1_024).contains(end - start) { words.append(decoded(text[start..<end])) }
            start = end + 1
        }
        return words
    }

    private static func decoded(_ word: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for byte in word {
            guard let value = base64Value(byte) else { break }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bytes
    }

    private static func base64Value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x41...0x5A: byte - 0x41
        case 0x61...0x7A: byte - 0x61 + 26
        case 0x30...0x39: byte - 0x30 + 52
        case 0x2B, 0x2D: 62
        case 0x2F, 0x5F: 63
        default: nil
        }
    }
}
