import EventLoop
import Foundation
import SessionTrace
import Testing

@Suite(.timeLimit(.minutes(2))) struct TCPStreamTests {
    @Test(arguments: [loopback, loopback6]) func bytesGoBothWaysAndEachSideEndsOnItsOwn(at endpoint: Endpoint)
        async throws
    {
        try await onLoop {
            let (client, server) = try await connectedPair(endpoint)
            #expect(client.peer == server.local && client.local == server.peer)
            #expect(client.isOutgoing && !server.isOutgoing)
            try await client.write(Array("question".utf8))
            client.finishWriting()
            #expect(try await server.readAll() == Array("question".utf8))
            #expect(try await server.readSome().isEmpty, "FIN is told again")
            try await server.write(Array("answer".utf8))
            server.finishWriting()
            #expect(try await client.readAll() == Array("answer".utf8))
            client.close()
            server.close()
        }
    }
}
