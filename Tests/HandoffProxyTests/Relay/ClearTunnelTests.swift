import Foundation
import SessionTrace
import Testing

@testable import HandoffProxy

/// Withholds what a browser asks of Chia; an exchange shows its host.
private final class BrowserGuide: JourneyGuide {
    static let chia = "chia.test"

    func mayWithhold(_ connection: JourneyConnection) -> Bool { connection.names.contains { $0.text == Self.chia } }

    func decide(_ connection: JourneyConnection, first request: Request?) -> JourneyDecision {
        guard request?.fields.first("host")?.hasPrefix(Self.chia) == true,
            request?.fields.first("user-agent") == "browser"
        else { return .record }
        return .withhold(attributes: ["actor": "browser", "host": Self.chia, "why": "the browser's visit to Chia"])
    }

    func attributes(of exchange: Exchange, on connection: JourneyConnection) async -> [String: String] {
        ["status": exchange.response.map { String($0.status) } ?? "none"]
    }
}

/// Clear-text HTTP in a tunnel and in proxy form: what of it is recorded, and faults.
@Suite(.serialized) struct ClearTunnelTests {
    /// One request that says who asks, and whether the answer came.
    private static func ask(_ proxy: ProxyUnderTest, _ port: UInt16, isTunnel: Bool, host: String, agent: String) throws
    {
        let socket: BlockingSocket
        var target = "/private-path"
        if isTunnel {
            socket = try proxy.tunnel(to: port, host: host)
        } else {
            socket = try BlockingSocket(port: proxy.port)
            target = "http://\(host):\(port)\(target)"
        }
        socket.write("GET \(target) HTTP/1.1\r\nHost: \(host):\(port)\r\nUser-Agent: \(agent)\r\n\r\n".utf8)
        let answer = socket.read(through: "GET /private-path HTTP/1.1\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"), "\(answer)")
        socket.finishWriting()
        _ = socket.readAll()
        socket.close()
    }

    private static func holds(_ end: FinishedProxy, _ text: String) throws -> Bool {
        let bytes = Array(try Data(contentsOf: URL(filePath: end.path)))
        return bytes.firstRange(of: Array(text.utf8)) != nil
    }

    @Test(arguments: [true, false]) func theBrowsersRequestToChiaIsNotRecorded(isTunnel: Bool) async throws {
        let proxy = try await ProxyUnderTest(journey: BrowserGuide())
        try await onThread {
            let origin = try echoOfHeads()
            try Self.ask(proxy, origin.port, isTunnel: isTunnel, host: BrowserGuide.chia, agent: "browser")
        }
        let end = try await proxy.finish()
        #expect(end.proxyEvents(.withheld).map { $0.attributes["actor"] } == ["browser"])
        #expect(end.proxyEvents(.exchange).map { $0.attributes["status"] } == ["200"])
        #expect(try !Self.holds(end, "private-path"))
        #expect(end.targets.isEmpty)
    }

    @Test(arguments: [true, false]) func othersAreRecordedWhole(isTunnel: Bool) async throws {
        let proxy = try await ProxyUnderTest(journey: BrowserGuide())
        try await onThread {
            let origin = try echoOfHeads()
            try Self.ask(proxy, origin.port, isTunnel: isTunnel, host: BrowserGuide.chia, agent: "okhttp")
            try Self.ask(proxy, origin.port, isTunnel: isTunnel, host: "other.test", agent: "browser")
        }
        let end = try await proxy.finish()
        #expect(end.proxyEvents(.withheld).isEmpty && end.proxyEvents(.exchange).isEmpty)
        #expect(end.exchanges.filter { $0.request?.target.hasSuffix("/private-path") == true }.count == 2)
        #expect(end.exchanges.allSatisfy { $0.response?.status == 200 })
    }

    @Test func aFaultActsInATunnel() async throws {
        let faults = FaultTable()
        _ = faults.add(try FaultRule(parsing: "GET /private-path: 503 once"))
        let proxy = try await ProxyUnderTest(faults: faults)
        try await onThread {
            let origin = try echoOfHeads()
            let socket = try proxy.tunnel(to: origin.port)
            socket.write("GET /private-path HTTP/1.1\r\nHost: origin.test\r\n\r\n".utf8)
            #expect(socket.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 503 "))
            socket.finishWriting()
            _ = socket.readAll()
            socket.close()
            try Self.ask(proxy, origin.port, isTunnel: true, host: "origin.test", agent: "x")
        }
        let end = try await proxy.finish()
        #expect(end.proxyEvents(.fault).count == 1)
        #expect(end.exchanges.compactMap(\.response?.status).filter { $0 != 200 } == [503])
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\n", true), ("M-SEARCH * HTTP/1.1", true), ("PO", true), ("", false), ("\u{0}GET", false),
        ("get / HTTP/1.1", false), ("GET\t/", false), (String(repeating: "A", count: 33), false),
    ])
    func firstBytesThatMayBeARequest(text: String, expected: Bool) {
        #expect(ProxiedConnection.looksLikeRequest(Array(text.utf8)) == expected)
    }
}
