internal import EventLoop
internal import SessionTrace

extension TCPStream {
    nonisolated(nonsending) static func connectFirst(of goals: [Endpoint], timeout: Duration) async throws(SocketError)
        -> TCPStream
    {
        try await connect(to: goals[0], timeout: timeout)
    }
}
