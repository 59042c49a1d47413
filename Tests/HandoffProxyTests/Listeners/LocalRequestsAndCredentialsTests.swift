import Foundation
import SessionTrace
import Testing

@testable import HandoffProxy

/// A proxy that asks for a credential: its own pages need none, and none gets into a recording.
@Suite(.enabled(if: Curl.path != nil, "needs curl"), .serialized) struct LocalRequestsAndCredentialsTests {
    private static func proxy() async throws -> ProxyUnderTest {
        try await ProxyUnderTest { $0.credential = ProxyCredential(user: "ann", password: "s3cret") }
    }

    private static func bytes(_ proxy: ProxyUnderTest) throws -> [[UInt8]] {
        try proxy.recording.status.map { Array(try Data(contentsOf: URL(filePath: $0.path))) }
    }

    /// Without a control plane the proxy has no pages: 404 is its own answer.
    @Test func aBrowserOpensTheSetUpPageWithoutACredential() async throws {
        let proxy = try await Self.proxy()
        let address = "127.0.0.1:\(proxy.port)"
        for arguments in [["http://\(address)/"], ["--cacert", proxy.ca, "https://\(address)/"]] {
            let result = try await Curl.run(arguments + ["-o", "/dev/null", "-w", "%{http_code}"])
            #expect(result.output == "404", "\(arguments)")
        }
        let through = try await Curl.run([
            "-p", "-x", "http://\(address)", "-o", "/dev/null", "-w", "%{http_code}", "http://mark.handoff.test/",
        ])
        #expect(through.output == "404")
        let elsewhere = try await Curl.run([
            "-x", "http://\(address)", "-o", "/dev/null", "-w", "%{http_code}", "http://origin.test/",
        ])
        #expect(elsewhere.output == "407")
        let end = try await proxy.finish()
        #expect(end.targets.contains("/"), "the page over TLS is recorded with its secrets")
    }

    @Test func aCredentialInsideTLSToTheProxyIsRefusedAndNotRecorded() async throws {
        let proxy = try await Self.proxy()
        let result = try await Curl.run([
            "-p", "-x", "https://ann:s3cret@127.0.0.1:\(proxy.port)", "--proxy-cacert", proxy.ca, "-o", "/dev/null",
            "-w", "%{http_connect}", "http://origin.test/",
        ])
        #expect(result.output == "403")
        let end = try await proxy.finish()
        #expect(end.live.contains { $0.kind == .clientRefused && $0.text.contains("--proxy-auth") })
        let files = try Self.bytes(proxy)
        #expect(!files.isEmpty)
        for bytes in files {
            #expect(bytes.firstRange(of: Array("TRAFFIC_SECRET".utf8)) == nil, "no secret of the outer TLS")
            #expect(bytes.firstRange(of: Array("inside TLS to the proxy".utf8)) != nil, "said as an event")
        }
    }
}
