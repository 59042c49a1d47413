import Crypto
import EventLoop
import Foundation
import HandoffProxy
import SessionTrace
import Testing

/// The set-up page and marks through the proxy itself, in every way that a device comes in, with the recording read back.
@Suite struct LocalServiceTests {
    @Test func marksThroughTheProxyAreInTheRecording() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "handoff-local-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let loops = try EventLoopGroup(count: 1)
        let authority = try CertificateAuthority.inMemory(hostName: "lab")
        let recording = try Recording(
            path: folder.appending(path: "run").path, version: "test", started: WallClock.now())
        let control = try ControlPlane(
            version: "test", downloads: CertificateDownloads(authority),
            seams: ControlPlane.Seams(recording: recording), started: WallClock.now())
        var configuration = ProxyConfiguration()
        configuration.listeners = [
            ListenAddress(endpoint: Endpoint(address: IPAddress(ipv4: 0x7F00_0001), port: 0))
        ]
        let proxy = try HandoffProxy(
            configuration: configuration, authority: authority, recording: recording, loops: loops)
        proxy.attach(control)
        try await proxy.start()
        let address = try #require(proxy.addresses.first)

        let mark = "\(control.markAddress)?kind=tap&target="
        let path = "/m/\(control.markSecret.text)/?kind=tap&target="
        func ask(_ arguments: [String]) async throws -> String {
            try await ControlTool.run("curl", ["-sS", "--max-time", "25", "--noproxy", ""] + arguments)
        }
        let answers = [
            try await ask(["-x", "http://\(address)", "\(mark)cta"]),
            try await ask(["-p", "-x", "http://\(address)", "\(mark)share"]),
            try await ask(["--socks5-hostname", "\(address)", "\(mark)neutral"]),
            try await ask(["http://\(address)\(path)return"]),
        ]
        #expect(try answers.map { try JSONValue.parse($0)["sequence"]?.integerValue } == [1, 2, 3, 4])
        let page = try await ask(["-x", "http://\(address)", "http://mark.handoff.test/"])
        #expect(page.contains("the setting works") && page.contains("port <b>\(address.port)</b>"))
        let pac = try await ask(["http://\(address)/proxy.pac"])
        #expect(pac.contains("PROXY \(address)"))
        let pem = try await ask(["http://\(address)/ca.pem"])
        #expect(Certificate(pem: pem) == authority.certificate)
        // Over TLS of ours, which is what shows trust.
        let authorityFile = folder.appending(path: "ca.pem").path
        try pem.write(toFile: authorityFile, atomically: false, encoding: .utf8)
        let secure = ["-x", "http://\(address)", "--cacert", authorityFile]
        let overTLS = try await ask(secure + [mark.replacing("http://", with: "https://") + "policy"])
        #expect(try JSONValue.parse(overTLS)["sequence"]?.integerValue == 5)
        let device = IPAddress(ipv4: 0x7F00_0001)
        #expect(control.trust.trust(of: device).browser == .unknown)
        if case .seen = control.trust.trust(of: device).apps {} else { Issue.record("no app was seen") }
        let trusted = try await ask(
            secure + ["-i", "-H", "Origin: http://mark.handoff.test", "https://trust.handoff.test/"])
        #expect(trusted.contains("Access-Control-Allow-Origin: http://mark.handoff.test"))
        if case .trusted = control.trust.trust(of: device).browser {} else { Issue.record("trust was not noticed") }
        // A real browser on the page, without trust in the authority and with (as good as) it.
        for (flags, words) in [
            ([], "does not trust the certificate yet"), (["--ignore-certificate-errors"], "trusts the certificate"),
        ] where ControlTool.find("chromium") != nil {
            let profile = folder.appending(path: "profile-\(flags.count)").path
            let browser = try ControlTool(
                "chromium",
                [
                    "--headless", "--no-sandbox", "--disable-gpu", "--proxy-server=http://\(address)",
                    "--user-data-dir=\(profile)", "--virtual-time-budget=8000", "--dump-dom",
                ] + flags + ["http://mark.handoff.test/"])
            #expect(await browser.wait(seconds: 90) == 0)
            #expect(browser.text.contains("id=\"browser\">\(words)"), "\(browser.text.suffix(2_000))")
        }
        // DNS rebinding: the listener under a stranger's name shows nothing.
        let rebound = try await ask(["-H", "Host: evil.example", "http://\(address)/"])
        #expect(!rebound.contains(control.markSecret.text))

        await proxy.stop()
        recording.stop(at: WallClock.now())
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                loops.stop()
                continuation.resume()
            }
        }
        let file = try #require(recording.status.first?.path)
        let content = try TraceContent(path: file)
        #expect(content.marks.compactMap(\.target).prefix(4).elementsEqual([.cta, .share, .neutral, .return]))
        #expect(content.holes == 0)
    }
}
