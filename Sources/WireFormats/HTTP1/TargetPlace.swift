/// Scheme and authority of a request, from its target, its Host field, or the connection (RFC 9112 §3.2, §3.3).
struct TargetPlace {
    /// `http` or `https`, or what an absolute-form target says.
    var scheme: String
    /// As sent; nil when none was.
    var authority: String?

    init(method: String, target: String, host: String?, isSecure: Bool) {
        scheme = isSecure ? "https" : "http"
        authority = host
        if method == "CONNECT" {
            authority = target
            return
        }
        guard target.utf8.first != 0x2F, target != "*" else { return }
        guard let colon = target.firstIndex(of: ":"), target[colon...].hasPrefix("://") else { return }
        scheme = target[..<colon].lowercased()
        let rest = target[colon...].dropFirst(3)
        authority = String(rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" })
    }
}
