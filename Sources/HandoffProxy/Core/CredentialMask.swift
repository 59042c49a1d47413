/// Blots out the values of `Proxy-Authorization` fields in HTTP/1 as it passes, in pieces of any size, with equal length.
///
/// It looks at line starts alone, so a line of a *content* that looks like this field is blotted out as well: in a
/// recording, never in what is relayed.
struct CredentialMask {
    private static let name = Array("proxy-authorization:".utf8)

    private enum State {
        /// So many bytes of the field's name have matched since the line began.
        case matching(Int)
        /// A line of no interest.
        case passing
        /// In the field's value.
        case masking
        /// After the value's line end: white space would go on with it (RFC 9112 §5.2).
        case ended
    }

    private var state = State.matching(0)

    /// Whether anything has been blotted out so far.
    private(set) var hasMasked = false

    /// Blots out in place.
    mutating func mask(_ bytes: inout [UInt8]) {
        for index in bytes.indices {
            let byte = bytes[index]
            if case .ended = state { state = byte == 0x20 || byte == 0x09 ? .masking : .matching(0) }
            switch state {
            case .matching(let count):
                let folded = byte &- 0x41 < 26 ? byte | 0x20 : byte
                if byte == 0x0A {
                    state = .matching(0)
                } else if folded != Self.name[count] {
                    state = .passing
                } else {
                    state = count + 1 == Self.name.count ? .masking : .matching(count + 1)
                }
            case .passing:
                if byte == 0x0A { state = .matching(0) }
            case .masking:
                if byte == 0x0A {
                    state = .ended
                } else if byte != 0x0D, byte != 0x20, byte != 0x09 {
                    bytes[index] = 0x2A
                    hasMasked = true
                }
            case .ended: break
            }
        }
    }
}
