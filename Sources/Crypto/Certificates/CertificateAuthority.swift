/// The authority that a test device trusts: it issues the certificates that the proxy shows.
internal import COpenSSL
internal import Glibc
public import SessionTrace
internal import Synchronization

/// Why an authority can't be used.
public struct AuthorityError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of fault it is.
    public enum Kind: Hashable, Sendable {
        /// There is no authority in the directory, and none was to be made.
        case missing
        /// The directory or a file can't be read or written, or others may do so.
        case file
        /// The file is not what this program wrote.
        case damaged
        /// The authority's own certificate has ended.
        case expired
        /// A certificate can't be made for these names.
        case names
        /// libcrypto refused.
        case cryptography
    }

    /// What kind of fault it is.
    public var kind: Kind
    /// One line in plain words, with the path where there is one.
    public var reason: String

    public var description: String { reason }
}

/// A certificate authority in a directory of its own. Every thread may use it.
public final class CertificateAuthority: Sendable {
    /// Five years: longer than a phone stays on a bench, short enough that trust forgotten on one ends by itself. No
    /// platform limits the lifetime of an authority that its user has installed.
    static let lifetimeDays: Int64 = 5 * 365
    /// The authority's certificate, as devices must trust it.
    public let certificate: Certificate
    /// The directory; nil for an authority that is only in memory.
    public let directory: String?
    /// The file that holds the certificate alone, in PEM form, for tools that want a file.
    public var certificatePath: String? { directory.map { AuthorityFiles(directory: $0).publicPath } }
    private let x509: X509Reference
    private let key: KeyReference
    private let leafKey: KeyReference
    private let leaves = Mutex(LeafCache())

    /// Reads the authority in `directory`, or makes one there: the first of several processes makes it, the others take
    /// it. The directory is 0700, the file with the keys 0600.
    ///
    /// - Parameters:
    ///   - hostName: Goes into the name of a new authority, so that two can be told apart on a device.
    ///   - now: The time by which validity is set and judged; nil: the system's clock.
    public static func load(
        directory: String, createIfMissing: Bool, hostName: String, now: Instant? = nil
    ) throws(AuthorityError) -> CertificateAuthority {
        let files = AuthorityFiles(directory: directory)
        let now = now ?? systemClock()
        do {
            if let bytes = try files.readSecret() { return try read(bytes, files, now) }
        } catch { throw Self.error(error, files.secretPath) }
        guard createIfMissing else {
            throw AuthorityError(kind: .missing, reason: "\(directory) holds no certificate authority")
        }
        let made = try make(hostName: hostName, directory: directory, now: now)
        do { try files.makeDirectory() } catch { throw Self.error(error, directory) }
        do {
            let bytes = try made.secretBytes()
            if try files.createSecret(bytes) {
                try files.writePublic(Array(made.certificate.pem.utf8))
                return made
            }
            guard let bytes = try files.readSecret() else { throw FileFault(words: "went away while it was read") }
            return try read(bytes, files, now)
        } catch { throw Self.error(error, files.secretPath) }
    }

    /// An authority that is in no file.
    public static func inMemory(hostName: String, now: Instant? = nil) throws(AuthorityError) -> CertificateAuthority {
        try make(hostName: hostName, directory: nil, now: now ?? systemClock())
    }

    /// Removes the authority in `directory`; false when there was none. Devices that trust it trust nobody any more.
    @discardableResult
    public static func reset(directory: String) throws(AuthorityError) -> Bool {
        do { return try AuthorityFiles(directory: directory).remove() } catch { throw Self.error(error, directory) }
    }

    private init(
        certificate: Certificate, x509: X509Reference, key: KeyReference, leafKey: KeyReference, directory: String?
    ) {
        self.certificate = certificate
        self.x509 = x509
        self.key = key
        self.leafKey = leafKey
        self.directory = directory
    }

    // MARK: Making and reading

    private static func make(
        hostName: String, directory: String?, now: Instant
    ) throws(AuthorityError) -> CertificateAuthority {
        // At most 64 characters in a common name (RFC 5280, ub-common-name).
        let host = printable(hostName).prefix(30)
        let builder = CertificateBuilder(
            role: .authority, subject: [("O", "handoff"), ("CN", "handoff CA \(host) \(now.rfc3339.prefix(10))")],
            notBefore: now.advanced(byDays: -1), notAfter: now.advanced(byDays: lifetimeDays))
        do {
            let key = try KeyReference.makeP256()
            let leafKey = try KeyReference.makeP256()
            let x509 = try builder.sign(key: key, issuer: nil, issuerKey: key)
            guard let certificate = Certificate(x509: x509.pointer) else { throw CryptoError.refused(call: "i2d_X509") }
            return CertificateAuthority(
                certificate: certificate, x509: x509, key: key, leafKey: leafKey, directory: directory)
        } catch { throw Self.error(error, nil) }
    }

    private static func read(
        _ bytes: [UInt8], _ files: AuthorityFiles, _ now: Instant
    ) throws(AuthorityError) -> CertificateAuthority {
        let parts = PEMReader.read(bytes)
        let advice = "`handoff ca reset` makes a new one, which every device must trust anew"
        guard parts.certificates.count == 1, parts.keys.count == 2, let x509 = parts.certificates.first,
            let certificate = Certificate(x509: x509.pointer),
            withCleanErrorQueue({
                X509_check_private_key(x509.pointer, parts.keys[0].pointer) == 1
                    && X509_check_ca(x509.pointer) == 1 && parts.keys.allSatisfy(\.isP256)
            })
        else { throw AuthorityError(kind: .damaged, reason: "\(files.secretPath) is damaged; \(advice)") }
        guard now < certificate.notAfter else {
            let date = certificate.notAfter.rfc3339.prefix(10)
            throw AuthorityError(kind: .expired, reason: "\(files.secretPath) expired on \(date); \(advice)")
        }
        // For people's tools alone: without it everything works.
        let pem = Array(certificate.pem.utf8)
        if (try? readFile(files.publicPath, limit: AuthorityFiles.limit)) != pem { try? files.writePublic(pem) }
        return CertificateAuthority(
            certificate: certificate, x509: x509, key: parts.keys[0], leafKey: parts.keys[1],
            directory: files.directory)
    }

    private func secretBytes() throws(CryptoError) -> [UInt8] {
        try Array(certificate.pem.utf8) + key.pem() + leafKey.pem()
    }

    private static func error(_ error: any Error, _ path: String?) -> AuthorityError {
        switch error {
        case let error as AuthorityError: error
        case let fault as FileFault: AuthorityError(kind: .file, reason: "\(path ?? "?"): \(fault.words)")
        default: AuthorityError(kind: .cryptography, reason: "libcrypto can't make a certificate: \(error)")
        }
    }

    // MARK: Leaves

    /// The certificate that a server called `names` shows: valid for these names and for those of `upstream`, the
    /// verified certificate of the real server.
    ///
    /// The same names get the same certificate, until a day before it ends.
    ///
    /// - Parameters:
    ///   - names: What the client asked for, most specific first; at least one.
    ///   - now: The time by which validity is set; nil: the system's clock.
    public func leaf(
        for names: [SubjectName], mirroring upstream: Certificate? = nil, at now: Instant? = nil
    ) throws(AuthorityError) -> ServerIdentity {
        let all = LeafNames.merge(names, upstream?.subjectAlternativeNames ?? [])
        guard !all.isEmpty else { throw AuthorityError(kind: .names, reason: "a certificate needs a name") }
        let now = now ?? systemClock()
        // Signing takes about a tenth of a millisecond: under the lock, so that one name is signed once.
        do {
            return try leaves.withLock { cache throws(CryptoError) in
                if let known = cache.leaf(for: all, at: now) { return known }
                let made = try sign(all, now)
                cache.keep(made, for: all)
                return made
            }
        } catch { throw Self.error(error, nil) }
    }

    private func sign(_ names: [SubjectName], _ now: Instant) throws(CryptoError) -> ServerIdentity {
        let common = names.first.map(\.description).flatMap { $0.utf8.count <= LeafNames.commonNameLimit ? $0 : nil }
        let builder = CertificateBuilder(
            role: .server(names: names), subject: common.map { [("CN", $0)] } ?? [],
            notBefore: max(now.advanced(byDays: -1), certificate.notBefore),
            notAfter: min(now.advanced(byDays: LeafNames.lifetimeDays - 1), certificate.notAfter))
        let x509 = try builder.sign(key: leafKey, issuer: self.x509, issuerKey: key)
        guard let leaf = Certificate(x509: x509.pointer) else { throw .refused(call: "i2d_X509") }
        return ServerIdentity(leaf: x509, key: leafKey, certificate: leaf, issuer: certificate)
    }
}

extension Instant {
    func advanced(byDays days: Int64) -> Instant { advanced(byNanoseconds: days * 86_400_000_000_000) }
}

/// The time of day by the system's clock.
func systemClock() -> Instant {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
}
