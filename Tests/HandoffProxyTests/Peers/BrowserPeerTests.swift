import Foundation
import SessionTrace
import Testing

@testable import HandoffProxy

/// Chromium that trusts our leaf, and an HTTP/2 origin.
@Suite(
    .enabled(
        if: PeerCertificates.shared != nil && FinishedCommand.find("chromium") != nil
            && FinishedCommand.find("nghttpd") != nil, "needs openssl, chromium and nghttpd"))
struct BrowserPeerTests {
    @Test func aPageOverHTTP2() async throws {
        let certificates = try #require(PeerCertificates.shared)
        let proxy = try await OpenSSLClientTests.proxy()
        let folder = proxy.scratch["files"]
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let page = "<!doctype html><title>t</title><script src=/a.js></script><p id=p>untouched"
        try page.write(toFile: folder + "/index.html", atomically: true, encoding: .utf8)
        try "addEventListener('load', () => { p.textContent = 'script ran' })".write(
            toFile: folder + "/a.js", atomically: true, encoding: .utf8)
        let pem = certificates.file("origin")
        let origin = try await onThread { SendableBox(try PeerServer("nghttpd -d \(folder) $PORT \(pem) \(pem)")) }
        // Chromium is told of our leaf's key: there is no store of authorities that a test could add to.
        let run = try await shell(
            """
            key=$(echo | openssl s_client -proxy 127.0.0.1:\(proxy.port) -connect origin.test:\(origin.value.port) \
                -servername origin.test -alpn h2 2>/dev/null | openssl x509 -pubkey -noout \
                | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64)
            timeout -k 2 50 chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
                --disable-background-networking --disable-component-update --user-data-dir="$DIR/profile" \
                --proxy-server=http://127.0.0.1:\(proxy.port) --ignore-certificate-errors-spki-list="$key" \
                --dump-dom https://origin.test:\(origin.value.port)/index.html </dev/null 2>/dev/null
            """, ["DIR": proxy.scratch.path], seconds: 90)
        #expect(run.output.contains("script ran"), "\(run.output)")
        let end = try await proxy.finish()
        #expect(Set(["/index.html", "/a.js"]).isSubset(of: end.targets))
        let pages = end.exchanges.filter { $0.request?.target == "/index.html" }
        #expect(pages.last?.response?.status == 200)
        try Tshark.need()
        let seen = try end.tshark("http2.headers.method == GET", "http2.headers.path")
        #expect(Set(["/index.html", "/a.js"]).isSubset(of: seen.flatMap { $0.split(separator: ",").map(String.init) }))
        #expect(try end.tshark(TsharkAgreement.faults, "frame.number") == [])
    }
}
