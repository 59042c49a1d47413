/// Archives and compressed files that the scanner knows by their first bytes and does not open: what they hold was not
/// searched.
enum SealedArchive {
    private static let signatures: [(name: String, bytes: [UInt8])] = [
        ("zip", [0x50, 0x4B, 0x03, 0x04]),
        ("bzip2", Array("BZh".utf8)),
        ("7z", [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C]),
        ("rar", Array("Rar!".utf8) + [0x1A, 0x07]),
        ("lz4", [0x04, 0x22, 0x4D, 0x18]),
        ("xz", [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00]),
    ]

    /// What begins with an archive's signature; nil for anything else.
    static func name(of bytes: some RandomAccessCollection<UInt8>) -> String? {
        let bytes = Array(bytes.prefix(16))
        guard let found = signatures.first(where: { bytes.starts(with: $0.bytes) }) else { return nil }
        // Three letters are few: bzip2 goes on with its block size and the first block's own signature.
        if found.name == "bzip2" {
            guard bytes.count >= 10, (0x31...0x39).contains(bytes[3]),
                bytes[4..<10].elementsEqual([0x31, 0x41, 0x59, 0x26, 0x53, 0x59])
            else { return nil }
        }
        return found.name
    }
}
