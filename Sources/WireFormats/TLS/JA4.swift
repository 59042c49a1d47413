/// JA4, the fingerprint of a TLS client (FoxIO's public specification; the client form alone, which is free to use).
internal import Crypto

/// Computes JA4: `t13d1516h2_8daaf6152771_02713d6af862`.
public enum JA4 {
    /// What carries the hello: the fingerprint's first letter.
    public enum Transport: String, Hashable, Sendable {
        case tcp = "t"
        case quic = "q"
    }

    /// The fingerprint of `hello`.
    public static func fingerprint(of hello: ClientHelloMessage, over transport: Transport) -> String {
        let suites = hello.cipherSuites.filter { !ClientHelloMessage.isGrease($0) }
        let extensions = hello.extensions.filter { !ClientHelloMessage.isGrease($0) }
        let algorithms = hello.signatureAlgorithms.filter { !ClientHelloMessage.isGrease($0) }
        let target = extensions.contains(TLSExtensionType.serverName) ? "d" : "i"
        let first =
            transport.rawValue + versionCode(hello.highestVersion) + target + twoDigits(suites.count)
            + twoDigits(extensions.count) + protocolCode(hello.firstApplicationProtocol)

        let hashed = extensions.filter {
            $0 != TLSExtensionType.serverName && $0 != TLSExtensionType.applicationProtocols
        }
        var extensionText = hexList(hashed.sorted())
        if !extensionText.isEmpty, !algorithms.isEmpty { extensionText += "_" + hexList(algorithms) }
        return first + "_" + truncatedHash(hexList(suites.sorted())) + "_" + truncatedHash(extensionText)
    }

    private static func versionCode(_ version: UInt16) -> String {
        switch version {
        case 0x0304: "13"
        case 0x0303: "12"
        case 0x0302: "11"
        case 0x0301: "10"
        case 0x0300: "s3"
        case 0x0002: "s2"
        default: "00"
        }
    }

    /// First and last character of the first ALPN name; of its hexadecimal form when one of them is not a letter or digit.
    private static func protocolCode(_ name: [UInt8]) -> String {
        guard let first = name.first, let last = name.last else { return "00" }
        if isAlphanumeric(first), isAlphanumeric(last) {
            return String(decoding: [first, last], as: UTF8.self)
        }
        return String(decoding: [hexDigit(first >> 4), hexDigit(last & 0x0F)], as: UTF8.self)
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }

    private static func twoDigits(_ count: Int) -> String {
        let capped = min(count, 99)
        return capped < 10 ? "0\(capped)" : "\(capped)"
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? 0x30 + value : 0x57 + value
    }

    /// `002f,0035,…`.
    private static func hexList(_ values: [UInt16]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(values.count * 5)
        for value in values {
            if !text.isEmpty { text.append(0x2C) }
            for shift in [12, 8, 4, 0] { text.append(hexDigit(UInt8(value >> UInt16(shift) & 0x0F))) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The first twelve hexadecimal digits of the SHA-256; zeros for an empty list.
    private static func truncatedHash(_ text: String) -> String {
        guard !text.isEmpty else { return "000000000000" }
        let digest = HashFunction.sha256.digest(of: text.utf8).prefix(6)
        return String(decoding: digest.flatMap { [hexDigit($0 >> 4), hexDigit($0 & 0x0F)] }, as: UTF8.self)
    }
}
