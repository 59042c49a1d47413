/// Named stretches of bytes that lie one after another: form fields, multipart parts, the places of a message head.
struct FieldPlaces {
    /// Fields that are kept track of.
    static let maximumFields = 1 << 16

    struct Field {
        var range: Range<Int>
        /// `form:x`, `multipart:file`, or a whole location such as `header:referer`.
        var step: String
    }

    private(set) var fields: [Field] = []

    init() {}

    mutating func append(_ range: Range<Int>, _ step: String) {
        guard fields.count < Self.maximumFields else { return }
        fields.append(Field(range: range, step: step))
    }

    mutating func removeAll() { fields.removeAll(keepingCapacity: true) }

    /// The field that holds `offset`; the last one that begins before it when it lies between two.
    func field(at offset: Int) -> Field? {
        var low = 0
        var high = fields.count
        while low < high {
            let middle = (low + high) / 2
            if fields[middle].range.lowerBound <= offset { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? fields[low - 1] : nil
    }

    /// The fields of `name=value&…` (WHATWG URL §5.1), or nil when `bytes` is no such text.
    static func form(_ bytes: UnsafeRawBufferPointer) -> FieldPlaces? {
        // A name of more than 64 bytes, or an equals sign at the very end, is rather base64 with its padding.
        guard let equals = bytes.prefix(65).firstIndex(of: 0x3D), equals > 0, equals + 1 < bytes.count,
            bytes[equals + 1] != 0x3D, bytes[..<equals].allSatisfy(isFormNameByte),
            bytes[..<equals].contains(where: ByteClass.isAlphanumeric),
            // A digest or a compressed stream behind a byte that happens to be an equals sign is no field.
            ByteClass.looksLikeText(UnsafeRawBufferPointer(rebasing: bytes.prefix(256))),
            !isQuotedPrintable(bytes, behind: equals),
            equals < 20 || !bytes[..<equals].contains(0x2B),
            // Padding at the end of one of several fields.
            !(equals >= 7 && equals % 4 == 3 && (bytes[equals + 1] == 0x26 || bytes[equals + 1] == 0x3B))
        else { return nil }
        // Nor is a first name that nobody would give.
        let firstName = String(decoding: bytes[..<equals], as: UTF8.self)
        guard TextMask.word(Substring(firstName)) == firstName || firstName.contains("%") else { return nil }
        var places = FieldPlaces()
        var start = 0
        while start <= bytes.count, places.fields.count < maximumFields {
            let end = bytes[start...].firstIndex(of: 0x26) ?? bytes.count
            let name = bytes[start..<end].prefix { $0 != 0x3D }
            var decoded: [UInt8] = []
            TextDecoding.undo(.percent, of: UnsafeRawBufferPointer(rebasing: name), into: &decoded)
            places.append(start..<end, "form:" + TextMask.word(Substring(String(decoding: decoded, as: UTF8.self))))
            start = end + 1
        }
        return places
    }

    /// Whether it is rather quoted-printable, read as it is or in a string: many more equals signs than fields.
    private static func isQuotedPrintable(_ bytes: UnsafeRawBufferPointer, behind equals: Int) -> Bool {
        let pairs = bytes.count { $0 == 0x26 }
        if pairs == 0 { return bytes[equals + 1] == 0x5C || Novelty.quotedCount(in: bytes) > 0 }
        let equals = bytes.count { $0 == 0x3D }
        return equals > 2 * pairs + 2 && 2 * Novelty.quotedCount(in: bytes) >= equals
    }

    private static func isFormNameByte(_ byte: UInt8) -> Bool {
        TokenShape.isTokenByte(byte) || byte == 0x2E || byte == 0x5B || byte == 0x5D || byte == 0x25 || byte == 0x2B
    }
}
