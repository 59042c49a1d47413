internal import SessionTrace

/// The phone's own services (RULES 0.5): connectivity checks, resolvers, push, updates, time, certificates.
enum SystemHosts {
    /// Domains that the operating systems contact by themselves.
    static let domains: [HostName] = [
        "captive.apple.com", "connectivitycheck.gstatic.com", "connectivitycheck.android.com", "clients3.google.com",
        "dns.google", "cloudflare-dns.com", "one.one.one.one", "dns.quad9.net", "doh.opendns.com", "dns.nextdns.io",
        "mask.icloud.com", "mask-h2.icloud.com", "mask-api.icloud.com", "mask-api.fe.apple-dns.net",
        "app-site-association.cdn-apple.com", "digitalassetlinks.googleapis.com", "safebrowsing.googleapis.com",
        "safebrowsing.apple", "ocsp.apple.com", "ocsp2.apple.com", "crl.apple.com", "valid.apple.com", "ocsp.pki.goog",
        "push.apple.com", "mtalk.google.com", "time.apple.com", "time.android.com", "time.google.com",
        "play.googleapis.com", "android.clients.google.com", "itunes.apple.com", "xp.apple.com", "gs-loc.apple.com",
        "gsp-ssl.ls.apple.com", "configuration.apple.com", "gateway.icloud.com", "update.googleapis.com",
        "clientservices.googleapis.com", "optimizationguide-pa.googleapis.com", "accounts.google.com",
        "content-autofill.googleapis.com", "edgedl.me.gvt1.com", "redirector.gvt1.com", "mesu.apple.com",
        "swdist.apple.com", "gdmf.apple.com",
    ].compactMap { HostName($0) }

    /// Names that carry other names inside an encrypted tunnel, so that lookups can't be seen.
    static let relays: [HostName] = ["mask.icloud.com", "mask-h2.icloud.com", "mask-api.icloud.com"]
        .compactMap { HostName($0) }
    /// Resolvers that answer over TLS or HTTPS.
    static let encryptedResolvers: [HostName] = [
        "dns.google", "cloudflare-dns.com", "one.one.one.one", "dns.quad9.net", "doh.opendns.com", "dns.nextdns.io",
    ].compactMap { HostName($0) }

    /// TCP and UDP ports of system services: NTP, DNS over TLS, push of both vendors.
    static let ports: Set<UInt16> = [123, 853, 5223, 5228, 5353]

    /// Whether the name belongs to a system service.
    static func isSystem(_ host: HostName) -> Bool { domains.contains { host.isWithin($0) } }
    /// Whether the name is Private Relay's.
    static func isRelay(_ host: HostName) -> Bool { relays.contains { host.isWithin($0) } }
    /// Whether the name is an encrypted resolver's.
    static func isEncryptedResolver(_ host: HostName) -> Bool { encryptedResolvers.contains { host.isWithin($0) } }
}
