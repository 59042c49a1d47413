import Testing

@testable import Lab

/// Two sessions, one the client's, back to back.
@Suite struct HTTP2SessionTests {
    private static func pump(_ client: HTTP2Session, _ server: HTTP2Session) throws -> [HTTP2Session.Message] {
        try server.receive(client.takeOutput())
    }

    @Test func carriesARequestAndItsResponse() throws {
        let client = try HTTP2Session(isServer: false)
        let server = try HTTP2Session(isServer: true)
        // Longer than a frame, shorter than the flow-control window (RFC 9113 §6.9.2).
        let body = [UInt8](repeating: 0x42, count: 40_000)
        let stream = try client.submitRequest(
            [(":method", "POST"), (":scheme", "https"), (":authority", "h.example"), (":path", "/a"), ("x-a", "b")],
            body: body)
        let requests = try Self.pump(client, server)
        guard case .whole(stream, let fields, let received)? = requests.first, requests.count == 1 else {
            Issue.record("no request")
            return
        }
        #expect(fields.map(\.name) == [":method", ":scheme", ":authority", ":path", "x-a"])
        #expect(received == body)
        try server.submitResponse(on: stream, [(":status", "204")], body: [])
        guard case .whole(stream, let answer, let rest)? = try client.receive(server.takeOutput()).first else {
            Issue.record("no response")
            return
        }
        #expect(answer.map(\.value) == ["204"])
        #expect(rest.isEmpty)
    }

    @Test func tellsAReset() throws {
        let client = try HTTP2Session(isServer: false)
        let server = try HTTP2Session(isServer: true)
        let stream = try client.submitRequest(
            [(":method", "GET"), (":scheme", "https"), (":authority", "h.example"), (":path", "/")], body: [])
        _ = try Self.pump(client, server)
        server.reset(stream, code: 7)
        guard case .reset(stream, let code)? = try client.receive(server.takeOutput()).first else {
            Issue.record("no reset")
            return
        }
        #expect(code == 7)
    }
}
