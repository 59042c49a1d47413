internal import SessionTrace

extension ProxiedConnection {
    /// Serves a client that speaks TLS to the proxy itself: the preamble follows inside. The certificate is for the name
    /// that the client gives and for the listener's address.
    func serveTLS(to socket: RecordedSocket, firstBytes: [UInt8]) async {
        guard let name = HostName(local.address.description) else { return socket.reset() }
        // The credential that names the device is inside, and lies there encrypted: the outer bytes are recorded as they are.
        socket.keepsPending = false
        switch await proxy.interceptor.serveSecure(socket, first: firstBytes, name: name) {
        case .stream(let inside): await readPreamble(of: inside, isSecure: true)
        case .unreadable: socket.reset()
        case .ended: socket.close()
        }
    }
}
