/// A needle's form as it looks under zero, one or two encodings.
struct EncodedPattern: Hashable {
    /// What to look for.
    var bytes: [UInt8]
    /// False when upper and lower case mean the same under the encoding.
    var isCaseSensitive: Bool
    /// The encodings, outermost first.
    var layers: Layers

    /// Patterns shorter than this say too little, whatever they encode.
    static let shortest = 8

    /// How far encodings on top of each other are entered.
    enum Depth {
        /// One layer.
        case single
        /// One layer, and those around base58, which shows nothing of a part.
        case wholeValue
        /// Two layers.
        case nested
    }

    /// The value under every encoding that is searched for directly.
    ///
    /// Nearly all encodings are undone before the search where they stand alone, so one layer is enough of these. Around
    /// it come those that nothing undoes (`reversed`, `rot13`), and base64, in which a value may lie anywhere.
    static func all(of value: [UInt8], depth: Depth) -> [EncodedPattern] {
        let plain = EncodedPattern(bytes: value, isCaseSensitive: false, layers: .none)
        var patterns = [plain]
        plain.encode { patterns.append($0) }
        if depth != .single {
            for inner in patterns.dropFirst()
            where depth == .nested || inner.layers == Layers.none.wrapped(in: .base58) {
                inner.encodeOutside { patterns.append($0) }
            }
        }
        if depth != .single, value.count < shortestDecoded {
            plain.encodeShort { patterns.append($0) }
            for inner in patterns where !inner.layers.isEmpty && inner.bytes.count <= shortestUndone {
                inner.encodeAsPlacesDo { patterns.append($0) }
            }
        }
        var seen: Set<[UInt8]> = []
        seen.reserveCapacity(patterns.count)
        return patterns.filter { $0.bytes.count >= shortest && seen.insert($0.bytes).inserted }
    }

    private func wrapped(_ bytes: [UInt8], _ layer: ValueEncoding, isCaseSensitive: Bool) -> EncodedPattern? {
        guard bytes != self.bytes else { return nil }
        return EncodedPattern(bytes: bytes, isCaseSensitive: isCaseSensitive, layers: layers.wrapped(in: layer))
    }

    /// This pattern under one more layer of those that are entered as a second one.
    private func encodeOutside(_ body: (EncodedPattern) -> Void) {
        for alignment in 0..<3 {
            let text = ValueEncoder.base64(bytes, alignment: alignment, isURL: false)
            wrapped(text, .base64, isCaseSensitive: true).map(body)
        }
        wrapped(bytes.reversed(), .reversed, isCaseSensitive: isCaseSensitive).map(body)
        wrapped(ValueEncoder.rot13(bytes), .rot13, isCaseSensitive: isCaseSensitive).map(body)
    }

    /// Values shorter than this may make less text than is decoded, even under two encodings.
    private static let shortestDecoded = 20

    /// Text up to this length makes less base64, or text of two bytes a character, than is undone.
    private static let shortestUndone = 17

    /// A short text as a place holds it that is an encoding of its own: base64 in a `data:` URL, text of two bytes a character
    /// in a property list.
    private func encodeAsPlacesDo(_ body: (EncodedPattern) -> Void) {
        for alignment in 0..<3 {
            let text = ValueEncoder.base64(bytes, alignment: alignment, isURL: false)
            wrapped(text, .base64, isCaseSensitive: true).map(body)
        }
        wrapped(ValueEncoder.utf16(bytes, isBigEndian: false), .utf16LittleEndian, isCaseSensitive: isCaseSensitive)
            .map(body)
        wrapped(ValueEncoder.utf16(bytes, isBigEndian: true), .utf16BigEndian, isCaseSensitive: isCaseSensitive)
            .map(body)
    }

    /// A short value under base32, base58 and spaced hex where no decoder undoes what is inside, or what is around is too short to be
    /// decoded.
    private func encodeShort(_ body: (EncodedPattern) -> Void) {
        let quoted = [0x22] + bytes + [0x22]
        wrapped(Base58.encode(quoted), .base58, isCaseSensitive: true).map(body)
        for (inner, layer) in [(bytes.reversed(), ValueEncoding.reversed), (ValueEncoder.rot13(bytes), .rot13)] {
            let inside = EncodedPattern(bytes: inner, isCaseSensitive: false, layers: layers.wrapped(in: layer))
            inside.wrapped(Base58.encode(inner), .base58, isCaseSensitive: true).map(body)
            for separator in [0x20, 0x3A] as [UInt8] {
                inside.wrapped(ValueEncoder.hex(inner, separator: separator), .hex, isCaseSensitive: false).map(body)
            }
            for alignment in 0..<5 {
                for isHex in [false, true] {
                    let text = ValueEncoder.base32(inner, alignment: alignment, isHex: isHex)
                    inside.wrapped(text, isHex ? .base32hex : .base32, isCaseSensitive: false).map(body)
                }
            }
        }
    }

    /// This pattern under one more layer, each way to write it.
    private func encode(_ body: (EncodedPattern) -> Void) {
        func add(_ bytes: [UInt8], _ layer: ValueEncoding, isCaseSensitive: Bool) {
            wrapped(bytes, layer, isCaseSensitive: isCaseSensitive).map(body)
        }
        add(ValueEncoder.percent(bytes), .percent, isCaseSensitive: isCaseSensitive)
        add(ValueEncoder.percentAll(bytes), .percent, isCaseSensitive: isCaseSensitive)
        let once = ValueEncoder.percent(bytes)
        if once != bytes {
            EncodedPattern(bytes: once, isCaseSensitive: isCaseSensitive, layers: layers.wrapped(in: .percent))
                .wrapped(ValueEncoder.percent(once), .percent, isCaseSensitive: isCaseSensitive).map(body)
        }
        if isCaseSensitive {
            add(ValueEncoder.percent(bytes, isLower: true), .percent, isCaseSensitive: true)
            add(ValueEncoder.percentAll(bytes, isLower: true), .percent, isCaseSensitive: true)
        }
        if bytes.contains(0x20) {
            let plus = ValueEncoder.replacing(0x20, with: [0x2B], in: bytes)
            add(plus, .plus, isCaseSensitive: isCaseSensitive)
            // What is not the space is percent-encoded beside it.
            let escaped = bytes.split(separator: 0x20, omittingEmptySubsequences: false)
                .map { ValueEncoder.percent(Array($0)) }
            add(Array(escaped.joined(separator: [0x2B])), .plus, isCaseSensitive: isCaseSensitive)
        }
        for alignment in 0..<3 {
            add(ValueEncoder.base64(bytes, alignment: alignment, isURL: false), .base64, isCaseSensitive: true)
            add(ValueEncoder.base64(bytes, alignment: alignment, isURL: true), .base64url, isCaseSensitive: true)
        }
        for alignment in 0..<5 {
            add(ValueEncoder.base32(bytes, alignment: alignment, isHex: false), .base32, isCaseSensitive: false)
            add(ValueEncoder.base32(bytes, alignment: alignment, isHex: true), .base32hex, isCaseSensitive: false)
        }
        add(Base58.encode(bytes), .base58, isCaseSensitive: true)
        // Hex digits have no case, but what they spell has: the digits pin it down.
        add(ValueEncoder.hex(bytes), .hex, isCaseSensitive: false)
        add(ValueEncoder.hex(bytes, separator: 0x20), .hex, isCaseSensitive: false)
        add(ValueEncoder.hex(bytes, separator: 0x3A), .hex, isCaseSensitive: false)
        add(ValueEncoder.escapedHex(bytes), .escapes, isCaseSensitive: false)
        add(ValueEncoder.escapedUnits(bytes), .escapes, isCaseSensitive: false)
        add(ValueEncoder.escapedSpecials(bytes), .escapes, isCaseSensitive: isCaseSensitive)
        for slash in [[0x5C, 0x2F], Array("\\u002f".utf8)] as [[UInt8]] {
            add(ValueEncoder.replacing(0x2F, with: slash, in: bytes), .escapes, isCaseSensitive: isCaseSensitive)
        }
        add(ValueEncoder.characterReferences(bytes, isHex: false), .html, isCaseSensitive: false)
        add(ValueEncoder.characterReferences(bytes, isHex: true), .html, isCaseSensitive: false)
        add(ValueEncoder.markupEscaped(bytes), .html, isCaseSensitive: isCaseSensitive)
        add(ValueEncoder.utf16(bytes, isBigEndian: false), .utf16LittleEndian, isCaseSensitive: isCaseSensitive)
        add(ValueEncoder.utf16(bytes, isBigEndian: true), .utf16BigEndian, isCaseSensitive: isCaseSensitive)
        add(ValueEncoder.quotedPrintable(bytes), .quotedPrintable, isCaseSensitive: isCaseSensitive)
        add(ValueEncoder.quotedPrintableAll(bytes), .quotedPrintable, isCaseSensitive: false)
        add(bytes.reversed(), .reversed, isCaseSensitive: isCaseSensitive)
        add(ValueEncoder.rot13(bytes), .rot13, isCaseSensitive: isCaseSensitive)
    }
}
