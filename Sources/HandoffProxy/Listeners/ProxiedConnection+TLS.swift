internal import SessionTrace

extension ProxiedConnection {
    /// Serves a client that speaks TLS to the proxy itself: the preamble follows inside.
    func serveTLS(to socket: RecordedSocket, firstBytes: [UInt8]) async {
        socket.reset()
    }
}
