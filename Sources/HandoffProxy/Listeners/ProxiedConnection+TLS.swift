internal import EventLoop
internal import SessionTrace

extension ProxiedConnection {
    /// Serves a client that speaks TLS to the proxy itself: the preamble follows inside. The certificate is for the name
    /// that the client gives and for the listener's address.
    ///
    /// The recording has the outer bytes as they are, and the secrets that they need; a credential inside could be read with
    /// them, and can't be blotted out. So with a credential only the proxy's own pages are served through TLS, and nothing
    /// is written until it is known that they are what is asked for.
    func serveTLS(to socket: RecordedSocket, firstBytes: [UInt8]) async {
        guard let name = HostName(local.address.description) else { return socket.reset() }
        let mayHoldCredential = configuration.credential != nil
        if mayHoldCredential { socket.holdRecording() }
        socket.keepsPending = false
        switch await proxy.interceptor.serveSecure(socket, first: firstBytes, name: name) {
        case .stream(let inside):
            socket.handshakeEnded()
            await readPreamble(of: inside, isSecure: true)
        case .unreadable: socket.reset()
        case .ended: socket.close()
        }
        // Whoever asked for nothing may have begun to.
        if mayHoldCredential { socket.withholdIfHeld() }
    }

    /// A client gives a credential inside TLS, or is about to: refused, and kept out of the recording.
    func refuseCredentialInside(_ device: any DeviceStream) async {
        let why = "a credential inside TLS to the proxy"
        device.socket.withholdRecording()
        event(.withheld, ["host": local.address.description, "actor": "proxy", "why": why])
        post(
            .clientRefused,
            "\(client.address) speaks TLS to the proxy, inside which a credential could be read from the recording. With "
                + "--proxy-auth, set the device's proxy as http or SOCKS5.", isAlarm: true)
        await answer(
            device, status: 403,
            "This proxy asks for a credential and records: use it without TLS (http or SOCKS5), where it can be left out."
        )
    }
}
