internal import Glibc
internal import SessionTrace

/// A file of pcapng blocks that only ever grows by whole ones: a write that fails half-way is taken back to the last
/// block that is whole.
struct BlockFile: ~Copyable {
    /// Writes to a descriptor as write(2) does: bytes taken, or −1 and `errno`. Tests put a full disk here.
    typealias Write = @Sendable (Int32, UnsafeRawBufferPointer) -> Int

    /// Where the file is.
    let path: String
    /// Its length: whole blocks.
    private(set) var size: UInt64 = 0
    private let descriptor: Int32
    private let limit: UInt64
    private let write: Write

    /// Makes the file with mode 0600. A file that exists already is never touched.
    init(path: String, limit: UInt64?, write: @escaping Write = Self.systemWrite) throws(RecordingError) {
        descriptor = open(FileName.path(path), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Self.error(path, errno) }
        self.path = path
        self.limit = limit ?? .max
        self.write = write
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Appends whole blocks. Returns why not all of them are in the file, if so; those that are, are whole.
    mutating func append(_ blocks: UnsafeRawBufferPointer) -> RecordingStop? {
        var blocks = blocks
        var stop: RecordingStop?
        if UInt64(blocks.count) > limit - min(size, limit) {
            let room = Int(clamping: limit - min(size, limit))
            blocks = UnsafeRawBufferPointer(rebasing: blocks[..<Self.wholeBlocks(in: blocks, within: room)])
            stop = .quota(limit)
        }
        var written = 0
        while written < blocks.count {
            let count = write(descriptor, UnsafeRawBufferPointer(rebasing: blocks[written...]))
            if count > 0 {
                written += count
            } else if count == 0 || errno != EINTR {
                stop = .system(count == 0 ? EIO : errno)
                let whole = Self.wholeBlocks(in: blocks, within: written)
                // Should even this fail, the reader still finds everything up to the last whole block.
                _ = ftruncate(descriptor, off_t(clamping: size &+ UInt64(whole)))
                written = whole
                break
            }
        }
        size &+= UInt64(written)
        return stop
    }

    /// Bytes of the blocks at the start of `blocks` that end within the first `limit` bytes. Each block states its
    /// length, in our own byte order, behind its type.
    static func wholeBlocks(in blocks: UnsafeRawBufferPointer, within limit: Int) -> Int {
        var end = 0
        while end + 8 <= blocks.count {
            let length = Int(UInt32(littleEndian: blocks.loadUnaligned(fromByteOffset: end + 4, as: UInt32.self)))
            if length < 12 || end + length > min(limit, blocks.count) { break }
            end += length
        }
        return end
    }

    /// write(2).
    static let systemWrite: Write = { descriptor, bytes in
        Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    }

    private static func error(_ path: String, _ code: Int32) -> RecordingError {
        guard code == EEXIST || code == ELOOP else {
            return RecordingError(
                code: .notWritable, subject: path,
                description: "\(path) can't be made: \(SystemError.words(code)). Give another place with --out.")
        }
        return RecordingError(
            code: .fileExists, subject: path,
            description: "\(path) is there already and is not overwritten. Give another name with --out.")
    }
}
