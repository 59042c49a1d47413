/// The parameters of a SETTINGS payload that an observer needs (RFC 9113 §6.5.1).
struct HTTP2Settings: Hashable {
    /// SETTINGS_MAX_FRAME_SIZE (5), octets that its sender is ready to receive.
    var largestFrame: Int?
    /// SETTINGS_HEADER_TABLE_SIZE (1), octets that its sender's decoder keeps.
    var headerTable: Int?

    /// Reads a payload of six-octet parameters; the last of a kind counts.
    init(_ payload: [UInt8]) {
        var offset = 0
        while offset + 6 <= payload.count {
            let identifier = Int(payload[offset]) << 8 | Int(payload[offset + 1])
            let value = payload[offset + 2..<offset + 6].reduce(0) { $0 << 8 | Int($1) }
            switch identifier {
            case 1: headerTable = value
            case 5: largestFrame = min(value, 0xFF_FFFF)
            default: break
            }
            offset += 6
        }
    }
}
