internal import Glibc
internal import SessionTrace
internal import Synchronization

/// A file of TLS secrets in the NSS key log format, appended to by all connections: mode 0600, also when a
/// file of ours was there before. (What is no regular file, such as a pipe, keeps its mode.)
public final class KeyLogFile: Sendable {
    private let descriptor: Mutex<Int32>

    /// Opens `path` for appending, and makes it when it does not exist.
    public init(path: String) throws(ProxyError) {
        let descriptor = open(FileName.path(path), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0o600)
        guard descriptor >= 0 else {
            throw ProxyError(.cannotUseFile, place: path, reason: String(cString: strerror(errno)))
        }
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() {
            _ = fchmod(descriptor, 0o600)
        }
        self.descriptor = Mutex(descriptor)
    }

    deinit {
        descriptor.withLock { _ = close($0) }
    }

    /// Appends whole lines. A disk that is full loses them: the relay goes on.
    public func append(_ lines: [UInt8]) {
        guard !lines.isEmpty else { return }
        // One write a call, under the lock, so that lines of two connections never mix.
        descriptor.withLock { descriptor in
            var done = 0
            while done < lines.count {
                let count = lines.withUnsafeBytes {
                    write(descriptor, $0.baseAddress.map { $0 + done }, $0.count - done)
                }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                done += count
            }
        }
    }
}
