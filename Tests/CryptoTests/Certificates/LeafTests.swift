import Foundation
import SessionTrace
import Testing

@testable import Crypto

/// The certificates that servers show.
@Suite struct LeafTests {
    private func authority() throws -> CertificateAuthority { try EnginePair.authority.get() }

    /// What `openssl x509` prints, and whether `openssl verify` accepts it in its strict mode.
    private func examine(_ identity: ServerIdentity, name: SubjectName) throws -> String {
        let folder = try TemporaryFolder()
        try identity.certificate.pem.write(toFile: folder.path("leaf.pem"), atomically: false, encoding: .utf8)
        try identity.issuer.pem.write(toFile: folder.path("ca.pem"), atomically: false, encoding: .utf8)
        let check: [String] =
            switch name {
            case .dns(let name): ["-verify_hostname", name]
            case .ip(let address): ["-verify_ip", address.description]
            }
        let verified = try PeerRun(
            "openssl",
            ["verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", folder.path("ca.pem")] + check
                + [folder.path("leaf.pem")])
        #expect(verified.status == 0, "\(verified.output)")
        return try PeerRun("openssl", ["x509", "-in", folder.path("leaf.pem"), "-noout", "-text"]).output
    }

    @Test func anOrdinaryName() throws {
        let now = systemClock()
        let identity = try authority().leaf(for: [.dns("ordinary.example")], at: now)
        let certificate = identity.certificate
        #expect(certificate.subject == "CN=ordinary.example")
        #expect(certificate.subjectAlternativeNames == [.dns("ordinary.example")])
        #expect(certificate.issuer == (try authority()).certificate.subject)
        let day: Int64 = 86_400_000_000_000
        #expect(certificate.notAfter.nanoseconds(since: certificate.notBefore) == 45 * day)
        let age = now.nanoseconds(since: certificate.notBefore)
        #expect(age >= day && age < day + 1_000_000_000)
        let text = try examine(identity, name: .dns("ordinary.example"))
        for part in [
            "X509v3 Key Usage: critical\n                Digital Signature", "TLS Web Server Authentication",
            "X509v3 Authority Key Identifier", "CA:FALSE", "ecdsa-with-SHA256", "prime256v1",
            "X509v3 Subject Alternative Name: \n                DNS:ordinary.example",
        ] {
            #expect(text.contains(part), "\(part)")
        }
    }

    /// A name over 64 characters: no common name, and the alternative names are critical (RFC 5280 §4.2.1.6).
    @Test func aNameTooLongForACommonName() throws {
        let long = SubjectName.dns(String(repeating: "a", count: 60) + ".example")
        let identity = try authority().leaf(for: [long])
        #expect(identity.certificate.subject.isEmpty && identity.certificate.subjectAlternativeNames == [long])
        #expect(try examine(identity, name: long).contains("X509v3 Subject Alternative Name: critical"))
        let longest = try #require(
            SubjectName(Array(repeating: String(repeating: "b", count: 61), count: 4).joined(separator: ".")))
        #expect(try authority().leaf(for: [longest]).certificate.subjectAlternativeNames == [longest])
    }

    @Test(arguments: ["192.0.2.7", "[2001:db8::1]"])
    func anAddress(text: String) throws {
        let name = try #require(SubjectName(text))
        guard case .ip = name else {
            Issue.record("\(text) is an address")
            return
        }
        let identity = try authority().leaf(for: [name])
        #expect(try examine(identity, name: name).contains("IP Address:"))
    }

    @Test func namesOfTheRealServer() throws {
        let names: [SubjectName] = [.dns("*.example"), .dns("api.example"), .ip(IPAddress(ipv4: 0xC000_0201))]
        let upstream = try CertificateAuthority.inMemory(hostName: "real").leaf(for: names).certificate
        let mirrored = try authority().leaf(for: [.dns("api.example")], mirroring: upstream).certificate
        #expect(mirrored.subjectAlternativeNames == [.dns("api.example"), names[0], names[2]])
        #expect(mirrored.subject == "CN=api.example", "nothing else is taken over")
    }

    @Test func theRequestedNameIsKeptWhateverTheServerHas() throws {
        let many = (0..<150).map { SubjectName.dns("host\($0).example") }
        let wanted = SubjectName.dns("wanted.example")
        let merged = LeafNames.merge([wanted], many)
        #expect(merged.first == wanted && merged.count == LeafNames.mirroredLimit + 1)
        let requested = LeafNames.merge(many, [])
        #expect(requested.count == LeafNames.requestedLimit)
        #expect(throws: AuthorityError.self) { try authority().leaf(for: []) }
    }

    /// Names that a certificate can't hold, or that mean something to a parser of configuration text.
    @Test func badNames() throws {
        for text in [
            "", ".", "a..b", "a b", "a,DNS:evil.example", "a\u{0}b", "a\nb", "*", "a.*.example", "ü.example",
            String(repeating: "a", count: 64) + ".example",
            Array(repeating: "abcdefg", count: 32).joined(separator: "."),
        ] {
            #expect(SubjectName(text) == nil, "\(text)")
        }
        #expect(SubjectName("API.Example.") == .dns("api.example"))
        #expect(SubjectName("_dmarc.a-b.example") != nil && SubjectName("localhost") != nil)
        let evil = [SubjectName.dns("x.example,IP:1.2.3.4"), .dns("a\u{0}b.example"), .dns("ok.example")]
        #expect(LeafNames.merge(evil, evil) == [.dns("ok.example")])
    }

    // MARK: Cache

    @Test func oneNameOneCertificate() throws {
        let authority = try CertificateAuthority.inMemory(hostName: "cache")
        let found = Collected<Certificate>()
        DispatchQueue.concurrentPerform(iterations: 64) { index in
            let name = SubjectName.dns("h\(index % 4).example")
            if let leaf = try? authority.leaf(for: [name]) { found.add(leaf.certificate) }
        }
        #expect(found.all.count == 64 && Set(found.all).count == 4)
    }

    @Test func aLeafNearItsEndIsMadeAnew() throws {
        let authority = try CertificateAuthority.inMemory(hostName: "renewal")
        let now = systemClock()
        let names = [SubjectName.dns("api.example")]
        let first = try authority.leaf(for: names, at: now).certificate
        #expect(try authority.leaf(for: names, at: now.advanced(byDays: 42)).certificate == first)
        let second = try authority.leaf(for: names, at: now.advanced(byDays: 43)).certificate
        #expect(second != first && second.notAfter > first.notAfter)
        // A clock that was set back must not meet a certificate that is not valid yet.
        #expect(try authority.leaf(for: names, at: now).certificate.notBefore <= now)
        let last = try authority.leaf(for: names, at: authority.certificate.notAfter.advanced(byDays: -3))
        #expect(last.certificate.notAfter <= authority.certificate.notAfter)
    }

    @Test func theCacheIsBounded() throws {
        let leaf = try authority().leaf(for: [.dns("api.example")])
        let now = systemClock()
        var cache = LeafCache()
        for index in 0...LeafCache.limit {
            cache.keep(leaf, for: [.dns("h\(index).example")])
            #expect(cache.leaf(for: [.dns("h0.example")], at: now) != nil, "used all the time, so kept")
        }
        #expect(cache.count == LeafCache.limit)
        #expect(cache.leaf(for: [.dns("h1.example")], at: now) == nil)
    }

    /// Two certificates never share a serial number (RFC 5280 §4.1.2.2).
    @Test func serialsDiffer() throws {
        let folder = try TemporaryFolder()
        var serials: Set<String> = []
        for index in 0..<8 {
            let leaf = try authority().leaf(for: [.dns("serial\(index).example")])
            try leaf.certificate.pem.write(toFile: folder.path("leaf.pem"), atomically: false, encoding: .utf8)
            let text = try PeerRun("openssl", ["x509", "-in", folder.path("leaf.pem"), "-noout", "-serial"]).output
            #expect(text.utf8.count > 7 + 24, "128 bits, not a counter: \(text)")
            serials.insert(text)
        }
        #expect(serials.count == 8)
    }
}

@Suite struct CertificateTests {
    @Test func partsAsOpenSSLSeesThem() throws {
        let folder = try TemporaryFolder()
        let subject = "/C=DE/O=Käse & Söhne, Ltd/CN=a\\+b"
        let made = try PeerRun(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-utf8", "-subj",
                subject,
                "-days", "20000", "-keyout", folder.path("key.pem"), "-out", folder.path("cert.pem"), "-addext",
                "subjectAltName=DNS:A.example,IP:2001:db8::1,email:x@y.example,IP:192.0.2.9",
            ])
        try #require(made.status == 0, "\(made.errors)")
        let text = try String(contentsOfFile: folder.path("cert.pem"), encoding: .utf8)
        let certificate = try #require(Certificate(pem: text))
        #expect(certificate.pem == text)
        #expect(certificate.subject == #"CN=a\+b, O=Käse & Söhne\, Ltd, C=DE"#)
        #expect(certificate.subjectAlternativeNames.map(\.description) == ["A.example", "2001:db8::1", "192.0.2.9"])
        let fingerprint = try PeerRun(
            "openssl", ["x509", "-in", folder.path("cert.pem"), "-noout", "-fingerprint", "-sha256"]
        ).output
        #expect(fingerprint.contains(certificate.fingerprint))
        #expect(certificate.notAfter.nanoseconds(since: certificate.notBefore) == 20_000 * 86_400_000_000_000)
    }

    @Test func whatIsNoCertificate() throws {
        let der = try EnginePair.authority.get().certificate.der
        #expect(Certificate(der: der) != nil)
        for cut in [0, 1, 40, der.count - 1] { #expect(Certificate(der: Array(der[..<cut])) == nil) }
        #expect(Certificate(der: der + [0]) == nil)
        #expect(Certificate(pem: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n") == nil)
    }
}
