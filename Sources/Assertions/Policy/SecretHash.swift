internal import Crypto

/// A secret that the policy knows without holding it: `sha256:SALT:LENGTH:DIGEST`, where DIGEST is the SHA-256 of the
/// salt's text and the secret, one after the other, in 64 hex digits, and LENGTH is the secret's in bytes.
public struct SecretHash: Hashable, Sendable {
    /// The salt as written; its text is what is hashed.
    public let salt: String
    /// The secret's length in bytes.
    public let length: Int
    private let digest: [UInt8]

    /// Lengths that can be looked for: what is shorter is found by chance, or guessed from its hash.
    public static let lengths = 8...512
    /// How the form is explained where one is wrong.
    public static let form = "sha256:SALT:LENGTH:DIGEST (8 or more letters or digits, 8 to 512 bytes, 64 hex digits)"

    /// Reads the form; nil for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "sha256", (8...64).contains(parts[1].utf8.count),
            parts[1].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }), let length = Int(parts[2]),
            Self.lengths.contains(length), parts[3].utf8.count == 64
        else { return nil }
        var digest: [UInt8] = []
        var high: UInt8?
        for byte in parts[3].utf8 {
            guard let value = Hex.value(byte) else { return nil }
            if let first = high {
                digest.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        salt = String(parts[1])
        self.length = length
        self.digest = digest
    }

    /// Makes the form for a secret, for tests and tools.
    public init(of secret: [UInt8], salt: String) {
        self.salt = salt
        length = secret.count
        digest = HashFunction.sha256.digest(of: Array(salt.utf8) + secret)
    }

    /// How reports call it: the first digits of its digest, which the policy shows anyway.
    public var label: String { String(text.suffix(64).prefix(8)) }

    /// The form.
    public var text: String {
        let hex = digest.map { byte in
            let digits = String(byte, radix: 16)
            return digits.utf8.count == 1 ? "0" + digits : digits
        }.joined()
        return "sha256:\(salt):\(length):\(hex)"
    }

    /// Whether these are the secret's bytes.
    func matches(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.count == length && HashFunction.sha256.digest(of: Array(salt.utf8) + bytes) == digest
    }
}
