public import SessionTrace

/// Where a frame says which process it belongs to, still as bytes of the frame: names become strings only when a
/// connection needs them (`identity`). Valid as long as the frame is.
public enum ProcessRecord {
    /// Nothing is said.
    case none
    /// Apple's PKTAP header: at least 108 bytes.
    case pktap(UnsafeRawBufferPointer, isLittleEndian: Bool)
    /// PCAPdroid's trailer, from its magic number on: 28 or 32 bytes.
    case pcapdroid(UnsafeRawBufferPointer)

    /// The identity as the vocabulary has it; nil for `.none`, and for PKTAP when the kernel named no process.
    public var identity: ProcessIdentity? {
        switch self {
        case .none:
            return nil
        case .pktap(let header, let isLittleEndian):
            func word(_ offset: Int) -> Int32 {
                Int32(bitPattern: isLittleEndian ? header.littleField32(offset) : header.field32(offset))
            }
            let name = Self.text(header, 56..<76)
            let processID = word(52)
            guard !name.isEmpty || processID > 0 else { return nil }
            let effective = Self.text(header, 88..<108)
            let isOther = !effective.isEmpty && (effective != name || word(84) != processID)
            return ProcessIdentity(
                source: .pktap, name: name, processID: processID, effectiveName: isOther ? effective : nil)
        case .pcapdroid(let trailer):
            return ProcessIdentity(
                source: .pcapdroid, name: Self.text(trailer, 8..<(trailer.count - 4)),
                userID: Int32(bitPattern: trailer.field32(4)))
        }
    }

    /// Bytes up to the first NUL, as text.
    private static func text(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> String {
        String(decoding: bytes[range].prefix { $0 != 0 }, as: UTF8.self)
    }
}

/// PCAPdroid's "PCAP with extensions": a trailer at the end of each frame with magic number, uid, app name and checksum.
enum PCAPdroidTrailer {
    static let magic: UInt32 = 0x0107_2021

    /// Finds the trailer at the end of a whole frame: 32 bytes, or 28 in the older form with a 16-byte name.
    static func find(in frame: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        if frame.count >= 52, frame.field32(frame.count - 32) == magic { return frame.after(frame.count - 32) }
        if frame.count >= 48, frame.field32(frame.count - 28) == magic { return frame.after(frame.count - 28) }
        return nil
    }
}

/// Apple's PKTAP header (bsd/net/pktap.h): host byte order, then a frame of the DLT that it names.
enum PacketTapHeader {
    static let length = 108

    /// The header's length field, its DLT and its byte order; nil when the bytes are no such header.
    static func read(_ frame: UnsafeRawBufferPointer) -> (length: Int, dataLinkType: UInt32, isLittleEndian: Bool)? {
        guard frame.count >= length else { return nil }
        let limit = min(frame.count, 4096)
        let little = Int(frame.littleField32(0))
        if little >= length, little <= limit { return (little, frame.littleField32(8), true) }
        let big = Int(frame.field32(0))
        if big >= length, big <= limit { return (big, frame.field32(8), false) }
        return nil
    }
}
