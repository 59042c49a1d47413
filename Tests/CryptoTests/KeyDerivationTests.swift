import Crypto
import Testing

@Suite struct KeyDerivationTests {
    /// RFC 5869 appendix A.1 (basic), A.2 (longer), A.3 (no salt, no info).
    @Test func hkdf() throws {
        let basic = try HashFunction.sha256.hkdfExtract(
            salt: unhex("000102030405060708090a0b0c"), secret: [UInt8](repeating: 0x0B, count: 22))
        #expect(hex(basic) == "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5")
        #expect(
            hex(try HashFunction.sha256.hkdfExpand(secret: basic, info: unhex("f0f1f2f3f4f5f6f7f8f9"), count: 42))
                == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865")
        let longer = try HashFunction.sha256.hkdfExtract(salt: Array(0x60...0xAF), secret: Array(0x00...0x4F))
        #expect(hex(longer) == "06a6b88c5853361a06104c9ceb35b45cef760014904671014a193f40c15fc244")
        #expect(
            hex(try HashFunction.sha256.hkdfExpand(secret: longer, info: Array(0xB0...0xFF), count: 82))
                == "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09"
                + "da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87")
        let bare = try HashFunction.sha256.hkdfExtract(salt: [], secret: [UInt8](repeating: 0x0B, count: 22))
        #expect(hex(bare) == "19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04")
        #expect(
            hex(try HashFunction.sha256.hkdfExpand(secret: bare, info: [], count: 42))
                == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8")
    }

    @Test func hkdfLimits() throws {
        let secret = [UInt8](repeating: 1, count: 32)
        #expect(try HashFunction.sha256.hkdfExpand(secret: secret, info: [], count: 0).isEmpty)
        #expect(try HashFunction.sha256.hkdfExpand(secret: secret, info: [], count: 255 * 32).count == 255 * 32)
        #expect(throws: CryptoError.self) {
            try HashFunction.sha256.hkdfExpand(secret: secret, info: [], count: 255 * 32 + 1)
        }
    }

    /// RFC 8448 §3: server handshake traffic secret to key and IV; RFC 9001 appendix A.1: the same for QUIC.
    @Test func expandLabel() throws {
        let secret = unhex("b67b7d690cc16c4e75e54213cb2d37b4e9c912bcded9105d42befd59d391ad38")
        #expect(
            hex(try HashFunction.sha256.hkdfExpandLabel(secret: secret, label: "key", count: 16))
                == "3fce516009c21727d0f2e4e86ee403bc")
        #expect(
            hex(try HashFunction.sha256.hkdfExpandLabel(secret: secret, label: "iv", count: 12))
                == "5d313eb2671276ee13000b30")
        let client = unhex("c00cf151ca5be075ed0ebfb5c80323c42d6b7db67881289af4008f1f6c357aea")
        #expect(
            hex(try HashFunction.sha256.hkdfExpandLabel(secret: client, label: "quic hp", count: 16))
                == "9f50449e04a0e810283a1e9933adedd2")
    }

    /// The P_SHA256 and P_SHA384 vectors that the IETF TLS list keeps (2009-09, "TLS 1.2 PRF test vectors").
    @Test func pseudorandomFunctionOfTLS12() throws {
        #expect(
            hex(
                try TLSPseudorandomFunction.sha256.derive(
                    secret: unhex("9bbe436ba940f017b17652849a71db35"), label: "test label",
                    seed: unhex("a0ba9f936cda311827a6f796ffd5198c"), count: 100))
                == "e3f229ba727be17b8d122620557cd453c2aab21d07c3d495329b52d4e61edb5a6b301791e90d35c9c9a46b4e14baf9af"
                + "0fa022f7077def17abfd3797c0564bab4fbc91666e9def9b97fce34f796789baa48082d122ee42c5a72e5a5110fff701"
                + "87347b66")
        #expect(
            hex(
                try TLSPseudorandomFunction.sha384.derive(
                    secret: unhex("b80b733d6ceefcdc71566ea48e5567df"), label: "test label",
                    seed: unhex("cd665cf6a8447dd6ff8b27555edb7465"), count: 32))
                == "7b0c18e9ced410ed1804f2cfa34a336a1c14dffb4900bb5fd7942107e81c83cd")
    }
}
