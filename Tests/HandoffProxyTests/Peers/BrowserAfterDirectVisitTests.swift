import Foundation
import SessionTrace
import Testing

@testable import HandoffProxy

/// Chromium that has been at the real origin before, and comes back through us with the origin's tickets.
@Suite(
    .enabled(
        if: PeerCertificates.shared != nil && FinishedCommand.find("chromium") != nil
            && FinishedCommand.find("nginx") != nil && FinishedCommand.find("python3") != nil,
        "needs openssl, chromium, nginx and python3"))
struct BrowserAfterDirectVisitTests {
    /// A proxy that takes tunnels straight to the origin until the first page has been served, and all others through us.
    private static let forwarder = """
        import asyncio, sys
        listen, origin, proxy = map(int, sys.argv[1:4])
        def is_first():
            try:
                return "/first.html" not in open(sys.argv[4]).read()
            except OSError:
                return True
        async def pump(reader, writer):
            try:
                while data := await reader.read(65536):
                    writer.write(data)
                    await writer.drain()
            except OSError:
                pass
            writer.close()
        async def serve(reader, writer):
            head = await reader.readuntil(b"\\r\\n\\r\\n")
            if b"origin.test" not in head:
                return writer.close()
            is_direct = is_first()
            there, back = await asyncio.open_connection("127.0.0.1", origin if is_direct else proxy)
            if is_direct:
                writer.write(b"HTTP/1.1 200 OK\\r\\n\\r\\n")
            else:
                back.write(head)
            await asyncio.gather(pump(reader, back), pump(there, writer))
        async def main():
            async with await asyncio.start_server(serve, "127.0.0.1", listen) as server:
                await server.serve_forever()
        asyncio.run(main())
        """

    /// One connection a request, so that the second page needs a new one.
    private static func configuration(_ folder: String, _ pem: String) -> String {
        """
        daemon off; worker_processes 1; pid \(folder)/pid; error_log \(folder)/errors; events {}
        http {
          access_log \(folder)/requests;
          client_body_temp_path \(folder)/body; proxy_temp_path \(folder)/proxy; fastcgi_temp_path \(folder)/fastcgi;
          uwsgi_temp_path \(folder)/uwsgi; scgi_temp_path \(folder)/scgi;
          server {
            listen 127.0.0.1:PORT ssl; ssl_certificate \(pem); ssl_certificate_key \(pem);
            ssl_protocols TLSv1.3; ssl_session_tickets on; ssl_early_data on; keepalive_timeout 0; root \(folder)/pages;
          }
        }
        """
    }

    @Test func ticketsOfTheOriginAreNoObstacle() async throws {
        let certificates = try #require(PeerCertificates.shared)
        let pem = certificates.file("origin")
        let proxy = try await OpenSSLClientTests.proxy()
        let folder = proxy.scratch["site"]
        try FileManager.default.createDirectory(atPath: folder + "/pages", withIntermediateDirectories: true)
        for (name, content) in [
            (
                "pages/first.html",
                "<link rel=icon href=data:,><script>setTimeout(() => location = '/second.html', 1500)</script>"
            ),
            (
                "pages/second.html",
                "<link rel=icon href=data:,><script>setTimeout(() => location = '/third.html', 500)</script>"
            ), ("pages/third.html", "<link rel=icon href=data:,><script>fetch('/done')</script>"), ("pages/done", "."),
            ("forwarder.py", Self.forwarder), ("template", Self.configuration(folder, pem)),
        ] {
            try content.write(toFile: folder + "/" + name, atomically: true, encoding: .utf8)
        }
        // The kept temporary folders are writable for the worker, whoever that is.
        chmod(folder, 0o777)
        let origin = try await onThread {
            SendableBox(
                try PeerServer(
                    "sh -c 'sed s/PORT/$PORT/ \(folder)/template > \(folder)/conf; exec nginx -p \(folder) -c \(folder)/conf'"
                ))
        }
        let forwarder = try await onThread {
            SendableBox(
                try PeerServer(
                    "python3 \(folder)/forwarder.py $PORT \(origin.value.port) \(proxy.port) \(folder)/requests"))
        }
        let run = try await shell(
            """
            digest() { openssl x509 -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64; }
            own=$(digest < \(pem))
            ours=$(echo | openssl s_client -proxy 127.0.0.1:\(proxy.port) -connect origin.test:\(origin.value.port) \
                -servername origin.test 2>/dev/null | digest)
            timeout -k 2 50 chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
                --disable-background-networking --disable-component-update --user-data-dir="$DIR/profile" \
                --proxy-server=http://127.0.0.1:\(forwarder.value.port) \
                --ignore-certificate-errors-spki-list="$own,$ours" \
                https://origin.test:\(origin.value.port)/first.html </dev/null >/dev/null 2>&1 & browser=$!
            for turn in $(seq 225); do grep -q /done \(folder)/requests 2>/dev/null && break; sleep 0.2; done
            kill $browser; wait $browser; cat \(folder)/requests
            """, ["DIR": proxy.scratch.path], seconds: 90)
        #expect(run.output.contains("GET /done"), "\(run.output)")
        let end = try await proxy.finish()
        // A connection that the browser opened ahead, straight to the origin, may have served another page.
        #expect(end.targets.contains("/done") && !end.targets.contains("/first.html"), "\(end.targets)")
        #expect(end.proxyEvents(.leafRefused).isEmpty)
        try Tshark.need()
        // The browser did come with a ticket, and it was none of ours: we give none.
        let offers = try end.tshark("tls.handshake.type == 1 && tls.handshake.extension.type == 41", "frame.number")
        #expect(!offers.isEmpty)
        #expect(try end.tshark("tls.handshake.type == 4", "frame.number") == [])
        #expect(try end.tshark(TsharkAgreement.faults, "frame.number") == [])
    }
}
