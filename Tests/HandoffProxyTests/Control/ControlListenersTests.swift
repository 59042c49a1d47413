import EventLoop
import Foundation
import SessionTrace
import Synchronization
import Testing

@testable import HandoffProxy

/// The control plane over real sockets, asked by curl, Python and Node.
@Suite struct ControlListenersTests {
    /// Status and content of an answer that curl got.
    private static func curl(_ arguments: [String]) async throws -> (status: Int, body: String) {
        let text = try await ControlTool.run(
            "curl", ["-sS", "--noproxy", "*", "--max-time", "25", "-w", "\n%{http_code}"] + arguments)
        let cut = try #require(text.lastIndex(of: "\n"))
        return (Int(text[text.index(after: cut)...]) ?? 0, String(text[..<cut]))
    }

    private static func api(
        _ fixture: ControlFixture, _ path: String, _ arguments: [String] = []
    ) async throws -> (status: Int, body: String) {
        try await curl(
            ["-H", "Authorization: Bearer \(fixture.plane.token.text)"] + arguments + [
                "http://\(fixture.control)\(path)"
            ])
    }

    @Test func marksArePostedAndAcknowledged() async throws {
        try await ControlFixture.with { fixture async throws in
            let one = try await Self.api(
                fixture, "/marks", ["-d", #"{"kind":"tap","target":"share","id":"7"}"#])
            #expect(one.status == 200)
            let answer = try JSONValue.parse(one.body)
            #expect(answer["sequence"]?.integerValue == 1 && answer["repeat"]?.boolValue == false)
            #expect(answer["at"]?.stringValue.flatMap(Instant.init(rfc3339:)) != nil)
            let again = try await Self.api(fixture, "/marks", ["-d", #"{"kind":"tap","target":"share","id":"7"}"#])
            #expect(try JSONValue.parse(again.body)["repeat"]?.boolValue == true)
            let lines = try await Self.api(
                fixture, "/marks",
                ["-H", "Expect: 100-continue", "--data-binary", "{\"kind\":\"background\"}\n{\"kind\":\"end\"}\n"])
            #expect(try JSONValue.parse(lines.body)["marks"]?.elements?.count == 2)
            #expect(fixture.deeds.marks.withLock { $0.map(\.kind) } == [.tap, .background, .end])
            let bad = try await Self.api(fixture, "/marks", ["-d", #"{"kind":"tap","count":-1}"#])
            #expect(bad.status == 400 && bad.body.split(separator: "\n").count == 1)
            #expect(bad.body.contains("count is no whole number"))
        }
    }

    @Test func strangersAndWebPagesAreRefused() async throws {
        try await ControlFixture.with { fixture async throws in
            let mark = ["-d", #"{"kind":"tap"}"#]
            let address = "http://\(fixture.control)/marks"
            #expect(try await Self.curl(mark + [address]).status == 401)
            #expect(try await Self.curl(mark + ["-H", "X-Handoff-Token: guess", address]).status == 401)
            #expect(try await Self.api(fixture, "/marks", mark + ["-H", "Host: evil.example"]).status == 421)
            #expect(try await Self.api(fixture, "/marks", mark + ["-H", "Origin: http://evil.example"]).status == 403)
            #expect(try await Self.api(fixture, "/marks", ["-X", "PUT"] + mark).status == 405)
            #expect(try await Self.api(fixture, "/nothing").status == 404)
            #expect(try await Self.api(fixture, "/m/\(fixture.plane.markSecret.text)/?kind=tap").status == 404)
            #expect(fixture.deeds.marks.withLock { $0.isEmpty })
        }
    }

    @Test func aBodyOverTheLimitIsRefusedAndTheAnswerArrives() async throws {
        try await ControlFixture.with { fixture async throws in
            let file = FileManager.default.temporaryDirectory.appending(path: "handoff-large-\(UUID().uuidString)")
            try Data(repeating: 0x20, count: (1 << 20) + 1).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let answer = try await Self.api(fixture, "/marks", ["-H", "Expect:", "--data-binary", "@\(file.path)"])
            #expect(answer.status == 413)
        }
    }

    @Test func statusStopAndFaults() async throws {
        try await ControlFixture.with { fixture async throws in
            fixture.plane.trust.finished(device: IPAddress(ipv4: 0xC0A8_0107), ja4: "x", at: WallClock.now())
            let status = try JSONValue.parse(try await Self.api(fixture, "/status").body)
            #expect(status["tool"]?.stringValue == "handoff test" && status["connections"] != nil)
            #expect(status.value(at: "/trust/192.168.1.7/apps")?.stringValue == "seen")
            #expect(try await Self.api(fixture, "/faults", ["-d", "POST /handoff-session: 503 once"]).status == 200)
            let refused = try await Self.api(fixture, "/faults", ["-d", "nonsense"])
            #expect(refused.status == 400 && refused.body.contains("no colon in 'nonsense'"))
            #expect(try await Self.api(fixture, "/faults").body.contains("503 once"))
            #expect(try await Self.api(fixture, "/faults", ["-X", "DELETE"]).body.contains("\"removed\":1"))
            #expect(fixture.deeds.stops.withLock { $0 } == 0)
            #expect(try await Self.api(fixture, "/stop", ["-X", "POST"]).status == 202)
            // The answer comes first: the stop ends this connection too.
            let deadline = Date().addingTimeInterval(30)
            while fixture.deeds.stops.withLock({ $0 }) == 0, Date() < deadline {
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(fixture.deeds.stops.withLock { $0 } == 1)
        }
    }

    @Test func eventsAreStreamedUntilTheEnd() async throws {
        let fixture = try await ControlFixture()
        let token = "X-Handoff-Token: \(fixture.plane.token.text)"
        fixture.plane.publish(LiveEvent(.note, at: WallClock.now(), text: "before"))
        let address = "http://\(fixture.control)/events"
        let live = try ControlTool("curl", ["-sSN", "--noproxy", "*", "-i", "-H", token, address])
        let all = try ControlTool("curl", ["-sSN", "--noproxy", "*", "-H", token, "-H", "Last-Event-ID: 0", address])
        #expect(await live.prints("text/event-stream"))
        #expect(await all.prints("\"text\":\"before\""))
        #expect(await live.prints(": events"))
        _ = try await Self.api(fixture, "/marks", ["-d", #"{"kind":"tap","target":"neutral"}"#])
        #expect(await live.prints("event: mark\ndata: {\"sequence\":1"))
        #expect(await all.prints("event: mark"))
        #expect(!live.text.contains("before"))
        await fixture.end()
        // The end of the recorder ends the stream in order.
        #expect(await live.wait() == 0)
        #expect(await all.wait() == 0)
    }

    @Test func oneConnectionCarriesManyRequests() async throws {
        try await ControlFixture.with { fixture async throws in
            let script = """
                import http.client, json
                c = http.client.HTTPConnection("127.0.0.1", \(fixture.control.port), timeout=20)
                h = {"Authorization": "Bearer \(fixture.plane.token.text)"}
                for n in range(1, 6):
                    c.request("POST", "/marks", json.dumps({"kind": "tap", "target": "cta"}), h)
                    r = c.getresponse()
                    a = json.loads(r.read())
                    assert r.status == 200 and a["sequence"] == n, a
                    assert r.getheader("Cache-Control") == "no-store" and r.getheader("Date")
                c.request("POST", "/marks", iter([b'{"kind":', b'"end"}']), h, encode_chunked=True)
                assert json.loads(c.getresponse().read())["sequence"] == 6
                c.request("GET", "/status", headers=h)
                assert json.loads(c.getresponse().read())["marks"]["count"] == 6
                print("done")
                """
            #expect(try await ControlTool.run("python3", ["-c", script]) == "done\n")
        }
    }

    @Test func connectionsBeyondTheLimitAreTurnedAway() async throws {
        try await ControlFixture.with { fixture async throws in
            let script = """
                import socket
                held = [socket.create_connection(("127.0.0.1", \(fixture.control.port)), timeout=20) for _ in range(\(ControlListeners.connectionLimit))]
                for s in held:
                    s.sendall(b"GET /x HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\n\\r\\n")
                    assert s.recv(12) == b"HTTP/1.1 401"
                extra = socket.create_connection(("127.0.0.1", \(fixture.control.port)), timeout=20)
                try:
                    assert extra.recv(10) == b""
                except ConnectionResetError:
                    pass
                print("done")
                """
            #expect(try await ControlTool.run("python3", ["-c", script]) == "done\n")
        }
    }

    @Test func aDeviceIsSetUpThroughItsBrowser() async throws {
        try await ControlFixture.with { fixture async throws in
            let page = try await Self.curl(["http://\(fixture.site)/"])
            #expect(page.status == 200)
            let problems = try await ControlTool.run("python3", ["-c", Self.htmlCheck], input: page.body)
            #expect(problems == "")
            let compiled = try await ControlTool.run(
                "node",
                [
                    "-e",
                    "const h = require('fs').readFileSync(0, 'utf8'); new Function(/<script[^>]*>([^]*)<\\/script>/.exec(h)[1]); console.log('ok')",
                ], input: page.body)
            #expect(compiled == "ok\n")
            let certificate = try ControlTool("curl", ["-sS", "--noproxy", "*", "http://\(fixture.site)/ca.crt"])
            #expect(await certificate.wait() == 0)
            #expect(certificate.output == ControlFixture.downloads.der)
            // As a proxy's client asks: absolute form, and the connection ends, since the next may be for another host.
            let proxied = try await Self.curl([
                "-x", "http://\(fixture.site)", "--noproxy", "", "-i", "http://mark.handoff.test/",
            ])
            #expect(proxied.body.contains("Connection: close") && proxied.body.contains("the setting works"))
        }
    }

    /// A real browser runs the page's script under the page's own content policy, and says what it found about trust.
    @Test(.enabled(if: ControlTool.find("chromium") != nil)) func aBrowserRunsThePage() async throws {
        try await ControlFixture.with { fixture async throws in
            let folder = FileManager.default.temporaryDirectory.appending(path: "handoff-page-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let browser = try ControlTool(
                "chromium",
                [
                    "--headless", "--no-sandbox", "--disable-gpu", "--no-proxy-server", "--enable-logging=stderr",
                    "--user-data-dir=\(folder.path)", "--host-resolver-rules=MAP trust.handoff.test ~NOTFOUND",
                    "--virtual-time-budget=4000", "--dump-dom", "http://\(fixture.site)/",
                ])
            #expect(await browser.wait(seconds: 60) == 0)
            #expect(browser.text.contains("id=\"browser\">does not trust the certificate yet"), "\(browser.errors)")
            #expect(!browser.errors.contains("Content Security Policy"), "\(browser.errors)")
        }
    }

    @Test func marksInBand() async throws {
        try await ControlFixture.with { fixture async throws in
            let path = "/m/\(fixture.plane.markSecret.text)/"
            let proxied = ["-x", "http://\(fixture.site)", "--noproxy", ""]
            let first = try await Self.curl(proxied + ["\(fixture.plane.markAddress)?kind=tap&target=share"])
            #expect(first.status == 200)
            #expect(try JSONValue.parse(first.body)["sequence"]?.integerValue == 1)
            let direct = try await Self.curl(["http://\(fixture.site)\(path)?kind=tap&target=share&id=a"])
            #expect(try JSONValue.parse(direct.body)["sequence"]?.integerValue == 2)
            // The page's form, without script: back to the page, which says what was taken.
            let form = ["-d", "kind=tap&target=neutral&by=person", "-H", "Accept: text/html", "-L", "--post303"]
            let posted = try await Self.curl(["-i"] + form.dropLast(2) + ["http://\(fixture.site)\(path)"])
            #expect(posted.status == 303 && posted.body.contains("Location: /?marked=3"))
            #expect(fixture.deeds.marks.withLock { $0.last?.by } == .person)
            #expect(try await Self.curl(["-I", "http://\(fixture.site)\(path)?kind=tap"]).status == 405)
            #expect(
                try await Self.curl(["-H", "Sec-Purpose: prefetch", "http://\(fixture.site)\(path)?kind=tap"]).status
                    == 403)
            #expect(fixture.deeds.marks.withLock { $0.count } == 3)
        }
    }

    @Test func aBrowserMadePACDecision() async throws {
        try await ControlFixture.with { fixture async throws in
            let pac = try await Self.curl(["http://\(fixture.site)/proxy.pac"])
            let script = pac.body + "\nconsole.log(FindProxyForURL('https://chia.health/', 'chia.health'));"
            #expect(try await ControlTool.run("node", ["-e", script]) == "PROXY \(fixture.site)\n")
        }
    }

    /// Complains about tags that are not closed in order, ids given twice, and addresses of other hosts.
    private static let htmlCheck = """
        import sys, html.parser
        VOID = {"meta", "link", "img", "input", "br", "hr"}
        class Check(html.parser.HTMLParser):
            stack, ids = [], set()
            def handle_starttag(self, tag, attrs):
                names = [name for name, _ in attrs]
                if len(names) != len(set(names)): print("attribute twice in", tag)
                for name, value in attrs:
                    if name == "id":
                        if value in self.ids: print("id twice", value)
                        self.ids.add(value)
                    if name in ("src", "action") and value.startswith("http"): print("from elsewhere:", value)
                if tag not in VOID: self.stack.append(tag)
            def handle_endtag(self, tag):
                if not self.stack or self.stack.pop() != tag: print("stray end of", tag, self.getpos())
        check = Check()
        check.feed(sys.stdin.read())
        check.close()
        if check.stack: print("open:", check.stack)
        """
}
