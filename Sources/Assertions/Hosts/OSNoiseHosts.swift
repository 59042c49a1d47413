public import SessionTrace

/// Services of the phone's own system, which no app asks for: connectivity probes, push, time, updates, certificate
/// status, associated domains, Safe Browsing, Private Relay (RULES 0.5).
///
/// They are exempt from the rules about contact with Chia; where they can be read, not from those about leaks.
public struct OSNoiseHosts: Sendable {
    /// What a system host is for.
    public enum Service: String, Hashable, Sendable, CaseIterable {
        case connectivity, encryptedDNS = "encrypted-dns", privateRelay = "private-relay"
        case associatedDomains = "associated-domains", safeBrowsing = "safe-browsing"
        case certificateStatus = "certificate-status", push, time, storeAndUpdates = "store-and-updates"
        case systemTelemetry = "system-telemetry"
    }

    private var table = HostTable<Service>()

    /// No hosts.
    public init() {}

    /// The list that the product ships.
    public static let builtin: OSNoiseHosts = {
        var hosts = OSNoiseHosts()
        for line in osNoiseHostListText.split(separator: "\n") {
            let columns = line.split(separator: " ")
            guard columns.count == 2, let domain = HostName(columns[0]),
                let service = Service(rawValue: String(columns[1]))
            else { continue }
            hosts.add(domain, service: service)
        }
        return hosts
    }()

    /// Listed domains.
    public var count: Int { table.count }

    /// Lists a domain with its subdomains; an earlier entry stays.
    public mutating func add(_ domain: HostName, service: Service) {
        table.insert(service, for: domain)
    }

    /// The service that a host belongs to; nil when it is none of the system's. The courier hosts of Apple's push are
    /// numbered (`12-courier.push.apple.com`) and lie below a listed domain.
    public func service(of host: HostName) -> Service? { table.lookup(host)?.value }

    /// Whether a host belongs to the system.
    public func contains(_ host: HostName) -> Bool { service(of: host) != nil }

    /// Ports that only system services use: DNS over TLS (853), Apple's push (5223), Google's push (5228 to 5230),
    /// NTP (123).
    public static func service(ofPort port: UInt16) -> Service? {
        switch port {
        case 853: .encryptedDNS
        case 5223, 5228...5230: .push
        case 123: .time
        default: nil
        }
    }

    /// Paths by which a system or browser asks a domain for its app associations itself (developer mode on iOS,
    /// Android's verifier): exact paths, without query.
    public static func isAssociationPath(_ path: some StringProtocol) -> Bool {
        path == "/.well-known/apple-app-site-association" || path == "/apple-app-site-association"
            || path == "/.well-known/assetlinks.json"
    }
}

/// Name and service: the hosts of RULES 0.5 and others of the same services that are commonly known. Not resolved or
/// checked live, and not exhaustive: a policy adds its own.
private let osNoiseHostListText = """
    captive.apple.com connectivity
    www.appleiphonecell.com connectivity
    connectivitycheck.gstatic.com connectivity
    connectivitycheck.android.com connectivity
    connectivitycheck.platform.hicloud.com connectivity
    connect.rom.miui.com connectivity
    clients3.google.com connectivity
    detectportal.firefox.com connectivity
    www.msftconnecttest.com connectivity
    dns.google encrypted-dns
    dns.google.com encrypted-dns
    dns64.dns.google encrypted-dns
    cloudflare-dns.com encrypted-dns
    one.one.one.one encrypted-dns
    dns.quad9.net encrypted-dns
    doh.dns.apple.com encrypted-dns
    mozilla.cloudflare-dns.com encrypted-dns
    dns.adguard-dns.com encrypted-dns
    dns.nextdns.io encrypted-dns
    doh.opendns.com encrypted-dns
    mask.icloud.com private-relay
    mask-h2.icloud.com private-relay
    mask-api.icloud.com private-relay
    mask.apple-dns.net private-relay
    mask-canary.icloud.com private-relay
    app-site-association.cdn-apple.com associated-domains
    app-site-association.networking.apple associated-domains
    digitalassetlinks.googleapis.com associated-domains
    safebrowsing.googleapis.com safe-browsing
    safebrowsing.google.com safe-browsing
    sb-ssl.google.com safe-browsing
    safebrowsing.apple safe-browsing
    ocsp.apple.com certificate-status
    ocsp2.apple.com certificate-status
    crl.apple.com certificate-status
    valid.apple.com certificate-status
    certs.apple.com certificate-status
    ocsp.pki.goog certificate-status
    o.pki.goog certificate-status
    c.pki.goog certificate-status
    crl.pki.goog certificate-status
    crls.pki.goog certificate-status
    pki.goog certificate-status
    ocsp.digicert.com certificate-status
    crl3.digicert.com certificate-status
    crl4.digicert.com certificate-status
    lencr.org certificate-status
    push.apple.com push
    push-apple.com.akadns.net push
    mtalk.google.com push
    alt1-mtalk.google.com push
    alt2-mtalk.google.com push
    alt3-mtalk.google.com push
    alt4-mtalk.google.com push
    alt5-mtalk.google.com push
    alt6-mtalk.google.com push
    alt7-mtalk.google.com push
    alt8-mtalk.google.com push
    time.apple.com time
    time-ios.apple.com time
    time-ios.g.aaplimg.com time
    time.android.com time
    time.google.com time
    pool.ntp.org time
    play.googleapis.com store-and-updates
    android.clients.google.com store-and-updates
    android.googleapis.com store-and-updates
    androidprovisioning.googleapis.com store-and-updates
    itunes.apple.com store-and-updates
    apps.apple.com store-and-updates
    mesu.apple.com store-and-updates
    gdmf.apple.com store-and-updates
    gs.apple.com store-and-updates
    gsa.apple.com store-and-updates
    updates.cdn-apple.com store-and-updates
    swcdn.apple.com store-and-updates
    configuration.apple.com store-and-updates
    configuration.ls.apple.com store-and-updates
    gsp-ssl.ls.apple.com store-and-updates
    gateway.icloud.com store-and-updates
    setup.icloud.com store-and-updates
    init.itunes.apple.com store-and-updates
    bag.itunes.apple.com store-and-updates
    update.googleapis.com store-and-updates
    dl.google.com store-and-updates
    clientservices.googleapis.com store-and-updates
    optimizationguide-pa.googleapis.com store-and-updates
    content-autofill.googleapis.com store-and-updates
    edgedl.me.gvt1.com store-and-updates
    albert.apple.com store-and-updates
    identity.apple.com store-and-updates
    deviceenrollment.apple.com store-and-updates
    iprofiles.apple.com store-and-updates
    humb.apple.com store-and-updates
    tbsc.apple.com store-and-updates
    skl.apple.com store-and-updates
    appldnld.apple.com store-and-updates
    updates-http.cdn-apple.com store-and-updates
    swdist.apple.com store-and-updates
    swscan.apple.com store-and-updates
    ppq.apple.com store-and-updates
    play-fe.googleapis.com store-and-updates
    ota.googlezip.net store-and-updates
    xp.apple.com system-telemetry
    metrics.apple.com system-telemetry
    metrics.icloud.com system-telemetry
    iphone-ld.apple.com system-telemetry
    """
