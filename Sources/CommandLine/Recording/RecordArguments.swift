internal import Assertions
internal import HandoffProxy
internal import SessionTrace

/// The options of `record`, and what they make of the proxy's configuration.
enum RecordArguments {
    static let options: [OptionSyntax] = [
        .value(
            "listen", "[tproxy:]ADDR:PORT", repeats: true,
            "where devices connect; default 127.0.0.1:4773, \"lan\" is this host's address on the network"),
        .value(
            "out", "FILE", "the recording; default session-DATE-TIME.pcapng here. A second device gets a file beside it"
        ),
        .value("policy", "FILE", "the policy; default: handoff.yml beside the recording, then in the folders above it"),
        .value("device", "NAME", "all traffic is this device's; default: one device an address"),
        .value("allow", "CIDR", repeats: true, "who may connect; default loopback and private networks"),
        .value("proxy-auth", "USER:PASSWORD", "ask clients for Basic authentication"),
        .value("ca-dir", "DIR", "folder of the certificate authority; default under your data folder"),
        .value("passthrough", "HOST", repeats: true, "relay this host unread (*.example.com: what is below it)"),
        .value("intercept-only", "HOST", repeats: true, "read this host alone; all others are relayed unread"),
        .flag("no-default-passthrough", "read also the phone's own pinned services (push, updates, time …)"),
        .value("upstream-ca", "FILE", "PEM file of authorities to trust for origins, beside the system's"),
        .value("insecure-upstream", "HOST", repeats: true, "do not verify this origin"),
        .value("client-cert", "HOST=FILE", repeats: true, "certificate and key (PEM) to show to an origin that asks"),
        .value(
            "resolve", "HOST:PORT:ADDR[:PORT]", repeats: true,
            "connect there, do not ask DNS (* for any; the first that fits)"),
        .value("upstream-proxy", "URL", "go through this proxy: http://… or socks5://…"),
        .value("allow-destination", "CIDR", repeats: true, "origins on this host or its link that devices may reach"),
        .value(
            "fault", "RULE", repeats: true,
            "inject a fault: 'POST /handoff-session: 503 once'; see the documentation for the actions"),
        .value("chia-journey", "heads|record", "what is kept of the person's visit to Chia; default heads"),
        .value("also-capture", "IFACE", repeats: true, "capture there what the device sends around the proxy"),
        .value(
            "max-size", "BYTES", "stop recording when a file would outgrow this (500M; at least 1M); the relay goes on"),
        .value("control", "ADDR:PORT|none", "the control API; default 127.0.0.1:4775"),
        .value(
            "marks", "ADDR:PORT|none",
            "where marks are taken as datagrams; default 127.0.0.1:4774 and port 4774 of the listeners' addresses"),
        .value(
            "actors", "FILE", repeats: true,
            "who owned which socket, and activity starts, as JSON Lines; read when the recording ends"),
        .value("keylog-upstream", "FILE", "append the secrets of the connections to origins"),
        .value("for", "TIME", "stop after this time (90s, 10m); default: when told"),
        .value("profile", "headline|full", "which rules run; default full"),
        .flag("strict", "warnings count as violations, assumptions make a rule inconclusive"),
        .value("inconclusive", "fail|warn", "whether an inconclusive gated rule fails; default fail"),
        .value("report", "FORMAT=PATH", repeats: true, "write a report at the end: json or junit"),
        .flag("verbose", "show what passing rules looked at, and rules that do not apply"),
        .flag("quiet", "no timeline while recording"),
    ]

    /// The proxy's configuration; `lan` gives this host's address on the network.
    static func configuration(
        _ arguments: Arguments, policy: Policy, environment: [String: String], lan: () -> IPAddress?
    ) throws(UsageError) -> ProxyConfiguration {
        var configuration = ProxyConfiguration()
        if !arguments.all("listen").isEmpty {
            configuration.listeners = try each("listen", arguments, "ADDR:PORT, a port, or lan") {
                (text: String) throws(UsageError) -> ListenAddress? in
                if text.hasPrefix("lan"), lan() == nil {
                    throw UsageError(
                        message:
                            "--listen \(text): this host has no address on a network; name one (--listen ADDR:PORT)")
                }
                return ListenAddress(text, lan: lan)
            }
        }
        if !arguments.all("allow").isEmpty {
            configuration.allowedClients = try each("allow", arguments, "an address or a block such as 192.168.0.0/16")
            {
                AddressRange($0)
            }
        }
        configuration.allowedDestinations = try each(
            "allow-destination", arguments, "an address or a block such as 127.0.0.0/8"
        ) { AddressRange($0) }
        configuration.credential = try one("proxy-auth", arguments, "USER:PASSWORD") { ProxyCredential($0) }
        configuration.device = arguments.value("device")
        configuration.resolveOverrides = try each(
            "resolve", arguments, "HOST:PORT:ADDRESS, with [ ] around an IPv6 address that a port follows"
        ) { ResolveOverride($0) }
        configuration.upstreamProxy = try one(
            "upstream-proxy", arguments, "http://[USER:PASSWORD@]HOST:PORT or socks5://HOST:PORT"
        ) { UpstreamProxy($0) }
        configuration.upstreamAuthorities = try arguments.value("upstream-ca").map(readable("upstream-ca"))
        configuration.insecureUpstreams = try hosts("insecure-upstream", arguments)
        configuration.passthroughHosts = try hosts("passthrough", arguments)
        configuration.interceptOnlyHosts = try hosts("intercept-only", arguments)
        configuration.usesDefaultPassthrough = !arguments.has("no-default-passthrough")
        configuration.clientCertificates = try each("client-cert", arguments, "HOST=FILE") {
            (text: String) throws(UsageError) -> ProxyConfiguration.ClientCertificate? in
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, let host = HostNamePattern(parts[0]) else { return nil }
            return ProxyConfiguration.ClientCertificate(host: host, path: try readable("client-cert")(parts[1]))
        }
        configuration.keyLogPath = environment["SSLKEYLOGFILE"].flatMap { $0.isEmpty ? nil : $0 }
        configuration.upstreamKeyLogPath = arguments.value("keylog-upstream")
        configuration.faults = arguments.all("fault")
        configuration.chiaJourney =
            try arguments.choice("chia-journey", ProxyConfiguration.ChiaJourney.self) ?? .heads
        configuration.controlAddress = try endpoint("control", arguments) ?? configuration.controlAddress
        configuration.markAddress = try endpoint("marks", arguments) ?? configuration.markAddress
        configuration.takesMarksAtListeners = arguments.value("marks") == nil
        if arguments.value("control") == "none" { configuration.controlAddress = nil }
        if arguments.value("marks") == "none" { configuration.markAddress = nil }
        return configuration
    }

    /// The value of `--max-size` in bytes.
    static func maximumSize(_ arguments: Arguments) throws(UsageError) -> UInt64? {
        try one("max-size", arguments, "a number of bytes such as 500M (at least 1M)") { text in
            let units: [Character: UInt64] = ["k": 1_000, "M": 1_000_000, "G": 1_000_000_000]
            let unit = text.last.flatMap { units[$0] }
            guard let number = UInt64(unit == nil ? text : String(text.dropLast())) else { return nil }
            let (bytes, overflows) = number.multipliedReportingOverflow(by: unit ?? 1)
            return overflows || bytes < 1_000_000 ? nil : bytes
        }
    }

    /// The value of `--for`.
    static func duration(_ arguments: Arguments) throws(UsageError) -> Duration? {
        try one("for", arguments, "a time such as 90s, 10m or 1h") { text in
            let units: [Character: Int] = ["s": 1, "m": 60, "h": 3_600]
            let unit = text.last.flatMap { units[$0] }
            guard let number = Int(unit == nil ? text : String(text.dropLast())), (1...86_400).contains(number) else {
                return nil
            }
            return .seconds(number * (unit ?? 1))
        }
    }

    // MARK: Reading values

    private static func hosts(_ name: String, _ arguments: Arguments) throws(UsageError) -> [HostNamePattern] {
        try each(name, arguments, "a host such as api.example.com, *.example.com, or *") { HostNamePattern($0) }
    }

    private static func endpoint(_ name: String, _ arguments: Arguments) throws(UsageError) -> Endpoint? {
        guard arguments.value(name) != "none" else { return nil }
        return try one(name, arguments, "ADDR:PORT or none") { text in
            guard let (host, port) = HostName.parse(authority: text), let address = host.address, let port else {
                return nil
            }
            return Endpoint(address: address, port: port)
        }
    }

    private static func readable(_ name: String) -> (String) throws(UsageError) -> String {
        { (path: String) throws(UsageError) -> String in
            guard FileSystem.isFile(path) else { throw UsageError(message: "--\(name): there is no file \(path)") }
            return path
        }
    }

    private static func one<Value>(
        _ name: String, _ arguments: Arguments, _ form: String, _ read: (String) throws(UsageError) -> Value?
    ) throws(UsageError) -> Value? {
        try each(name, arguments, form, read).last
    }

    private static func each<Value>(
        _ name: String, _ arguments: Arguments, _ form: String, _ read: (String) throws(UsageError) -> Value?
    ) throws(UsageError) -> [Value] {
        var values: [Value] = []
        for text in arguments.all(name) {
            guard let value = try read(text) else {
                // A password is no part of a message, and least of all of a report.
                let isSecret = name == "proxy-auth" || name == "upstream-proxy"
                throw UsageError(message: "--\(name)\(isSecret ? "" : " \(text)"): give \(form)")
            }
            values.append(value)
        }
        return values
    }
}
