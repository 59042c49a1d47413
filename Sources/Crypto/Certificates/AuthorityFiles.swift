/// The certificate authority's file: how it is read, and how it is made by exactly one of several processes.
internal import Glibc
internal import SessionTrace

/// Why a file could not be read or written.
struct FileFault: Error {
    /// Plain words, without the path.
    var words: String
    var isMissing = false

    static func system(_ number: Int32) -> FileFault {
        FileFault(words: String(cString: strerror(number)), isMissing: number == ENOENT)
    }
}

/// Reads a whole file of at most `limit` bytes.
func readFile(_ path: String, limit: Int) throws(FileFault) -> [UInt8] {
    let file = open(FileName.path(path), O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw .system(errno) }
    defer { close(file) }
    return try readFile(file, limit: limit)
}

private func readFile(_ file: Int32, limit: Int) throws(FileFault) -> [UInt8] {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 16_384)
    while true {
        let count = read(file, &piece, piece.count)
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { throw .system(errno) }
        if count == 0 { return bytes }
        bytes += piece[..<count]
        guard bytes.count <= limit else { throw FileFault(words: "is larger than \(limit) bytes") }
    }
}

/// The files of one authority's directory.
struct AuthorityFiles {
    /// A file larger than this is not the authority's (bytes).
    static let limit = 1 << 16

    let directory: String
    /// Certificate, its key and the key of the leaves: secret.
    var secretPath: String { "\(directory)/handoff-ca.pem" }
    /// The certificate alone, for tools that want a file.
    var publicPath: String { "\(directory)/handoff-ca-cert.pem" }

    /// Reads the secret file after checking that it is its owner's alone; nil when there is none.
    func readSecret() throws(FileFault) -> [UInt8]? {
        let file = open(FileName.path(secretPath), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw errno == ELOOP ? FileFault(words: "is a symbolic link") : .system(errno)
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw .system(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw FileFault(words: "is no regular file") }
        guard status.st_uid == geteuid() else { throw FileFault(words: "belongs to another user") }
        guard status.st_mode & 0o077 == 0 else {
            let mode = String(status.st_mode & 0o777, radix: 8)
            throw FileFault(
                words: "holds a private key and is open to others (mode \(mode)); chmod 600 it, or reset the CA")
        }
        return try readFile(file, limit: Self.limit)
    }

    /// Makes the directory (0700) with everything above it that is missing.
    func makeDirectory() throws(FileFault) {
        var path = ""
        for part in directory.split(separator: "/", omittingEmptySubsequences: false) {
            path += part + "/"
            if part.isEmpty { continue }
            if mkdir(FileName.path(path), 0o700) != 0, errno != EEXIST { throw .system(errno) }
        }
        var status = stat()
        guard stat(FileName.path(directory), &status) == 0 else { throw .system(errno) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw FileFault(words: "is no directory") }
        // Whoever may write here can put a key of their own in place of ours.
        guard status.st_mode & 0o022 == 0 else {
            throw FileFault(words: "others may write to this directory; chmod 700 it")
        }
    }

    /// Puts the secret file in place unless another process was faster: false then. It appears complete or not at all.
    func createSecret(_ bytes: [UInt8]) throws(FileFault) -> Bool {
        let temporary = try writeTemporary(bytes, mode: 0o600)
        defer { unlink(temporary) }
        // link(2) fails when the name exists, rename(2) would replace it.
        if link(temporary, FileName.path(secretPath)) == 0 { return true }
        if errno == EEXIST { return false }
        throw .system(errno)
    }

    /// Puts the public file in place, replacing what is there.
    func writePublic(_ bytes: [UInt8]) throws(FileFault) {
        let temporary = try writeTemporary(bytes, mode: 0o644)
        guard rename(temporary, FileName.path(publicPath)) == 0 else {
            let number = errno
            unlink(temporary)
            throw .system(number)
        }
    }

    /// Removes both files; false when there was no secret one.
    func remove() throws(FileFault) -> Bool {
        if unlink(FileName.path(publicPath)) != 0, errno != ENOENT, errno != ENOTDIR { throw .system(errno) }
        if unlink(FileName.path(secretPath)) == 0 { return true }
        if errno == ENOENT || errno == ENOTDIR { return false }
        throw .system(errno)
    }

    private func writeTemporary(_ bytes: [UInt8], mode: mode_t) throws(FileFault) -> [CChar] {
        var path = FileName.path("\(directory)/.handoff-ca.XXXXXX")
        let file = mkstemp(&path)
        guard file >= 0 else { throw .system(errno) }
        defer { close(file) }
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        var done = fchmod(file, mode) == 0
        var written = 0
        while done, written < bytes.count {
            let count = bytes.withUnsafeBytes {
                write(file, $0.baseAddress.map { $0 + written }, bytes.count - written)
            }
            if count < 0, errno == EINTR { continue }
            done = count > 0
            written += max(0, count)
        }
        guard done, fsync(file) == 0 else {
            let number = errno
            unlink(path)
            throw .system(number)
        }
        return path
    }
}
