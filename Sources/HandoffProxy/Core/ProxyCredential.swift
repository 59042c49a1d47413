/// Name and password that clients of the proxy give: Basic (RFC 7617) or SOCKS5 (RFC 1929).
public struct ProxyCredential: Hashable, Sendable {
    /// The name; may not hold a colon. It also names the device.
    public let user: String
    /// The password.
    public let password: String

    /// Makes a credential.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// Reads `user:password`; nil without a colon or with an empty name.
    public init?(_ text: some StringProtocol) {
        guard let colon = text.firstIndex(of: ":"), colon > text.startIndex else { return nil }
        user = String(text[..<colon])
        password = String(text[text.index(after: colon)...])
    }

    /// Whether `user` and `password` are these, in time that does not depend on where they differ.
    func matches(user: [UInt8], password: [UInt8]) -> Bool {
        let isUser = Self.isEqual(Array(self.user.utf8), user)
        let isPassword = Self.isEqual(Array(self.password.utf8), password)
        return isUser && isPassword
    }

    /// Compares all bytes of `given` whatever the result.
    private static func isEqual(_ own: [UInt8], _ given: [UInt8]) -> Bool {
        var difference: UInt8 = own.count == given.count ? 0 : 1
        for (index, byte) in given.enumerated() {
            difference |= byte ^ (own.isEmpty ? 0 : own[index % own.count])
        }
        return difference == 0
    }
}
