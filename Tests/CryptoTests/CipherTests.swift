import Crypto
import Testing

@Suite struct AEADOpenerTests {
    /// RFC 8439 §2.8.2.
    @Test func chaCha20Poly1305() throws {
        let key = Array(0x80...0x9F) as [UInt8]
        let nonce = unhex("070000004041424344454647")
        let additional = unhex("50515253c0c1c2c3c4c5c6c7")
        let sealed = unhex(
            "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92728b"
                + "1a71de0a9e060b2905d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc"
                + "3ff4def08e4b7a9de576d26586cec64b61161ae10b594f09e26a7e902ecbd0600691")
        let text =
            "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it."
        var opener = try AEADOpener(.chaCha20Poly1305, key: key)
        #expect(open(&opener, sealed, nonce, additional) == Array(text.utf8))
        // One context opens many messages, also after one that did not verify.
        #expect(open(&opener, sealed.dropLast() + [0], nonce, additional) == nil)
        #expect(open(&opener, sealed, nonce, additional) == Array(text.utf8))
        #expect(open(&opener, sealed, nonce, additional + [0]) == nil)
    }

    /// The GCM specification's test cases 4 (AES-128) and 16 (AES-256), and 1: no plaintext at all.
    @Test func gcm() throws {
        let plaintext = unhex(
            "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5"
                + "aa0de657ba637b39")
        let nonce = unhex("cafebabefacedbaddecaf888")
        let additional = unhex("feedfacedeadbeeffeedfacedeadbeefabaddad2")
        var short = try AEADOpener(.aes128GCM, key: unhex("feffe9928665731c6d6a8f9467308308"))
        let sealedShort = unhex(
            "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b39"
                + "6a0aac973d58e091" + "5bc94fbc3221a5db94fae95ae7121a47")
        #expect(open(&short, sealedShort, nonce, additional) == plaintext)
        var long = try AEADOpener(
            .aes256GCM, key: unhex("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"))
        let sealedLong = unhex(
            "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e63"
                + "93ba7a0abcc9f662" + "76fc6ece0f4e1768cddf8853bb2d551b")
        #expect(open(&long, sealedLong, nonce, additional) == plaintext)
        var empty = try AEADOpener(.aes128GCM, key: [UInt8](repeating: 0, count: 16))
        let zeroNonce = [UInt8](repeating: 0, count: 12)
        #expect(open(&empty, unhex("58e2fccefa7e3061367f1d57a4e7455a"), zeroNonce, []) == [])
        #expect(open(&empty, unhex("58e2fccefa7e3061367f1d57a4e7455b"), zeroNonce, []) == nil)
    }

    @Test(arguments: AEADAlgorithm.allCases) func lengths(algorithm: AEADAlgorithm) throws {
        #expect(throws: CryptoError.self) {
            _ = try AEADOpener(algorithm, key: [UInt8](repeating: 0, count: algorithm.keyLength - 1))
        }
        var opener = try AEADOpener(algorithm, key: [UInt8](repeating: 1, count: algorithm.keyLength))
        let nonce = [UInt8](repeating: 2, count: 12)
        for count in [0, 1, 7, 8, 15, 16, 17, 64, 16_640] {
            #expect(open(&opener, [UInt8](repeating: 3, count: count), nonce, [1, 2, 3]) == nil)
        }
        #expect(open(&opener, [UInt8](repeating: 3, count: 64), [], []) == nil)
    }

    private func open(
        _ opener: inout AEADOpener, _ sealed: [UInt8], _ nonce: [UInt8], _ additional: [UInt8]
    ) -> [UInt8]? {
        var output = [UInt8](repeating: 0, count: sealed.count)
        let length = output.withUnsafeMutableBytes { output in
            sealed.withUnsafeBytes { sealed in
                nonce.withUnsafeBytes { nonce in
                    additional.withUnsafeBytes {
                        opener.open(sealed, nonce: nonce, additionalData: $0, into: output)
                    }
                }
            }
        }
        return length.map { Array(output.prefix($0)) }
    }
}

@Suite struct CBCDecryptorTests {
    /// NIST SP 800-38A F.2.2 and F.2.6 (AES); RFC 3713's cipher and RFC 4269's are covered by live handshakes.
    @Test func aes() throws {
        let vector = unhex("000102030405060708090a0b0c0d0e0f")
        var short = try CBCDecryptor(.aes128, key: unhex("2b7e151628aed2a6abf7158809cf4f3c"))
        #expect(
            decrypt(&short, unhex("7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"), vector)
                == unhex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"))
        var long = try CBCDecryptor(
            .aes256, key: unhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"))
        #expect(
            decrypt(&long, unhex("f58c4c04d6e5f1ba779eabfb5f7bfbd6"), vector)
                == unhex("6bc1bee22e409f96e93d7e117393172a"))
        // The context starts anew with each vector.
        #expect(
            decrypt(&long, unhex("f58c4c04d6e5f1ba779eabfb5f7bfbd6"), vector)
                == unhex("6bc1bee22e409f96e93d7e117393172a"))
    }

    @Test func tripleDES() throws {
        // Three equal keys make single DES: FIPS 81's "Now is t" under 0123456789abcdef.
        var cipher = try CBCDecryptor(.tripleDES, key: unhex("0123456789abcdef0123456789abcdef0123456789abcdef"))
        #expect(
            decrypt(&cipher, unhex("e5c7cdde872bf27c"), unhex("1234567890abcdef")) == Array("Now is t".utf8))
    }

    @Test(arguments: CBCAlgorithm.allCases) func lengths(algorithm: CBCAlgorithm) throws {
        #expect(throws: CryptoError.self) { _ = try CBCDecryptor(algorithm, key: [1]) }
        guard algorithm != .seed, algorithm != .idea, algorithm != .des else { return }
        var cipher = try CBCDecryptor(algorithm, key: [UInt8](repeating: 1, count: algorithm.keyLength))
        let block = algorithm.blockLength
        let vector = [UInt8](repeating: 0, count: block)
        #expect(decrypt(&cipher, [UInt8](repeating: 0, count: block * 3), vector)?.count == block * 3)
        #expect(decrypt(&cipher, [UInt8](repeating: 0, count: block + 1), vector) == nil)
        #expect(decrypt(&cipher, [UInt8](repeating: 0, count: block), [1]) == nil)
        #expect(decrypt(&cipher, [], vector) == [])
    }

    private func decrypt(_ cipher: inout CBCDecryptor, _ text: [UInt8], _ vector: [UInt8]) -> [UInt8]? {
        var output = [UInt8](repeating: 0, count: text.count)
        let length = output.withUnsafeMutableBytes { output in
            text.withUnsafeBytes { text in
                vector.withUnsafeBytes { cipher.decrypt(text, initialisationVector: $0, into: output) }
            }
        }
        return length.map { Array(output.prefix($0)) }
    }
}

@Suite struct RC4DecryptorTests {
    /// The legacy provider is a file of its own, which need not be there.
    private static var isInstalled: Bool {
        do {
            _ = try RC4Decryptor(key: [1, 2, 3, 4, 5])
            return true
        } catch {
            return false
        }
    }

    /// RFC 6229, 128-bit key, offsets 0 and 16, over two calls.
    @Test(.enabled(if: isInstalled, "OpenSSL's legacy provider is not installed")) func keyStream() throws {
        var cipher = try RC4Decryptor(key: Array(0x01...0x10))
        var stream: [UInt8] = []
        for count in [10, 22] {
            var output = [UInt8](repeating: 0, count: count)
            let done = output.withUnsafeMutableBytes { output in
                [UInt8](repeating: 0, count: count).withUnsafeBytes { cipher.decrypt($0, into: output) }
            }
            #expect(done)
            stream += output
        }
        #expect(hex(stream) == "9ac7cc9a609d1ef7b2932899cde41b975248c4959014126a6e8a84f11d1a9e1c")
    }
}

@Suite struct MessageAuthenticatorTests {
    @Test func manyMessagesUnderOneKey() throws {
        var authenticator = try MessageAuthenticator(.sha256, key: Array("Jefe".utf8))
        let expected = unhex("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        #expect(verifies(&authenticator, expected))
        #expect(!verifies(&authenticator, [0] + expected.dropFirst()))
        #expect(verifies(&authenticator, Array(expected.prefix(10))), "a truncated HMAC (RFC 6066 §7)")
        #expect(!verifies(&authenticator, []))
        #expect(!verifies(&authenticator, expected + [0]))
        #expect(verifies(&authenticator, expected))
        #expect(throws: CryptoError.self) { _ = try MessageAuthenticator(.sha1, key: []) }
    }

    private func verifies(_ authenticator: inout MessageAuthenticator, _ expected: [UInt8]) -> Bool {
        let first = Array("what do ya want ".utf8)
        let second = Array("for nothing?".utf8)
        return first.withUnsafeBytes { first in
            second.withUnsafeBytes { second in
                expected.withUnsafeBytes { authenticator.verifies(first, second, expected: $0) }
            }
        }
    }
}

@Suite struct AESBlockEncryptorTests {
    /// RFC 9001 appendix A.2: the header protection mask of the client's Initial.
    @Test func mask() throws {
        var cipher = try AESBlockEncryptor(key: unhex("9f50449e04a0e810283a1e9933adedd2"))
        let sample = unhex("d1b1c98dd7689fb8ec11d242b123dc9b")
        #expect(hex(sample.withUnsafeBytes { cipher.encrypt($0) }?.prefix(5) ?? []) == "437b9aec36")
        #expect(sample.dropLast().withUnsafeBytes { cipher.encrypt($0) } == nil)
    }
}
