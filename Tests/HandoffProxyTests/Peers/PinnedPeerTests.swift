import Assertions
import CaptureAnalyzer
import Crypto
import Foundation
import SessionTrace
import Testing

@testable import HandoffProxy

/// Real clients that do not take our certificate, and what is made of it.
@Suite(.enabled(if: PeerCertificates.shared != nil, "needs openssl")) struct PinnedPeerTests {
    /// A client and how it shows that it does not trust us. The script has `$PROXY`, `$ORIGIN`, `$CA` (the origins' own
    /// authority) and `$OURS`.
    struct Client: Sendable, CustomTestStringConvertible {
        var name: String
        var tool: String
        var script: String
        var showsBy: Sign

        enum Sign: Sendable {
            case alert, suspicion
        }

        var testDescription: String { name }

        /// Ends a test, and says so, where the client or what it runs on is not installed.
        func need() throws {
            guard FinishedCommand.find(tool) != nil else { try Test.cancel("\(name): no \(tool) here") }
            if name == "OkHttp", !FileManager.default.fileExists(atPath: "/usr/share/java/okhttp.jar") {
                try Test.cancel("\(name): no okhttp.jar here")
            }
        }
    }

    static let clients = [
        Client(
            name: "curl", tool: "curl",
            script: "curl -sS -m 30 --noproxy '' -x http://127.0.0.1:$PROXY --cacert $CA https://origin.test:$ORIGIN/",
            showsBy: .alert),
        Client(
            name: "Python", tool: "python3",
            script: #"""
                python3 - <<'END'
                import os, socket, ssl
                s = socket.create_connection(("127.0.0.1", int(os.environ["PROXY"])))
                port = os.environ["ORIGIN"]
                s.sendall(f"CONNECT origin.test:{port} HTTP/1.1\r\nHost: origin.test:{port}\r\n\r\n".encode())
                s.recv(4096)
                c = ssl.create_default_context(cafile=os.environ["CA"])
                try:
                    t = c.wrap_socket(s, server_hostname="origin.test")
                    t.sendall(b"GET / HTTP/1.0\r\n\r\n")
                    print("HTTP/1.0 200" if t.recv(4096) else "nothing")
                except ssl.SSLError as e:
                    print(e)
                END
                """#, showsBy: .alert),
        Client(
            name: "Node", tool: "node",
            script: #"""
                node - <<'END'
                const net = require('net'), tls = require('tls'), fs = require('fs'), { PROXY, ORIGIN, CA } = process.env
                const s = net.connect(+PROXY, '127.0.0.1', () => {
                  s.write(`CONNECT origin.test:${ORIGIN} HTTP/1.1\r\nHost: origin.test:${ORIGIN}\r\n\r\n`)
                  s.once('data', () => {
                    const t = tls.connect({ socket: s, servername: 'origin.test', ca: fs.readFileSync(CA) },
                      () => t.write('GET / HTTP/1.0\r\n\r\n'))
                    t.on('data', d => { console.log('' + d); process.exit(0) })
                    t.on('error', e => { console.log(e.code); setTimeout(() => process.exit(1), 300) })
                  })
                })
                END
                """#, showsBy: .alert),
        Client(
            name: "Java", tool: "java",
            script: javaScript(
                """
                System.setProperty("javax.net.ssl.trustStore", "none");
                var c = (javax.net.ssl.HttpsURLConnection) new java.net.URL(args[1]).openConnection(proxy);
                System.out.println("HTTP/1.1 " + c.getResponseCode());
                """, classPath: "."),
            showsBy: .alert),
        // OkHttp's CertificatePinner looks at the chain when the handshake is over, and closes.
        Client(
            name: "OkHttp", tool: "java",
            script: javaScript(
                """
                var store = java.security.KeyStore.getInstance(java.security.KeyStore.getDefaultType());
                store.load(null, null);
                try (var in = new java.io.FileInputStream(System.getenv("OURS"))) {
                    store.setCertificateEntry("ours",
                        java.security.cert.CertificateFactory.getInstance("X.509").generateCertificate(in));
                }
                var trust = javax.net.ssl.TrustManagerFactory.getInstance(
                    javax.net.ssl.TrustManagerFactory.getDefaultAlgorithm());
                trust.init(store);
                var context = javax.net.ssl.SSLContext.getInstance("TLS");
                context.init(null, trust.getTrustManagers(), null);
                var pinner = new okhttp3.CertificatePinner.Builder()
                    .add("origin.test", "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=").build();
                var client = new okhttp3.OkHttpClient.Builder().proxy(proxy).certificatePinner(pinner)
                    .sslSocketFactory(context.getSocketFactory(),
                        (javax.net.ssl.X509TrustManager) trust.getTrustManagers()[0]).build();
                try (var answer = client.newCall(new okhttp3.Request.Builder().url(args[1]).build()).execute()) {
                    System.out.println("HTTP/1.1 " + answer.code());
                }
                """, classPath: "/usr/share/java/okhttp.jar:/usr/share/java/okio.jar"),
            showsBy: .suspicion),
        Client(
            name: "Chromium", tool: "chromium",
            script: """
                timeout -k 2 25 chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
                    --disable-background-networking --disable-component-update --user-data-dir="$DIR/profile" \
                    --proxy-server=http://127.0.0.1:$PROXY --proxy-bypass-list='<-loopback>' \
                    --dump-dom https://origin.test:$ORIGIN/ </dev/null 2>/dev/null | head -c 100
                """, showsBy: .alert),
    ]

    private static func javaScript(_ body: String, classPath: String) -> String {
        """
        cat > "$DIR/Main.java" <<'END'
        public class Main {
            public static void main(String[] args) throws Exception {
                var proxy = new java.net.Proxy(java.net.Proxy.Type.HTTP,
                    new java.net.InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])));
                try {
        \(body)
                } catch (java.io.IOException e) {
                    System.out.println(e);
                }
                System.exit(0);
            }
        }
        END
        timeout 50 java -Xshare:auto -XX:TieredStopAtLevel=1 -cp \(classPath) "$DIR/Main.java" $PROXY https://origin.test:$ORIGIN/
        """
    }

    static func run(
        _ client: Client, _ proxy: ProxyUnderTest, _ certificates: PeerCertificates, _ port: UInt16
    ) async throws -> String {
        try await shell(
            client.script,
            [
                "DIR": proxy.scratch.path, "PROXY": "\(proxy.port)", "ORIGIN": "\(port)", "OURS": proxy.ca,
                "CA": certificates.authority,
            ], seconds: 90
        ).output
    }

    @Test(arguments: clients)
    func aHostThatMattersIsNeverLetThrough(client: Client) async throws {
        let certificates = try #require(PeerCertificates.shared)
        try client.need()
        let proxy = try await OpenSSLClientTests.proxy { $0.isGuarded = { $0.text == ProxyUnderTest.name } }
        let ledger = TrustLedger()
        proxy.proxy.interceptor.tell(ledger)
        let origin = try await OpenSSLClientTests.server("origin")
        for _ in 0..<2 {
            let said = try await Self.run(client, proxy, certificates, origin.value.port)
            #expect(!said.contains("200"), "\(said)")
        }
        let trust = ledger.trust(of: Endpoint.of("127.0.0.1", 0).address)
        let end = try await proxy.finish()
        #expect(end.proxyEvents(.passthrough).isEmpty)
        #expect(!end.targets.contains("/"))
        switch client.showsBy {
        case .alert:
            let refusals = end.proxyEvents(.leafRefused).filter { $0.attributes["name"] == ProxyUnderTest.name }
            #expect(refusals.count >= 2, "\(end.proxyEvents)")
            #expect(refusals.allSatisfy { $0.attributes["fix"]?.contains("mark.handoff.test") == true })
            switch trust.apps {
            case .refused, .mixed: break
            case .notYet, .seen: if client.name != "Chromium" { Issue.record("the ledger says \(trust.apps)") }
            }
        case .suspicion:
            #expect(end.proxyEvents(.leafSuspected).count >= 2, "\(end.proxyEvents)")
            #expect(end.proxyEvents(.leafRefused).isEmpty)
        }
        // The verdict: nothing passes or fails for what could not be seen, and it says what to do.
        let verdict = try Self.verdict(of: end)
        let rule = try #require(verdict.rules.first { $0.id == "HC-01" })
        #expect(verdict.rules.allSatisfy { $0.verdict != .fail }, "\(verdict.rules.filter { $0.verdict == .fail })")
        #expect(rule.verdict == .inconclusive, "\(rule)")
        #expect(rule.reason?.remedy.contains("trust the proxy's CA") == true, "\(rule)")
    }

    /// Where no role is at stake, the second connection is relayed unread, and works.
    @Test(
        arguments: clients.filter { $0.showsBy == .alert && $0.name != "Java" && $0.name != "Chromium" })
    func anyOtherHostIsLetThrough(client: Client) async throws {
        try client.need()
        let certificates = try #require(PeerCertificates.shared)
        let proxy = try await OpenSSLClientTests.proxy()
        let origin = try await OpenSSLClientTests.server("origin")
        let first = try await Self.run(client, proxy, certificates, origin.value.port)
        #expect(!first.contains("200"), "\(first)")
        let second = try await Self.run(client, proxy, certificates, origin.value.port)
        #expect(second.lowercased().contains(client.name == "curl" ? "<html>" : "200"), "\(second)")
        let end = try await proxy.finish()
        #expect(end.proxyEvents(.leafRefused).count == 1)
        #expect(end.proxyEvents(.passthrough).map { $0.attributes["reason"] } == ["refused"])
        #expect(
            end.events.contains {
                if case .blindSpot(let spot) = $0 { spot.reason == .passthrough } else { false }
            })
    }

    static func verdict(of end: FinishedProxy) throws -> TraceVerdict {
        let policy = try Policy.parse(
            yaml: "version: 1\nhosts:\n  partner: [\(ProxyUnderTest.name)]\n", file: "handoff.yml")
        var judge = SessionJudge(policy: policy, options: JudgeOptions())
        for event in end.events { judge.receive(event) }
        return judge.finish()
    }
}
