internal import EventLoop
internal import SessionTrace

/// What a client of the proxy says first: TLS to us, SOCKS5, or HTTP.
extension ProxiedConnection {
    /// How the client is told that its destination was reached, or not.
    enum Dialect {
        case http
        case socks
    }

    /// Reads the preamble and does what it asks. `isSecure`: inside TLS to the proxy.
    func readPreamble(of device: any DeviceStream, isSecure: Bool) async {
        // Nothing is recorded before it is known whose file it belongs to, and where the credential lies.
        device.socket.keepsPending = true
        let buffer = HeapBuffer(count: 16 << 10)
        defer { withExtendedLifetime(buffer) {} }
        let first = Received()
        let isInTime = await within(configuration.timeouts.firstByte) {
            await first.read(from: device, into: buffer)
        }
        if !isInTime {
            let text = "\(client.address) connected and said nothing."
            // The device may have become known meanwhile, by a connection that was accepted beside this one.
            if device.socket.isRecorded || isOfKnownDevice {
                limitReached("first-byte", "\(configuration.timeouts.firstByte)", text)
            } else {
                post(.limit, text)
            }
        }
        guard let byte = first.bytes.first else {
            device.socket.keepsPending = false
            return
        }
        switch byte {
        case 0x16 where !isSecure: await serveTLS(to: device.socket, firstBytes: first.bytes)
        case 0x05: await serveSOCKS(device, first, buffer)
        default: await serveHTTP(device, first, buffer, isSecure: isSecure)
        }
        device.socket.keepsPending = false
    }

    /// Bytes of a preamble as they come; confined to the actor.
    final class Received {
        var bytes: [UInt8] = []
        var hasEnded = false

        /// Reads once; no bytes at the end or when reading failed.
        nonisolated(nonsending) func read(from device: any DeviceStream, into buffer: HeapBuffer) async {
            guard let (count, _) = try? await device.read(into: buffer.bytes), count > 0 else {
                hasEnded = true
                return
            }
            bytes.append(contentsOf: buffer.prefix(count))
        }
    }

    // MARK: - HTTP

    private func serveHTTP(
        _ device: any DeviceStream, _ received: Received, _ buffer: HeapBuffer, isSecure: Bool
    ) async {
        let socket = device.socket
        if !isSecure { socket.credentialMask = CredentialMask() }
        let limit = configuration.limits.headBytes
        var searched = 0
        let found = Box<ProxyRequest?>(nil)
        let isInTime = await within(configuration.timeouts.preamble) {
            while true {
                if ProxyRequest.end(of: received.bytes, searchedFrom: searched) != nil {
                    found.value = ProxyRequest(received.bytes)
                    return
                }
                guard received.bytes.count < limit, !received.hasEnded else { return }
                searched = max(0, received.bytes.count - 3)
                await received.read(from: device, into: buffer)
            }
        }
        guard let request = found.value, request.byteCount <= limit else {
            if received.hasEnded, isInTime { return }
            let (status, sentence) =
                isInTime
                ? (431, "The request's head is longer than \(limit) bytes.")
                : (408, "The request's head did not come in time.")
            limitReached(
                isInTime ? "head-bytes" : "preamble", isInTime ? "\(limit)" : "\(configuration.timeouts.preamble)",
                sentence)
            await answer(device, status: status, sentence)
            return
        }
        if isSecure, configuration.credential != nil {
            guard case .local = request.aim else { return await refuseCredentialInside(device) }
            socket.releaseRecording()
        }
        guard request.aim.isForUs || authorize(request.authorization) else {
            post(.clientRefused, "\(client.address) gave no credential that the proxy takes.")
            await answer(
                device, status: 407, "The proxy wants a user and a password.",
                fields: ["Proxy-Authenticate: Basic realm=\"handoff\", charset=\"UTF-8\""])
            return
        }
        switch request.aim {
        case .tunnel(let destination):
            let rest = Array(received.bytes[request.byteCount...])
            if !isSecure {
                socket.record(upTo: socket.readCount - rest.count)
                socket.credentialMask = nil
            }
            await serveTunnel(device, to: destination, dialect: .http, firstBytes: rest)
        case .relay:
            socket.keepsPending = false
            await relayClearText(device: device, firstBytes: received.bytes)
        case .local(let host):
            // Who looks at the set-up page at the listener's own address is no device yet: it may be the lab's computer, or
            // a phone before its proxy is set. A mark comes from a device.
            let isVisit = !socket.isRecorded && !request.isMark
            if isVisit { socket.leaveOut() } else { device.record(secrets: []) }
            socket.keepsPending = false
            await serveLocal(
                device: device, firstBytes: received.bytes, isSecure: isSecure, host: host, isSingle: isVisit)
        case .refused(let status, let sentence):
            await answer(device, status: status, sentence)
        }
    }

    /// Checks a `Proxy-Authorization`, and takes the device's name from it.
    private func authorize(_ value: String?) -> Bool {
        guard let credential = configuration.credential else { return true }
        guard let value, let (user, password) = BasicCredential.read(value),
            credential.matches(user: user, password: password)
        else { return false }
        credentialUser = String(decoding: user, as: UTF8.self)
        return true
    }

    /// Answers with one plain sentence, and ends.
    func answer(_ device: any DeviceStream, status: Int, _ sentence: String, fields: [String] = []) async {
        device.record(secrets: [])
        device.socket.keepsPending = false
        try? await device.write(PlainAnswer.bytes(status: status, sentence: sentence, fields: fields))
        await closeLingering(device)
    }

    // MARK: - SOCKS

    /// A SOCKS conversation and what it came to; confined to the actor.
    private final class Conversation {
        var server: SOCKSServer
        var outcome = SOCKSServer.Step.needsInput

        init(_ server: SOCKSServer) {
            self.server = server
        }
    }

    private func serveSOCKS(_ device: any DeviceStream, _ received: Received, _ buffer: HeapBuffer) async {
        if device !== device.socket, configuration.credential != nil { return await refuseCredentialInside(device) }
        let conversation = Conversation(SOCKSServer(credential: configuration.credential))
        conversation.server.feed(received.bytes)
        await serve(
            conversation, device, received, buffer, start: device.socket.readCount - received.bytes.count)
    }

    private func serve(
        _ conversation: Conversation, _ device: any DeviceStream, _ received: Received, _ buffer: HeapBuffer,
        start: Int
    ) async {
        let isInTime = await within(configuration.timeouts.preamble) {
            while true {
                let step = conversation.server.next()
                switch step {
                case .needsInput:
                    received.bytes = []
                    await received.read(from: device, into: buffer)
                    if received.hasEnded { return }
                    conversation.server.feed(received.bytes)
                case .answer(let bytes):
                    self.recordSOCKS(conversation.server, from: start, on: device)
                    guard (try? await device.write(bytes)) != nil else { return }
                case .request, .refused:
                    self.recordSOCKS(conversation.server, from: start, on: device)
                    conversation.outcome = step
                    return
                }
            }
        }
        switch conversation.outcome {
        case .request(let destination):
            await serveTunnel(device, to: destination, dialect: .socks, firstBytes: conversation.server.rest)
        case .refused(let reply, let sentence):
            post(.clientRefused, "\(client.address): \(sentence)")
            device.record(secrets: [])
            try? await device.write(reply)
            await closeLingering(device)
        case .needsInput, .answer:
            if !isInTime {
                limitReached(
                    "preamble", "\(configuration.timeouts.preamble)",
                    "\(client.address) did not finish its SOCKS request in time.")
            }
        }
    }

    /// Records the messages that have been read whole, without the password. Inside TLS the ciphertext is recorded as it is.
    private func recordSOCKS(_ server: SOCKSServer, from start: Int, on device: any DeviceStream) {
        credentialUser = configuration.credential == nil ? nil : server.user
        guard device === device.socket else { return }
        // The name of the device comes with the password; before that nothing may open the recording.
        if configuration.credential != nil, server.user == nil, case .none = server.passwordRange { return }
        let masked = server.passwordRange.map { $0.lowerBound + start..<$0.upperBound + start }
        device.socket.record(upTo: start + server.consumed, masking: masked)
    }
}

/// A value shared by works of one actor.
final class Box<Value> {
    var value: Value

    init(_ value: Value) {
        self.value = value
    }
}
