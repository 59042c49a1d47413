internal import Crypto
internal import SessionTrace

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A word that only those know who were given it: the control API's token, the secret in the address of marks in band.
public struct ControlSecret: Sendable, CustomStringConvertible, CustomReflectable {
    /// Unpredictable bytes in the control API's token.
    static let byteCount = 32
    /// Unpredictable bytes in a secret that a person may have to type, or that lives for one response.
    static let pathByteCount = 16

    /// The secret as it is sent: unpadded base64url (RFC 4648 §5).
    public let text: String

    /// A new secret of 256 random bits.
    public static func random() throws(ControlFileError) -> ControlSecret {
        try random(bytes: byteCount)
    }

    static func random(bytes count: Int) throws(ControlFileError) -> ControlSecret {
        do throws(CryptoError) {
            return ControlSecret(text: base64URL(try randomBytes(count)))
        } catch {
            throw ControlFileError(path: "", words: "no random bytes: \(error)")
        }
    }

    /// A secret that is known already.
    public init(text: String) {
        self.text = text
    }

    /// Whether `candidate` is the secret, in a time that does not depend on where they differ.
    public func matches(_ candidate: some StringProtocol) -> Bool {
        let own = Array(text.utf8)
        let given = Array(candidate.utf8)
        var difference = own.count ^ given.count
        for index in own.indices { difference |= Int(own[index] ^ (index < given.count ? given[index] : 0)) }
        return difference == 0 && !own.isEmpty
    }

    /// Never the secret: it must not slip into a log.
    public var description: String { "‹secret›" }
    public var customMirror: Mirror { Mirror(self, children: []) }

    private static func base64URL(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var text: [UInt8] = []
        var held = 0
        var bits = 0
        for byte in bytes {
            held = held << 8 | Int(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(alphabet[held >> bits & 0x3F])
            }
            held &= 0xFF
        }
        if bits > 0 { text.append(alphabet[held << (6 - bits) & 0x3F]) }
        return String(decoding: text, as: UTF8.self)
    }
}

/// Why the control file can't be written or read.
public struct ControlFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file.
    public var path: String
    /// The fault in plain words.
    public var words: String

    public var description: String { path.isEmpty ? words : "\(path): \(words)" }
}

/// The file that tells other programs of the same user where the recorder's control API is and what token it asks for:
/// `{"address":"127.0.0.1:4775","token":"…"}`, mode 0600.
public struct ControlFile: Sendable {
    /// Longest file that is read, in bytes.
    static let sizeLimit = 4_096

    /// `ADDR:PORT` of the control API.
    public var address: String
    /// The token.
    public var token: ControlSecret

    /// Makes the content of a file.
    public init(address: String, token: ControlSecret) {
        self.address = address
        self.token = token
    }

    /// Where it is unless told: `$XDG_RUNTIME_DIR/handoff/control.json`, else beside the certificate authority under
    /// `$XDG_DATA_HOME/handoff` or `~/.local/share/handoff`; nil when the environment names none of these.
    public static func defaultPath(_ environment: [String: String]) -> String? {
        for name in ["XDG_RUNTIME_DIR", "XDG_DATA_HOME"] {
            if let folder = environment[name], folder.hasPrefix("/") { return "\(folder)/handoff/control.json" }
        }
        return environment["HOME"].flatMap { $0.hasPrefix("/") ? "\($0)/.local/share/handoff/control.json" : nil }
    }

    /// Writes the file in one step, so that a reader sees the old or the new one whole. Its folder is made, mode 0700.
    public func write(to path: String) throws(ControlFileError) {
        makeFolders(above: path)
        let content = Array(
            JSONValue.object([
                JSONMember(name: "address", value: .string(address)),
                JSONMember(name: "token", value: .string(token.text)),
            ]).description.utf8 + [0x0A])
        let draft = FileName.path("\(path).\(getpid())")
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.fault(path) }
        var written = 0
        while written < content.count {
            let count = content.withUnsafeBytes { bytes in
                Self.write(descriptor, UnsafeRawBufferPointer(rebasing: bytes[written...]))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let fault = Self.fault(path)
                close(descriptor)
                unlink(draft)
                throw fault
            }
            written += count
        }
        close(descriptor)
        guard rename(draft, FileName.path(path)) == 0 else {
            let fault = Self.fault(path)
            unlink(draft)
            throw fault
        }
    }

    /// Reads a file.
    public static func read(_ path: String) throws(ControlFileError) -> ControlFile {
        let descriptor = open(FileName.path(path), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw fault(path) }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: sizeLimit)
        let count = bytes.withUnsafeMutableBytes { Self.read(descriptor, $0) }
        guard count >= 0 else { throw fault(path) }
        guard let value = try? JSONValue.parse(Array(bytes.prefix(count))), let address = value["address"]?.stringValue,
            let token = value["token"]?.stringValue
        else { throw ControlFileError(path: path, words: "no control file of a recorder") }
        return ControlFile(address: address, token: ControlSecret(text: token))
    }

    /// Removes the file if it is still this one's: another recorder may have written its own since.
    public func remove(from path: String) {
        guard let present = try? Self.read(path), token.matches(present.token.text) else { return }
        unlink(FileName.path(path))
    }

    private func makeFolders(above path: String) {
        var made = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/").dropLast() {
            made += made.isEmpty || made.hasSuffix("/") ? String(part) : "/\(part)"
            mkdir(FileName.path(made), 0o700)
        }
    }

    private static func fault(_ path: String) -> ControlFileError {
        ControlFileError(path: path, words: String(cString: strerror(errno)))
    }

    private static func read(_ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer) -> Int {
        #if canImport(Glibc)
            Glibc.read(descriptor, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
            Musl.read(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }

    private static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
            Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
            Musl.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }
}
