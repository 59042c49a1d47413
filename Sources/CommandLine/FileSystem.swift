internal import CaptureAnalyzer
internal import SessionTrace

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A file that could not be read or written: the path and the system's words.
struct FileError: Error, CustomStringConvertible {
    var path: String
    var words: String

    init(_ path: String) {
        self.path = path
        words = String(cString: strerror(errno))
    }

    init(_ path: String, words: String) {
        self.path = path
        self.words = words
    }

    /// What to do about it, where the fault itself tells.
    var remedy: String?

    init(_ path: String, _ error: TextFileError) {
        self.path = path
        words = error.words
        remedy = error.remedy
    }

    var description: String { "\(path): \(words)" + (remedy.map { "; \($0)" } ?? "") }
}

extension TextFileKind {
    /// A policy: `YAMLDocument` takes no more nodes than fit into this.
    static let policy = TextFileKind("a policy", limit: 1 << 20, remedy: "name a handoff.yml")
    /// Another tool's log, read line by line.
    static let log = TextFileKind("a log", limit: 128 << 20, remedy: "cut out the lines of the test run")
    /// Clock probes, of which `ClockProbeFile.probeLimit` are taken.
    static let probes = TextFileKind(
        "a file of probes", limit: 16 << 20, remedy: "give the probes of the test run alone")
}

/// The few things that commands do with files besides reading traces.
enum FileSystem {
    /// The whole content of a text file, of which no more is read than its kind may have.
    static func read(_ path: String, as kind: TextFileKind) throws(FileError) -> [UInt8] {
        do throws(TextFileError) {
            // `-` is standard input only where a command says so.
            return try TextFile.read(path == "-" ? "./-" : path, as: kind)
        } catch {
            throw FileError(path, error)
        }
    }

    /// Gives `body` the whole content of a file of any size without reading it into memory.
    static func withMapped<Value>(_ path: String, _ body: (UnsafeRawBufferPointer) -> Value) throws(FileError) -> Value
    {
        let descriptor = open(FileName.path(path), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError(path) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileError(path) }
        guard status.st_size > 0 else { return body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        let length = Int(status.st_size)
        guard let address = mmap(nil, length, PROT_READ, MAP_PRIVATE, descriptor, 0), address != MAP_FAILED else {
            throw FileError(path)
        }
        defer { munmap(address, length) }
        return body(UnsafeRawBufferPointer(start: address, count: length))
    }

    /// Writes a file, replacing what was there; `permissions` count only for a new file.
    static func write(_ bytes: [UInt8], to path: String, permissions: mode_t = 0o644) throws(FileError) {
        let descriptor = open(FileName.path(path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, permissions)
        guard descriptor >= 0, let file = fdopen(descriptor, "wb") else { throw FileError(path) }
        let written = fwrite(bytes, 1, bytes.count, file)
        guard fclose(file) == 0, written == bytes.count else { throw FileError(path) }
    }

    /// Replaces a file's content as a whole: whoever reads it meanwhile sees the old or the new, never a part. Its
    /// permissions stay.
    static func replace(_ bytes: [UInt8], at path: String) throws(FileError) {
        var facts = stat()
        guard stat(FileName.path(path), &facts) == 0 else { throw FileError(path) }
        let target = realpath(FileName.path(path), nil)
        defer { free(target) }
        let place = target.map { name($0) } ?? path
        let draft = "\(place).\(getpid()).new"
        do throws(FileError) {
            try write(bytes, to: draft, permissions: facts.st_mode & 0o777)
            guard chmod(FileName.path(draft), facts.st_mode & 0o777) == 0,
                rename(FileName.path(draft), FileName.path(place)) == 0
            else { throw FileError(path) }
        } catch {
            unlink(FileName.path(draft))
            throw FileError(path)
        }
    }

    /// The size of the file at `path`; nil when there is none.
    static func size(of path: String) -> Int? {
        var status = stat()
        return stat(FileName.path(path), &status) == 0 ? Int(status.st_size) : nil
    }

    /// Removes a file.
    static func remove(_ path: String) {
        unlink(FileName.path(path))
    }

    /// Whether there is a folder at `path`.
    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(FileName.path(path), &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Whether there is an ordinary file at `path`, or behind the link there.
    static func isFile(_ path: String) -> Bool {
        var status = stat()
        return stat(FileName.path(path), &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Whether `path` is a symbolic link.
    static func isLink(_ path: String) -> Bool {
        var status = stat()
        return lstat(FileName.path(path), &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// Where the symbolic link at `path` leads, as it says; nil when there is none.
    static func target(ofLink path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = readlink(FileName.path(path), &bytes, bytes.count - 1)
        return count < 0 ? nil : FileName.text(bytes.prefix(count).map { UInt8(bitPattern: $0) })
    }

    /// Whether there is anything at `path`.
    static func exists(_ path: String) -> Bool { access(FileName.path(path), F_OK) == 0 }

    /// Makes a folder and those above it.
    static func makeFolder(_ path: String) {
        var made = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            made += made.isEmpty || made.hasSuffix("/") ? String(part) : "/\(part)"
            mkdir(FileName.path(made), 0o700)
        }
    }

    /// The names in a folder, sorted, without those that begin with a dot.
    static func names(in path: String) throws(FileError) -> [String] {
        guard let folder = opendir(FileName.path(path)) else { throw FileError(path) }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                FileName.text(bytes.prefix { $0 != 0 })
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    /// This host's name, without its domain; `host` when it has none.
    static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "host" }
        let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.split(separator: ".").first.map(String.init) ?? "host"
    }

    /// The folder that holds `path`: `.` for a bare name.
    static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The absolute path without symbolic links; nil when nothing is there.
    static func absolute(_ path: String) -> String? {
        guard let resolved = realpath(FileName.path(path), nil) else { return nil }
        defer { free(resolved) }
        return name(resolved)
    }

    private static func name(_ bytes: UnsafePointer<CChar>) -> String {
        FileName.text(UnsafeRawBufferPointer(start: bytes, count: strlen(bytes)))
    }
}
