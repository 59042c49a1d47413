internal import SessionTrace

/// The page that a phone opens to be set up: certificate, proxy, trust, marks. One file, no external resource.
struct SetupPage: Sendable {
    /// The phones and computers that the page has words for.
    enum Platform: String, CaseIterable, Sendable {
        case ios, android, firefox, other

        /// What a User-Agent looks like. It decides only which part of the page is open.
        init(userAgent: String) {
            if userAgent.contains("iPhone") || userAgent.contains("iPad") || userAgent.contains("iPod") {
                self = .ios
            } else if userAgent.contains("Firefox/") {
                self = .firefox
            } else if userAgent.contains("Android") {
                self = .android
            } else {
                self = .other
            }
        }
    }

    /// The device's own address, for the person to compare.
    var device: IPAddress
    /// Whether the page came through the proxy (or the gateway's DNS), and not from the listener's own address.
    var isThroughProxy: Bool
    /// Where the proxy is.
    var proxy: Endpoint?
    /// The page's address for a phone that has no proxy set yet.
    var address: String?
    /// The certificate's subject and SHA-256, as the phone shows them.
    var certificateName: String
    var certificateFingerprint: String
    /// The first part of a mark's path: `/m/SECRET/`.
    var markPath: String
    /// The platform whose instructions are open.
    var platform: Platform
    /// What is known about this device's trust.
    var trust: DeviceTrust
    /// A word about the mark that was just made.
    var notice: String?
    /// The number that lets this response's own style and script run (CSP nonce).
    var nonce: String

    /// The whole page.
    var html: HTMLText {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>handoff: set up this device</title>
        <style nonce="\(nonce)">\(HTMLText(trusted: Self.style))</style>
        </head>
        <body>
        <main>
        <h1>Set up this device</h1>
        <p>This device is <b>\(device.description)</b>. Everything that it sends through the proxy is recorded on the lab host, so use a test device and a test account.</p>
        \(noticeHTML)\(proxySection)\(certificateSection)\(trustSection)\(markSection)\(addressSection)</main>
        <script nonce="\(nonce)">\(HTMLText(trusted: Self.script))</script>
        </body>
        </html>

        """
    }

    private var noticeHTML: HTMLText {
        guard let notice else { return "" }
        return "<p class=\"notice\" role=\"status\">\(notice)</p>\n"
    }

    // MARK: - 1 proxy

    private var proxySection: HTMLText {
        var section: HTMLText = "<section>\n<h2>1. Proxy</h2>\n"
        if isThroughProxy {
            section += "<p class=\"good\">This page came through the proxy: the setting works.</p>\n"
        } else {
            section += "<p class=\"missing\">This page did not come through the proxy yet.</p>\n"
        }
        if let proxy {
            section += """
                <p>In the Wi-Fi network's settings choose <i>manual</i> proxy: host <b>\(proxy.address.description)</b>, port <b>\(Int(proxy.port))</b>; or <i>automatic</i> with the address <a href="/proxy.pac">proxy.pac</a>.</p>

                """
        }
        if !isThroughProxy {
            section += "<p>Then open <a href=\"http://mark.handoff.test/\">http://mark.handoff.test/</a>.</p>\n"
        }
        section += """
            <details><summary>Apps that ignore the proxy setting</summary>
            <p>Flutter apps ignore it always, others sometimes. Use the lab host as the phone's Wi-Fi gateway (transparent mode). Turn off mobile data, VPN, iCloud Private Relay and Private DNS.</p>
            </details>
            </section>

            """
        return section
    }

    // MARK: - 2 certificate

    private var certificateSection: HTMLText {
        """
        <section>
        <h2>2. Certificate</h2>
        <p>Without it every app refuses to talk through the proxy. Its name is <b>\(certificateName)</b>, its SHA-256 begins with <code>\(String(certificateFingerprint.prefix(23)))</code>. Remove it when the tests are over.</p>
        <details\(open(.ios))><summary>iPhone, iPad</summary>
        <p><a class="button" href="/ca.mobileconfig">Install the profile</a></p>
        <ol>
        <li>Open this page in <b>Safari</b>, tap the button, then <b>Allow</b>.</li>
        <li><b>Settings</b>, at the top <b>Profile Downloaded</b> (or General, VPN &amp; Device Management): <b>Install</b>, code, <b>Install</b>, <b>Install</b>.</li>
        <li>Do not stop here: <b>Settings, General, About, Certificate Trust Settings</b>: turn on the switch beside the name above.</li>
        </ol>
        </details>
        <details\(open(.android))><summary>Android</summary>
        <p><a class="button" href="/ca.crt">Download the certificate</a></p>
        <ol>
        <li>Android 11 and later install only from Settings: <b>Settings, Security</b> (or Security &amp; privacy, More security settings), <b>Encryption &amp; credentials, Install a certificate, CA certificate, Install anyway</b>, and choose <b>handoff-ca.crt</b> in Downloads. Android 10 and earlier: open the download.</li>
        <li>Chrome trusts it now. An <b>app</b> trusts it only if it says so: a debug build with <code>&lt;debug-overrides&gt;&lt;trust-anchors&gt;&lt;certificates src="user"/&gt;</code> in its <code>network_security_config</code>.</li>
        <li>On a rooted device or emulator it can go to the system store: <a href="/ca.0">the file named by its hash</a>.</li>
        </ol>
        </details>
        <details><summary>Flutter, React Native</summary>
        <p><b>Flutter</b> on Android ignores installed certificates: in a debug build call <code>SecurityContext.defaultContext.setTrustedCertificatesBytes</code> with <a href="/ca.pem">the PEM file</a>. It ignores the proxy setting too, see above.</p>
        <p><b>React Native</b> uses the system's own network stack: do what the platform above asks for.</p>
        </details>
        <details\(open(.firefox))><summary>Firefox</summary>
        <p>Desktop: <b>Settings, Privacy &amp; Security, View Certificates, Authorities, Import</b> <a href="/ca.pem">the PEM file</a>. Android: install it in the system, then <b>Settings, About Firefox</b>, tap the logo five times, back, <b>Secret Settings, Use third party CA certificates</b>.</p>
        </details>
        <details\(open(.other))><summary>Other systems</summary>
        <p><a href="/ca.pem">PEM</a> for command-line tools, Linux, macOS and Java; <a href="/ca.crt">DER</a> for Windows.</p>
        </details>
        <p class="note">A release build that pins its server's certificate, or ignores certificates installed by people, can't be read. Use a build made for tests.</p>
        </section>

        """
    }

    private func open(_ platform: Platform) -> HTMLText { platform == self.platform ? " open" : "" }

    // MARK: - 3 trust

    private var trustSection: HTMLText {
        """
        <section>
        <h2>3. Trust</h2>
        <p>This browser: <b id="browser">\(browserWords)</b>. <noscript><a href="https://trust.handoff.test/">Open this</a>: if there is no warning, the browser trusts the certificate.</noscript></p>
        <p>Apps on this device: <b id="apps">\(appsWords)</b>. A page can't test an app: start the app, and look here again.</p>
        \(refusedHTML)</section>

        """
    }

    private var browserWords: String {
        switch trust.browser {
        case .unknown: "not tried yet"
        case .trusted: "trusts the certificate"
        case .refused: "refused the certificate"
        }
    }

    private var appsWords: String {
        switch trust.apps {
        case .notYet: "not yet"
        case .seen: "seen: an app accepted the certificate"
        case .refused: "refused: an app does not accept the certificate"
        case .mixed: "some accepted the certificate, some refused it (they pin, or ignore installed certificates)"
        }
    }

    private var refusedHTML: HTMLText {
        guard let name = trust.lastRefusedName else { return "" }
        return "<p>Refused last: a connection to <b>\(name)</b>.</p>\n"
    }

    // MARK: - 4 marks

    private static let buttons: [(label: String, fields: [(name: String, value: String)])] = [
        ("Call to action", [("kind", "tap"), ("target", "cta")]),
        ("Share", [("kind", "tap"), ("target", "share")]),
        ("Share, twice", [("kind", "tap"), ("target", "share"), ("count", "2")]),
        ("Without sharing", [("kind", "tap"), ("target", "neutral")]),
        ("To the background", [("kind", "background")]),
        ("To the foreground", [("kind", "foreground")]),
        ("Return link", [("kind", "return")]),
    ]

    private var markSection: HTMLText {
        var section: HTMLText = """
            <section>
            <h2>4. Marks</h2>
            <p>Say what you tap <b>next</b>: press here first, then touch the app, within 15 seconds.</p>
            <div class="marks">

            """
        for button in Self.buttons { section += form(button.label, button.fields) }
        section += form("Take the last one back", [("kind", "withdraw")])
        section += "</div>\n<p id=\"marked\" role=\"status\"></p>\n</section>\n"
        return section
    }

    private func form(_ label: String, _ fields: [(name: String, value: String)]) -> HTMLText {
        var inputs: HTMLText = ""
        for field in fields + [(name: "by", value: "person")] {
            inputs += "<input type=\"hidden\" name=\"\(field.name)\" value=\"\(field.value)\">"
        }
        return "<form method=\"post\" action=\"\(markPath)\">\(inputs)<button>\(label)</button></form>\n"
    }

    // MARK: - 5 this page

    private var addressSection: HTMLText {
        guard let address else { return "" }
        return """
            <section>
            <h2>This page on another device</h2>
            <p><a href="\(address)">\(address)</a></p>
            <img src="/qr.svg" alt="QR code of this page's address" width="220" height="220">
            </section>

            """
    }
}
