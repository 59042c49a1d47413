/// Short marks that tell where to look more closely.
enum Signature: Hashable, Sendable {
    /// `phs_` in clear.
    case token
    /// `phs_` in base64, when the group of four characters that holds its first bits starts this many characters
    /// before the mark.
    case base64Token(groupBefore: Int)
    /// `phs_` in hex.
    case hexToken
    /// `phs_` with percent escapes in it.
    case percentToken
    /// The start of a gzip member.
    case gzip
    /// The start of a Zstandard frame.
    case zstd
    /// The start of an SQLite database.
    case database
    /// base64 of a compressed stream's start with its letters moved by 13 places, or turned round.
    case rot13Run, reversedRun
    /// The first of an object's counted members.
    case countedMembers

    /// Bytes of the marks of what was moved or turned round.
    static let turnedLength = 5

    /// Enters all of them.
    static func enterAll(into index: inout PatternIndex) {
        let tokenBytes = (UInt8.min...UInt8.max).filter(TokenShape.isTokenByte)
        index.insert(TokenShape.prefix, followers: tokenBytes, meaning: .signature(.token))
        index.insert(TokenShape.prefix, followers: [0x25], meaning: .signature(.percentToken))
        // `phs_` fills bits 0 to 31 of what starts at a group: "cGhzX" + a character that the next byte takes part in.
        index.insert(Array("cGhzX".utf8), isCaseSensitive: true, meaning: .signature(.base64Token(groupBefore: 0)))
        // One byte before it: bits 8 to 39. The second character mixes with that byte, so "Boc1" follows two characters
        // into the group; "8" or "9" as the next byte is under or over 0x40 … 0x7F.
        for text in ["Boc18", "Boc19"] {
            index.insert(Array(text.utf8), isCaseSensitive: true, meaning: .signature(.base64Token(groupBefore: 2)))
        }
        // Two bytes before it: "waHNf" follows three characters into the group.
        index.insert(Array("waHNf".utf8), isCaseSensitive: true, meaning: .signature(.base64Token(groupBefore: 3)))
        index.insert(Array("7068735f".utf8), isCaseSensitive: false, meaning: .signature(.hexToken))
        for text in ["%70%68%73", "%70hs", "p%68s", "ph%73", "phs%5f"] {
            index.insert(Array(text.utf8), isCaseSensitive: false, meaning: .signature(.percentToken))
        }
        for flags in [0x00, 0x08] as [UInt8] {
            index.insert([0x1F, 0x8B, 0x08, flags], followers: 0...255, meaning: .signature(.gzip))
        }
        index.insert(SQLitePayloads.magic, isCaseSensitive: true, meaning: .signature(.database))
        // "H4sI" and "KLUv" begin base64 of gzip and of Zstandard.
        for text in ["U4fVN", "U4fVP", "XYHi/", "XYHi_"] {
            index.insert(Array(text.utf8), isCaseSensitive: true, meaning: .signature(.rot13Run))
        }
        for text in ["AIs4H", "CIs4H", "/vULK", "_vULK"] {
            index.insert(Array(text.utf8), isCaseSensitive: true, meaning: .signature(.reversedRun))
        }
        index.insert(Array("{\"0\":".utf8), isCaseSensitive: true, meaning: .signature(.countedMembers))
        index.insert([0x28, 0xB5, 0x2F, 0xFD], followers: 0...255, meaning: .signature(.zstd))
    }
}
