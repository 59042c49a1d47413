internal import SessionTrace

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// An open file to read from; closed with its owner, unless it is standard input.
struct FileDescriptor: ~Copyable {
    private let descriptor: Int32
    private let isOwned: Bool

    /// Opens `path`, or takes standard input for `-`.
    init(path: String) throws(SystemError) {
        if path == "-" {
            descriptor = 0
            isOwned = false
            return
        }
        descriptor = open(FileName.path(path), O_RDONLY | O_CLOEXEC)
        isOwned = true
        guard descriptor >= 0 else { throw SystemError(number: errno) }
    }

    deinit {
        if isOwned, descriptor >= 0 { close(descriptor) }
    }

    /// Reads what there is, at most the size of `buffer`; 0 at the end. Waits on pipes.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        while true {
            #if canImport(Glibc)
                let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            #elseif canImport(Musl)
                let count = Musl.read(descriptor, buffer.baseAddress, buffer.count)
            #else
                let count = Darwin.read(descriptor, buffer.baseAddress, buffer.count)
            #endif
            if count >= 0 { return count }
            guard errno == EINTR else { throw SystemError(number: errno) }
        }
    }
}

/// What a file is, whatever it is called.
struct FileIdentity: Hashable {
    let device: UInt64
    let inode: UInt64

    /// The file that `path` leads to; nil when there is none.
    init?(_ path: String) {
        var facts = stat()
        guard stat(FileName.path(path), &facts) == 0 else { return nil }
        device = UInt64(facts.st_dev)
        inode = UInt64(facts.st_ino)
    }
}

/// What lies at a path that nobody named. A link that leads nowhere is something: who made it expects it to be read.
public enum FoundFile: Sendable {
    case nothing
    /// What can be read to its end: a file, and the device that holds nothing.
    case file
    case folder
    /// What can't: a link to nothing, a pipe, another device.
    case other

    /// Looks at `path`.
    public init(_ path: String) {
        let name = FileName.path(path)
        var facts = stat()
        guard stat(name, &facts) == 0 else {
            self = lstat(name, &facts) == 0 ? .other : .nothing
            return
        }
        switch facts.st_mode & S_IFMT {
        case S_IFREG: self = .file
        case S_IFDIR: self = .folder
        case S_IFCHR:
            var null = stat()
            self = stat("/dev/null", &null) == 0 && null.st_rdev == facts.st_rdev ? .file : .other
        default: self = .other
        }
    }
}

/// The system's answer to a call that failed.
struct SystemError: Error, Hashable {
    /// `errno`.
    let number: Int32

    /// The system's words: `No such file or directory`.
    var words: String { String(cString: strerror(number)) }
}
