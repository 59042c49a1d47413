/// Hex digits, ASCII, either case.
enum Hex {
    /// The digit's value.
    static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit &- 0x30
        case 0x41...0x46: digit &- 0x37
        case 0x61...0x66: digit &- 0x57
        default: nil
        }
    }

    /// The byte that two digits write.
    static func byte(_ high: UInt8, _ low: UInt8) -> UInt8? {
        guard let high = value(high), let low = value(low) else { return nil }
        return high << 4 | low
    }

    /// The lower-case digit of a value under 16.
    static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 &+ value : 0x57 &+ value }
}
