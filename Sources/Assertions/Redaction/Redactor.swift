internal import Crypto

/// Makes text that may be printed out of text that may not: secrets become a label, a keyed digest and a length;
/// paths, header values and free text lose what could name a person or carry a secret.
///
/// The digest is keyed per installation, since a plain one of an id or a time could be guessed (RULES 5.1). Equal
/// secrets give equal digests under one key, so baselines can be compared.
public struct Redactor: Sendable {
    private let key: [UInt8]

    /// Makes a redactor.
    ///
    /// - Parameter installationKey: secret bytes of this installation, 32 of them or more.
    public init(installationKey: [UInt8]) {
        key = installationKey
    }

    /// The keyed digest (HMAC-SHA256, first 16 bytes) as 32 lower-case hex digits.
    public func digest(_ bytes: some Sequence<UInt8>) -> String {
        var text = ""
        text.reserveCapacity(32)
        for byte in HashFunction.sha256.hmac(bytes, key: key).prefix(16) {
            text.append(Self.hexDigit(byte >> 4))
            text.append(Self.hexDigit(byte & 15))
        }
        return text
    }

    /// The keyed digest of text; see `digest(_:)`.
    public func digest(_ text: String) -> String { digest(text.utf8) }

    /// The keyed digest of a secret; see `digest(_:)`.
    public func digest(_ secret: Secret) -> String { digest(secret.bytes) }

    /// `‹U#1 ab12cd34, 143 B›`: the label, the digest's first eight digits, the length in bytes.
    public func redact(_ secret: some StringProtocol, label: String) -> String {
        redact(Secret(String(secret)), label: label)
    }

    /// `‹U#1 ab12cd34, 143 B›` for a wrapped secret.
    public func redact(_ secret: Secret, label: String) -> String {
        "‹\(label) \(digest(secret).prefix(8)), \(secret.count) B›"
    }

    private static func hexDigit(_ value: UInt8) -> Character {
        Character(Unicode.Scalar(value < 10 ? 0x30 + value : 0x57 + value))
    }
}
