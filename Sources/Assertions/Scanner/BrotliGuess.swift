internal import ContentCodings

/// brotli has no mark of its own; its first bits say how large the window and the first block are, and in few other
/// bytes these fit.
enum BrotliGuess {
    /// Bytes of coded content beyond which no guess is made: base64 and hex of more are rare.
    static let longest = 1 << 20

    /// Whether `bytes` may be brotli: a window size, and a first block whose length suits the coded length (RFC 7932 §9).
    static func isPlausible(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= 8, bytes.count <= longest else { return false }
        var bits: UInt64 = 0
        for index in 0..<8 { bits |= UInt64(bytes[index]) &<< UInt64(8 &* index) }
        // Window size: 0, 1 + three bits, or 1 + 000 + three bits of which 001 is reserved.
        if bits & 1 == 0 {
            bits &>>= 1
        } else if bits & 0b1110 != 0 {
            bits &>>= 4
        } else {
            guard bits &>> 4 & 7 != 1 else { return false }
            bits &>>= 7
        }
        let isLast = bits & 1 == 1
        bits &>>= 1
        if isLast {
            guard bits & 1 == 0 else { return false }
            bits &>>= 1
        }
        let nibbles = bits & 3
        guard nibbles != 3 else { return false }
        bits &>>= 2
        let width = 16 &+ 4 &* nibbles
        let length = Int(bits & (1 &<< width &- 1)) + 1
        // The last nibble of a longer length is not zero.
        if nibbles > 0, bits &>> (width &- 4) & 15 == 0 { return false }
        bits &>>= width
        if !isLast {
            // Stored as it is: found without decoding.
            guard bits & 1 == 0 else { return false }
        }
        return length >= bytes.count / 8 && length <= bytes.count * 64
    }

    /// What `bytes` decode to, up to `limit` bytes, when they are brotli of something that reads as text; nil otherwise.
    static func text(in bytes: UnsafeRawBufferPointer, limit: Int) -> [UInt8]? {
        guard isPlausible(bytes) else { return nil }
        var decoder = ContentDecoder(.brotli, expansion: ContentDecoder.ExpansionLimit(ratio: 64, floor: 1 << 16))
        var output: [UInt8] = []
        // Broken or cut content is a guess that was wrong, or gives what came before.
        guard let progress = try? decoder.decode(bytes, into: &output, limit: limit),
            progress.status != .needsInput,
            output.count >= EncodedPattern.shortest
        else { return nil }
        return output
    }
}
