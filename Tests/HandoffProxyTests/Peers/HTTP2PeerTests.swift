import Crypto
import Foundation
import SessionTrace
import Synchronization
import Testing

@testable import HandoffProxy

/// HTTP/2 by clients and servers that others wrote.
@Suite(.enabled(if: PeerCertificates.shared != nil, "needs openssl")) struct HTTP2PeerTests {
    private static let node = FinishedCommand.find("node")
    private static let nghttpd = FinishedCommand.find("nghttpd")

    /// Sixty streams at once: 103s, bodies up and down, trailers as gRPC has them, cancellations in the middle. What the
    /// client makes of it is the same without proxy, and the recording opens alone.
    @Test(.enabled(if: node != nil, "needs node"))
    func manyStreamsOfNode() async throws {
        let (node, certificates) = (try #require(Self.node), try #require(PeerCertificates.shared))
        let proxy = try await ProxyUnderTest { try $0.trust(certificates) }
        let (server, client) = (proxy.scratch["server.js"], proxy.scratch["client.js"])
        try Self.server.write(toFile: server, atomically: true, encoding: .utf8)
        try Self.client.write(toFile: client, atomically: true, encoding: .utf8)
        let origin = try await onThread {
            SendableBox(try PeerServer("\(node) \(server)", environment: ["PEM": certificates.file("origin")]))
        }
        let direct = try await shell("\(node) \(client) - \(origin.value.port) \(certificates.authority)")
        let through = try await shell("\(node) \(client) \(proxy.port) \(origin.value.port) \(proxy.ca)")
        #expect(direct.lines.count == 60, "\(direct.output)")
        #expect(through.output == direct.output)
        let end = try await proxy.finish()
        #expect(end.targets.count == 60)
        let finished = end.exchanges.filter { $0.request?.target.hasPrefix("/s") == true }
        #expect(finished.allSatisfy { $0.response?.status == 200 })
        #expect(finished.contains { $0.response?.trailers.first("grpc-status") == "0" })
        try Tshark.need()
        #expect(
            try end.tshark("http2.headers.method == POST", "http2.headers.path").flatMap { $0.split(separator: ",") }
                .count == 60)
        #expect(try end.tshark(TsharkAgreement.faults, "frame.number") == [])
    }

    private static let server = """
        const http2 = require('http2'), fs = require('fs'), crypto = require('crypto')
        const pem = fs.readFileSync(process.env.PEM)
        const server = http2.createSecureServer({ key: pem, cert: pem })
        server.on('stream', (stream, head) => {
          let count = 0
          const sum = crypto.createHash('sha256')
          stream.on('error', () => {})
          stream.on('data', piece => { count += piece.length; sum.update(piece) })
          stream.on('end', () => {
            if (head[':path'] === '/cancelled') {
              stream.respond({ ':status': 200 })
              const timer = setInterval(() => stream.destroyed ? clearInterval(timer) : stream.write('x'.repeat(1000)), 10)
              return
            }
            stream.additionalHeaders({ ':status': 103, link: '</a>' })
            stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'x-odd': 'a\\tb', 'x-echo': head['x-echo'] },
              { waitForTrailers: true })
            stream.on('wantTrailers', () =>
              stream.sendTrailers({ 'grpc-status': '0', 'grpc-message': 'got ' + count, 'x-sum': sum.digest('hex') }))
            stream.end(Buffer.alloc(count, 'z'))
          })
        })
        server.listen(+process.env.PORT, '127.0.0.1')
        """

    private static let client = """
        const http2 = require('http2'), net = require('net'), tls = require('tls'), fs = require('fs')
        const [, , proxy, port, ca] = process.argv
        function talk(socket) {
          const secure = tls.connect({ socket, servername: 'origin.test', ca: fs.readFileSync(ca), ALPNProtocols: ['h2'] }, () => {
            const session = http2.connect('https://origin.test:' + port, { createConnection: () => secure })
            const lines = []
            for (let i = 0; i < 60; i++) {
              const cancels = i % 10 === 9
              const stream = session.request({ ':method': 'POST', ':path': cancels ? '/cancelled' : '/s' + i, 'x-echo': 'e' + i, te: 'trailers' })
              const early = []
              let head, trailers = {}, count = 0
              stream.on('headers', fields => early.push(fields[':status']))
              stream.on('response', fields => head = fields)
              stream.on('trailers', fields => trailers = fields)
              stream.on('data', piece => {
                count += piece.length
                if (cancels && count >= 3000 && !stream.closed) stream.close(http2.constants.NGHTTP2_CANCEL)
              })
              stream.on('error', error => lines.push(i + ' ' + error.code))
              stream.on('close', () => {
                lines.push(i + ' ' + (cancels ? stream.rstCode : JSON.stringify([early, head, trailers, count],
                  (key, value) => key === 'date' ? undefined : value)))
                if (lines.length === 60) { console.log(lines.sort().join('\\n')); session.close(() => process.exit(0)) }
              })
              stream.end(Buffer.alloc(i * 700, 'q'))
            }
          })
          secure.on('error', error => { console.log(error.code); process.exit(3) })
        }
        if (proxy === '-') talk(net.connect(+port, '127.0.0.1'))
        else {
          const socket = net.connect(+proxy, '127.0.0.1', () => {
            socket.write(`CONNECT origin.test:${port} HTTP/1.1\\r\\nHost: origin.test:${port}\\r\\n\\r\\n`)
            socket.once('data', () => talk(socket))
          })
        }
        """

    /// nghttpd, of which curl takes a file and its trailer; the device's bytes are the origin's.
    @Test(.enabled(if: nghttpd != nil && Curl.path != nil, "needs nghttpd and curl"), arguments: ["1.2", "1.3"])
    func curlAndNghttpd(version: String) async throws {
        let (nghttpd, certificates) = (try #require(Self.nghttpd), try #require(PeerCertificates.shared))
        let proxy = try await ProxyUnderTest { try $0.trust(certificates) }
        let pem = certificates.file("origin")
        let folder = proxy.scratch["files"]
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let content = Data((0..<500_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 2) })
        try content.write(to: URL(filePath: folder + "/big"))
        let origin = try await onThread {
            SendableBox(try PeerServer("\(nghttpd) -d \(folder) --trailer 'x-after: yes' $PORT \(pem) \(pem)"))
        }
        for scheme in ["http", "socks5h", "https"] {
            let out = proxy.scratch["out-\(scheme)"]
            let run = try await Curl.run([
                "--proxy", "\(scheme)://127.0.0.1:\(proxy.port)", "--proxy-cacert", proxy.ca, "--cacert", proxy.ca,
                "--http2", "--tlsv\(version)", "--tls-max", version, "-w", "%{http_version}", "-o", out,
                "https://\(ProxyUnderTest.name):\(origin.value.port)/big",
            ])
            #expect(run.status == 0 && run.output == "2", "\(scheme)")
            #expect(try Data(contentsOf: URL(filePath: out)) == content)
        }
        let end = try await proxy.finish()
        #expect(end.targets == ["/big", "/big", "/big"])
        #expect(end.exchanges.filter { $0.response?.trailers.first("x-after") == "yes" }.count == 3)
        try Tshark.need()
        // Wireshark opens no TLS inside TLS: of the connection whose proxy was reached over TLS it shows the CONNECT.
        #expect(try end.tshark("http2.headers.method == GET", "http2.headers.path") == ["/big", "/big"])
        #expect(try end.tshark("http.request.method == CONNECT", "http.request.uri").count == 2)
        #expect(try end.tshark(TsharkAgreement.faults, "frame.number") == [])
    }

    /// Field values with spaces at their edges and names in capitals, which RFC 9113 forbids: relayed as they are.
    @Test func oddHeaderValuesPass() async throws {
        let proxy = try await ProxyUnderTest()
        let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
        // :status 200, then literals without indexing: "X-Odd: ' a '" and "x-empty:".
        let block: [UInt8] =
            [0x88, 0x00, 5] + Array("X-Odd".utf8) + [3] + Array(" a ".utf8) + [0x00, 7] + Array("x-empty".utf8) + [0]
        let answer = settings + [0, 0, UInt8(block.count), 1, 5, 0, 0, 0, 1] + block
        // :method GET, :scheme https, :path /, and :authority "a".
        let requestBlock: [UInt8] = [0x82, 0x87, 0x84, 0x41, 1, 0x61]
        let request =
            Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + settings
            + [0, 0, UInt8(requestBlock.count), 1, 5, 0, 0, 0, 1] + requestBlock
        try await onThread {
            let origin = try tlsOrigin(try proxy.identity(ProxyUnderTest.name), alpn: "h2") { peer in
                #expect(peer.receive(count: request.count) == request)
                peer.send(answer)
                peer.closeNotify()
                _ = peer.receive()
            }
            let client = try TLSPeer.client(
                on: try proxy.tunnel(to: origin.port), name: ProxyUnderTest.name, authority: proxy.ca, alpn: ["h2"])
            try client.handshake()
            client.send(request)
            #expect(client.receive(count: answer.count) == answer)
            client.closeNotify()
            client.socket.close()
        }
        let end = try await proxy.finish()
        #expect(end.targets == ["/"])
        #expect(end.exchanges.last?.response?.status == 200)
    }
}
