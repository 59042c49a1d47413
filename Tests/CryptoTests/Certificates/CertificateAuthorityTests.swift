import Foundation
import SessionTrace
import Testing

@testable import Crypto

/// The authority's files.
@Suite struct CertificateAuthorityTests {
    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func isMadeOnceAndReadAgain() throws {
        let folder = try TemporaryFolder()
        let directory = folder.path("a/b")
        let missing = #expect(throws: AuthorityError.self) {
            try CertificateAuthority.load(directory: directory, createIfMissing: false, hostName: "bench")
        }
        #expect(missing?.kind == .missing)
        let now = try #require(Instant(rfc3339: "2026-11-30T10:00:00Z"))
        let made = try CertificateAuthority.load(
            directory: directory, createIfMissing: true, hostName: "bench.lab", now: now)
        #expect(made.certificate.subject == "CN=handoff CA bench.lab 2026-11-30, O=handoff")
        #expect(made.certificate.issuer == made.certificate.subject)
        #expect(made.certificate.notBefore.rfc3339 == "2026-11-29T10:00:00.000000000Z")
        #expect(made.certificate.notAfter.rfc3339 == "2031-11-29T10:00:00.000000000Z")
        #expect(try mode(directory) == 0o700)
        #expect(try mode("\(directory)/handoff-ca.pem") == 0o600)
        let again = try CertificateAuthority.load(
            directory: directory, createIfMissing: false, hostName: "other", now: now)
        #expect(again.certificate == made.certificate && again.directory == directory)
        let names = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
        #expect(names == ["handoff-ca-cert.pem", "handoff-ca.pem"])
        let text = try String(contentsOfFile: "\(directory)/handoff-ca-cert.pem", encoding: .utf8)
        #expect(text == made.certificate.pem)
        #expect(try CertificateAuthority.reset(directory: directory))
        #expect(try !CertificateAuthority.reset(directory: directory))
        let new = try CertificateAuthority.load(directory: directory, createIfMissing: true, hostName: "bench.lab")
        #expect(new.certificate != made.certificate)
    }

    @Test func aLongHostNameStillFits() throws {
        let long = String(repeating: "x", count: 300) + "\n"
        let authority = try CertificateAuthority.inMemory(hostName: long)
        #expect(authority.certificate.subject.utf8.count < 90)
    }

    /// Whoever comes first makes it; everyone has the same one.
    @Test func manyAtOnceMakeOne() throws {
        let folder = try TemporaryFolder()
        let directory = folder.path("ca")
        let found = Collected<Certificate>()
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            if let authority = try? CertificateAuthority.load(
                directory: directory, createIfMissing: true, hostName: "bench")
            {
                found.add(authority.certificate)
            }
        }
        #expect(found.all.count == 8 && Set(found.all).count == 1)
        let names = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
        #expect(names == ["handoff-ca-cert.pem", "handoff-ca.pem"], "no file of the slower ones is left")
    }

    @Test(arguments: [0o640, 0o604, 0o660])
    func aKeyThatOthersCanReadIsRefused(mode: Int) throws {
        let folder = try TemporaryFolder()
        let directory = folder.path("ca")
        _ = try CertificateAuthority.load(directory: directory, createIfMissing: true, hostName: "bench")
        let path = "\(directory)/handoff-ca.pem"
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        let error = #expect(throws: AuthorityError.self) {
            try CertificateAuthority.load(directory: directory, createIfMissing: true, hostName: "bench")
        }
        let octal = String(mode, radix: 8)
        #expect(error?.kind == .file)
        #expect(
            error?.reason
                == "\(path): holds a private key and is open to others (mode \(octal)); chmod 600 it, or reset the CA")
    }

    @Test func aDirectoryThatOthersCanWriteIsRefused() throws {
        let folder = try TemporaryFolder()
        let directory = folder.path("ca")
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: directory)
        let error = #expect(throws: AuthorityError.self) {
            try CertificateAuthority.load(directory: directory, createIfMissing: true, hostName: "bench")
        }
        #expect(error?.reason == "\(directory): others may write to this directory; chmod 700 it")
    }

    /// A file cut anywhere gives one line, never another authority.
    @Test func aDamagedFile() throws {
        let folder = try TemporaryFolder()
        let directory = folder.path("ca")
        let made = try CertificateAuthority.load(directory: directory, createIfMissing: true, hostName: "bench")
        let path = "\(directory)/handoff-ca.pem"
        let whole = try Data(contentsOf: URL(filePath: path))
        var damaged = stride(from: 0, to: whole.count - 60, by: 97).map { whole.prefix($0) }
        damaged += [Data("hello\n".utf8), Data(repeating: 0, count: 4_000), whole + whole]
        for bytes in damaged {
            try bytes.write(to: URL(filePath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            let error = #expect(throws: AuthorityError.self) {
                try CertificateAuthority.load(directory: directory, createIfMissing: true, hostName: "bench")
            }
            #expect(error?.kind == .damaged)
            #expect(error?.reason.hasPrefix("\(path) is damaged; ") == true)
        }
        try Data(repeating: 0x41, count: 70_000).write(to: URL(filePath: path))
        let large = #expect(throws: AuthorityError.self) {
            try CertificateAuthority.load(directory: directory, createIfMissing: true, hostName: "bench")
        }
        #expect(large?.reason == "\(path): is larger than 65536 bytes")
        try whole.write(to: URL(filePath: path))
        let again = try CertificateAuthority.load(directory: directory, createIfMissing: true, hostName: "bench")
        #expect(again.certificate == made.certificate)
    }

    @Test func anExpiredAuthority() throws {
        let folder = try TemporaryFolder()
        let directory = folder.path("ca")
        let past = try #require(Instant(rfc3339: "2015-01-01T00:00:00Z"))
        _ = try CertificateAuthority.load(directory: directory, createIfMissing: true, hostName: "bench", now: past)
        let error = #expect(throws: AuthorityError.self) {
            try CertificateAuthority.load(directory: directory, createIfMissing: true, hostName: "bench")
        }
        #expect(error?.kind == .expired && error?.reason.contains("expired on 2019-12-31") == true)
    }

    @Test func aPlaceThatCantBeWritten() throws {
        let folder = try TemporaryFolder()
        try Data().write(to: URL(filePath: folder.path("file")))
        for directory in [folder.path("file/ca"), folder.path("file")] {
            let error = #expect(throws: AuthorityError.self) {
                try CertificateAuthority.load(directory: directory, createIfMissing: true, hostName: "bench")
            }
            #expect(error?.kind == .file)
        }
    }

    // MARK: Export

    @Test func exportedForms() throws {
        let authority = try EnginePair.authority.get()
        #expect(Certificate(der: authority.export(.der)) == authority.certificate)
        #expect(Certificate(pem: String(decoding: authority.export(.pem), as: UTF8.self)) == authority.certificate)
        #expect(authority.export(.android) == authority.export(.pem))
        for format in CertificateAuthority.ExportFormat.allCases {
            #expect(!String(decoding: authority.export(format), as: UTF8.self).contains("PRIVATE"))
        }
        let folder = try TemporaryFolder()
        try Data(authority.export(.pem)).write(to: URL(filePath: folder.path("ca.pem")))
        let run = try PeerRun("openssl", ["x509", "-in", folder.path("ca.pem"), "-noout", "-subject_hash_old"])
        #expect(authority.fileName(.android) == run.output.trimmingCharacters(in: .newlines) + ".0")
        let text = try PeerRun("openssl", ["x509", "-in", folder.path("ca.pem"), "-noout", "-text"]).output
        for part in [
            "CA:TRUE, pathlen:0", "X509v3 Basic Constraints: critical", "X509v3 Key Usage: critical",
            "Certificate Sign, CRL Sign", "X509v3 Subject Key Identifier", "prime256v1", "ecdsa-with-SHA256",
        ] {
            #expect(text.contains(part), "\(part)")
        }
    }

    @Test func theProfileIsAPropertyList() throws {
        let authority = try EnginePair.authority.get()
        let data = Data(authority.export(.mobileconfig))
        #expect(data == Data(authority.export(.mobileconfig)), "installing it again replaces it")
        let list = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
        #expect(list?["PayloadType"] as? String == "Configuration" && list?["PayloadVersion"] as? Int == 1)
        let payload = try #require((list?["PayloadContent"] as? [[String: Any]])?.first)
        #expect(payload["PayloadType"] as? String == "com.apple.security.root")
        #expect(payload["PayloadContent"] as? Data == Data(authority.certificate.der))
        let identifiers = [list?["PayloadUUID"], payload["PayloadUUID"]].compactMap { $0 as? String }
        #expect(Set(identifiers).count == 2 && identifiers.allSatisfy { UUID(uuidString: $0) != nil })
        #expect(payload["PayloadDisplayName"] as? String == authority.certificate.subject)
    }
}

/// Values gathered from several threads.
final class Collected<Value: Sendable>: @unchecked Sendable {
    // Every access is under the lock.
    private let lock = NSLock()
    private var values: [Value] = []

    var all: [Value] { lock.withLock { values } }

    func add(_ value: Value) { lock.withLock { values.append(value) } }
}
