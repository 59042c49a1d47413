/// base58 with Bitcoin's alphabet: the whole value read as one number, so that nothing of it shows in a part of the text.
enum Base58 {
    /// Longer texts are not decoded; the work grows with the square of the length.
    static let longest = 4_096

    private static let alphabet = Array("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz".utf8)
    /// Value of a character, 255 for one that is in no base58 text.
    static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()

    /// 58⁵, the largest power that fits 32 bits with room for a carry.
    private static let power: UInt64 = 656_356_768

    /// Writes `bytes`; each leading zero byte becomes a `1`.
    static func encode(_ bytes: [UInt8]) -> [UInt8] {
        let zeros = bytes.prefix { $0 == 0 }.count
        var limbs: [UInt64] = []
        for byte in bytes.dropFirst(zeros) {
            var carry = UInt64(byte)
            for index in limbs.indices {
                let value = limbs[index] &* 256 &+ carry
                limbs[index] = value % power
                carry = value / power
            }
            while carry > 0 {
                limbs.append(carry % power)
                carry /= power
            }
        }
        var digits: [UInt8] = []
        for limb in limbs {
            var rest = limb
            for _ in 0..<5 {
                digits.append(alphabet[Int(rest % 58)])
                rest /= 58
            }
        }
        while digits.last == alphabet[0] { digits.removeLast() }
        return [UInt8](repeating: alphabet[0], count: zeros) + digits.reversed()
    }

    /// Reads a whole text; false when a character is none of the alphabet's.
    static func decode(_ text: UnsafeRawBufferPointer, into output: inout [UInt8]) -> Bool {
        guard text.count <= longest else { return false }
        let zeros = text.prefix { $0 == 0x31 }.count
        var limbs: [UInt32] = []
        limbs.reserveCapacity(text.count * 6 / 32 + 1)
        let isWhole = values.withUnsafeBufferPointer { values -> Bool in
            var index = zeros
            while index < text.count {
                var factor: UInt64 = 1
                var carry: UInt64 = 0
                let end = min(index &+ 5, text.count)
                while index < end {
                    let value = values[Int(text[index])]
                    if value == 255 { return false }
                    carry = carry &* 58 &+ UInt64(value)
                    factor &*= 58
                    index &+= 1
                }
                for limb in limbs.indices {
                    // Below 2³² · 58⁵ + 2³², which fits 64 bits.
                    let product = UInt64(limbs[limb]) &* factor &+ carry
                    limbs[limb] = UInt32(truncatingIfNeeded: product)
                    carry = product &>> 32
                }
                if carry > 0 { limbs.append(UInt32(truncatingIfNeeded: carry)) }
            }
            return true
        }
        guard isWhole else { return false }
        output.append(contentsOf: repeatElement(0, count: zeros))
        var isLeading = true
        for limb in limbs.reversed() {
            for shift: UInt32 in [24, 16, 8, 0] {
                let byte = UInt8(truncatingIfNeeded: limb &>> shift)
                if isLeading, byte == 0 { continue }
                isLeading = false
                output.append(byte)
            }
        }
        return true
    }
}
