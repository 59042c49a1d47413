internal import SessionTrace

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// read(2), which a method of that name would hide.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, buffer.baseAddress, buffer.count)
}

/// Small files of bytes, read as they are and made whole.
extension FileSystem {
    /// What a path holds that is read as it is.
    enum PlainContent {
        case whole([UInt8])
        /// More than the limit.
        case larger
        /// A pipe, a folder, a device: it is neither waited for nor read.
        case noFile
    }

    /// The bytes of a small file, never unpacked: its first ones may be any. Throws where the system refuses.
    static func readPlain(_ path: String, limit: Int) throws(FileError) -> PlainContent {
        let descriptor = open(FileName.path(path), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw FileError(path) }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw FileError(path) }
        guard facts.st_mode & S_IFMT == S_IFREG else { return .noFile }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: min(limit + 1, 64 << 10))
        while bytes.count <= limit {
            let count = piece.withUnsafeMutableBytes { systemRead(descriptor, $0) }
            guard count >= 0 else {
                if errno == EINTR { continue }
                throw FileError(path)
            }
            if count == 0 { return .whole(bytes) }
            bytes += piece[..<count]
        }
        return .larger
    }

    /// Makes a file that appears complete or not at all; false when another one is there already, perhaps of a process that
    /// was faster. Where the file system has no hard links it is written in its place, and may be seen before it is whole.
    ///
    /// `link` is link(2); a test puts a file system there that has none.
    static func create(
        _ bytes: [UInt8], at path: String, permissions: mode_t,
        link: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32 = { link($0, $1) }
    ) throws(FileError) -> Bool {
        // Threads of one process have drafts of their own, too.
        var draft = FileName.path("\(path).XXXXXX")
        let descriptor = mkstemp(&draft)
        guard descriptor >= 0 else { throw FileError(path) }
        defer { unlink(draft) }
        guard fchmod(descriptor, permissions) == 0 else {
            let error = FileError(path)
            close(descriptor)
            throw error
        }
        try write(bytes, to: descriptor, path)
        // link(2) fails where the name is taken, rename(2) would replace it.
        if link(draft, FileName.path(path)) == 0 { return true }
        switch errno {
        case EEXIST: return false
        case EPERM, EOPNOTSUPP, ENOSYS, EMLINK: break
        default: throw FileError(path)
        }
        let place = open(FileName.path(path), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, permissions)
        guard place >= 0 else {
            if errno == EEXIST { return false }
            throw FileError(path)
        }
        do throws(FileError) {
            try write(bytes, to: place, path)
        } catch {
            unlink(FileName.path(path))
            throw error
        }
        return true
    }

    /// Writes all of it and closes the descriptor.
    private static func write(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws(FileError) {
        guard let file = fdopen(descriptor, "wb") else {
            let error = FileError(path)
            close(descriptor)
            throw error
        }
        let written = fwrite(bytes, 1, bytes.count, file)
        guard fclose(file) == 0, written == bytes.count else { throw FileError(path) }
    }
}
