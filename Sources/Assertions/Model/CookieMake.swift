/// How the value of a cookie is made: whether two equal ones are one, or what any two sites say alike of one device.
enum CookieMake: Hashable {
    /// Letters and digits in a mixture that nobody writes: two equal ones are one.
    case identifier
    /// Words with numbers in them, such as a device's name.
    case mixed
    /// Words, numbers or times alone: a language, a time zone, a date.
    case plain

    /// Letters and digits of an identifier, digits among them, and changes between the two, at least.
    static let length = 10
    static let digits = 3
    static let changes = 3

    init(_ value: [UInt8]) {
        var bytes: [UInt8] = []
        value.withUnsafeBytes { TextDecoding.undo(.percent, of: $0, into: &bytes) }
        var count = (length: 0, digits: 0, changes: 0)
        var run: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            guard Self.isDigit(byte) || Self.isLetter(byte), !Self.isSeparator(at: index, in: bytes) else {
                run = []
                continue
            }
            count.length += 1
            if Self.isDigit(byte) { count.digits += 1 }
            if let last = run.last {
                let isSwitch = Self.isDigit(last) != Self.isDigit(byte)
                // Not the first letter of a word, but several before small ones.
                let endsCapitals =
                    run.count > 1 && Self.isCapital(last) && Self.isCapital(run[run.count - 2])
                    && !Self.isCapital(byte)
                if isSwitch || endsCapitals { count.changes += 1 }
            }
            run.append(byte)
        }
        self =
            count.length >= Self.length && count.digits >= Self.digits && count.changes >= Self.changes
            ? .identifier : count.changes > 0 ? .mixed : .plain
    }

    /// A letter that only keeps numbers apart: `2026-11-30T03:18:13Z`, `1170x2532`.
    private static func isSeparator(at index: Int, in bytes: [UInt8]) -> Bool {
        guard index > 0, isDigit(bytes[index - 1]) else { return false }
        let next = index + 1 < bytes.count ? bytes[index + 1] : 0x20
        switch bytes[index] {
        case 0x54, 0x78: return isDigit(next)  // T x
        case 0x5A: return !isDigit(next) && !isLetter(next)  // Z
        default: return false
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }
    private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }
    private static func isCapital(_ byte: UInt8) -> Bool { byte &- 0x41 < 26 }
}
