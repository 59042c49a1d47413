internal import Crypto

/// A hash function that a value may be sent under.
struct ValueDigest: Sendable {
    let layer: ValueEncoding
    let compute: @Sendable ([UInt8]) -> [UInt8]

    /// Those whose digests chance does not make (128 bits and more).
    static let strong: [ValueDigest] = {
        let functions: [(ValueEncoding, HashFunction)] = [
            (.md5, .md5), (.sha1, .sha1), (.sha224, .sha224), (.sha256, .sha256), (.sha384, .sha384),
            (.sha512, .sha512), (.sha3, .sha3With256Bits), (.blake2b, .blake2b),
        ]
        return functions.filter { $0.1.isAvailable }.map { layer, function in
            ValueDigest(layer: layer) { function.digest(of: $0) }
        } + [
            ValueDigest(layer: .murmur3, compute: WeakHashes.murmur3),
            ValueDigest(layer: .murmur3x86, compute: WeakHashes.murmur3x86),
        ]
    }()

    /// HMACs under a key.
    static func keyed(_ key: [UInt8]) -> [ValueDigest] {
        let functions: [(ValueEncoding, HashFunction)] = [
            (.hmacSHA256, .sha256), (.hmacSHA1, .sha1), (.hmacMD5, .md5),
        ]
        return functions.filter { $0.1.isAvailable }.map { layer, function in
            ValueDigest(layer: layer) { function.hmac($0, key: key) }
        }
    }
}

/// What a value looks like as a digest: the patterns to search for.
enum DigestPatterns {
    /// Bytes of a digest that are searched for, from its beginning: 96 bits are more than chance makes, and digests that
    /// were cut are found too.
    static let bytes = 12

    /// How much of the digests of a value is entered.
    enum Depth {
        /// In bytes, hex and base64.
        case plain
        /// Under encodings that no decoder undoes, too.
        case encoded
        /// Digests of digests, too.
        case nested
    }

    /// Digests of a value as patterns. What is around them in base64, hex and the like is decoded before it is searched,
    /// so that their bytes are pattern enough; what is too short for a decoder, or undone by none, is entered as it looks.
    static func all(of value: [UInt8], keys: [[UInt8]], depth: Depth) -> [EncodedPattern] {
        var patterns: [EncodedPattern] = []
        for digest in ValueDigest.strong + keys.flatMap(ValueDigest.keyed) {
            let result = digest.compute(value)
            let layers = Layers.none.wrapped(in: digest.layer)
            append(result, layers, isEncoded: depth != .plain, to: &patterns)
            let hex = ValueEncoder.hex(result)
            add(Array(hex.prefix(2 * bytes)), isCaseSensitive: false, layers, .hex, to: &patterns)
            guard depth == .nested else { continue }
            // What the outer function is given: the inner digest's bytes, or one of its notations.
            let given = [
                (result, layers), (hex, layers.wrapped(in: .hex)), (hex.map(upper), layers.wrapped(in: .hex)),
                (ValueEncoder.wholeBase64(result), layers.wrapped(in: .base64)),
            ]
            for (text, layers) in given {
                for outer in ValueDigest.strong {
                    append(outer.compute(text), layers.wrapped(in: outer.layer), isEncoded: false, to: &patterns)
                }
            }
        }
        return patterns
    }

    private static func append(
        _ digest: [UInt8], _ layers: Layers, isEncoded: Bool, to patterns: inout [EncodedPattern]
    ) {
        let head = Array(digest.prefix(bytes))
        add(head, isCaseSensitive: true, layers, to: &patterns)
        let base64 = ValueEncoder.base64(head, alignment: 0, isURL: false)
        // Neighbours that read as base64 too would put a decoder out of step.
        add(base64, isCaseSensitive: true, layers, .base64, to: &patterns)
        if base64.contains(0x2B) || base64.contains(0x2F) {
            let text = ValueEncoder.base64(head, alignment: 0, isURL: true)
            add(text, isCaseSensitive: true, layers, .base64url, to: &patterns)
        }
        if digest.count * 8 / 6 < AlphabetRuns.shortest {
            add(Base58.encode(digest), isCaseSensitive: true, layers, .base58, to: &patterns)
        }
        guard isEncoded else { return }
        let hex = ValueEncoder.hex(head)
        add(hex.reversed(), isCaseSensitive: false, layers, .hex, .reversed, to: &patterns)
        add(ValueEncoder.rot13(hex), isCaseSensitive: false, layers, .hex, .rot13, to: &patterns)
        add(base64.reversed(), isCaseSensitive: true, layers, .base64, .reversed, to: &patterns)
        add(ValueEncoder.rot13(base64), isCaseSensitive: true, layers, .base64, .rot13, to: &patterns)
    }

    /// `outer` from the innermost on.
    private static func add(
        _ bytes: [UInt8], isCaseSensitive: Bool, _ layers: Layers, _ outer: ValueEncoding...,
        to patterns: inout [EncodedPattern]
    ) {
        patterns.append(
            EncodedPattern(
                bytes: bytes, isCaseSensitive: isCaseSensitive,
                layers: outer.reduce(layers) { $0.wrapped(in: $1) }))
    }

    /// Hex notations of digests of 32 bits, which mean something only as a whole word.
    static func weak(of value: [UInt8]) -> [EncodedPattern] {
        [
            (WeakHashes.murmur3With32Bits(value), ValueEncoding.murmur3With32Bits),
            (WeakHashes.crc32(value), .crc32),
        ].map { hash, layer in
            EncodedPattern(
                bytes: ValueEncoder.hex(WeakHashes.bigEndian(hash)), isCaseSensitive: false,
                layers: Layers.none.wrapped(in: layer).wrapped(in: .hex))
        }
    }

    private static func upper(_ digit: UInt8) -> UInt8 { digit >= 0x61 ? digit &- 0x20 : digit }
}
