/// Random bytes from libcrypto's generator.
internal import COpenSSL

/// `count` unpredictable bytes.
public func randomBytes(_ count: Int) throws(CryptoError) -> [UInt8] {
    guard count > 0, let length = Int32(exactly: count) else { return [] }
    var bytes = [UInt8](repeating: 0, count: count)
    let done = withCleanErrorQueue { RAND_bytes(&bytes, length) }
    guard done == 1 else { throw .refused(call: "RAND_bytes") }
    return bytes
}
