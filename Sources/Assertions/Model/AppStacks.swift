/// Client stacks by their JA4, of which no browser is one: the second and third part of the fingerprint (ciphers;
/// extensions and signature algorithms), since the first part changes with ALPN and the kind of address.
///
/// Only what is listed says anything: Apple's apps share their stack with Safari, and Cronet with Chrome, so a JA4 that is
/// not here speaks neither for a browser nor against one (RULES section 9).
enum AppStacks {
    /// Fingerprint and stack. *Measured* ones come from the recordings in `pcaps/`; *computed* ones from the cipher and
    /// extension lists that the stack is known to send.
    static let rows: [(fingerprint: String, stack: String)] = [
        // Measured: Python 3.11 http.client on OpenSSL 3.0; published by FoxIO as Python too.
        ("85036bcba153_d41ae481755e", "Python on OpenSSL"),
        // Measured: Node 20 http2.
        ("a33745022dd6_1f22a2ca17c4", "Node"),
        // Measured: OkHttp 3.13 on OpenJDK 17.
        ("8daaf6152771_a5b99884f7f5", "OkHttp on OpenJDK"),
        // Measured: curl 7.88 on OpenSSL 3.0.
        ("e8f1e7e78f70_b26ce05bbdd6", "curl on OpenSSL"),
        // Published by FoxIO: Go's crypto/tls.
        ("9dc949149365_97f8aa674fd9", "Go"),
        // Computed: OkHttp 4 on Android 10 and later (Conscrypt), without and with padding and resumption.
        ("8daaf6152771_40271e0a5736", "OkHttp on Android"),
        ("8daaf6152771_eca864cca44a", "OkHttp on Android"),
        ("8daaf6152771_352634941f3a", "OkHttp on Android"),
        ("8daaf6152771_fadfdae04b4e", "OkHttp on Android"),
        // Computed: Android's HttpsURLConnection (Conscrypt), the same three ways.
        ("5b57614c22b0_40271e0a5736", "HttpsURLConnection on Android"),
        ("5b57614c22b0_eca864cca44a", "HttpsURLConnection on Android"),
        ("5b57614c22b0_352634941f3a", "HttpsURLConnection on Android"),
    ]

    private static let byFingerprint = Dictionary(rows.map { ($0.fingerprint, $0.stack) }) { first, _ in first }

    /// The stack that a JA4 belongs to; nil when none is known.
    static func name(ofJA4 ja4: String?) -> String? {
        guard let ja4, let underscore = ja4.firstIndex(of: "_") else { return nil }
        return byFingerprint[String(ja4[ja4.index(after: underscore)...])]
    }
}
