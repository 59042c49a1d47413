import SessionTrace
import Testing

@testable import HandoffProxy

@Suite struct SOCKSServerTests {
    private static let credential = ProxyCredential(user: "ann", password: "secret")

    /// All steps but `needsInput`, for a stream in pieces.
    private func steps(_ pieces: [[UInt8]], _ credential: ProxyCredential? = nil) -> (
        steps: [SOCKSServer.Step], server: SOCKSServer
    ) {
        var server = SOCKSServer(credential: credential)
        var steps: [SOCKSServer.Step] = []
        for piece in pieces {
            server.feed(piece)
            while true {
                let step = server.next()
                if step == .needsInput { break }
                steps.append(step)
            }
        }
        return (steps, server)
    }

    private static let byName: [UInt8] = [5, 1, 0, 3, 6] + Array("a.test".utf8) + [1, 187]

    @Test func namesAndAddresses() throws {
        let name = steps([[5, 1, 0] + Self.byName + Array("rest".utf8)])
        let host = try #require(HostName("a.test"))
        #expect(name.steps == [.answer([5, 0]), .request(Destination(host: host, port: 443, kind: .socks))])
        #expect(name.server.rest == Array("rest".utf8))
        let four = steps([[5, 2, 2, 0, 5, 1, 0, 1, 192, 0, 2, 1, 0, 80]])
        #expect(four.steps.last == .request(Destination(.of("192.0.2.1", 80), kind: .socks)))
        let address: [UInt8] = [0x20, 1, 0xD, 0xB8] + [UInt8](repeating: 0, count: 11) + [1]
        let six = steps([[5, 1, 0, 5, 1, 0, 4] + address + [0, 80]])
        #expect(six.steps.last == .request(Destination(.of("2001:db8::1", 80), kind: .socks)))
    }

    @Test func piecesMakeNoDifference() {
        let stream: [UInt8] = [5, 2, 0, 2, 1, 3] + Array("ann".utf8) + [6] + Array("secret".utf8) + Self.byName
        let whole = steps([stream], Self.credential)
        #expect(whole.steps.count == 3)
        #expect(whole.server.user == "ann")
        #expect(whole.server.passwordRange.map { Array(stream[$0]) } == Array("secret".utf8))
        #expect(steps(stream.map { [$0] }, Self.credential).steps == whole.steps)
    }

    @Test func wrongCredentials() {
        for (user, password) in [("ann", "wrong!"), ("bob", "secret"), ("", ""), ("ann", "secret2")] {
            let stream: [UInt8] =
                [5, 1, 2, 1, UInt8(user.utf8.count)] + Array(user.utf8) + [UInt8(password.utf8.count)]
                + Array(password.utf8)
            let last = steps([stream], Self.credential).steps.last
            #expect(last == .refused([1, 1], sentence: "The client gave a wrong user or password."))
        }
        guard case .refused([5, 0xFF], _) = steps([[5, 1, 0]], Self.credential).steps.last else {
            Issue.record("a client without a credential got in")
            return
        }
    }

    @Test(
        arguments: [
            ([5, 2, 0, 1, 1, 2, 3, 4, 0, 80], 7), ([5, 3, 0, 1, 1, 2, 3, 4, 0, 80], 7), ([5, 1, 0, 9, 1], 8),
            ([4, 1, 0, 80, 1, 2, 3, 4, 0], 1), ([5, 1, 0, 1, 1, 2, 3, 4, 0, 0], 1),
            ([5, 1, 0, 3, 3, 0x61, 0x25, 0x62, 0, 80], 1), ([5, 1, 0, 3, 0, 0, 80], 1),
        ] as [([UInt8], UInt8)])
    func refusedRequests(request: [UInt8], code: UInt8) {
        guard case .refused(let reply, _) = steps([[5, 1, 0] + request]).steps.last else {
            Issue.record("not refused: \(request)")
            return
        }
        #expect(reply == [5, code, 0, 1, 0, 0, 0, 0, 0, 0])
    }
}
