/// How much of a capture file may be held or remembered at once, whatever the file claims.
public struct CaptureLimits: Sendable {
    /// Bytes of one block or packet; a longer block is skipped and said. Also the most that a reader must buffer.
    public var block = 16 << 20
    /// Interfaces remembered over the whole file.
    public var interfaces = 65_536
    /// Processes remembered in a section.
    public var processes = 65_536
    /// Notes kept; what comes after is only counted.
    public var notes = 64
    /// Kinds of skipped blocks counted apart.
    public var skippedKinds = 32

    /// The defaults named above.
    public init() {}
}

/// Something odd, cut, skipped or unreadable in a capture file, and where it starts.
public struct CaptureNote: Hashable, Sendable, CustomStringConvertible {
    /// Byte offset in the (uncompressed) file.
    public var offset: UInt64
    /// One sentence without its place.
    public var text: String

    /// Makes a note.
    public init(offset: UInt64, text: String) {
        self.offset = offset
        self.text = text
    }

    /// `byte 1234: text`.
    public var description: String { "byte \(offset): \(text)" }
}

/// Why bytes are no capture file at all.
public struct CaptureFormatError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The first bytes, at most 8.
    public var firstBytes: [UInt8]

    /// `is empty`, or `starts with 50 4b 03 04 (PK..)`.
    public var description: String {
        guard !firstBytes.isEmpty else { return "is empty" }
        let hex = firstBytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
        let text = String(
            decoding: firstBytes.map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: ".") }, as: UTF8.self)
        return "starts with \(hex) (\(text))"
    }
}
