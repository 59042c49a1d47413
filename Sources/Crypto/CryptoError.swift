/// Why a cryptographic operation could not be set up. What the peer sent never causes one of these: a record that does
/// not verify is a nil result, not an error.
public enum CryptoError: Error, Hashable, Sendable {
    /// The installed libcrypto does not offer the algorithm (named as libcrypto names it).
    case unavailable(algorithm: String)
    /// A key or nonce has another length than the algorithm wants (bytes).
    case wrongLength(of: String, expected: Int, actual: Int)
    /// libcrypto refused the call (named); its own words are not kept, since they can hold addresses.
    case refused(call: String)
}
