internal import SessionTrace

/// The PAC file: everything through the proxy, and nothing around it, so that a proxy that is down is noticed instead of
/// a device that silently goes direct.
enum ProxyAutoConfiguration {
    /// The media type that systems ask for.
    static let mediaType = "application/x-ns-proxy-autoconfig"

    /// The script for a proxy at `proxy`.
    static func script(proxy: Endpoint) -> String {
        """
        function FindProxyForURL(url, host) {
          return "PROXY \(proxy)";
        }

        """
    }
}
