internal import Crypto
public import EventLoop
public import SessionTrace

/// A phone of the lab behind a proxy: its app and its browser, each with its own connections and headers.
public actor ScriptedDevice {
    /// Who sends a request.
    public enum Sender: Hashable, Sendable {
        /// The partner's app.
        case app
        /// The phone's own browser.
        case browser

        /// The fields that everything from it carries.
        var fields: [(name: String, value: String)] {
            switch self {
            case .app:
                [("User-Agent", "PartnerShop/5.2 CFNetwork/1490 Darwin/23.2.0"), ("Accept", "application/json")]
            case .browser:
                [
                    ("Upgrade-Insecure-Requests", "1"),
                    (
                        "User-Agent",
                        "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) "
                            + "Chrome/131.0.0.0 Mobile Safari/537.36"
                    ),
                    ("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"),
                    ("Sec-Fetch-Site", "none"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-User", "?1"),
                    ("Sec-Fetch-Dest", "document"), ("Accept-Language", "en-GB,en;q=0.9"),
                ]
            }
        }
    }

    private struct Place: Hashable {
        var sender: Sender
        var host: String
    }

    private nonisolated let loop: EventLoop
    private let proxy: Endpoint
    private let contexts: TLSContexts
    private let verification: TLSVerification
    private var idle: [Place: [LabChannel]] = [:]

    /// The loop that everything of it runs on.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// A device that uses the proxy at `proxy` and trusts the authorities in the PEM file `trusting`, beside the system's.
    public init(proxy: Endpoint, trusting file: String, on loop: EventLoop) throws {
        self.loop = loop
        self.proxy = proxy
        contexts = try TLSContexts()
        verification = .system(extraCAFile: file)
    }

    /// Sends a request to `https://HOST` and waits for its response. Throws when the connection ends before it.
    @discardableResult
    public func send(_ request: LabRequest, to host: String, from sender: Sender) async throws -> LabResponse {
        let place = Place(sender: sender, host: host)
        var request = request
        request.fields = [("Host", host)] + sender.fields + request.fields
        let channel: LabChannel
        if let free = idle[place]?.popLast() {
            channel = free
        } else {
            channel = try await connect(to: host, from: sender)
        }
        let response = try await channel.exchange(request)
        idle[place, default: []].append(channel)
        return response
    }

    /// Opens `https://…` in the browser.
    @discardableResult
    public func open(_ url: String) async throws -> LabResponse {
        let rest = url.drop { $0 != ":" }.dropFirst(3)
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        let path = String(rest[slash...])
        return try await send(
            LabRequest("GET", path.isEmpty ? "/" : path), to: String(rest[..<slash]), from: .browser)
    }

    /// Asks the proxy for `url` in clear, in proxy form: marks are made so.
    @discardableResult
    public func fetchInClear(_ url: String) async throws -> LabResponse {
        let channel = LabChannel(try await TCPStream.connect(to: proxy, timeout: .seconds(20), on: loop))
        let host = url.drop { $0 != ":" }.dropFirst(3).prefix { $0 != "/" }
        let response = try await channel.exchange(
            LabRequest("GET", url, fields: [("Host", String(host)), ("User-Agent", "lab-script")]))
        await channel.close()
        return response
    }

    /// Ends a sender's process: all its connections close.
    public func kill(_ sender: Sender) async {
        for (place, channels) in idle where place.sender == sender {
            idle[place] = nil
            for channel in channels { await channel.close() }
        }
    }

    private func connect(to host: String, from sender: Sender) async throws -> LabChannel {
        let channel = LabChannel(try await TCPStream.connect(to: proxy, timeout: .seconds(20), on: loop))
        let agent = sender.fields.filter { $0.name == "User-Agent" }
        let answer = try await channel.exchange(
            LabRequest("CONNECT", "\(host):443", fields: [("Host", "\(host):443")] + agent))
        guard answer.status == 200 else { throw LabError("the proxy says \(answer.status): \(answer.text)") }
        let protocols = sender == .app ? ["http/1.1"] : ["h2", "http/1.1"]
        try await channel.secure(
            with: TLSEngine(
                client: TLSClientOptions(
                    serverName: host, verifyName: host, verification: verification,
                    alpn: TLSClientOptions.alpnList(protocols)), contexts: contexts))
        return channel
    }
}
