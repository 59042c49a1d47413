internal import SessionTrace

/// Services of the phone's own system that pin their certificates, or by which it judges the network: intercepting them
/// makes a phone call the Wi-Fi broken, lose its push or refuse to update. They are let through by default and stay
/// visible as what they are.
///
/// From public knowledge: what vendors publish for administrators of networks that inspect TLS. A domain covers what is
/// below it.
struct DefaultPassthroughHosts: Sendable {
    private var domains: Set<String> = []

    /// The list that the product ships.
    static let builtin: DefaultPassthroughHosts = {
        var hosts = DefaultPassthroughHosts()
        for line in defaultPassthroughListText.split(separator: "\n") where !line.hasPrefix("#") {
            if let domain = HostName(line) { hosts.domains.insert(domain.text) }
        }
        return hosts
    }()

    /// Listed domains.
    var count: Int { domains.count }

    /// The listed domains in alphabetical order.
    var sorted: [String] { domains.sorted() }

    /// Whether `host` or a domain above it is listed.
    func contains(_ host: HostName) -> Bool {
        var rest = Substring(host.text)
        while true {
            if domains.contains(String(rest)) { return true }
            guard let dot = rest.firstIndex(of: ".") else { return false }
            rest = rest[rest.index(after: dot)...]
        }
    }
}

/// One domain a line.
private let defaultPassthroughListText = """
    # Connectivity probes: does this network reach the internet, is there a captive portal?
    captive.apple.com
    www.appleiphonecell.com
    connectivitycheck.gstatic.com
    connectivitycheck.android.com
    connectivitycheck.platform.hicloud.com
    connect.rom.miui.com
    clients3.google.com
    detectportal.firefox.com
    www.msftconnecttest.com
    # Push
    push.apple.com
    push-apple.com.akadns.net
    mtalk.google.com
    alt1-mtalk.google.com
    alt2-mtalk.google.com
    alt3-mtalk.google.com
    alt4-mtalk.google.com
    alt5-mtalk.google.com
    alt6-mtalk.google.com
    alt7-mtalk.google.com
    alt8-mtalk.google.com
    # Time
    time.apple.com
    time-ios.apple.com
    time-ios.g.aaplimg.com
    time.android.com
    time.google.com
    pool.ntp.org
    # Certificate status
    ocsp.apple.com
    ocsp2.apple.com
    crl.apple.com
    valid.apple.com
    certs.apple.com
    ocsp.pki.goog
    o.pki.goog
    c.pki.goog
    crl.pki.goog
    crls.pki.goog
    ocsp.digicert.com
    crl3.digicert.com
    crl4.digicert.com
    lencr.org
    # Private Relay
    mask.icloud.com
    mask-h2.icloud.com
    mask-api.icloud.com
    mask-canary.icloud.com
    mask.apple-dns.net
    # Activation, configuration, store and updates
    albert.apple.com
    gs.apple.com
    gsa.apple.com
    gdmf.apple.com
    mesu.apple.com
    xp.apple.com
    identity.apple.com
    deviceenrollment.apple.com
    iprofiles.apple.com
    humb.apple.com
    tbsc.apple.com
    skl.apple.com
    appldnld.apple.com
    updates.cdn-apple.com
    updates-http.cdn-apple.com
    swcdn.apple.com
    swdist.apple.com
    swscan.apple.com
    configuration.apple.com
    configuration.ls.apple.com
    gsp-ssl.ls.apple.com
    gateway.icloud.com
    setup.icloud.com
    init.itunes.apple.com
    bag.itunes.apple.com
    buy.itunes.apple.com
    ppq.apple.com
    android.clients.google.com
    androidprovisioning.googleapis.com
    play.googleapis.com
    play-fe.googleapis.com
    update.googleapis.com
    ota.googlezip.net
    edgedl.me.gvt1.com
    """
