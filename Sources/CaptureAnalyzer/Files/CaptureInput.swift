import ContentCodings

/// The bytes of a capture file with their packing (gzip, zstd) undone, whatever the file is called.
///
/// The first bytes decide. Memory is one read buffer, and for packed files one more of the same size.
struct CaptureInput: ~Copyable {
    private static let chunkLength = 256 << 10

    let compression: CaptureFileSummary.Compression
    private let descriptor: FileDescriptor
    /// The bytes that were read to tell the packing, until they have been handed out.
    private var head: [UInt8]
    private var unpacker: Unpacker?
    /// Why the bytes ended before the file did, in plain words.
    private(set) var trouble: String?
    /// Whether zeros follow the packed data.
    private(set) var hasTrailingBytes = false
    /// For a file that is still being written: its writer's word.
    private let growth: TraceGrowth?
    /// Bytes read of the file, for `growth`.
    private var offset: UInt64 = 0

    init(path: String, growth: TraceGrowth? = nil) throws(SystemError) {
        self.growth = growth
        let descriptor = try FileDescriptor(path: path)
        var head: [UInt8] = []
        // A trace that is being written is never packed.
        while growth == nil, head.count < 4 {
            let piece = try Self.piece(descriptor, length: 4 - head.count)
            if piece.isEmpty { break }
            head += piece
        }
        switch head {
        case let bytes where bytes.starts(with: [0x1F, 0x8B]):
            compression = .gzip
            unpacker = Unpacker(.gzip, head: head, chunkLength: Self.chunkLength)
        case [0x28, 0xB5, 0x2F, 0xFD], [0x50, 0x2A, 0x4D, 0x18]:
            compression = .zstd
            unpacker = Unpacker(.zstd, head: head, chunkLength: Self.chunkLength)
        default:
            compression = .none
            unpacker = nil
        }
        self.descriptor = descriptor
        self.head = compression == .none ? head : []
    }

    /// Reads on, at most the size of `buffer`; 0 at the end of what can be read.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        if !head.isEmpty {
            let count = min(head.count, buffer.count)
            buffer.copyBytes(from: head.prefix(count))
            head.removeFirst(count)
            return count
        }
        do throws(SystemError) {
            if let count = try unpacker?.read(
                into: buffer, from: descriptor, trouble: &trouble, hasTrailingBytes: &hasTrailingBytes)
            {
                return count
            }
            return try readFollowing(into: buffer)
        } catch {
            trouble = "reading failed: \(error.words)"
            return 0
        }
    }

    /// Reads what there is; of a file that grows, waits for more rather than taking its present end for the last.
    private mutating func readFollowing(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        guard let growth else { return try descriptor.read(into: buffer) }
        guard let available = growth.bytesToRead(behind: offset) else { return 0 }
        let count = try descriptor.read(
            into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(min(available, UInt64(buffer.count))))))
        offset += UInt64(count)
        return count
    }

    private static func piece(_ descriptor: borrowing FileDescriptor, length: Int) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: length)
        let outcome = bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(SystemError) -> Int in try descriptor.read(into: buffer) }
        }
        return Array(bytes.prefix(try outcome.get()))
    }
}
